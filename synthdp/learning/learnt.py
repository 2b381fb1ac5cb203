"""What was learnt of a column of numbers or dates."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, final

from synthdp.learning.cells.density import Density

if TYPE_CHECKING:
    from synthdp.learning.overshoot import BoundsDoubt, Overshoot

DOUBTFUL = 0.3
"""Part of the range by which the bounds of a tree must be as likely wrong as not to be worth a
word.
"""

CLEARLY, WORTH_A_WORD = 4.0, 0.005
"""Standard deviations by which infinite numbers, or ones beyond the bounds, must stand out, and the
part of all records that they must be. At three, noise alone would say so of one column in 700.
"""


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """What the budget of one column of numbers has bought."""

    density: Density
    """Where the records lie, between the bounds."""
    missing: float
    missing_stddev: float
    """Noisy count of records without a value, and the standard deviation of its noise."""
    present: float
    present_stddev: float
    """The same of records with one."""
    stands_out: bool
    """Whether any record was told from noise."""
    stddev: float
    """Standard deviation of the noise of what the density's points hold, at most."""
    hidden: float = 0.0
    """Where only one value was told from noise, and others are made up beside it, the share of
    records that may have others, as far as noise tells; 1 where values may lie beyond all that
    numbers can have; else 0.
    """
    uncertainty: float = 0.0
    """By how many grid points the bounds are wrong, or less, as likely as not; 0 if they are
    declared.
    """
    overshoot: "Overshoot | None" = None
    """How probable it is that values are drawn where no record has any; None if bounds are
    declared, those of a tree, or of nothing but noise.
    """

    infinite: float = 0.0
    """Noisy count of records with an infinite number, which is missing; its noise is that of those
    without a value.
    """

    clipped: float = 0.0
    """Noisy count of records beyond declared bounds, which two cells have together."""

    settled: "BoundsDoubt | None" = None
    """What is to be said of the bounds, once their bins were measured; None before."""

    lone: int | None = None
    """The one value that was told from noise, as a grid point, where others are made up beside it.
    """

    @property
    def infinite_share(self) -> float:
        """Which share of the records has an infinite number, as far as that stands clear of noise;
        else 0.
        """
        return self._clear_share(self.infinite, self.missing_stddev)

    @property
    def clipped_share(self) -> float:
        """The same of the records beyond declared bounds."""
        return self._clear_share(self.clipped, sqrt(2) * self.missing_stddev)

    def _clear_share(self, count: float, stddev: float) -> float:
        total = max(self.present, 0.0) + max(self.missing, 0.0) + max(self.infinite, 0.0)
        share = count / total if total > 0 else 0.0
        return min(share, 1.0) if count > CLEARLY * stddev and share >= WORTH_A_WORD else 0.0

    @property
    def has_doubtful_bounds(self) -> bool:
        """Whether the bounds are worth a word."""
        if self.settled is not None:
            return self.settled.is_worth_a_word
        if self.overshoot is not None:
            return self.overshoot.is_probable or self.overshoot.leaves_out_many
        return self.uncertainty > DOUBTFUL * int(self.density.widths.sum())

    @property
    def left_out(self) -> float:
        """Which part of the records is to be expected beyond bounds that were learnt."""
        if self.settled is not None:
            return self.settled.left_out
        return 0.0 if self.overshoot is None else self.overshoot.left_out

    @property
    def doubtful_ends(self) -> list[int]:
        """Grid points at which records may end, from the likeliest on: after what they surely
        reach, and after the next cell.
        """
        return [] if self.overshoot is None else self.overshoot.doubtful_ends

    def on_coarser_grid(self, fewer: int) -> "Learnt":
        """The same on a grid with so many decimals less."""
        return replace(
            self,
            density=self.density.on_coarser_grid(10**fewer),
            uncertainty=self.uncertainty / 10**fewer,
            lone=None if self.lone is None else self.lone // 10**fewer,
        )
