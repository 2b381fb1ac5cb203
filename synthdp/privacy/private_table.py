"""The private table: with `PrivateValues` the only object that sees raw counts, and its questions."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import ClassVar, Protocol, final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError, PrivacyError
from synthdp.core.measurement import Coarsening, LinearMeasurement
from synthdp.privacy.events import MarginalEvent, ScoresEvent, SelectionEvent, exact_rho
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.exact import exponential_mechanism
from synthdp.privacy.noise.randomness import Randomness
from synthdp.privacy.queryable import Answer, AnswerCache, Queryable
from synthdp.privacy.scores import MarginalL1Error

MAX_CELLS = 1 << 27
"""Most cells of a marginal: counts and noise of more (1 GiB each) would not fit beside each other
into memory.
"""


class CountSource(Protocol):
    """Where exact counts come from: rows in memory, or an engine elsewhere."""

    @property
    def domain(self) -> Domain:
        """The declared (public) domain."""

    def counts_of(self, cliques: Sequence[Clique]) -> Iterable[NDArray[np.int64]]:
        """Exact counts of the cells of each clique, one axis an attribute, counted together."""


@final
class PrivateTable(Queryable[CountSource]):
    """A sensitive table behind a ledger.

    It has no length, no iteration and no way to a record or a count: it answers `measure`, `select`
    and `scores`, and each pays the ledger before the records are touched. Sensitivity: all counts
    of one marginal together change by at most the ledger's ``unit.marginal_l2_squared`` (squared
    L2) between neighbours, because each record falls into exactly one cell, merged levels or not,
    and a unit has at most ``unit.max_rows`` records.

    Its parameters are those of every `Queryable`.
    """

    __slots__ = ("_domain", "_released", "_scored")
    _purpose: ClassVar[str] = "for a measurement"

    def __init__(
        self,
        source: CountSource,
        ledger: PrivacyLedger,
        *,
        randomness: Randomness | None = None,
        memory: AnswerCache | None = None,
    ) -> None:
        super().__init__(source, ledger, randomness=randomness, memory=memory)
        self._domain = source.domain
        self._released: list[LinearMeasurement] = []
        # Exact scores, so that peeling candidates off one by one counts each only once.
        # Weakly, so that exact scores die with the question.
        self._scored: WeakKeyDictionary[MarginalL1Error, dict[Clique, int]] = WeakKeyDictionary()

    @property
    def domain(self) -> Domain:
        """The public domain of the table."""
        return self._domain

    @property
    def released(self) -> tuple[LinearMeasurement, ...]:
        """All measurements so far: noisy, paid for, free to use."""
        return tuple(self._released)

    def close(self) -> None:
        """Let go of the source and of exact scores; `released` stays."""
        super().close()
        self._scored.clear()

    def measure(
        self, clique: Sequence[str], *, rho: Fraction | float, coarsening: Coarsening | None = None
    ) -> LinearMeasurement:
        """Release one marginal with Gaussian noise, rounded to whole numbers, at a cost of exactly
        ``rho``.

        Parameters
        ----------
        clique
            Attributes, each once; the empty clique asks for the total.
        rho
            Cost, above 0; the noise has variance ``sensitivity^2 / (2 rho)``, and 1/12 more from
            rounding.
        coarsening
            Public merging of levels before counting.

        Raises
        ------
        BudgetExceededError
            If the ledger has less than ``rho`` left; the records are not touched then.
        ParameterError
            If an attribute is unknown or repeats, the marginal has too many cells, or ``rho`` is
            not above 0 or so small that the noise would not fit into int64 (`MAX_SIGMA_SQUARED`).
        """
        names = self._checked(clique)
        cells = self._merged(coarsening).project(names)
        # Other columns' groups are no part of what is asked.
        merging = coarsening.restricted(names) if coarsening else None
        event = MarginalEvent.costing(exact_rho(rho), clique=names, unit=self._ledger.unit)

        def noisy() -> Answer:
            return Answer(self._noisy(event, *self._counts([names], merging)))

        counts = self._answer(event, noisy, cells.size(), merging).numbers.astype(np.float64)
        measurement = LinearMeasurement(names, counts.reshape(cells.shape), event.stddev, merging)
        self._released.append(measurement)
        return measurement

    def select(
        self, candidates: Sequence[Clique], *, score: MarginalL1Error, rho: Fraction | float
    ) -> Clique:
        """Choose a candidate of high score by the exponential mechanism, at a cost of at most
        ``rho``.

        Parameters
        ----------
        candidates
            Cliques to choose from; the score has an estimate for each.
        score
            What makes a candidate worth choosing; public data.
        rho
            zCDP cost, above 0: ``epsilon^2 / 8`` [CR21].

        Raises
        ------
        BudgetExceededError
            If the ledger has too little left; the records are not touched then.
        ParameterError
            If there is no candidate, one is unknown to the score, or ``rho`` is not above 0 or too
            small, or the score is not one of the kernel's own.
        """
        names = self._candidates(candidates, score)
        event = SelectionEvent.costing(
            exact_rho(rho),
            score=score.name,
            n_candidates=len(names),
            sensitivity=score.sensitivity(names, self._ledger.unit),
        )

        def chosen() -> Answer:
            units = [
                score.weighted(*each)
                for each in zip(names, self._errors(names, score), strict=True)
            ]
            per_unit = event.epsilon / (2 * event.sensitivity * score.units_per_record)
            best = max(units)
            place = exponential_mechanism(
                # Gaps to the best, exact integers: nothing overflows, and a common factor cancels.
                [best - unit for unit in units],
                per_unit,
                self._randomness,
            )
            return Answer(np.array([place], dtype=np.int64))

        return names[int(self._answer(event, chosen, 1, names, score).numbers[0])]

    def scores(
        self, candidates: Sequence[Clique], *, score: MarginalL1Error, rho: Fraction | float
    ) -> dict[Clique, float]:
        """Release the L1 errors of all candidates with Gaussian noise, at a cost of exactly
        ``rho``.

        The errors are rounded down to whole records first. Weights and penalties of the score are
        public and applied to the noisy errors afterwards.

        Parameters
        ----------
        candidates
            Cliques, each once; the score has an estimate for each.
        score
            The errors to release.
        rho
            Cost, above 0: each of k scores gets noise of variance ``k sensitivity^2 / (2 rho)``.

        Raises
        ------
        BudgetExceededError, ParameterError
            As `select`; also if a candidate repeats.
        """
        names = self._candidates(candidates, score)
        if len(set(names)) < len(names):
            raise ParameterError("candidates: one repeats; name each once")
        event = ScoresEvent.costing(
            exact_rho(rho),
            score=score.name,
            n_candidates=len(names),
            sensitivity=self._ledger.unit.marginal_l1,
        )

        def noisy() -> Answer:
            errors = [score.whole_records(error) for error in self._errors(names, score)]
            return Answer(self._noisy(event, np.array(errors, dtype=np.int64)))

        errors = self._answer(event, noisy, len(names), names, score).numbers.tolist()
        return {
            clique: score.noisy(clique, error) for clique, error in zip(names, errors, strict=True)
        }

    def _candidates(self, candidates: Sequence[Clique], score: MarginalL1Error) -> list[Clique]:
        """The candidates, checked together with their score."""
        if type(score) is not MarginalL1Error:
            raise ParameterError(
                f"score: {type(score).__name__} has no proven sensitivity; use MarginalL1Error"
            )
        names = [self._checked(candidate) for candidate in candidates]
        if not names:
            raise ParameterError(
                "candidates: there is none to select from; give at least one clique"
            )
        if score.coarsening:
            # Checks it anew: a gap made since would repeat a cell.
            Coarsening(score.coarsening.groups)
        merged = self._merged(score.coarsening)
        for clique in names:
            if score.shape(clique) != merged.project(clique).shape:
                raise ParameterError(
                    f"score: candidate {clique} has no estimate of the marginal's shape; give one each"
                )
        return names

    def _errors(self, cliques: Sequence[Clique], score: MarginalL1Error) -> list[int]:
        """Exact errors, in grid units; each is worked out once for a score."""
        scored = self._scored.setdefault(score, {})
        missing = [clique for clique in dict.fromkeys(cliques) if clique not in scored]
        for clique, counts in zip(missing, self._counts(missing, score.coarsening), strict=True):
            scored[clique] = score.error(clique, counts)
        return [scored[clique] for clique in cliques]

    def _counts(
        self, cliques: Sequence[Clique], coarsening: Coarsening | None
    ) -> Iterator[NDArray[np.int64]]:
        for clique, counts in zip(cliques, self._source.counts_of(cliques), strict=True):
            # Floats, or another shape, would void the sensitivity. No value is shown.
            if counts.dtype != np.int64 or counts.shape != self._domain.project(clique).shape:
                raise PrivacyError(
                    f"source: counts of {clique} must be int64 and of the shape that the domain declares"
                )
            yield coarsening.apply(clique, counts) if coarsening else counts

    def _checked(self, clique: Sequence[str]) -> Clique:
        names = tuple(clique)
        if isinstance(clique, str):
            raise ParameterError(
                f"clique {clique!r}: give a tuple of attribute names, not one string"
            )
        if len(set(names)) != len(names):
            raise ParameterError(f"clique {names}: an attribute repeats; name each attribute once")
        if (n_cells := self._domain.size(names)) > MAX_CELLS:
            raise ParameterError(
                f"clique {names}: {n_cells} cells are too many to count; the limit is {MAX_CELLS}"
            )
        return names

    def _merged(self, coarsening: Coarsening | None) -> Domain:
        return coarsening.domain(self._domain) if coarsening else self._domain

    def __repr__(self) -> str:
        return f"PrivateTable({len(self._domain)} attributes, {self._ledger.unit.adjacency.value})"
