"""Axes: what a column offers whose values have an order, so that they can be binned, compared and
added.

Its values are read on a scale of floats: numbers, or seconds. They are written from a grid of
integers, of which each bin holds a run. For comparing and adding exactly there is a line of whole
numbers, see `synthdp.schema.rules.lines`.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.words.grid_intervals import Ints

Floats = NDArray[np.float64]
CodeColumn = NDArray[np.integer[Any]]


class Axis(Protocol):
    """The values of a column in their order; any column of `BinnedColumn` is one."""

    @property
    def name(self) -> str:
        """Name of the column."""

    @property
    def required(self) -> bool:
        """Whether every row has a value."""

    @property
    def size(self) -> int:
        """Number of level codes, "missing" and the unread place included."""

    @property
    def n_levels(self) -> int:
        """Number of bins."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its codes."""

    @property
    def noun(self) -> str:
        """What a value is called: "number", "date"."""

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""

    @property
    def n_values(self) -> int:
        """How many values are written between the bounds."""

    @property
    def unit(self) -> Fraction:
        """What 1 on the line is worth."""

    @property
    def step(self) -> int:
        """All places on the line are multiples of it."""

    @property
    def decimals(self) -> int | None:
        """How many decimals are written; 0 of what has none."""

    @property
    def most_decimals(self) -> int | None:
        """The most that it could have; None of a type that has none."""

    @property
    def can_be_added(self) -> bool:
        """Whether its values can be added and multiplied, not only compared."""

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers, whatever they are the sum of."""

    @property
    def kept(self) -> Ints | None:
        """Bounds of the spans of grid points that are drawn; None for all."""

    @property
    def kept_shares(self) -> Floats:
        """What share of each bin is drawn."""

    @property
    def drawn_starts(self) -> Ints:
        """First grid point of each bin, then the last one of all plus 1."""

    @property
    def resolution(self) -> Any:
        """The unit of time that grid points count; None of numbers."""

    @property
    def cells(self) -> Ints:
        """Where the public cells begin in which values are looked for first."""

    @property
    def has_even_cells(self) -> bool:
        """Whether these are of equal length, rather than the longer the further out."""

    def likely_point(self, decimals: int) -> int:
        """A grid point that values are often near to."""

    def grid_points(self, numbers: Floats, decimals: int) -> Ints:
        """The grid points of numbers on the scale, wherever they lie; none is NaN."""

    def written_points(self, points: Ints, decimals: int) -> list[Any]:
        """The values at grid points, wherever they lie, as a schema holds them."""

    def outermost_points(self, decimals: int, limits: Mapping[str, Any] | None) -> tuple[int, int]:
        """The lowest and the highest grid point that a bound can have."""

    def outermost_bounds(self, limits: Mapping[str, Any]) -> tuple[Any, Any]:
        """The lowest and the highest bound that can be learnt, as values."""

    @property
    def inner_edges(self) -> Floats:
        """Where one bin ends and the next begins, on the scale."""

    def places_of(self, points: Ints) -> Ints:
        """Where grid points lie on the line."""

    def points_of(self, places: Ints) -> Ints:
        """The last grid point at or below each place on the line."""

    def at(self, points: Ints) -> NDArray[Any]:
        """The values at grid points, on the scale."""

    def read_numbers(self, values: pd.Series) -> Floats:
        """Values on the scale; NaN where missing, and with a minus sign where unread."""

    def codes_of_numbers(self, numbers: Floats) -> NDArray[Any]:
        """Level codes of what `read_numbers` gives."""

    def bins_between(self, low: object, high: object) -> NDArray[np.bool_]:
        """Which bins lie between two values; raises `SchemaError` if a limit cuts one."""

    def points_between(self, low: object, high: object) -> tuple[int, int]:
        """The first grid point at or above ``low`` and the first above ``high``."""

    def parted(self, points: Sequence[int]) -> Any:
        """The column with bins that also begin at some grid points within its bounds."""

    @property
    def is_flat(self) -> bool:
        """Whether nothing says how values lie in its bins, though some hold several."""

    @property
    def has_gaps(self) -> bool:
        """Whether a shape weighs nothing somewhere."""

    def following(self, mass: Floats) -> Any:
        """The column where the density inside its bins goes on from bin to bin, or gaps of its
        shape are filled, by what each bin weighs.
        """

    def narrowed(self, spans: Sequence[tuple[int, int]]) -> Any:
        """The column, drawing from some spans of grid points only."""

    def widened(self, others: Sequence["Axis"], spread: int, limits: tuple[Any, Any]) -> Any:
        """The column from the lowest bound of some others to the highest, and some units more."""

    def with_decimals(self, decimals: int) -> Any:
        """The column with other decimals."""

    def draw(
        self, codes: CodeColumn, rng: np.random.Generator, parts: Sequence[CodeColumn] = ()
    ) -> Ints:
        """A grid point for each code, and for the codes of its parts."""

    def draw_between(self, lows: Ints, highs: Ints, rng: np.random.Generator) -> Ints:
        """A grid point between each two of one bin."""

    def share_between(self, lows: Ints, highs: Ints) -> Floats:
        """What share of a bin is drawn between each two grid points of it, both included."""

    @property
    def is_heaped(self) -> bool:
        """Whether round values are likelier than others."""

    def is_missing(self, codes: CodeColumn) -> NDArray[np.bool_]:
        """Whether each code stands for no value."""

    def values_at(self, points: Ints, missing: NDArray[np.bool_]) -> pd.Series:
        """The values at grid points, and nothing where they are missing."""

    def field(self) -> dict[str, Any]:
        """The column as a field of Frictionless Table Schema."""

    def texts_at(self, points: Ints, missing: NDArray[np.bool_]) -> NDArray[np.object_]:
        """The values at grid points as a CSV file holds them."""
