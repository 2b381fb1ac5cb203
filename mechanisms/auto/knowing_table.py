"""A private table beside whose answers something is known for nothing."""

from collections.abc import Sequence
from typing import Any, final

from synthdp.core.measurement import LinearMeasurement
from synthdp.privacy.private_table import PrivateTable


@final
class KnowingTable:
    """Stands in for a `PrivateTable` where plans are made: what is known counts as released.

    It asks the table nothing by itself.

    Parameters
    ----------
    table
        Answers, and is paid.
    known
        Marginals of single columns that were worked out from other released values.
    """

    def __init__(self, table: PrivateTable, known: Sequence[LinearMeasurement]) -> None:
        self._table = table
        self._known = tuple(known)

    @property
    def released(self) -> tuple[LinearMeasurement, ...]:
        """What is known, and all measurements so far."""
        return (*self._known, *self._table.released)

    def __getattr__(self, name: str) -> Any:
        """All else is the table's."""
        if name == "_table":
            raise AttributeError(name)
        return getattr(self._table, name)
