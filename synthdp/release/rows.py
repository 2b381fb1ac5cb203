"""Rows as a release asks for them, wherever they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeGuard

if TYPE_CHECKING:
    from synthdp.data.records.derived_column import DerivedColumn
    from synthdp.privacy.private_table import CountSource
    from synthdp.privacy.values.private_values import ValueSource
    from synthdp.schema.schema import Schema


class Rows(Protocol):
    """Rows until their domain is known. All have a unit of privacy, values to learn from, and
    counts by a closed schema.
    """

    @property
    def unit(self) -> str | None:
        """The column by which persons are told apart; None if they are not."""

    @property
    def max_rows(self) -> int:
        """Most rows of a person that are used; 1 if persons are not told apart."""

    @property
    def source(self) -> "ValueSource":
        """Exact counts of the values of open columns, for the kernel."""

    def counted(self, schema: "Schema") -> "CountSource":
        """Exact counts by the closed schema, for the kernel."""


def are_rows(source: "CountSource | Rows") -> TypeGuard[Rows]:
    """Whether a source is of rows, of which columns may still be learnt; else it counts codes."""
    return callable(getattr(source, "counted", None))  # a method: no property is read


class Derives(Protocol):
    """Exact counts, also of public functions of each row."""

    def derived(self, columns: "Sequence[DerivedColumn]") -> "CountSource":
        """Exact counts of derived columns of the same rows, for the kernel."""


def derives(source: object) -> TypeGuard[Derives]:
    """Whether a source counts derived columns, too: engines count columns only."""
    return callable(getattr(source, "derived", None))
