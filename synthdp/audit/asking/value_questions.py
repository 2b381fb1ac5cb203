"""Questions to private values: histograms, frequent values and trees."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from scipy.special import log_ndtr, ndtr

from synthdp.audit.asking.questions import (
    CountsQuestion,
    FloatArray,
    IntArray,
    Question,
    gaussian_log_ratio,
    with_noise,
)
from synthdp.core.grid import Grid
from synthdp.privacy.events import Event, exact_rho
from synthdp.privacy.noise.randomness import Randomness
from synthdp.privacy.values.private_values import FrequentValues, NoisyHistogram, ValueSource
from synthdp.privacy.values.privtree import PrivTreeEvent, split_tree
from synthdp.privacy.values.thresholds import value_weights
from synthdp.privacy.values.value_events import PartitionEvent

CERTAIN = 50.0
"""Log ratio of what only one of the tables can have said; beyond any that noise gives."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram(CountsQuestion[ValueSource]):
    """Counts of public cells: `PrivateValues.histogram`."""

    grid: Grid
    starts: IntArray
    rho: Fraction | float
    shared: bool = False

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Everything that was asked."""
        starts = tuple(np.asarray(self.starts).tolist())
        return "histogram", self.grid, starts, exact_rho(self.rho), self.shared

    def ask(self, kernel: Any) -> Any:
        """The kernel's answer."""
        return kernel.histogram(self.grid, self.starts, rho=self.rho, shared=self.shared)

    def exact(self, source: ValueSource) -> IntArray:
        """The cells."""
        is_shared = self.shared and source.most_values(self.grid) > 1
        count = source.shared_histogram if is_shared else source.histogram
        return count(self.grid, np.asarray(self.starts, dtype=np.int64))

    def numbers(self, answer: NoisyHistogram) -> FloatArray:
        """The noisy cells, in units of weight."""
        ends = [answer.missing, answer.below] if answer.starts.size else [answer.missing]
        # Answers are in records.
        return np.array([*ends, *answer.counts]) * value_weights(answer.most_cells)[0]


class Values(NamedTuple):
    """All values that occur, with their counts, and how many are missing."""

    counts: Mapping[str | int, int]
    missing: int

    @classmethod
    def from_source(cls, source: ValueSource, grid: Grid) -> "Values":
        """The values of one column."""
        frequencies = source.frequencies(grid)
        counts = [count for block in frequencies.counts() for count in block.tolist()]
        values = frequencies.values(np.arange(len(counts)))
        plain = [value if isinstance(value, str) else int(value) for value in values]
        return cls(dict(zip(plain, counts, strict=True)), frequencies.missing())

    def moved(self, other: "Values", *, power: int) -> int:
        """Sum of the powers of the differences of all counts, those of missing values among them."""
        moves = [self.missing - other.missing]
        moves += [
            self.counts.get(v, 0) - other.counts.get(v, 0) for v in {*self.counts, *other.counts}
        ]
        return sum(abs(difference) ** power for difference in moves)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Frequent(Question[ValueSource]):
    """Values that many share: `PrivateValues.frequent`."""

    grid: Grid
    rho: Fraction | float
    delta: Fraction | float

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Everything that was asked."""
        return "frequent", self.grid, exact_rho(self.rho), Fraction(self.delta)

    def ask(self, kernel: Any) -> Any:
        """The kernel's answer."""
        return kernel.frequent(self.grid, rho=self.rho, delta=self.delta)

    def exact(self, source: ValueSource) -> Values:
        """All values and their counts."""
        return Values.from_source(source, self.grid)

    def plain(self, answer: FrequentValues[str | int]) -> object:
        """Released values with their noisy counts."""
        return dict(answer.counts), answer.missing

    def expected(self, event: PartitionEvent, exact: Values, bits: Randomness) -> object:
        """The values that pass the event's threshold with noise of its scale."""
        counts = (
            np.array(each, dtype=np.int64) for each in ([exact.missing], [*exact.counts.values()])
        )
        (missing,), noisy = (with_noise(event, each, bits) for each in counts)
        pairs = zip(exact.counts, noisy, strict=True)
        weight = event.weight  # answers are in records
        passing = {value: count / weight for value, count in pairs if count >= event.threshold}
        return passing, missing / weight

    def excess(self, event: PartitionEvent, one: Values, other: Values) -> Iterator[str]:
        """A distance beyond the declared one, or a threshold too low for values of one unit alone."""
        if (moved := one.moved(other, power=2)) > event.sensitivity_squared:
            yield f"its exact numbers move by {moved} (squared L2), {event.sensitivity_squared} declared"
        sigma = float(event.sigma_squared) ** 0.5
        # Whichever of the values passes that only one of the tables has.
        passes = max(
            sum(
                float(ndtr(-(event.threshold - 0.5 - count) / sigma))
                for value, count in table.counts.items()
                if value not in against.counts
            )
            for table, against in ((one, other), (other, one))
        )
        if passes > float(event.delta) * (1 + 1e-9):
            yield f"a value of one unit passes with probability {passes:.3g}, {float(event.delta):.3g} declared"

    def log_ratio(
        self, event: Event | None, answer: FrequentValues[str | int], one: Values, other: Values
    ) -> float:
        """By the Gaussian density of what was released, and the tail of what was not."""
        if not isinstance(event, PartitionEvent):
            return 0.0
        variance = float(event.sigma_squared)
        limit = event.threshold - 0.5
        missing = answer.missing * event.weight
        squares = (missing - one.missing) ** 2 - (missing - other.missing) ** 2
        total = squares / (2 * variance)
        # Values are independent given the counts, so their log ratios add up; a value that is in
        # neither table has none.
        for value in {*one.counts, *other.counts}:
            left = one.counts.get(value, 0)
            right = other.counts.get(value, 0)
            if value not in answer.counts:
                tails = [
                    log_ndtr((limit - count) / variance**0.5) if count else 0.0
                    for count in (left, right)
                ]
                total += float(tails[1] - tails[0])
            elif left and right:
                pair = np.array([left]), np.array([right])
                count = answer.counts[value] * event.weight
                total += gaussian_log_ratio(np.array([count]), *pair, variance)
            else:
                total += CERTAIN if right else -CERTAIN
        return total


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class SplitTree(Question[ValueSource]):
    """Cells that are narrow where records are dense: `PrivateValues.split_tree`."""

    grid: Grid
    first: int
    stop: int
    rho: Fraction | float

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Everything that was asked."""
        return "tree", self.grid, self.first, self.stop, exact_rho(self.rho)

    def ask(self, kernel: Any) -> Any:
        """The kernel's answer."""
        return kernel.split_tree(self.grid, self.first, self.stop, rho=self.rho)

    def exact(self, source: ValueSource) -> Values:
        """All grid points that occur, and their counts."""
        return Values.from_source(source, self.grid)

    def plain(self, answer: IntArray) -> object:
        """Where the cells begin and end."""
        return answer.tolist()

    def expected(self, event: PrivTreeEvent, exact: Values, bits: Randomness) -> object:
        """The cells of the event's scale and decay."""
        points = np.clip(np.array(list(exact.counts), dtype=np.int64), self.first, self.stop - 1)
        below = np.concatenate([[0], np.cumsum(list(exact.counts.values()), dtype=np.int64)])
        starts, end = split_tree(
            lambda limits: below[np.searchsorted(points, limits)],
            self.first,
            self.stop,
            scale=event.scale,
            decay=event.decay,
            randomness=bits,
        )
        return [*starts.tolist(), end]

    def excess(self, event: PrivTreeEvent, one: Values, other: Values) -> Iterator[str]:
        """More records that come or go than declared."""
        if (moved := one.moved(other, power=1)) > event.sensitivity:
            yield f"{moved} records come or go, {event.sensitivity} declared"

    def log_ratio(self, event: Event | None, answer: Any, one: Any, other: Any) -> float:  # noqa: ARG002
        """0: what a tree tells is left to the other statistics of an attack."""
        return 0.0
