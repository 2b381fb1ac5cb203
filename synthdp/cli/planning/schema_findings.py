"""What will not work well with a schema: findings that follow from the schema, and from guesses
that are public.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, final

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.workload import MAX_DEFAULT_CELLS
from synthdp.learning.budgets import is_gaussian, takes_thresholds
from synthdp.learning.questions import LearningQuestion
from synthdp.privacy.private_table import MAX_CELLS
from synthdp.release.settings import DOMAIN_SHARE
from synthdp.schema.columns.column import Column
from synthdp.schema.open_column import OpenColumn
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema

MANY_LEVELS, MANY_BINS = 1000, 100
"""Above them a column is remarked on: tenfold noise against one of 100 levels; bins finer than
percentiles.
"""
MAX_NAMES = 8
"""Columns that one line names: more would not fit on it."""
MIN_ROWS_A_RECORD = 20
"""Warned of where a level or range needs more than one row in so many to be found: 5 % of a table
is much to lose.
"""

_MOMENTS = ("date", "datetime")
"""Types of columns of dates."""
_ORDERED = re.compile(r"\s*(`[^`]+`|[\w.]+)\s*(<=|<|>=|>)\s*(`[^`]+`|[\w.]+)\s*")
"""A rule that one column is not above another."""


@final
@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing to know about a schema, and what to do about it."""

    severity: Literal["warning", "note"]
    """``"warning"``: most likely not what is wanted; ``"note"``: good to know."""
    columns: Clique
    """The columns that it is about; none if about all together."""
    what: str
    way_out: str
    """What a person is shown, in one line."""
    excess: float = 0.0
    """How many times what is advised at most is exceeded; the worst is shown first."""

    def __str__(self) -> str:
        where = f"{' x '.join(map(repr, self.columns))}: " if self.columns else ""
        return f"{self.severity}: {where}{self.what}; {self.way_out}"


def schema_findings(
    schema: Schema | OpenSchema, *, domain_share: float = DOMAIN_SHARE
) -> list[Finding]:
    """What is to be said about a schema, warnings first; ``domain_share`` of delta is for what it
    leaves open.
    """
    public = OpenSchema.from_schema(schema) if isinstance(schema, Schema) else schema
    domain = public.largest_domain
    is_open = {column.name for column in public.open_columns}
    findings = [finding for column in public.columns for finding in _of_column(column)]
    findings += [
        *_of_pairs(domain, is_open),
        *_of_rules(public),
        *_of_distances(public),
    ]
    return warnings_first([*findings, *_of_learning(public, domain_share)])


def warnings_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings with warnings before notes, the worst of each first."""
    return sorted(findings, key=lambda finding: (finding.severity == "note", -finding.excess))


def _of_column(column: Column | OpenColumn) -> Iterator[Finding]:
    columns = (column.name,)
    is_open = bool(column.open_parts)
    size = column.most_levels
    is_binned = column.template.has_bins
    most = "up to " if is_open else ""
    what, fewer = (
        ("bins", "use fewer bins")
        if is_binned
        else ("levels", "merge rare levels into synthdp.other")
    )
    if "levels" in column.open_parts:
        fewer = "lower synthdp.max_levels"
    if size == 1 and not is_open:
        if is_binned:
            what = "one bin: values are drawn evenly from all of it"
        else:
            what = "one level: all rows have the same"
        way_out = "give it more, or leave the column out of schema and table"
        yield Finding(severity="warning", columns=columns, what=what, way_out=way_out)
    elif size > MANY_LEVELS:
        cost = (
            f"{most}{size:,} {what}, each with noise of its own: they misplace {size / 100:.0f} times as many rows as "
            f"100 would, and every pair with this column has {size:,} times the other's cells"
        )
        way_out = fewer if is_open else f"{fewer}, from public knowledge"
        yield Finding(
            severity="warning",
            columns=columns,
            what=cost,
            way_out=way_out,
            excess=size / MANY_LEVELS,
        )
    elif is_binned and size > MANY_BINS:
        cost = f"{most}{size:,} bins, each with noise of its own"
        way_out = f"{fewer} if less detail will do"
        yield Finding(
            severity="note", columns=columns, what=cost, way_out=way_out, excess=size / MANY_BINS
        )


def _of_pairs(domain: Domain, is_open: set[str]) -> Iterator[Finding]:
    for (first, n_first), (second, n_second) in combinations(
        zip(domain.attributes, domain.shape, strict=True), 2
    ):
        if (n_cells := n_first * n_second) <= MAX_DEFAULT_CELLS:
            continue
        most = "up to " if {first, second} & is_open else ""
        if n_cells > MAX_CELLS:
            what = (
                f"above the {MAX_CELLS:,} that can be counted: a mechanism that asks for them fails"
            )
        else:
            what = f"above {MAX_DEFAULT_CELLS:,}: left out of the default workload"
        what = f"{most}{n_cells:,} cells, {what}" + (" if there are so many" if most else "")
        way_out = "use fewer levels or bins, or do without how the two depend on each other"
        excess = n_cells / MAX_DEFAULT_CELLS
        yield Finding(
            severity="warning", columns=(first, second), what=what, way_out=way_out, excess=excess
        )


def _of_rules(schema: OpenSchema) -> Iterator[Finding]:
    required = {column.name for column in schema.closed_columns if column.required}
    for rule in schema.rules:
        if "determines" in rule:
            fine, coarse = rule["determines"]
            unless = "" if fine in required else f", except where {fine!r} is missing"
            what = f"redundant: a rule says that it follows from {fine!r}{unless}"
            way_out = "leave it out of schema and table and add it to the result, and the others get its budget"
            yield Finding(severity="note", columns=(coarse,), what=what, way_out=way_out)


def _of_distances(schema: OpenSchema) -> Iterator[Finding]:
    """Columns that may hang together by a difference: dates, and what a rule orders."""
    relative = () if schema.relatives is None else schema.relatives.names
    dates = [
        column.name
        for column in schema.columns
        if column.template.type_name in _MOMENTS and column.name not in relative
    ]
    pairs = dict.fromkeys(combinations(dates, 2), "two columns of dates")
    for rule in schema.rules:
        ordered = _ORDERED.fullmatch(str(rule.get("check", "")))
        if ordered is None:
            continue
        low, high = (
            (ordered[1], ordered[3]) if ordered[2] in ("<", "<=") else (ordered[3], ordered[1])
        )
        pair = (low.strip(" `"), high.strip(" `"))
        if set(pair) <= set(schema.names):
            # The rule says more than that both are dates, and in which order they come.
            pairs.pop((pair[1], pair[0]), None)
            pairs[pair] = "a rule orders them"
    for (first, second), what in pairs.items():
        way_out = f'if they are near each other, give {second!r} "relative_to": "{first}" and bounds of the distance'
        cost = f"{what}, and how far they are apart is known by their bins only"
        yield Finding(severity="note", columns=(first, second), what=cost, way_out=way_out)


def _of_learning(schema: OpenSchema, domain_share: float) -> Iterator[Finding]:
    if n_thresholds := takes_thresholds(schema):
        which = "one column" if n_thresholds == 1 else f"{n_thresholds} columns"
        what = f"{100 * domain_share:g} % of delta is spent on the thresholds of {which} of which something is learnt"
        way_out = 'declare levels, or set "bins" or "binning": "equal-width", and all of it makes for less noise'
        yield Finding(severity="note", columns=(), what=what, way_out=way_out)
    if not is_gaussian(schema):
        columns = tuple(
            column.name for column in schema.open_columns if not is_gaussian(OpenSchema((column,)))
        )
        for name in columns:
            what = "binning 'privtree' is not Gaussian: the run is accounted by zcdp, for which all noise is larger"
            yield Finding(
                severity="note",
                columns=(name,),
                what=what,
                way_out="use 'quantiles' unless you need it",
            )


def question_findings(asked: Iterable[LearningQuestion], rows: int | None) -> Iterator[Finding]:
    """What a guess of the number of rows is too small for."""
    for question in asked:
        least = question.least_records
        # Without a guess of the number of rows nothing can be said of what noise would hide.
        if rows is None or least is None or least * MIN_ROWS_A_RECORD <= rows:
            continue
        if question.about == "levels":
            lost, declare = "most levels may be lost", "levels"
            what = f"a level needs about {least:,.0f} records to be found, and there are {rows:,}: {lost}"
        elif question.about == "bounds":
            lost, declare = "bounds may be too narrow", "bounds"
            what = f"a range needs about {least:,.0f} records to be seen, and there are {rows:,}: {lost}"
        else:
            continue
        way_out = (
            f"declare {declare} that are public, leave fewer columns open, or give more budget"
        )
        columns = (question.column,)
        excess = least * MIN_ROWS_A_RECORD / rows
        yield Finding(
            severity="warning", columns=columns, what=what, way_out=way_out, excess=excess
        )


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    """A line for each finding; one for all columns of which the same is to be said."""
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        of_pair = finding.columns if len(finding.columns) > 1 else ()
        alike.setdefault((finding.severity, finding.what, finding.way_out, *of_pair), []).append(
            finding
        )
    return [_line(group) for group in alike.values()]


def finding_facts(finding: Finding) -> dict[str, object]:
    """A finding as plain JSON values."""
    return {name: getattr(finding, name) for name in ("severity", "columns", "what", "way_out")}


def _line(group: Sequence[Finding]) -> str:
    names = ", ".join(repr(finding.columns[0]) for finding in group[:MAX_NAMES] if len(group) > 1)
    more = f" and {len(group) - MAX_NAMES} more" if len(group) > MAX_NAMES else ""
    first = group[0]
    return (
        f"{first.severity}: {names}{more}: {first.what}; {first.way_out}" if names else str(first)
    )
