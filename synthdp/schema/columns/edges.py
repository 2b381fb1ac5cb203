"""What integer and number columns share: public bounds, and bins as a count or as edges."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.axis import Axis
from synthdp.schema.axes.bin_limits import DEFAULT_BINS, MAX_LEVELS, MAX_SINGLE_LEVELS
from synthdp.schema.axes.bin_shape import Heaping, Shape
from synthdp.schema.axes.points import decimal_points
from synthdp.schema.axes.rule import Edges
from synthdp.schema.columns.binned import BinnedColumn
from synthdp.schema.columns.categorical import CategoricalColumn
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.field import Field
from synthdp.schema.columns.notation import MAX_WIDTH, NUMBER_MARKS, PLAIN, Notation
from synthdp.schema.columns.reading import Values
from synthdp.schema.words.texts import in_column, refuse


def check_bound(column: str, key: str, value: object) -> float:
    """A bound as a finite number (an int stays an int)."""
    if value is None:
        refuse(column, f"{key} is not filled in; give the bound that is public knowledge")
    return in_column(column, key, value).number()


def check_order(column: str, low: Any, high: Any) -> None:
    """Refuse bounds in the wrong order."""
    if low > high:
        refuse(
            column,
            f"constraints.minimum {low} is above constraints.maximum {high}; exchange or correct them",
        )


def check_edges(column: str, edges: Sequence[Any], low: Any, high: Any, bins: int | None) -> None:
    """Refuse edges that are too few, not increasing, or contradict bounds or bins.

    The last one may repeat: the last bin is then its value alone.
    """
    if bins is not None and bins != len(edges) - 1:
        refuse(
            column,
            f"synthdp has both bins ({bins}) and edges of {len(edges) - 1} bins; keep one of the two",
        )
    # Two edges are one bin, which says nothing of the column.
    if len(edges) < 3:
        refuse(
            column, f"synthdp.edges has {len(edges)} entries; give at least 3, for at least 2 bins"
        )
    if len(edges) > MAX_LEVELS:
        refuse(column, f"synthdp.edges has {len(edges)} entries; use at most {MAX_LEVELS}")
    for place, (left, right) in enumerate(pairwise(edges)):
        is_one_value = left == right and place == len(edges) - 2
        if left >= right and not is_one_value:
            refuse(
                column,
                f"synthdp.edges are not increasing: {left} comes before {right}; sort them, each once",
            )
    for key, bound, edge in (("minimum", low, edges[0]), ("maximum", high, edges[-1])):
        if bound is not None and bound != edge:
            refuse(
                column,
                f"constraints.{key} is {bound}, but synthdp.edges end at {edge}; make them equal",
            )


def default_bins(n_values: int) -> int:
    """Number of bins of a column of ``n_values`` values that names none.

    >>> default_bins(64), default_bins(65)
    (64, 32)
    """
    return n_values if n_values <= MAX_SINGLE_LEVELS else DEFAULT_BINS


def check_bins(column: str, bins: object, n_values: int | None, things: str) -> int:
    """The number of bins if it is a possible one; ``n_values`` is how many values there are to bin."""
    bins = in_column(column, "synthdp.bins", bins).whole(1)
    # A column of one value has one bin; for all others one bin is a column that costs its share of
    # the model and says nothing.
    if bins == 1 and n_values != 1:
        refuse(
            column,
            "synthdp.bins is 1, and one bin keeps nothing of the column; give at least 2 bins",
        )
    if n_values is not None and bins > n_values:
        refuse(
            column,
            f"synthdp.bins is {bins}, but there are {n_values} {things} between the bounds; use fewer bins",
        )
    if bins > MAX_LEVELS:
        refuse(column, f"synthdp.bins is {bins}; use at most {MAX_LEVELS}")
    return bins


def even_starts(first: int, last: int, bins: int) -> NDArray[np.int64]:
    """First integer of each of ``bins`` runs of ``first .. last``, as even as possible, then ``last
    + 1``.

    >>> even_starts(0, 9, 3).tolist()
    [0, 3, 6, 10]
    """
    n = last - first + 1
    # In integers of Python, which do not overflow: n * bins may pass 2**63.
    return np.array([first + i * n // bins for i in range(bins + 1)], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class NumericColumn(BinnedColumn):
    """Bounds and bins, given as a count of equally wide bins or as edges."""

    minimum: float | None = None
    maximum: float | None = None
    """Inclusive public bounds; values outside go to the nearest bin. Not needed with ``edges``."""
    bins: int | None = None
    """Number of bins, as equally wide as possible."""
    edges: tuple[float, ...] | None = None
    """Increasing edges: bin ``i`` holds ``edges[i] <= x < edges[i + 1]``, the last bin its
    right edge too. The last edge may repeat: then the last bin is that value alone. In place
    of ``bins``.
    """
    notation: Notation = PLAIN
    """How texts write the numbers."""
    heaping: Heaping | None = None
    """How many of the values are round, for decoding; None for no more than there are round
    numbers.
    """

    @classmethod
    def parse(cls, field: Field) -> Column:
        """The column that a field declares: one of bounds, unless it lists levels."""
        if field.levels is not None:
            return CategoricalColumn.parse(field)
        keys = cls.keys(field.type, has_levels=False)
        own = field.own(keys)
        binning: dict[str, Any] = {key: own.get(key) for key in keys if key != "width"}
        binning["notation"] = Notation.parse(field)
        if (width := field["synthdp"]["width"]).is_given:
            binning["notation"] = replace(binning["notation"], width=width.whole(1, MAX_WIDTH))
        binning["edges"] = field.listed("edges", "increasing numbers")
        if (shape := field.parts_of("shape", ("starts", "weights"))) is not None:
            binning["shape"] = Shape(**shape)
        if own.get("heaping") is not None:
            binning["heaping"] = Heaping.from_dict(field.name, own["heaping"])
        binning |= {key: field.constraints.get(key) for key in ("minimum", "maximum")}
        return cls(**cls._typed_as(field.type), **binning, **field.shared)

    @classmethod
    def _typed_as(cls, kind: str) -> dict[str, Any]:
        """The arguments that say a column's type, where a class has several."""
        return {}

    @classmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """A hundred whole values in ten bins."""
        bounds = {"minimum": 1930, "maximum": 2029}
        return {"type": kind, "constraints": bounds, "synthdp": {"bins": 10}}

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field can have under ``synthdp``."""
        levels = CategoricalColumn.keys(kind, has_levels=True)
        return levels if has_levels else ("bins", "edges", "shape", "heaping")

    @classmethod
    def derivable(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What of a field can be learnt."""
        return ("missing",) if has_levels else ("bounds", "bins", "missing")

    def _check_bounds(self) -> None:
        """Fill in bounds from edges, and check each number and their order."""
        self.notation.check(self.name)
        if self.edges is None:
            bounds = [
                self._number(f"constraints.{key}", getattr(self, key))
                for key in ("minimum", "maximum")
            ]
            check_order(self.name, *bounds)
        else:
            edges = tuple(self._number("an entry of synthdp.edges", edge) for edge in self.edges)
            low, high = (
                None if bound is None else self._number(f"constraints.{key}", bound)
                for key, bound in (("minimum", self.minimum), ("maximum", self.maximum))
            )
            check_edges(self.name, edges, low, high, self.bins)
            object.__setattr__(self, "edges", edges)
            # Edges are the bounds. Declared ones may be said as well, and have to agree with them.
            bounds = [edges[0], edges[-1]]
        object.__setattr__(self, "minimum", bounds[0])
        object.__setattr__(self, "maximum", bounds[1])
        self._check_missing_outside(*bounds)
        if self.shape is not None:
            object.__setattr__(self, "shape", self.shape.checked(self.name, self._number, *bounds))

    @abstractmethod
    def _number(self, key: str, value: object) -> float:
        """A bound or edge, checked and of the column's type."""

    @property
    def _bounds(self) -> tuple[Any, Any]:
        return self.minimum, self.maximum

    def _read(self, values: Values) -> NDArray[np.float64]:
        return self.notation.floats(values)

    def _binning(self) -> dict[str, Any]:
        own: dict[str, Any] = (
            {"bins": self.bins} if self.edges is None else {"edges": list(self.edges)}
        )
        if self.shape is not None:
            own["shape"] = {"starts": list(self.shape.starts), "weights": list(self.shape.weights)}
        if self.heaping is not None:
            own["heaping"] = self.heaping.to_dict()
        return own

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""
        return self.minimum, self.maximum

    @property
    def n_values(self) -> int:
        """How many values are written between the bounds."""
        ends = np.array(self.bounds, dtype=np.float64)
        first, last = decimal_points(ends, self.decimals or 0).tolist()
        # A column of one value has that value even where it lies between two points of the grid.
        return 1 if self.minimum == self.maximum else int(last - first) + 1

    def widened(self, others: Sequence[Axis], spread: int, limits: tuple[Any, Any]) -> Self:
        """The column from the lowest bound of some others to the highest, and some units more."""
        low = min(other.bounds[0] for other in others)
        high = max(other.bounds[1] for other in others)
        try:
            low = low - spread
            high = high + spread
            if self.is_whole:
                low = math.floor(low)
                high = math.ceil(high)
        # The sum may be infinite, which has no floor.
        except OverflowError:
            low, high = limits
        return self._between(low, high, limits, edges=self.edges, bins=self.bins)

    not_read: ClassVar[str] = "is no number"

    @property
    def rule(self) -> Edges:
        """An engine knows the edges of the bins."""
        return self._edges_rule("number", is_whole=self.is_whole)

    @property
    def ways_of_writing(self) -> str:
        """What a field can declare so that more values are read."""
        return NUMBER_MARKS

    @property
    def decimal_char(self) -> str:
        """The decimal mark."""
        return self.notation.decimal_char

    def typed(self, values: pd.Series) -> pd.Series:
        """Numbers for what texts say."""
        return pd.Series(self.read_numbers(values))

    def text_of(self, value: object) -> str:
        """How a file holds a value."""
        return self.notation.text_of(value, super().text_of(value))

    def _near(self, number: float) -> float:
        """A number between the bounds, as near to one as can be."""
        assert self.minimum is not None
        assert self.maximum is not None
        return min(max(number, self.minimum), self.maximum)
