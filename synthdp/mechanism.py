"""The interface of all recipes: what a mechanism may see and what it returns."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

from synthdp.constraint import Constraint
from synthdp.inference.estimator import Estimator, Model
from synthdp.privacy.private_table import PrivateTable

Report: TypeAlias = Callable[[str, int, int], None]
"""Called with (what is going on, steps done, steps at most); never depends on records."""


class Mechanism(ABC):
    """A recipe: selects marginals, measures them, and has an engine generate a model.

    A recipe is a frozen dataclass of its public parameters. It sees the records only through
    the questions that a `PrivateTable` answers, and does no budget arithmetic beyond dividing
    what the ledger has left.
    """

    name: ClassVar[str]
    reference: ClassVar[str]

    @abstractmethod
    def release(
        self, table: PrivateTable, *, engine: Estimator, constraints: Sequence[Constraint] = (), report: Report
    ) -> Model:
        """Spend what is left of the table's budget and return a model of the table.

        Parameters
        ----------
        table
            The sensitive table; its ledger says how much may be spent.
        engine
            Fits the measurements.
        constraints
            Combinations of levels that the schema rules out; the engine respects them.
        report
            Told about progress.
        """


def silent(_stage: str, _done: int, _most: int) -> None:
    """Report progress to nobody."""
