"""What a budget gives, and what a wanted accuracy costs: a plan to decide on, before any data is
opened.

Everything here follows from the schema and from numbers that the user gives; all of it is public.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import Literal, cast, final

from synthdp.cli.planning.expected_accuracy import Accuracy, expected_accuracy, expected_domain
from synthdp.cli.planning.expected_noise import (
    expected_ledger,
    expected_questions,
    model_budget,
    quality_budget,
)
from synthdp.core.errors import ParameterError
from synthdp.learning.questions import LearningQuestion
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.release.acceptance import MARGIN
from synthdp.release.certificate.meaning import FALSE_POSITIVES, protection_of_ledger
from synthdp.release.quality import mean_stddev
from synthdp.schema.open_schema import OpenSchema

MOST_EPSILON, LEAST_EPSILON = 100.0, 1e-3
"""Where a wanted accuracy is looked for: beyond, there is no protection, or no table."""

_SEARCHED = 1.05
"""The epsilon that is found is at most so many times the least, before it is rounded up."""


@final
@dataclass(frozen=True, kw_only=True)
class Want:
    """An accuracy that is wanted."""

    what: Literal["columns", "pairs"]
    """Of which error."""
    within: float
    """The largest, as a share of rows."""

    @classmethod
    def parse(cls, text: str) -> "Want":
        """Read ``pairs within 2 %`` or ``columns within 0.5%``.

        Raises
        ------
        ParameterError
            If it is neither, or not above 0 % and below 100 %.

        >>> Want.parse("pairs within 2 %")
        Want(what='pairs', within=0.02)
        """
        match = re.fullmatch(
            r"\s*(columns|pairs)\s+within\s+(\d{1,3}(?:\.\d+)?)\s*%\s*", text, re.ASCII
        )
        if match is None or not 0 < float(match[2]) < 100:
            raise ParameterError(
                f"want is {text!r}; write 'pairs within 2 %' or 'columns within 0.5 %'"
            )
        return cls(what=cast('Literal["columns", "pairs"]', match[1]), within=float(match[2]) / 100)

    def error(self, accuracy: Accuracy) -> float:
        """The error that it is about."""
        errors = accuracy.columns if self.what == "columns" else accuracy.pairs
        if errors is None:
            raise ParameterError(
                "want: the schema has no pairs of columns that are measured; ask for columns"
            )
        return errors

    def __str__(self) -> str:
        return f"{self.what} within {100 * self.within:g} %"


@final
@dataclass(frozen=True, kw_only=True)
class Prospect:
    """What is to be expected of a budget."""

    epsilon: float
    """The budget."""
    accuracy: Accuracy
    """Of the synthetic table."""
    best_true_positives: float
    """What it means for one person; see `synthdp.release.certificate.meaning`."""
    level_needs_records: float | None
    """Records that a value must have to be learnt as a level, more often than not; None if no
    levels are learnt.
    """
    measured_within: float
    """How near the mean errors that a run measures privately are to the true ones, in 95 of 100."""


@final
@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is planned: a public schema, and public numbers."""

    schema: OpenSchema
    """Without the column that tells persons apart."""
    rows: int
    """A guess of the number of records, at least 1."""
    delta: float
    unit: str | None
    max_rows_per_unit: int
    domain_share: float
    """As in `synthesize`."""

    def ledger(self, epsilon: float) -> PrivacyLedger:
        """The budget that a run with an epsilon would have."""
        return expected_ledger(
            self.schema,
            epsilon=epsilon,
            delta=self.delta,
            unit=self.unit,
            max_rows_per_unit=self.max_rows_per_unit,
            domain_share=self.domain_share,
        )

    def questions(self, ledger: PrivacyLedger) -> tuple[LearningQuestion, ...]:
        """What learning the open columns would ask."""
        return expected_questions(self.schema, ledger, domain_share=self.domain_share)

    def at(self, epsilon: float) -> Prospect:
        """What is to be expected of an epsilon."""
        ledger = self.ledger(epsilon)
        asked = self.questions(ledger)
        needs = [question.least_records for question in asked if question.about == "levels"]
        rho = model_budget(self.schema, ledger, domain_share=self.domain_share)
        domain = expected_domain(self.schema)
        return Prospect(
            epsilon=epsilon,
            accuracy=expected_accuracy(domain, rho=rho, rows=self.rows, unit=ledger.unit),
            best_true_positives=protection_of_ledger(ledger).true_positives(FALSE_POSITIVES),
            level_needs_records=max((need for need in needs if need is not None), default=None),
            measured_within=MARGIN
            * mean_stddev(
                quality_budget(self.schema, ledger, domain_share=self.domain_share),
                total=self.rows,
                unit=ledger.unit,
            ),
        )

    def least_epsilon(self, want: Want) -> float | None:
        """The least epsilon, to two digits, of which a wanted accuracy may be expected; None if
        there is none.
        """
        return _least(lambda epsilon: want.error(self.at(epsilon).accuracy) <= want.within)


def _least(is_enough: Callable[[float], bool]) -> float | None:
    """Where an expectation begins to be enough, searched on a logarithmic scale."""
    if not is_enough(MOST_EPSILON):
        return None
    if is_enough(LEAST_EPSILON):
        return LEAST_EPSILON
    low, high = LEAST_EPSILON, MOST_EPSILON
    # Bisection will do: the expected error falls as epsilon grows.
    while high > _SEARCHED * low:
        middle = sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    # Rounded up: the epsilon that is printed has to be enough as well.
    digits = 1 - floor(log10(high))
    return min(ceil(high * 10.0**digits) / 10.0**digits, MOST_EPSILON)
