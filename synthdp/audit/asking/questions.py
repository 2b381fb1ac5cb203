"""Questions to a private table: their exact answers, how far these may move, and what noisy ones
tell.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from synthdp.core.cliques import Clique
from synthdp.core.measurement import Coarsening, LinearMeasurement
from synthdp.privacy.events import CountsEvent, Event, ScoresEvent, SelectionEvent, exact_rho
from synthdp.privacy.noise.exact import exponential_mechanism
from synthdp.privacy.noise.gaussian import add_noise, gaussian_noise
from synthdp.privacy.noise.randomness import Randomness
from synthdp.privacy.private_table import CountSource
from synthdp.privacy.scores import MarginalL1Error

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Source = TypeVar("Source")


class Question(ABC, Generic[Source]):
    """A question to the kernel, with all that its exact answer depends on besides the records."""

    @property
    @abstractmethod
    def key(self) -> tuple[Hashable, ...]:
        """Everything that was asked; equal for equal questions."""

    @abstractmethod
    def ask(self, kernel: Any) -> Any:
        """The kernel's answer."""

    @abstractmethod
    def exact(self, source: Source) -> Any:
        """The exact answer, before noise or choice."""

    @abstractmethod
    def plain(self, answer: Any) -> object:
        """An answer in values that can be compared."""

    @abstractmethod
    def expected(self, event: Any, exact: Any, bits: Randomness) -> object:
        """The plain answer to be expected from an event with these random bits."""

    @abstractmethod
    def excess(self, event: Any, one: Any, other: Any) -> Iterator[str]:
        """In what exact answers of neighbours differ by more than the event declares."""

    @abstractmethod
    def log_ratio(self, event: Event | None, answer: Any, one: Any, other: Any) -> float:
        """Logarithm of how much more probable an answer is where ``other`` is exact than where
        ``one`` is.
        """


def with_noise(event: CountsEvent, exact: IntArray, bits: Randomness) -> list[float]:
    """Exact numbers with noise of an event's scale."""
    # The scale is the one that the event declares: a kernel that drew other noise would give
    # another answer.
    noise = gaussian_noise(sigma_squared=event.sigma_squared, size=exact.size, randomness=bits)
    return [float(number) for number in add_noise(exact, noise)]


class CountsQuestion(Question[Source]):
    """A question of which the answer is whole numbers with Gaussian noise on each."""

    @abstractmethod
    def numbers(self, answer: Any) -> FloatArray:
        """The noisy numbers of an answer, shape ``(n,)`` as the exact ones."""

    def plain(self, answer: Any) -> object:
        """The noisy numbers."""
        return self.numbers(answer).tolist()

    def expected(self, event: CountsEvent, exact: IntArray, bits: Randomness) -> object:
        """The exact numbers with noise of the event's scale."""
        return with_noise(event, exact, bits)

    def excess(self, event: Any, one: IntArray, other: IntArray) -> Iterator[str]:
        """Squared L2 distance beyond the declared one."""
        # Whole numbers, so that the comparison is exact: a sensitivity that is a little too small
        # is not excused by rounding.
        if (moved := int(np.square(one - other).sum())) > event.sensitivity_squared:
            yield f"its exact numbers move by {moved} (squared L2), {event.sensitivity_squared} declared"

    def log_ratio(self, event: Event | None, answer: Any, one: IntArray, other: IntArray) -> float:
        """By the Gaussian density, to which rounding changes little."""
        if not isinstance(event, CountsEvent):
            return 0.0
        return gaussian_log_ratio(self.numbers(answer), one, other, float(event.sigma_squared))


def gaussian_log_ratio(noisy: FloatArray, one: IntArray, other: IntArray, variance: float) -> float:
    """Log ratio of two Gaussian densities of one variance at noisy numbers."""
    return float((np.square(noisy - one) - np.square(noisy - other)).sum() / (2 * variance))


def merging_key(coarsening: Coarsening | None) -> Hashable:
    """Which levels are merged."""
    groups = coarsening.groups if coarsening else {}
    return tuple((name, tuple(codes.tolist())) for name, codes in sorted(groups.items()))


def score_key(score: MarginalL1Error) -> Hashable:
    """Everything that a score is made of."""
    extras = [tuple((settings or {}).items()) for settings in (score.weights, score.penalties)]
    estimates = tuple(
        (clique, np.asarray(values).tobytes()) for clique, values in score.estimates.items()
    )
    # By content: a run may make an equal score anew at each round.
    return estimates, *extras, merging_key(score.coarsening)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Measure(CountsQuestion[CountSource]):
    """A marginal: `PrivateTable.measure`."""

    clique: Clique
    rho: Fraction | float
    coarsening: Coarsening | None

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Everything that was asked."""
        return "measure", tuple(self.clique), exact_rho(self.rho), merging_key(self.coarsening)

    def ask(self, kernel: Any) -> Any:
        """The kernel's answer."""
        return kernel.measure(self.clique, rho=self.rho, coarsening=self.coarsening)

    def exact(self, source: CountSource) -> IntArray:
        """The cells of the marginal, merged."""
        clique = tuple(self.clique)
        (counts,) = source.counts_of([clique])
        return (self.coarsening.apply(clique, counts) if self.coarsening else counts).ravel()

    def numbers(self, answer: LinearMeasurement) -> FloatArray:
        """The noisy cells."""
        return answer.values.ravel()

    def log_ratio(self, event: Event | None, answer: Any, one: IntArray, other: IntArray) -> float:
        """As all counts; by the scale that the answer states, if nothing was charged."""
        # A kernel that charges nothing is what the audit looks for: its answer tells as much all
        # the same.
        if event is not None:
            return super().log_ratio(event, answer, one, other)
        return gaussian_log_ratio(self.numbers(answer), one, other, float(answer.stddev) ** 2)


class ScoredQuestion(Question[CountSource]):
    """A question about the scores of candidates."""

    candidates: Sequence[Clique]
    score: MarginalL1Error
    rho: Fraction | float

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Everything that was asked."""
        return (
            type(self).__name__,
            tuple(self.candidates),
            exact_rho(self.rho),
            score_key(self.score),
        )

    def errors(self, source: CountSource) -> list[int]:
        """Exact errors of all candidates, in units of the score's grid."""
        merging = self.score.coarsening
        cliques = [tuple(clique) for clique in self.candidates]
        counted = zip(cliques, source.counts_of(cliques), strict=True)
        return [
            self.score.error(c, merging.apply(c, counts) if merging else counts)
            for c, counts in counted
        ]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Scores(ScoredQuestion, CountsQuestion[CountSource]):
    """The scores of all candidates: `PrivateTable.scores`."""

    candidates: Sequence[Clique]
    score: MarginalL1Error
    rho: Fraction | float

    def ask(self, kernel: Any) -> Any:
        """The kernel's answer."""
        return kernel.scores(self.candidates, score=self.score, rho=self.rho)

    def exact(self, source: CountSource) -> IntArray:
        """Errors in whole records."""
        return np.array(
            [self.score.whole_records(error) for error in self.errors(source)], dtype=np.int64
        )

    def numbers(self, answer: dict[Clique, float]) -> FloatArray:
        """Noisy errors in whole records: two of a score's values tell its public weight and
        penalty.
        """
        steps = []
        for clique, value in answer.items():
            # A noisy score is a line in the error, so two points undo weight and penalty; both are
            # public.
            zero = self.score.noisy(clique, 0)
            steps.append(round((value - zero) / (self.score.noisy(clique, 1) - zero)))
        return np.array(steps, dtype=np.float64)

    def excess(self, event: ScoresEvent, one: IntArray, other: IntArray) -> Iterator[str]:
        """Distances beyond the declared ones."""
        yield from super().excess(event, one, other)
        if (moved := int(np.abs(one - other).max())) > event.sensitivity:
            yield f"a score moves by {moved}, {event.sensitivity} declared"


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Select(ScoredQuestion):
    """The choice of a candidate: `PrivateTable.select`."""

    candidates: Sequence[Clique]
    score: MarginalL1Error
    rho: Fraction | float

    def ask(self, kernel: Any) -> Any:
        """The kernel's answer."""
        return kernel.select(self.candidates, score=self.score, rho=self.rho)

    def exact(self, source: CountSource) -> list[int]:
        """Scores of all candidates in units of their grid."""
        scored = zip(self.candidates, self.errors(source), strict=True)
        return [self.score.weighted(tuple(clique), error) for clique, error in scored]

    def plain(self, answer: Any) -> object:
        """The candidate."""
        return tuple(answer)

    def expected(self, event: SelectionEvent, exact: list[int], bits: Randomness) -> object:
        """The candidate that the exponential mechanism draws."""
        gaps = [max(exact) - unit for unit in exact]
        return tuple(self.candidates[exponential_mechanism(gaps, self._per_unit(event), bits)])

    def _per_unit(self, event: SelectionEvent) -> Fraction:
        """What a unit of the score adds to the logarithm of a candidate's probability."""
        return event.epsilon / (2 * event.sensitivity * self.score.units_per_record)

    def excess(self, event: SelectionEvent, one: list[int], other: list[int]) -> Iterator[str]:
        """A score beyond the sensitivity, or a range of moves beyond epsilon, which the cost stands
        on [CR21, DR19].
        """
        moves = [
            Fraction(a - b, self.score.units_per_record) for a, b in zip(one, other, strict=True)
        ]
        if (most := max(map(abs, moves))) > event.sensitivity:
            yield f"a score moves by {float(most):.6g}, {float(event.sensitivity):.6g} declared"
        # Moving all scores alike changes no probability, so it is the range of moves that costs.
        span = (max(moves) - min(moves)) * self.score.units_per_record * self._per_unit(event)
        if span > event.epsilon:
            yield f"its log weights move by a range of {float(span):.6g}, {float(event.epsilon):.6g} declared"

    def log_ratio(
        self, event: Event | None, answer: Any, one: list[int], other: list[int]
    ) -> float:
        """By the exponential mechanism's probabilities."""
        if not isinstance(event, SelectionEvent):
            return 0.0
        chosen = [tuple(clique) for clique in self.candidates].index(tuple(answer))
        per_unit = self._per_unit(event)
        logs = [
            log_softmax([float((unit - max(exact)) * per_unit) for unit in exact])
            for exact in (one, other)
        ]
        return float(logs[1][chosen] - logs[0][chosen])
