"""A private table whose answers are joined by public ones, which cost nothing."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.measurement import MIN_STDDEV, Coarsening, LinearMeasurement, estimate_total
from synthdp.inference.engine import Engine
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error


@final
class KnowingTable:
    """Stands in for a `PrivateTable` where plans are made: what an engine knows counts as released.

    It asks the table nothing by itself, and passes on no question about what the engine knows all
    of: that is answered from what is public, and costs nothing.

    Parameters
    ----------
    table
        Answers all else, and is paid.
    engine
        Knows something: columns that were worked out from other released values, or published
        totals.
    """

    def __init__(self, table: PrivateTable, engine: Engine) -> None:
        self._table = table
        self._engine = engine
        self._told = tuple(each for each in engine.known if len(each.clique) == 1)
        self._totals = [float(each.values.sum()) for each in engine.known]
        self._answered: dict[Clique, LinearMeasurement] = {}

    @property
    def released(self) -> tuple[LinearMeasurement, ...]:
        """What is known, and all measurements so far."""
        return (*self._told, *self._answered.values(), *self._table.released)

    def measure(
        self, clique: Sequence[str], *, rho: Fraction | float, coarsening: Coarsening | None = None
    ) -> LinearMeasurement:
        """See `PrivateTable.measure`."""
        names = tuple(clique)
        known = self._known(names)
        if known is None:
            return self._table.measure(clique, rho=rho, coarsening=coarsening)
        if len(names) != 1:
            # Columns were among what is released from the start.
            self._answered[names] = known
        merging = coarsening.restricted(names) if coarsening else None
        if merging is None:
            return known
        merged = known.coarsened(merging)
        return LinearMeasurement(names, merged.values, merged.stddev, merging)

    def select(
        self, candidates: Sequence[Clique], *, score: MarginalL1Error, rho: Fraction | float
    ) -> Clique:
        """A candidate that is not known; if all are, the one of highest score, which is public.

        See `PrivateTable.select`.
        """
        # A candidate of which all is known has nothing to win, and would cost a measurement.
        left = [clique for clique in candidates if self._known(clique) is None]
        if left or not candidates:
            return self._table.select(left or candidates, score=score, rho=rho)
        return max(
            candidates, key=lambda clique: score.weighted(clique, self._error(clique, score))
        )

    def scores(
        self, candidates: Sequence[Clique], *, score: MarginalL1Error, rho: Fraction | float
    ) -> dict[Clique, float]:
        """Scores of which those that are known have no noise; see `PrivateTable.scores`."""
        left = [clique for clique in candidates if self._known(clique) is None]
        scored: dict[Clique, float] = {}
        if left or not candidates:
            scored |= self._table.scores(left or candidates, score=score, rho=rho)
        for clique in candidates:
            if clique not in scored:
                error = score.whole_records(self._error(clique, score))
                scored[clique] = score.noisy(clique, error)
        return {clique: scored[clique] for clique in candidates}

    def _known(self, clique: Clique) -> LinearMeasurement | None:
        """The marginal of a clique if the engine knows all of it and the number of records."""
        shares = self._engine.known_shares(clique)
        if shares is None:
            return None
        if not self._totals and not self._table.released:
            return None
        total = self._totals[0] if self._totals else estimate_total(self._table.released)
        return LinearMeasurement(clique, max(total, 1.0) * shares, MIN_STDDEV)

    def _error(self, clique: Clique, score: MarginalL1Error) -> int:
        known = self._known(clique)
        assert known is not None
        counts = np.rint(known.values).astype(np.int64)
        return score.error(
            clique, score.coarsening.apply(clique, counts) if score.coarsening else counts
        )

    def __getattr__(self, name: str) -> Any:
        """All else is the table's."""
        if name == "_table":
            raise AttributeError(name)
        return getattr(self._table, name)
