"""How much noise to expect of a budget: of learning what a schema leaves open, and of the model.

Everything here follows from the schema and from numbers that the user gives; all of it is public.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import pi, sqrt
from typing import final

from synthdp.core.domain import Domain
from synthdp.core.workload import MAX_DEFAULT_CELLS, Workload
from synthdp.learning.budgets import ColumnBudget, column_budgets
from synthdp.learning.questions import Question, questions
from synthdp.mechanisms.auto.auto import Auto
from synthdp.mechanisms.shared.allocation import measurement_shares
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.unit import gaussian_sigma_squared
from synthdp.release.release import Release
from synthdp.release.run_settings import RunSettings
from synthdp.release.settings import DOMAIN_SHARE, QUALITY_SHARE
from synthdp.report.texts.listing import table
from synthdp.schema.open_schema import OpenSchema

PAIR_SHARE = Fraction(1, 2)
"""Of what columns leave, a round guess of what goes to pairs; choosing and wider marginals have the
other half.
"""

ABOUT_MODEL = (
    f"a rough expectation, not the mechanism's plan: columns have {100 * Auto.one_way_share:g} % of the budget, "
    "as in mechanism auto, and every pair an equal share of half of the rest; mechanisms measure fewer pairs, "
    "and those better"
)
ABOUT_LEARNING = (
    "sigma: noise on each count, in records; needs: records that something must have to be found more often "
    "than not; questions that turn out to be needless are not asked, and others then have less noise"
)
ABOUT_UNIT = "with --unit and --max-rows-per-unit K all of this noise is K times as large"
ABOUT_OPEN = "open columns are taken to be as large as they may get, and most get far fewer levels"
NOISE_HEADER = ("column", "cells", "sigma", "rows misplaced")
_WITH_FEWER = {
    "bounds": "values that far out are clipped",
    "single values": "a value is spread over its bin",
    "heaping": "round values are as frequent as others",
    "decimals": "further decimals are rounded off",
    "missing": "no value is missing",
    "reading": "a run goes on where none is read",
}


@final
@dataclass(frozen=True, kw_only=True)
class ExpectedNoise:
    """The noise of measuring one marginal."""

    n_cells: int
    """Number of cells of the marginal, "missing" included; of open columns as many as they may
    get.
    """
    sigma_records: float
    """Standard deviation of the noise on each cell's count, in records."""
    misplaced_share: float | None
    """Expected share of rows in the wrong cell (total variation distance) if nothing is known but
    this measurement, ``sigma n_cells / (sqrt(2 pi) n_rows)`` and at most 1; None without a
    number of rows.
    """


def expected_ledger(
    schema: OpenSchema,
    *,
    epsilon: float,
    delta: float,
    unit: str | None = None,
    max_rows_per_unit: int = 1,
    domain_share: float = DOMAIN_SHARE,
) -> PrivacyLedger:
    """The ledger that a run has by default, to read its budget from; nothing is ever charged to it.

    Parameters are those of `synthesize`; the schema is without the column ``unit``.

    Raises
    ------
    ParameterError, PrivacyError
        If the budget is out of range.
    """
    # From the same settings as a run, so that a plan cannot promise another noise than the run then
    # has.
    settings = RunSettings(
        epsilon=epsilon,
        delta=delta,
        workload="1-way",
        unit=unit,
        max_rows_per_unit=None if unit is None else max_rows_per_unit,
        domain_share=domain_share,
    )
    return Release(schema=schema, settings=settings).ledger


def model_budget(
    schema: OpenSchema, ledger: PrivacyLedger, *, domain_share: float = DOMAIN_SHARE
) -> Fraction:
    """Rho that is left for the model, whose quality has its default share: few open columns do not
    need the whole share of the domain.
    """
    left = _left_to_the_model(schema, ledger, domain_share)
    # As a run with default settings would have it.
    return left * (1 - Fraction(QUALITY_SHARE))


def quality_budget(
    schema: OpenSchema, ledger: PrivacyLedger, *, domain_share: float = DOMAIN_SHARE
) -> Fraction:
    """Rho that measures how far rows are from the records, unless a run says otherwise."""
    return _left_to_the_model(schema, ledger, domain_share) * Fraction(QUALITY_SHARE)


def _left_to_the_model(schema: OpenSchema, ledger: PrivacyLedger, domain_share: float) -> Fraction:
    """Rho that learning leaves."""
    budgets = _column_budgets(schema, ledger, domain_share)
    return ledger.budget - sum((budget.total for budget in budgets), Fraction(0))


def _column_budgets(
    schema: OpenSchema, ledger: PrivacyLedger, domain_share: float
) -> tuple[ColumnBudget, ...]:
    """What each open column may spend."""
    return column_budgets(
        schema, rho=ledger.budget * Fraction(domain_share), delta=ledger.failure_delta
    )


def expected_questions(
    schema: OpenSchema, ledger: PrivacyLedger, *, domain_share: float = DOMAIN_SHARE
) -> tuple[Question, ...]:
    """What learning the open columns will ask, with how much noise.

    Raises
    ------
    ParameterError
        If the budget is so small that there is no such noise.
    """
    budgets = _column_budgets(schema, ledger, domain_share)
    return tuple(question for budget in budgets for question in questions(budget, unit=ledger.unit))


def expected_noise(
    domain: Domain, *, rho: Fraction, rows: int | None = None, max_rows_per_unit: int = 1
) -> tuple[dict[str, ExpectedNoise], ExpectedNoise | None]:
    """The noise on each column as mechanism auto measures it first, and roughly that on a pair of
    median size.

    Parameters
    ----------
    domain, rho
        Numbers of levels, and the budget of the model.
    rows
        A guess of the number of records.
    max_rows_per_unit
        Most rows of a person; the noise grows in proportion.
    """
    # The default mechanism's own number, so that the plan follows when it changes.
    one_way = Fraction(Auto.one_way_share)
    weights = Workload.default(domain).relative_weights((name,) for name in domain.attributes)
    shares = measurement_shares(domain, weights)
    # Columns first and exactly: whatever is scored later, these are measured.
    columns = {
        name: _measured(size, rho * one_way * shares[name,], rows, max_rows_per_unit)
        for name, size in zip(domain.attributes, domain.shape, strict=True)
    }
    # Larger pairs are not measured by default, and would make the typical one too large.
    pairs = sorted(a * b for a, b in combinations(domain.shape, 2) if a * b <= MAX_DEFAULT_CELLS)
    if not pairs:
        return columns, None
    part = rho * (1 - one_way) * PAIR_SHARE / len(pairs)
    # One typical pair: which pairs a run measures, and how well, depends on the records.
    return columns, _measured(pairs[(len(pairs) - 1) // 2], part, rows, max_rows_per_unit)


def _measured(
    n_cells: int, rho: Fraction, rows: int | None, max_rows_per_unit: int
) -> ExpectedNoise:
    """The noise on a marginal that is measured once; the mean of ``|noise|`` is ``sqrt(2 / pi)
    sigma``.
    """
    sigma = sqrt(gaussian_sigma_squared(rho, max_rows_per_unit**2))
    misplaced = None if rows is None else min(0.5 * sqrt(2 / pi) * sigma * n_cells / rows, 1.0)
    return ExpectedNoise(n_cells=n_cells, sigma_records=sigma, misplaced_share=misplaced)


def noise_text(
    columns: Mapping[str, ExpectedNoise], pair: ExpectedNoise | None, *, largest: Iterable[str]
) -> str:
    """The noise of the model; of columns named in ``largest`` the cells are the most that they may
    get.
    """
    open_names = set(largest)
    rows = [
        (name, *noise_cells(noise, at_most=name in open_names)) for name, noise in columns.items()
    ]
    listed = table(NOISE_HEADER, rows)
    about = f"{ABOUT_MODEL}; {ABOUT_OPEN}" if open_names else ABOUT_MODEL
    typical = "" if pair is None else f"\n\n{pair_text(pair, at_most=bool(open_names))}"
    return f"{listed}{typical}\n\n{about}"


def pair_text(pair: ExpectedNoise, *, at_most: bool) -> str:
    """The noise on a typical pair, in a line."""
    cells, sigma, misplaced = noise_cells(pair, at_most=at_most)
    return f"a typical pair: {cells} cells, sigma {sigma}" + (
        f", {misplaced} of rows misplaced" if misplaced else ""
    )


def noise_cells(noise: ExpectedNoise, *, at_most: bool) -> Sequence[str]:
    """Cells, sigma and misplaced rows of a marginal, as texts."""
    most = "at most " if at_most else ""
    misplaced = "" if noise.misplaced_share is None else f"{most}{_percent(noise.misplaced_share)}"
    return f"{most}{noise.n_cells}", f"{noise.sigma_records:.4g}", misplaced


def questions_text(schema: OpenSchema, asked: Sequence[Question], *, rows: int | None) -> str:
    """What will be learnt of open columns, and what is lost in noise."""
    header, lines = questions_table(schema, asked, rows=rows)
    return f"{table(header, lines)}\n\n{ABOUT_LEARNING}"


def questions_table(
    schema: OpenSchema, asked: Sequence[Question], *, rows: int | None
) -> tuple[list[str], list[list[str]]]:
    """Header and a line for each question."""
    other = {column.name: column.other for column in schema.open_columns}
    lines = [_question_row(question, other[question.column], rows) for question in asked]
    header = ["column", "question", "sigma", "needs", "of rows", "with fewer records"]
    return (
        (header, lines)
        if rows is not None
        else (header[:4] + header[5:], [line[:4] + line[5:] for line in lines])
    )


def _question_row(question: Question, other: str, rows: int | None) -> list[str]:
    noise = f"{question.sigma:.4g}" + (" (Laplace scale)" if question.is_tree else "")
    least = question.least_records
    if least is None:
        return [question.column, question.about, noise, "", "", ""]
    share = "" if rows is None else _percent(min(least / rows, 1.0))
    fewer = _WITH_FEWER.get(question.about, f"a level becomes {other!r}")
    return [question.column, question.about, noise, f"{least:,.0f}", share, fewer]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
