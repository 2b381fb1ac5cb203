"""Checking a schema before any data is opened: what will not work well, and how much noise to expect.

Everything here follows from the schema and from numbers that the user gives; all of it is public.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations
from math import log10, pi, sqrt
from typing import Any, Literal, final

from synthdp.allocation import measurement_shares
from synthdp.cliques import Clique
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.inference.direct import DirectEstimator
from synthdp.inference.graphical_model import check_possible
from synthdp.privacy.accountant import Accounting
from synthdp.privacy.private_table import MAX_CELLS
from synthdp.show import shortened, shortened_table
from synthdp.table.binned import BinnedColumn
from synthdp.table.columns import Column
from synthdp.table.schema import Schema
from synthdp.workload import LARGEST_DEFAULT, Workload

MANY_LEVELS, MANY_BINS = 1000, 100
ONE_WAY_SHARE = Fraction(0.08)
"""What recipe auto spends on the columns one by one."""
PAIR_SHARE = Fraction(1, 2)
"""Part of the rest that the rough expectation for pairs takes to go to pairs."""

_ABOUT = (
    "a rough expectation, not the recipe's plan: columns have 8 % of the budget, as in recipe auto, "
    "and every pair an equal share of half of the rest; recipes measure fewer pairs, and those better"
)


@final
@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing to know about a schema, and what to do about it.

    Parameters
    ----------
    severity
        ``"warning"``: most likely not what is wanted; ``"note"``: good to know.
    columns
        The columns that it is about; none if about all together.
    what, way_out
        Fit to be shown to a person as one line.
    """

    severity: Literal["warning", "note"]
    columns: Clique
    what: str
    way_out: str

    def __str__(self) -> str:
        where = f"{' x '.join(map(repr, self.columns))}: " if self.columns else ""
        return f"{self.severity}: {where}{self.what}; {self.way_out}"


@final
@dataclass(frozen=True, kw_only=True)
class ExpectedNoise:
    """The noise of measuring one marginal.

    Parameters
    ----------
    n_cells
        Number of cells of the marginal, "missing" included.
    sigma_records
        Standard deviation of the noise on each cell's count, in records.
    misplaced_share
        Expected share of rows in the wrong cell (total variation distance) if nothing is known but
        this measurement, ``sigma n_cells / (sqrt(2 pi) n_rows)`` and at most 1; None without a number of rows.
    """

    n_cells: int
    sigma_records: float
    misplaced_share: float | None


def describe_check(
    path: str, *, epsilon: float | None = None, delta: float | None = None, rows: int | None = None
) -> tuple[dict[str, Any], str]:
    """What is to be said about a schema file, as plain JSON values and as text for people.

    Parameters
    ----------
    path
        The schema file; nothing else is opened.
    epsilon, delta
        The budget to expect the noise of; both or none.
    rows
        A public guess of the number of records, at least 1.

    Raises
    ------
    DataFileError, SchemaError
        If the file cannot be read, or the schema contradicts itself.
    ParameterError
        If its rules forbid everything, or a number is missing or out of range.
    PrivacyError
        If the budget is so small that noise would drown any count.
    """
    if (epsilon is None) != (delta is None):
        raise ParameterError(f"epsilon is {epsilon} but delta is {delta}; give both, or none to expect no noise")
    if rows is not None and epsilon is None:
        raise ParameterError(f"rows is {rows} but the noise depends on the budget; give epsilon and delta as well")
    schema = Schema.load(path)
    check_possible(schema.domain, schema.constraints)
    findings = schema_findings(schema)
    content: dict[str, Any] = {"findings": [asdict(finding) for finding in findings], "noise": None}
    listed = shortened([str(finding) for finding in findings]) or "nothing to warn of"
    text = f"schema of {len(schema.columns)} columns; no data was opened\n\n{listed}"
    if epsilon is None or delta is None:
        return content, text
    columns, pair = expected_noise(schema.domain, epsilon=epsilon, delta=delta, rows=rows)
    content["noise"] = {
        "epsilon": epsilon,
        "delta": delta,
        "rows": rows,
        "accounting": Accounting.GDP.value,
        "adjacency": "add-remove",
        "columns": [{"name": name} | asdict(noise) for name, noise in columns.items()],
        "typical_pair": None if pair is None else asdict(pair),
        "about": _ABOUT,
    }
    return content, f"{text}\n\n{_noise_text(columns, pair, epsilon=epsilon, delta=delta, rows=rows)}"


def schema_findings(schema: Schema) -> list[Finding]:
    """What is to be said about a schema, warnings first."""
    found = [finding for column in schema.columns for finding in _of_column(column)]
    found += [*_of_pairs(schema.domain), *_of_rules(schema), *_of_domain(schema.domain)]
    return sorted(found, key=lambda finding: finding.severity == "note")


def _of_column(column: Column) -> Iterator[Finding]:
    columns, size = (column.name,), column.size
    is_binned = isinstance(column, BinnedColumn)
    what, fewer = ("bins", "use fewer bins") if is_binned else ("levels", "merge rare levels into synthdp.other")
    if size == 1:
        what = "one bin: values are drawn evenly from all of it" if is_binned else "one level: all rows have the same"
        way_out = "give it more, or leave the column out of schema and table"
        yield Finding(severity="warning", columns=columns, what=what, way_out=way_out)
    elif size > MANY_LEVELS:
        cost = (
            f"{size:,} {what}, each with noise of its own: they misplace {size / 100:.0f} times as many rows as 100 "
            f"would, and every pair with this column has {size:,} times the other's cells"
        )
        yield Finding(severity="warning", columns=columns, what=cost, way_out=f"{fewer}, from public knowledge")
    elif is_binned and size > MANY_BINS:
        cost = f"{size:,} bins, each with noise of its own"
        yield Finding(severity="note", columns=columns, what=cost, way_out=f"{fewer} if less detail will do")


def _of_pairs(domain: Domain) -> Iterator[Finding]:
    for (first, n_first), (second, n_second) in combinations(zip(domain.attributes, domain.shape, strict=True), 2):
        if (n_cells := n_first * n_second) <= LARGEST_DEFAULT:
            continue
        if n_cells > MAX_CELLS:
            what = f"{n_cells:,} cells, above the {MAX_CELLS:,} that can be counted: a recipe that asks for them fails"
        else:
            what = f"{n_cells:,} cells, above {LARGEST_DEFAULT:,}: left out of the default workload"
        way_out = "use fewer levels or bins, or do without how the two depend on each other"
        yield Finding(severity="warning", columns=(first, second), what=what, way_out=way_out)


def _of_rules(schema: Schema) -> Iterator[Finding]:
    for rule in schema.rules:
        if "determines" in rule.text:
            fine, coarse = rule.text["determines"]
            unless = "" if schema[fine].required else f", except where {fine!r} is missing"
            what = f"redundant: a rule says that it follows from {fine!r}{unless}"
            way_out = "leave it out of schema and table and add it to the result, and the others get its budget"
            yield Finding(severity="note", columns=(coarse,), what=what, way_out=way_out)


def _of_domain(domain: Domain) -> Iterator[Finding]:
    most = DirectEstimator.max_cells
    if domain.size() > most:
        digits = sum(map(log10, domain.shape))  # the number itself may have thousands of digits
        what = f"all columns together have about 10^{digits:.0f} cells: engine direct takes {most:,}"
        yield Finding(severity="note", columns=(), what=what, way_out="use another engine, such as the default")


def expected_noise(
    domain: Domain, *, epsilon: float, delta: float, rows: int | None = None
) -> tuple[dict[str, ExpectedNoise], ExpectedNoise | None]:
    """The noise on each column as recipe auto measures it first, and roughly that on a pair of median size.

    Raises
    ------
    ParameterError, PrivacyError
        If the budget is out of range.
    """
    budget = Accounting.GDP.rho(epsilon=epsilon, delta=delta)
    weights = Workload.default(domain).relative_weights((name,) for name in domain.attributes)
    shares = measurement_shares(domain, weights)
    columns = {
        name: _measured(size, budget * ONE_WAY_SHARE * shares[name,], rows)
        for name, size in zip(domain.attributes, domain.shape, strict=True)
    }
    pairs = sorted(a * b for a, b in combinations(domain.shape, 2) if a * b <= LARGEST_DEFAULT)
    if not pairs:
        return columns, None
    rho = budget * (1 - ONE_WAY_SHARE) * PAIR_SHARE / len(pairs)
    return columns, _measured(pairs[(len(pairs) - 1) // 2], rho, rows)


def _measured(n_cells: int, rho: Fraction, rows: int | None) -> ExpectedNoise:
    """The noise on a marginal that is measured once; the mean of ``|noise|`` is ``sqrt(2 / pi) sigma``."""
    sigma = 1 / sqrt(2 * rho)
    misplaced = None if rows is None else min(0.5 * sqrt(2 / pi) * sigma * n_cells / rows, 1.0)
    return ExpectedNoise(n_cells=n_cells, sigma_records=sigma, misplaced_share=misplaced)


def _noise_text(
    columns: dict[str, ExpectedNoise], pair: ExpectedNoise | None, *, epsilon: float, delta: float, rows: int | None
) -> str:
    guess = "; give --rows for the share of rows misplaced" if rows is None else f" and a guess of {rows:,} rows"
    lines = [_noise_row(name, noise) for name, noise in columns.items()]
    typical = "" if pair is None else f"\n\na typical pair: {_noise_line(pair)}"
    table = shortened_table(("column", "cells", "sigma", "rows misplaced"), lines)
    return f"noise to expect at epsilon {epsilon:g}, delta {delta:g}{guess}:\n\n{table}{typical}\n\n{_ABOUT}"


def _noise_line(noise: ExpectedNoise) -> str:
    cells, sigma, misplaced = _noise_row("", noise)[1:]
    return f"{cells} cells, sigma {sigma}" + (f", {misplaced} of rows misplaced" if misplaced else "")


def _noise_row(name: str, noise: ExpectedNoise) -> Sequence[str]:
    misplaced = "" if noise.misplaced_share is None else f"{100 * noise.misplaced_share:.3g} %"
    return name, str(noise.n_cells), f"{noise.sigma_records:.4g}", misplaced
