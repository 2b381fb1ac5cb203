"""Two arithmetics for belief propagation: plain numbers, and logarithms for extreme ones.

Plain numbers are several times faster. All tables and messages are scaled to have cells of at
most 1, so nothing overflows. A cell that underflows is off by less than 1e-307. On the way to the
root such errors are summed over ``n`` cells a message and grow when the message, whose largest
cell is ``m <= n``, is scaled: by ``n / m`` at most. These factors are multiplied up on each way;
beyond 1e280, where errors could reach 1e-27 of the whole, `UnderflowDetected` is raised and belief
propagation runs again with logarithms, where nothing underflows.
"""

from math import inf, log
from typing import Protocol, final

import numpy as np

from synthdp.inference.arrays import Array, Axes
from synthdp.inference.summation import summed, widened

_MIN_NORMAL = np.finfo(np.float64).tiny
"""Numbers below it have lost digits."""


class UnderflowDetected(Exception):  # noqa: N818 - a signal to start over with logarithms, not an error
    """Messages became too small for plain numbers."""


class Arithmetic(Protocol):
    """How tables are multiplied, divided, summed and scaled."""

    @property
    def deepest_drop(self) -> float:
        """Logarithm of the factor by which messages may fall short of their bounds from a leaf to
        the root.
        """

    def from_log(self, log_table: Array) -> Array:
        """The table whose natural logarithm is given, and which is not changed."""

    def to_linear(self, table: Array) -> Array:
        """The table in plain numbers."""

    def scaled(self, table: Array, size: float) -> Array:
        """The table divided by a number given by its logarithm."""

    def log_largest(self, table: Array) -> float:
        """Logarithm of the largest cell, -inf if all cells are impossible."""

    def product(self, table: Array, message: Array) -> Array:
        """Cell by cell, with broadcasting."""

    def multiply(self, table: Array, message: Array) -> None:
        """Multiply a table in place by one that broadcasts to it, so that no memory is allocated."""

    def quotient(self, table: Array, message: Array) -> Array:
        """Cell by cell; 0 / 0 is 0."""

    def summed(self, table: Array, axes: Axes) -> Array:
        """Sums over some axes."""


@final
class LinearArithmetic:
    """Plain numbers."""

    # 1e-307, the smallest number with all its digits, times 1e280 is 1e-27.
    deepest_drop = 280 * log(10)  # 27 orders of magnitude above the smallest number, see above

    def from_log(self, log_table: Array) -> Array:
        """The table whose natural logarithm is given."""
        return np.exp(log_table)

    def to_linear(self, table: Array) -> Array:
        """The table itself."""
        return table

    def scaled(self, table: Array, size: float) -> Array:
        """The table divided by a number given by its logarithm."""
        return np.asarray(table * np.exp(-size))

    def log_largest(self, table: Array) -> float:
        """Logarithm of the largest cell, -inf if all cells are impossible."""
        largest = float(np.maximum.reduce(table, axis=None))
        # All cells 0: either impossible or underflowed. Who asks takes it for a drop without
        # bounds, and starts over in logarithms.
        return log(largest) if largest > 0 else -inf

    def product(self, table: Array, message: Array) -> Array:
        """Cell by cell, with broadcasting."""
        # The larger one gives the shape; broadcasting the other way would copy it.
        if message.size > table.size:
            table, message = message, table
        return table * widened(message, table.shape)

    def multiply(self, table: Array, message: Array) -> None:
        """Multiply a table in place by one that broadcasts to it, so that no memory is allocated."""
        np.multiply(table, widened(message, table.shape), out=table)

    def quotient(self, table: Array, message: Array) -> Array:
        """Cell by cell; 0 / 0 is 0, and so is what underflowed."""
        # Structural zeros are 0 / 0 in Hugin's division. Numbers below the smallest normal one have
        # lost digits, and dividing by them would give noise.
        return np.divide(table, message, out=np.zeros_like(table), where=message >= _MIN_NORMAL)

    def summed(self, table: Array, axes: Axes) -> Array:
        """Sums over some axes."""
        return summed(table, axes)


@final
class LogArithmetic:
    """Natural logarithms of the cells; -inf is an impossible cell."""

    deepest_drop = inf

    def from_log(self, log_table: Array) -> Array:
        """The logarithms themselves."""
        return log_table

    def to_linear(self, table: Array) -> Array:
        """The table in plain numbers."""
        return np.exp(table)

    def scaled(self, table: Array, size: float) -> Array:
        """The table divided by a number given by its logarithm."""
        return np.asarray(table - size)

    def log_largest(self, table: Array) -> float:
        """Logarithm of the largest cell, -inf if all cells are impossible."""
        return float(table.max())

    def product(self, table: Array, message: Array) -> Array:
        """Cell by cell, with broadcasting."""
        return table + message

    def multiply(self, table: Array, message: Array) -> None:
        """Multiply a table in place by one that broadcasts to it, so that no memory is allocated."""
        np.add(table, message, out=table)

    def quotient(self, table: Array, message: Array) -> Array:
        """Cell by cell; 0 / 0 is 0."""
        return np.subtract(
            table, message, out=np.full_like(table, -np.inf), where=np.isfinite(message)
        )

    def summed(self, table: Array, axes: Axes) -> Array:
        """Logarithms of the sums over some axes."""
        if not axes:
            return table
        largest = table.max(axis=axes, keepdims=True)
        # -inf minus -inf is nan: a line of impossible cells is summed as it is, to 0.
        shift = np.where(np.isfinite(largest), largest, 0.0)
        sums = np.exp(table - shift).sum(axis=axes, keepdims=True)
        logs = np.log(sums, out=np.full_like(sums, -np.inf), where=sums > 0)
        return np.asarray(np.squeeze(logs + shift, axis=axes))
