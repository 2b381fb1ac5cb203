"""Stand-ins for the private objects that a run asks: they hand each question on, and let a log see
it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast, final

from synthdp.audit.asking.neighbours import Truth
from synthdp.audit.asking.questions import IntArray, Measure, Question, Scores, Select
from synthdp.audit.asking.value_questions import Frequent, Histogram, SplitTree
from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.grid import Grid
from synthdp.core.measurement import Coarsening, LinearMeasurement
from synthdp.data.records.derived_column import DerivedColumn
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import CountSource, PrivateTable
from synthdp.privacy.scores import MarginalL1Error
from synthdp.privacy.values.private_values import PrivateValues, ValueSource
from synthdp.schema.schema import Schema


class Log(ABC):
    """Sees every question of a run, and gives the answers; a `synthdp.release.observer.Observer`.

    Parameters
    ----------
    truths
        The tables of which exact answers are wanted.
    """

    def __init__(self, *truths: Truth) -> None:
        self._truths = truths
        self.peeks: list[str] = []
        """What was looked for in the private objects besides their questions."""

    def values(self, values: PrivateValues) -> PrivateValues:
        """What stands in for private values."""
        # A cast and no subclass: the private objects are final, so that nobody can change what they
        # charge. Stand-ins have the same questions and none of the records.
        return cast(
            PrivateValues, ObservedValues(values, self, [truth.values for truth in self._truths])
        )

    def table(
        self, table: PrivateTable, schema: Schema, derived: Sequence[DerivedColumn] = ()
    ) -> PrivateTable:
        """What stands in for a private table over the domain of a schema, or of columns that are
        derived of it.
        """
        sources = [truth.counts(schema) for truth in self._truths]
        if derived:
            sources = [source.derived(derived) for source in sources]
        return cast(PrivateTable, ObservedTable(table, self, sources))

    @abstractmethod
    def answer(self, question: Question[Any], kernel: Any, sources: Sequence[Any]) -> Any:
        """The answer that the run gets; ``sources`` know the exact answers about the tables."""


class Observed:
    """A private object that logs the questions it is asked."""

    def __init__(self, kernel: Any, log: Log, sources: Sequence[Any]) -> None:
        self._kernel = kernel
        self._log = log
        self._sources = sources

    @property
    def ledger(self) -> PrivacyLedger:
        """The ledger that pays for every answer."""
        ledger: PrivacyLedger = self._kernel.ledger
        return ledger

    def close(self) -> None:
        """Let go of the source."""
        self._kernel.close()

    def _ask(self, question: Question[Any]) -> Any:
        return self._log.answer(question, self._kernel, self._sources)

    def __getattr__(self, name: str) -> Any:
        """Hand over what is no question, and remember that it was looked for."""
        # A mechanism that looks for more than the questions may have found a way to the records:
        # the audit reports each name.
        self._log.peeks.append(name)
        return getattr(self._kernel, name)


@final
class ObservedTable(Observed):
    """Stands in for a `PrivateTable`."""

    def __init__(self, kernel: PrivateTable, log: Log, sources: Sequence[CountSource]) -> None:
        super().__init__(kernel, log, sources)
        self._measurements: list[LinearMeasurement] = []

    @property
    def domain(self) -> Domain:
        """The public domain of the table."""
        domain: Domain = self._kernel.domain
        return domain

    @property
    def released(self) -> tuple[LinearMeasurement, ...]:
        """All measurements that the run has got."""
        return tuple(self._measurements)

    def measure(
        self, clique: Sequence[str], *, rho: Fraction | float, coarsening: Coarsening | None = None
    ) -> LinearMeasurement:
        """See `PrivateTable.measure`."""
        answer: LinearMeasurement = self._ask(
            Measure(clique=tuple(clique), rho=rho, coarsening=coarsening)
        )
        # Kept here, for the log may answer in place of the kernel, which then knows of no
        # measurement.
        self._measurements.append(answer)
        return answer

    def select(
        self, candidates: Sequence[Clique], *, score: MarginalL1Error, rho: Fraction | float
    ) -> Clique:
        """See `PrivateTable.select`."""
        answer: Clique = self._ask(Select(candidates=candidates, score=score, rho=rho))
        return answer

    def scores(
        self, candidates: Sequence[Clique], *, score: MarginalL1Error, rho: Fraction | float
    ) -> dict[Clique, float]:
        """See `PrivateTable.scores`."""
        answer: dict[Clique, float] = self._ask(Scores(candidates=candidates, score=score, rho=rho))
        return answer


@final
class ObservedValues(Observed):
    """Stands in for `PrivateValues`."""

    def __init__(self, kernel: PrivateValues, log: Log, sources: Sequence[ValueSource]) -> None:
        super().__init__(kernel, log, sources)

    def histogram(
        self, grid: Grid, starts: IntArray, *, rho: Fraction | float, shared: bool = False
    ) -> Any:
        """See `PrivateValues.histogram`."""
        return self._ask(Histogram(grid=grid, starts=starts, rho=rho, shared=shared))

    def frequent(self, grid: Grid, *, rho: Fraction | float, delta: Fraction | float) -> Any:
        """See `PrivateValues.frequent`."""
        return self._ask(Frequent(grid=grid, rho=rho, delta=delta))

    def split_tree(self, grid: Grid, first: int, stop: int, *, rho: Fraction | float) -> Any:
        """See `PrivateValues.split_tree`."""
        return self._ask(SplitTree(grid=grid, first=first, stop=stop, rho=rho))
