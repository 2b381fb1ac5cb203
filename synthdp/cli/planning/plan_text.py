"""A plan for people: what budgets give as a small table and picture, and the epsilon that a wanted
accuracy needs.
"""

from collections.abc import Sequence
from dataclasses import asdict
from math import log10
from typing import Any

from synthdp.cli.planning.expected_accuracy import ABOUT_OPEN
from synthdp.cli.planning.plan import LEAST_EPSILON, MOST_EPSILON, Plan, Prospect, Want
from synthdp.core.percent import percent
from synthdp.inference.graphical.possible_rows import check_possible
from synthdp.release.certificate.certificate import LARGE_EPSILON, advised_delta
from synthdp.release.certificate.meaning import FALSE_POSITIVES
from synthdp.release.settings import DOMAIN_SHARE, checked_share
from synthdp.report.texts.listing import table
from synthdp.schema.public_files import load_public

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Shown in any case: from strong protection to hardly any, about three times as much each."""

_WIDTH, _LEAST_SHOWN = 24, 1e-3
"""Characters of the bar of all rows, and the share of rows that has none: each third of a bar is a
factor of ten.
"""

ABOUT = (
    "columns, pairs: rows in the wrong level of one column, or of two together, on average; by auto's own plan for\n"
    "  a table of which nothing is known: levels as frequent as Zipf's law has them, pairs that depend a little.\n"
    "  docs/plan.md says how far off that was on real tables"
)
ABOUT_ONLY_COLUMNS = (
    "alone: noise would hide how columns depend on each other, so that only columns are measured"
)
ABOUT_PERSON = (
    f"one person: whoever wrongly takes {100 * FALSE_POSITIVES:g} % of those who are not in the table to be in it can "
    "recognise\n  at most so many of those who are, with whatever else they know"
)
ABOUT_LEVELS = (
    "a level needs: records that a value must have to be learnt more often than not; the others become one level,\n"
    f"  which does not count as wrong; {ABOUT_OPEN}"
)


def plan_of(
    path: str,
    *,
    rows: int,
    delta: float | None = None,
    unit: str | None = None,
    max_rows_per_unit: int = 1,
    domain_share: float = DOMAIN_SHARE,
) -> Plan:
    """The plan of a schema file; takes what `describe_plan` does, and raises as it does."""
    share = checked_share(domain_share)
    schema, _ = load_public(path)
    schema = schema.without(unit) if unit is not None and unit in schema.names else schema
    check_possible(schema.outline.domain, schema.outline.constraints)
    return Plan(
        schema=schema,
        rows=rows,
        delta=advised_delta(rows) if delta is None else delta,
        unit=unit,
        max_rows_per_unit=max_rows_per_unit,
        domain_share=share,
    )


def describe_plan(
    path: str,
    *,
    rows: int,
    epsilon: float | None = None,
    delta: float | None = None,
    want: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: int = 1,
    domain_share: float = DOMAIN_SHARE,
    block: str = "#",
) -> tuple[dict[str, Any], str]:
    """What budgets give with a schema file, as plain JSON values and as text for people.

    Parameters
    ----------
    path
        The schema or kinds file; nothing else is opened.
    rows
        A public guess of the number of records, at least 1.
    epsilon
        A further epsilon to show.
    delta
        By default a power of ten of at most 1 / (100 rows).
    want
        What is wanted, such as ``"pairs within 2 %"``: the epsilon that it needs is looked for.
    unit, max_rows_per_unit, domain_share
        As in `synthdp.cli.planning.schema_check.describe_check`.
    block
        What bars are made of, one character.

    Raises
    ------
    DataFileError, SchemaError
        If the file cannot be read, or the schema contradicts itself.
    ParameterError, PrivacyError
        If its rules forbid everything, a number is out of range, or ``want`` is not understood.
    """
    wanted = None if want is None else Want.parse(want)
    plan = plan_of(
        path,
        rows=rows,
        delta=delta,
        unit=unit,
        max_rows_per_unit=max_rows_per_unit,
        domain_share=domain_share,
    )
    prospects = [
        plan.at(each) for each in sorted({*EPSILONS, *([] if epsilon is None else [epsilon])})
    ]
    content = _contents(plan, prospects)
    if wanted is not None:
        least = plan.least_epsilon(wanted)
        content["want"] = asdict(wanted) | {"epsilon": least}
    answer = [] if wanted is None else [_answer(plan, wanted, least)]
    return content, "\n\n".join(
        [_title(plan), _budgets(prospects, block), *answer, "\n".join(_notes(prospects))]
    )


def _contents(plan: Plan, prospects: Sequence[Prospect]) -> dict[str, Any]:
    """The plan as plain JSON values."""
    budgets = [
        {
            "epsilon": prospect.epsilon,
            **asdict(prospect.accuracy),
            "best_true_positives": prospect.best_true_positives,
            "level_needs_records": prospect.level_needs_records,
            "measured_within": prospect.measured_within,
        }
        for prospect in prospects
    ]
    return {
        "rows": plan.rows,
        "delta": plan.delta,
        "unit": plan.unit,
        "max_rows_per_unit": plan.max_rows_per_unit,
        "false_positives": FALSE_POSITIVES,
        "budgets": budgets,
        "want": None,
    }


def _title(plan: Plan) -> str:
    most = "1 row" if plan.max_rows_per_unit == 1 else f"{plan.max_rows_per_unit:,} rows"
    whose = "" if plan.unit is None else f", persons with at most {most}"
    n_columns = len(plan.schema.columns)
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    return (
        f"what to expect of mechanism auto: {columns}, about {plan.rows:,} rows{whose}, delta {plan.delta:g}; "
        "no data was opened"
    )


def _budgets(prospects: Sequence[Prospect], block: str) -> str:
    """A line for each budget, with a bar for what is misplaced."""
    levels = any(prospect.level_needs_records is not None for prospect in prospects)
    header = [
        "epsilon",
        "columns",
        "pairs",
        "one person",
        *(["a level needs"] if levels else []),
        "pairs misplaced",
    ]
    if all(prospect.accuracy.pairs is None for prospect in prospects):
        header[-1] = "columns misplaced"
    lines = []
    for prospect in prospects:
        accuracy = prospect.accuracy
        alone = " alone" if accuracy.only_columns and accuracy.pairs is not None else ""
        needs = [_records(prospect.level_needs_records)] if levels else []
        bar = _bar(accuracy.columns if accuracy.pairs is None else accuracy.pairs, block)
        person = percent(prospect.best_true_positives)
        lines.append([f"{prospect.epsilon:g}", *_errors(prospect), person, *needs, bar + alone])
    return table(header, lines)


def _errors(prospect: Prospect) -> tuple[str, str]:
    pairs = prospect.accuracy.pairs
    return percent(prospect.accuracy.columns), "" if pairs is None else percent(pairs)


def _bar(share: float, block: str) -> str:
    """A bar on a logarithmic scale, of at least one character."""
    whole = -log10(_LEAST_SHOWN)
    return block * max(round(_WIDTH * (1 + log10(max(share, _LEAST_SHOWN)) / whole)), 1)


def _records(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"


def _answer(plan: Plan, want: Want, least: float | None) -> str:
    """What a wanted accuracy needs."""
    if least is None:
        best = percent(want.error(plan.at(MOST_EPSILON).accuracy))
        way_out = "fewer columns, or fewer levels or bins, would help" + (
            "" if want.what == "columns" else ", or more rows"
        )
        return f"{want}: not to be expected at any epsilon up to {MOST_EPSILON:g}, where it is {best}; {way_out}"
    if least > LARGE_EPSILON:
        return f"{want}: epsilon {least:g}, which is above {LARGE_EPSILON:g} and protects against little"
    if least <= LEAST_EPSILON:
        return f"{want}: epsilon {LEAST_EPSILON:g} is enough"
    return f"{want}: epsilon {least:g}"


def _notes(prospects: Sequence[Prospect]) -> list[str]:
    """What the columns of the table mean."""
    only = any(
        prospect.accuracy.only_columns and prospect.accuracy.pairs is not None
        for prospect in prospects
    )
    levels = any(prospect.level_needs_records is not None for prospect in prospects)
    margins = ", ".join(percent(each.measured_within) for each in prospects)
    return [
        ABOUT,
        ABOUT_PERSON,
        "a run measures its mean errors privately, and --accept holds them against limits; these budgets do so\n"
        f"  to within {margins}",
        *([ABOUT_LEVELS] if levels else []),
        *([ABOUT_ONLY_COLUMNS] if only else []),
    ]
