"""What every column says of itself beside its codec, so that nobody asks of which type it is.

All of it follows from the declaration, which is public: no value of a table is read here. A type
overrides what differs.
"""

from typing import ClassVar, Protocol, Self


class _Coded(Protocol):
    """What a column has that the answers below are made of."""

    @property
    def size(self) -> int: ...


class Traits:
    """Answers that most types of columns share."""

    open_parts: ClassVar[frozenset[str]] = frozenset()
    """What of the column is still to be learnt: nothing, but of an `OpenColumn`."""

    is_scaled: ClassVar[bool] = False
    """Whether bounds are still to be learnt that could be any numbers."""

    @property
    def template(self) -> Self:
        """The column closed: itself, as nothing of it is open."""
        return self

    @property
    def most_levels(self: _Coded) -> int:
        """Most level codes that the column can have once it is closed."""
        return self.size

    def example(self, scale: int) -> Self:  # noqa: ARG002
        """The column closed so that numbers reach to ``10**scale``, as far as that is open."""
        return self
