"""The private table as mechanisms see it: unread values are counted by themselves, and filled in
what is answered.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, final
from weakref import WeakKeyDictionary

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.imports import import_named
from synthdp.core.measurement import Coarsening, LinearMeasurement
from synthdp.learning.filling import Filling, UnreadCount
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error
from synthdp.release.on_demand import PLACED_SCORE, REFILLED

MOST_SPENT = 0.5
"""A run of which more is spent goes on to its end, and a caution says what was not read: what is
left would buy no better release of its own.
"""


@final
class FilledTable:
    """Stands in for a `PrivateTable` whose domain has places for unread values, over the domain
    without.

    It holds nothing but the table, and asks it nothing but what a mechanism asks: of the same
    marginals at the same cost. A record has one code in each column, be it that place, so the
    sensitivity of each question is what it is without. What it makes of answers is post-processing.

    Parameters
    ----------
    table
        Answers, and is paid.
    filling
        What is asked with places, and its answers without.
    stop
        Called with columns of which nearly nothing could be read, and which share could not, as
        soon as single columns were asked that say so, while most of the budget is there; it may
        raise.
    """

    def __init__(
        self,
        table: PrivateTable,
        filling: Filling,
        stop: Callable[[Mapping[str, float]], None] | None = None,
    ) -> None:
        self._table = table
        self._filling = filling
        self._stop = stop
        self._unchecked: set[str] = set()
        self._alone: set[Clique] = set()
        self._attributes = frozenset(filling.domain.attributes)
        self._answers: list[LinearMeasurement] = []
        self._released: list[LinearMeasurement] = []
        self._scores: WeakKeyDictionary[MarginalL1Error, MarginalL1Error] = WeakKeyDictionary()

    @property
    def domain(self) -> Domain:
        """The declared domain of the table, without places."""
        return self._filling.domain

    @property
    def released(self) -> tuple[LinearMeasurement, ...]:
        """All measurements so far, over the declared domain."""
        return tuple(self._released)

    @property
    def placed_domain(self) -> Domain:
        """The domain that is counted, places included."""
        return self._filling.placed

    @property
    def unread(self) -> dict[str, UnreadCount]:
        """What they say of unread values."""
        return self._filling.unread

    @property
    def ledger(self) -> PrivacyLedger:
        """The ledger that pays for every answer."""
        return self._table.ledger

    def measure(
        self, clique: Sequence[str], *, rho: Fraction | float, coarsening: Coarsening | None = None
    ) -> LinearMeasurement:
        """See `PrivateTable.measure`."""
        names = self._measurable(clique)
        if names is None or len(names) != 1 or names in self._alone:
            # Not before: of all columns that were asked one after the other it is said at once.
            self._check()
        else:
            self._alone.add(names)
        asked = coarsening if names is None else self._filling.question(names, coarsening)
        self._answers.append(self._table.measure(clique, rho=rho, coarsening=asked))
        self._released.append(self._filling.answered(self._answers[-1]))
        self._unchecked.update(names or ())
        if self._filling.shares:
            self._released = import_named(REFILLED)(self._filling, self._answers, self._released)
        return self._released[-1]

    def select(
        self, candidates: Sequence[Clique], *, score: MarginalL1Error, rho: Fraction | float
    ) -> Clique:
        """See `PrivateTable.select`."""
        self._check()
        return self._table.select(candidates, score=self._placed(score), rho=rho)

    def scores(
        self, candidates: Sequence[Clique], *, score: MarginalL1Error, rho: Fraction | float
    ) -> dict[Clique, float]:
        """See `PrivateTable.scores`."""
        self._check()
        return self._table.scores(candidates, score=self._placed(score), rho=rho)

    def _check(self) -> None:
        """Stop where columns that were asked since the last time are not read.

        It follows from released counts and what was spent, so a run that goes on from its answers
        stops at the same question.
        """
        if self._stop is None or self.ledger.share_spent > MOST_SPENT:
            return
        unread = self._filling.not_read(sorted(self._unchecked))
        self._unchecked.clear()
        if unread:
            self._stop(unread)

    def _measurable(self, clique: Sequence[str]) -> Clique | None:
        """The attributes of a clique, unless the kernel refuses it."""
        names = None if isinstance(clique, str) else tuple(clique)
        return names if names is not None and self._attributes.issuperset(names) else None

    def _placed(self, score: MarginalL1Error) -> MarginalL1Error:
        """The score with places; the same one each time, for the kernel keeps what it worked out
        for a score.
        """
        if type(score) is not MarginalL1Error or any(
            self._measurable(clique) is None for clique in score.estimates
        ):
            return score  # the kernel refuses it
        if score not in self._scores:
            self._scores[score] = import_named(PLACED_SCORE)(self._filling, score)
        return self._scores[score]

    def __getattr__(self, name: str) -> Any:
        """Whoever looks for what is no question looks for it in the table: an audit that stands
        there sees that.
        """
        if name == "_table":
            raise AttributeError(name)
        return getattr(self._table, name)

    def close(self) -> None:
        """Let go of the source."""
        self._table.close()
        self._scores.clear()

    def __repr__(self) -> str:
        return f"<FilledTable over {self._table!r}>"
