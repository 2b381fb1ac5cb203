"""Who may stand between a run and the private objects that it asks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from synthdp.data.records.derived_column import DerivedColumn
    from synthdp.privacy.private_table import PrivateTable
    from synthdp.privacy.values.private_values import PrivateValues
    from synthdp.schema.schema import Schema


class Observer(Protocol):
    """Sees the questions of a run and their answers, for an audit (`synthdp.audit`).

    It is given the private objects, not what they hold: neither records nor exact counts, and
    nothing by which the randomness of a run could be changed.
    """

    def values(self, values: "PrivateValues") -> "PrivateValues":
        """What the run asks in place of these values."""

    def table(
        self,
        table: "PrivateTable",
        schema: "Schema",
        derived: "Sequence[DerivedColumn]" = (),
    ) -> "PrivateTable":
        """What the run asks in place of this table, the domain of which is that of ``schema``, or
        which has some columns ``derived`` of that domain.
        """
