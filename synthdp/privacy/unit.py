"""The unit of privacy: what is protected as one, and how far it can move a count."""

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import final

from synthdp.core.errors import ParameterError

MAX_ROWS = 1 << 20
"""Most records of one person: with more, noise would drown any table that fits into memory."""


class Adjacency(Enum):
    """Which tables count as neighbours, that is, what one person can change."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @property
    def marginal_l2_squared(self) -> int:
        """Squared L2 sensitivity of the counts of one marginal, in records squared.

        A record that comes or goes changes one cell by 1; a replaced record changes two.
        """
        return 1 if self is Adjacency.ADD_REMOVE else 2

    @property
    def marginal_l1(self) -> int:
        """Sensitivity of the L1 distance between one marginal and public numbers, in records."""
        return 1 if self is Adjacency.ADD_REMOVE else 2


def gaussian_sigma_squared(rho: Fraction, sensitivity_squared: int) -> Fraction:
    """Variance parameter of Gaussian noise that costs exactly ``rho``, by squared L2 sensitivity
    [BS16, Prop. 1.6].
    """
    return sensitivity_squared / (2 * rho)


@final
@dataclass(frozen=True, kw_only=True)
class PrivacyUnit:
    """What is protected as one: a record, or all records of a person.

    Raises
    ------
    ParameterError
        If ``max_rows`` is not a whole number of at least 1, persons are not told apart, or are
        replaced: a person who is replaced may have another number of records, which would then
        have to be public.
    """

    adjacency: Adjacency
    """Which tables are neighbours."""
    max_rows: int = 1
    """Most records of one person, enforced before anything is counted. All of them may fall
    into one cell, so that every sensitivity is ``max_rows`` times that of one record.
    """
    column: str | None = None
    """The column that tells persons apart; None if each record is a unit of its own."""

    def __post_init__(self) -> None:
        if (
            isinstance(self.max_rows, bool)
            or not isinstance(self.max_rows, int)
            or not 1 <= self.max_rows <= MAX_ROWS
        ):
            raise ParameterError(
                f"max_rows_per_unit is {self.max_rows}; give a whole number of at least 1 and at most {MAX_ROWS}"
            )
        if self.column is None and self.max_rows > 1:
            raise ParameterError(
                f"max_rows_per_unit is {self.max_rows} but there is no unit; name the person's column"
            )
        if self.column is not None and self.adjacency is not Adjacency.ADD_REMOVE:
            raise ParameterError(
                "adjacency is 'replace-one', which is for records; with a unit give 'add-remove'"
            )

    @property
    def as_record(self) -> "PrivacyUnit":
        """The same where each unit counts as one record, whatever rows it has."""
        return replace(self, max_rows=1)

    @property
    def marginal_l2_squared(self) -> int:
        """Squared L2 sensitivity of the counts of one marginal, in records squared."""
        # Squared, not times max_rows: all records of a person may fall into one cell.
        return self.adjacency.marginal_l2_squared * self.max_rows**2

    @property
    def marginal_l1(self) -> int:
        """Sensitivity of the L1 distance between one marginal and public numbers, in records."""
        return self.adjacency.marginal_l1 * self.max_rows

    def sigma_squared(self, rho: Fraction, n: int = 1) -> Fraction:
        """Variance parameter of the Gaussian noise on each count of ``n`` marginals that cost
        ``rho`` together.

        In records squared: together they move by at most ``n marginal_l2_squared`` (squared L2), so
        this is ``n marginal_l2_squared / (2 rho)``, exactly.
        """
        return gaussian_sigma_squared(rho, n * self.marginal_l2_squared)
