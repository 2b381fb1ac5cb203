"""How much noise to expect of a budget: of learning what a schema leaves open, and of the model.

Everything here follows from the schema and from numbers that the user gives; all of it is public.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import final

from synthdp.cli.planning.expected_accuracy import (
    ABOUT_OPEN,
    MAX_COLUMNS,
    Accuracy,
)
from synthdp.core.domain import Domain
from synthdp.core.percent import percent
from synthdp.core.workload import Workload
from synthdp.learning.budgets import ColumnBudget, column_budgets
from synthdp.learning.questions import LearningQuestion, questions
from synthdp.mechanisms.auto.auto import Auto
from synthdp.mechanisms.shared.allocation import measurement_shares
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.unit import gaussian_sigma_squared
from synthdp.privacy.values.records import MOST_ROWS
from synthdp.release.release import Release
from synthdp.release.run_settings import RunSettings
from synthdp.release.settings import DOMAIN_SHARE, QUALITY_SHARE
from synthdp.report.texts.listing import table
from synthdp.schema.open_schema import OpenSchema

ABOUT_MODEL = (
    "sigma: noise on each count of a column as mechanism auto measures it first, with "
    f"{100 * Auto.one_way_share:g} % of the budget, or with all of it where noise would hide how columns depend on "
    "each other; rows misplaced: by auto's own plan, as synthdp plan says it, of up to "
    f"{MAX_COLUMNS} columns"
)
ABOUT_LEARNING = (
    "sigma: noise on each count, in records; needs: records that something must have to be found more often "
    "than not; questions that turn out to be needless are not asked, and others then have less noise; of columns "
    "with many records in levels that were not found levels are asked for again: with up to half as much of the "
    "budget once more, so that down to half as many records will do"
)
ABOUT_UNIT = (
    "with --unit and --max-rows-per-unit K noise of the model is K times as large, and what is learnt needs about "
    "sqrt(K) times the rows"
)
NOISE_HEADER = ("column", "cells", "sigma", "rows misplaced")
_WITH_FEWER = {
    "bounds": "values that far out are clipped",
    "single values": "a value is spread over its bin",
    "heaping": "round values are as frequent as others",
    "decimals": "further decimals are rounded off",
    "missing": "no value is missing",
    "reading": "what is read or found of it is not known",
}


@final
@dataclass(frozen=True, kw_only=True)
class ExpectedNoise:
    """The noise of measuring one column."""

    n_cells: int
    """Number of cells of the column, "missing" included; of open columns as many as they are taken
    to have.
    """
    sigma_records: float
    """Standard deviation of the noise on each cell's count, in records."""


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
) -> tuple[LearningQuestion, ...]:
    """What learning the open columns will ask, with how much noise.

    Of persons with up to K rows, each one record in learning, of a table that is read, numbers of
    records that are needed are of rows: of sqrt(K) a person, between one and all.

    Raises
    ------
    ParameterError
        If the budget is so small that there is no such noise.
    """
    budgets = _column_budgets(schema, ledger, domain_share)
    unit, most = ledger.unit.as_record, min(ledger.unit.max_rows, MOST_ROWS)
    asked = [each for one in budgets for each in questions(one, unit=unit, most_values=most)]
    return tuple(_of_rows(each, ledger.unit.max_rows) for each in asked)


def _of_rows(question: LearningQuestion, max_rows: int) -> LearningQuestion:
    """A question about persons, with what it needs in rows."""
    if max_rows == 1 or question.least_records is None:
        return question
    return replace(question, least_records=sqrt(max_rows) * question.least_records)


def expected_noise(
    domain: Domain, *, rho: Fraction, max_rows_per_unit: int = 1, only_columns: bool = False
) -> dict[str, ExpectedNoise]:
    """The noise on each column as mechanism auto measures it first.

    Parameters
    ----------
    domain, rho
        Numbers of levels, and the budget of the model.
    max_rows_per_unit
        Most rows of a person; the noise grows in proportion.
    only_columns
        Whether nothing else is measured, so that they have the whole budget.
    """
    # The default mechanism's own number, so that the plan follows when it changes.
    one_way = Fraction(1) if only_columns else Fraction(Auto.one_way_share)
    weights = Workload.default(domain).relative_weights((name,) for name in domain.attributes)
    shares = measurement_shares(domain, weights)
    return {
        name: ExpectedNoise(
            n_cells=size,
            sigma_records=sqrt(
                gaussian_sigma_squared(rho * one_way * shares[name,], max_rows_per_unit**2)
            ),
        )
        for name, size in zip(domain.attributes, domain.shape, strict=True)
    }


def noise_text(
    columns: Mapping[str, ExpectedNoise], accuracy: Accuracy | None, *, guessed: Iterable[str]
) -> str:
    """The noise of the model; of columns named in ``guessed`` the cells are taken for granted."""
    open_names = set(guessed)
    listed = table(NOISE_HEADER, noise_rows(columns, accuracy, guessed=open_names))
    about = f"{ABOUT_MODEL}; {ABOUT_OPEN}" if open_names else ABOUT_MODEL
    return "\n\n".join([listed, *accuracy_lines(accuracy), about])


def noise_rows(
    columns: Mapping[str, ExpectedNoise], accuracy: Accuracy | None, *, guessed: Iterable[str]
) -> list[Sequence[str]]:
    """Name, cells, sigma and misplaced rows of each column, as texts."""
    open_names = set(guessed)
    by_column = {} if accuracy is None else accuracy.by_column
    return [
        (
            name,
            f"{'about ' if name in open_names else ''}{noise.n_cells}",
            f"{noise.sigma_records:.4g}",
            percent(by_column[name]) if name in by_column else "",
        )
        for name, noise in columns.items()
    ]


def accuracy_lines(accuracy: Accuracy | None) -> list[str]:
    """What the plan expects of all columns and pairs, in a line; none without a number of rows."""
    if accuracy is None:
        return []
    together = "" if accuracy.pairs is None else f", of two together {percent(accuracy.pairs)}"
    return [f"rows misplaced, on average: of one column {percent(accuracy.columns)}{together}"]


def questions_text(
    schema: OpenSchema, asked: Sequence[LearningQuestion], *, rows: int | None
) -> str:
    """What will be learnt of open columns, and what is lost in noise."""
    header, lines = questions_table(schema, asked, rows=rows)
    return f"{table(header, lines)}\n\n{ABOUT_LEARNING}"


def questions_table(
    schema: OpenSchema, asked: Sequence[LearningQuestion], *, rows: int | None
) -> tuple[list[str], list[list[str]]]:
    """Header and a line for each question."""
    other = {column.name: column.other for column in schema.open_columns}
    lines = [_question_row(question, other[question.column], rows) for question in asked]
    header = ["column", "question", "sigma", "needs", "of rows", "with fewer records"]
    if rows is not None:
        return (header, lines)
    return (header[:4] + header[5:], [line[:4] + line[5:] for line in lines])


def _question_row(question: LearningQuestion, other: str, rows: int | None) -> list[str]:
    noise = f"{question.sigma:.4g}" + (" (Laplace scale)" if question.is_tree else "")
    least = question.least_records
    if least is None:
        return [question.column, question.about, noise, "", "", ""]
    share = "" if rows is None else _percent(min(least / rows, 1.0))
    fewer = _WITH_FEWER.get(question.about, f"a level becomes {other!r}")
    return [question.column, question.about, noise, f"{least:,.0f}", share, fewer]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
