"""Columns whose levels are bins: what integers, numbers and dates have in common.

Every such column is read on a scale of floats on which its bins are half-open intervals,
and written from a grid of integers (the integers themselves, multiples of ``10**-decimals``,
days, months, ...), of which each bin holds an interval. A value is drawn from the interval of its
bin, uniformly or by a `Shape`, so what is written always reads back as the bin that it came from.
"""

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import SchemaError
from synthdp.schema.axes.axis import Axis, CodeColumn
from synthdp.schema.axes.bin_shape import Shape
from synthdp.schema.axes.gaps import with_gaps_filled
from synthdp.schema.axes.monotone import followed
from synthdp.schema.axes.points import LARGEST, are_unread
from synthdp.schema.axes.rule import Edges
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.reading import INFINITE_NAN, Values, distinct, nothing_in
from synthdp.schema.words.grid_intervals import (
    Floats,
    GridIntervals,
    Ints,
    cut_at,
    joined_spans,
    lengths_of,
    lie_in,
    masses,
    shares_of_groups,
)
from synthdp.schema.words.heaps import HeapedIntervals, Heaps
from synthdp.schema.words.texts import refuse

MIN_FOLLOWED = 3
"""Fewest bins that say how a density goes on: of two nobody knows where their middles lie."""


@dataclass(frozen=True, kw_only=True)
class BinnedColumn(Column):
    """A column of ordered values in bins; see the top of this module."""

    edges: tuple[Any, ...] | None = None
    """Where bins begin and the last one ends, if that was declared."""
    shape: Shape | None = None
    """Where inside the bins the values lie, for decoding; None draws them uniformly. In a bin
    that it gives no weight they are drawn uniformly as well.
    """
    kept: Ints | None = field(default=None, repr=False, compare=False)
    """Bounds of the spans of grid points that are drawn from where a bin holds any of them, None
    for all points; see `narrowed`. No property of the column: no schema holds it.
    """
    density: tuple[Ints, Floats] | None = field(default=None, repr=False, compare=False)
    """In place of the shape, or of none, the first grid point of each piece, then the end, and what
    each weighs; see `following`. No property of the column either.
    """
    places_at_ends: bool = field(default=False, repr=False)
    """Whether values below and above the bounds have codes of their own; see `with_all_places`."""

    @cached_property
    @abstractmethod
    def inner_edges(self) -> NDArray[np.float64]:
        """Where one bin ends and the next begins, on the scale that values are read on."""

    @cached_property
    @abstractmethod
    def _starts(self) -> NDArray[np.int64]:
        """First grid point of each bin, then the last grid point of all plus 1."""

    @abstractmethod
    def _read(self, values: Values) -> NDArray[np.float64]:
        """Values on the scale of the edges; NaN where unreadable."""

    @cached_property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """The lowest number that is not below the bounds, and the lowest one that is above, on that
        scale: what is written as the highest value is not above it.
        """

    def _read_limits(self, values: Values) -> NDArray[np.float64]:
        """Limits that somebody declares, which need not be values of the column, on that scale."""
        return self._read(values)

    @property
    @abstractmethod
    def _bounds(self) -> tuple[Any, Any]:
        """Lowest and highest value, on the same scale."""

    @abstractmethod
    def _first_points(self, values: Sequence[Any]) -> Ints:
        """The first grid point whose value is at or above each of some values between the bounds."""

    @abstractmethod
    def at(self, points: NDArray[np.int64]) -> NDArray[Any]:
        """The values at grid points, within the bounds."""

    @abstractmethod
    def _texts(self, values: NDArray[Any]) -> Sequence[str]:
        """Values as a CSV file holds them."""

    @classmethod
    def to_fill_in(cls) -> dict[str, Any]:
        """The bounds."""
        return {"constraints": {"minimum": None, "maximum": None}}

    has_bins: ClassVar[bool] = True

    @property
    def has_end_places(self) -> bool:
        """Whether values below and above the bounds have codes of their own."""
        return self.places_at_ends

    @property
    def end_codes(self) -> tuple[int, int]:
        """What values below and above the bounds become: their places, else the outermost bins."""
        first = self.size - self.n_places
        return (first, first + 1) if self.places_at_ends else super().end_codes

    def with_all_places(self) -> Self:
        """This column with places for unread values and for those beyond the bounds."""
        if self.has_unread_place and self.places_at_ends:
            return self
        return self._with(has_unread_place=True, places_at_ends=True)

    def without_unread_place(self) -> Self:
        """This column as it was declared."""
        if not self.n_places:
            return self
        return self._with(has_unread_place=False, places_at_ends=False)

    def _codes_of_places(self, placed: Self) -> NDArray[np.int64]:
        codes = super()._codes_of_places(placed)
        codes[[*placed.end_codes]] = self.end_codes
        return codes

    @property
    def outside(self) -> str:
        """The error about a given value that is none of the column's."""
        low, high = self.bounds
        return f"is no {self.noun} between {low} and {high}, written as the column is declared"

    @property
    def axis(self) -> Self:
        """The column itself."""
        return self

    noun: ClassVar[str] = "number"
    """What a value is called."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""

    @property
    @abstractmethod
    def n_values(self) -> int:
        """How many values are written between the bounds."""

    @property
    def decimals(self) -> int | None:
        """How many decimals are written."""
        return 0

    @property
    def most_decimals(self) -> int | None:
        """The most that the column could have; None of a type that has none."""
        return None

    def with_decimals(self, decimals: int) -> Self:
        """The column with other decimals, of a type that has them."""
        return self

    can_be_added: ClassVar[bool] = True
    """Whether its values can be added and multiplied, not only compared."""
    is_whole: ClassVar[bool] = False
    """Whether its values are whole numbers, whatever they are the sum of."""

    @property
    def unit(self) -> Fraction:
        """What 1 on the line is worth; see `synthdp.schema.rules.lines`."""
        return Fraction(10) ** -(self.decimals or 0)

    @property
    def step(self) -> int:
        """All places on the line are multiples of it."""
        return 1

    def places_of(self, points: Ints) -> Ints:
        """Where grid points lie on the line."""
        return points

    def points_of(self, places: Ints) -> Ints:
        """The last grid point at or below each place on the line."""
        return places

    @abstractmethod
    def widened(self, others: Sequence[Axis], spread: int, limits: tuple[Any, Any]) -> Self:
        """The column from the lowest bound of some others to the highest, and some units more,
        within limits; as it is if it cannot be.
        """

    def _between(self, low: Any, high: Any, limits: tuple[Any, Any], **kept: Any) -> Self:
        """The column with bounds at least as wide as its own, within limits; ``kept`` are further
        fields of it.
        """
        own_low, own_high = self.bounds
        lowest, highest = limits
        low = min(own_low, max(low, lowest))
        high = max(own_high, min(high, highest))
        changed: dict[str, Any] = {"minimum": low, "maximum": high} | kept
        if (edges := kept.get("edges")) is not None:
            changed["edges"] = (low, *edges[1:-1], high)
        elif kept.get("bins") == 1 and low < high:
            # One bin is allowed for a column of one value only; widened bounds have several.
            changed["bins"] = 2
        if self.shape is not None:
            # The first piece of the shape begins at the lower bound, wherever that moves.
            changed["shape"] = replace(self.shape, starts=(low, *self.shape.starts[1:]))
        try:
            return replace(self, **changed)
        # Wider bounds may be ones that the decimals, or a format, cannot say.
        except SchemaError:
            return self

    # --- what can be learnt -----------------------------------------------------------------------

    @property
    def resolution(self) -> Any:
        """The unit of time that grid points count; None of numbers."""
        return None

    @abstractmethod
    def grid_points(self, numbers: NDArray[np.float64], decimals: int) -> Ints:
        """The grid points of numbers on the scale, wherever they lie; none is NaN."""

    @abstractmethod
    def written_points(self, points: Ints, decimals: int) -> list[Any]:
        """The values at grid points, wherever they lie, as a schema holds them."""

    def _declared_at(self, points: Ints) -> list[Any]:
        """The same, as the column itself has its bounds and edges."""
        return self.written_points(points, self.decimals or 0)

    @abstractmethod
    def outermost_points(self, decimals: int, limits: Mapping[str, Any] | None) -> tuple[int, int]:
        """The lowest and the highest grid point that a bound can have; ``limits`` are those that
        are declared of bounds that are learnt, None of declared bounds.
        """

    def outermost_bounds(self, limits: Mapping[str, Any]) -> tuple[Any, Any]:
        """The lowest and the highest bound that can be learnt, as values."""
        return self.bounds

    @property
    @abstractmethod
    def cells(self) -> Ints:
        """Where the public cells begin in which values are looked for first."""

    @property
    def has_even_cells(self) -> bool:
        """Whether these are of equal length, rather than the longer the further out."""
        return False

    @abstractmethod
    def likely_point(self, decimals: int) -> int:
        """A grid point that values are often near to."""

    @cached_property
    def missing_numbers(self) -> NDArray[np.float64]:
        """What ``missing_values`` are on the scale of the edges, as far as they are readable."""
        numbers = self._read(np.array(self.missing_values, dtype=object))
        return numbers[~np.isnan(numbers)]

    def _edges_rule(self, kind: Literal["number", "date", "time"], *, is_whole: bool) -> Edges:
        """An engine knows the edges of the bins, and what else is missing."""
        return Edges(
            kind=kind,
            edges=tuple(self.inner_edges.tolist()),
            missing=tuple(self.missing_numbers.tolist()),
            is_whole=is_whole,
            ends=self.ends,
        )

    def _check_missing_outside(self, low: float, high: float) -> None:
        """Refuse a missing value between the bounds: it could be taken for a value that is written."""
        texts = np.array(self.missing_values, dtype=object)
        for text, number in zip(self.missing_values, self._read(texts), strict=True):
            # -1 or 9999 as "not known" is usual, and is fine outside the bounds; inside, a drawn
            # 9999 would be read back as missing.
            if low <= number <= high:
                refuse(
                    self.name,
                    f"the missing value {text!r} lies between the bounds; move a bound or remove it",
                )

    @property
    def n_levels(self) -> int:
        """Number of bins."""
        return len(self.inner_edges) + 1

    @property
    @abstractmethod
    def _outer_edges(self) -> Sequence[Any]:
        """Where each bin begins, then the upper bound, as values."""

    @property
    def _labels(self) -> pd.Index:
        """For each code its one value or the interval of its bin (the last one closed), or NA for
        "missing".
        """
        # Bins of single values are called by their value, as levels are.
        if np.diff(self._starts).max() <= 1:
            return super()._labels
        *inner, (low, high) = pairwise(self._outer_edges)
        labels: list[Any] = [pd.Interval(*edges, closed="left") for edges in inner]
        labels.append(pd.Interval(low, high, closed="both"))
        if not self.required:
            labels.append(None)
        return pd.Index(labels, dtype=object, name=self.name)

    @property
    def code_texts(self) -> list[str | None]:
        """The first and the last value of each bin, as a file holds them."""
        starts = self.drawn_starts
        none_missing = np.zeros(self.n_levels, dtype=np.bool_)
        firsts = self.texts_at(starts[:-1], none_missing)
        lasts = self.texts_at(starts[1:] - 1, none_missing)
        texts: list[str | None] = []
        for first, last in zip(firsts, lasts, strict=True):
            texts.append(first if first == last else f"{first} .. {last}")
        return texts + [self._missing_text] * (self.size - self.n_levels)

    def bins_between(self, low: object, high: object) -> NDArray[np.bool_]:
        """Which bins lie between two values (None: no limit), both included; shape ``(n_levels,)``.

        Raises `SchemaError` if a value is unreadable or a bin lies across a limit.
        """
        first, last = self._limits(low, high)
        lows = self.at(self._starts[:-1]).astype(np.float64)
        highs = self.at(self._starts[1:] - 1).astype(np.float64)
        inside: NDArray[np.bool_] = (lows >= first) & (highs <= last)
        outside = (highs < first) | (lows > last)
        # A bin that is half forbidden could neither be kept nor ruled out.
        cut = np.flatnonzero(~(inside | outside))
        if cut.size:
            left, right = self._outer_edges[cut[0] : cut[0] + 2]
            refuse(
                self.name,
                f"a rule cuts a bin in two between {low!r} and {high!r}; the nearest edges of bins are {left} and "
                f"{right}: let the rule end there, add an edge, or declare no bins",
            )
        return inside

    def _limits(self, low: object, high: object) -> tuple[float, float]:
        """Two values on the scale of the edges, infinite for None; raises `SchemaError` if one is
        unreadable.
        """
        limits = self._read_limits(np.array([low, high], dtype=object))
        for given, limit in zip((low, high), limits, strict=True):
            if given is not None and np.isnan(limit):
                refuse(
                    self.name,
                    f"a limit between {low!r} and {high!r} is not a value of the column; correct it",
                )
        # NaN is left for None only: unreadable limits were refused above.
        first, last = np.where(np.isnan(limits), [-np.inf, np.inf], limits).tolist()
        return first, last

    def points_between(self, low: object, high: object) -> tuple[int, int]:
        """The first grid point at or above ``low`` and the first above ``high`` (None: no limit).

        Raises `SchemaError` if a value is unreadable.
        """
        first, last = self._limits(low, high)
        points = range(self.drawn_starts[0], self.drawn_starts[-1])

        def value(point: int) -> float:
            return float(self.at(np.array([point]))[0])

        n_below = bisect_left(points, first, key=value)
        n_up_to_last = bisect_right(points, last, key=value)
        return points[0] + n_below, points[0] + n_up_to_last

    def parted(self, points: Sequence[int]) -> Self:
        """This column with bins that also begin at some grid points within its bounds."""
        starts = self._starts
        added = sorted({*points} - {*starts.tolist()})
        if not added:
            return self
        low, *_, high = self.edges or self._declared_at(np.array([starts[0], starts[-1] - 1]))
        inner = self.edges[1:-1] if self.edges else self._declared_at(starts[1:-1])
        at = dict(zip(starts[1:-1].tolist(), inner, strict=True))
        at |= dict(zip(added, self._declared_at(np.array(added)), strict=True))
        edges = (low, *(at[point] for point in sorted(at)), high)
        changed: dict[str, Any] = {"bins": None, "edges": edges, "minimum": low, "maximum": high}
        return replace(self, **changed)

    def with_missing(self, missing_values: Sequence[str], *, required: bool) -> Self:
        """This column where other texts mean "missing", wherever its bounds lie."""
        return self._with(missing_values=tuple(missing_values), required=required)

    def narrowed(self, spans: Sequence[tuple[int, int]]) -> Self:
        """This column, drawing from some spans of grid points only where it decodes a bin that
        holds any of them.
        """
        return replace(self, kept=joined_spans(spans))

    @property
    def kept_shares(self) -> NDArray[np.float64]:
        """What share of each bin is kept, by its shape; where that is nothing anywhere, by the
        number of points.
        """
        cuts, bins = self._cuts()
        inside = self._is_kept(cuts[:-1])
        lengths = np.diff(cuts)

        def shares_by(mass: Floats) -> Floats:
            of_bins = shares_of_groups(bins, lengths, mass)
            return np.bincount(bins, inside * of_bins, minlength=self.n_levels).astype(np.float64)

        shares = shares_by(self._mass(cuts))
        # A shape may weigh nothing where a rule leaves room: then by the number of points.
        return shares if shares.any() else shares_by(lengths.astype(np.float64))

    def read_numbers(self, values: pd.Series) -> NDArray[np.float64]:
        """Values on the scale of the bounds: numbers, or seconds since 1970-01-01 in UTC.

        Total, as `encode` is: NaN where a value is missing, NaN with a minus sign (`UNREAD_NAN`)
        where it is unread. Numbers outside the bounds stay as they are; infinite ones are missing.
        """
        unique, positions = distinct(values)
        numbers = self.numbers_of(unique)
        return numbers if positions is None else numbers[positions]

    def numbers_of(self, values: Values) -> NDArray[np.float64]:
        """`read_numbers` of an array of values."""
        numbers = self._read(values)
        # NaN, infinite and too large at once, as every comparison with NaN is false.
        gaps = np.flatnonzero(~(np.abs(numbers) <= LARGEST))
        if gaps.size:
            nothing = nothing_in(values[gaps], self._missing_texts)
            # One that is declared as a missing value is missing, however large.
            is_infinite = ~np.isnan(numbers[gaps]) & are_unread(nothing)
            numbers[gaps] = np.where(is_infinite, INFINITE_NAN, nothing)
        if len(self.missing_numbers):
            numbers = np.where(np.isin(numbers, self.missing_numbers), np.nan, numbers)
        return numbers

    @cached_property
    def _missing_texts(self) -> frozenset[str]:
        return frozenset(text.strip() for text in self.missing_values)

    def codes_of_numbers(self, numbers: NDArray[np.float64]) -> NDArray[Any]:
        """Level codes of what `read_numbers` gives: ``encode`` is the one after the other.

        >>> from synthdp.schema.columns.numeric import IntegerColumn
        >>> column = IntegerColumn(name="age", minimum=0, maximum=99, bins=10)
        >>> column.codes_of_numbers(column.read_numbers(pd.Series(["42", "?", "1e9"]))).tolist()
        [4, 10, 9]
        """
        # Numbers beyond the bounds fall into the outermost bins: clipping, whatever the value.
        codes = np.searchsorted(self.inner_edges, numbers, side="right")
        if self.places_at_ends:
            # Still one code a number, by comparison with public limits.
            below, above = self.end_codes
            codes[numbers < self.ends[0]] = below
            codes[numbers >= self.ends[1]] = above
        return with_nothing(codes, numbers, self)

    def _codes_of(self, values: Values) -> NDArray[Any]:
        return self.codes_of_numbers(self.numbers_of(values))

    def _has(self, value: object) -> bool:
        box = np.empty(1, dtype=object)
        box[0] = value
        low, high = self._bounds
        return bool(low <= self._read(box)[0] <= high)

    @property
    def is_flat(self) -> bool:
        """Whether nothing says how values lie in its bins, though some hold several."""
        return (
            self.shape is None
            and self.density is None
            and self.n_levels >= MIN_FOLLOWED
            and int(np.diff(self._starts).max()) > 1
        )

    @property
    def has_gaps(self) -> bool:
        """Whether a shape weighs nothing somewhere."""
        return (
            self.shape is not None
            and self.density is None
            and 0.0 in self.shape.weights
            and self._pieces is not None
        )

    def following(self, mass: Floats) -> Self:
        """This column where the density inside its bins goes on from bin to bin, or where gaps of
        its shape hold what bins have more than it has in them.

        ``mass`` is what each bin weighs, at least 0; shape ``(n_levels,)``.
        """
        if self.shape is None or self._pieces is None:
            return replace(self, density=followed(self._starts, mass))
        return replace(self, density=with_gaps_filled(self._starts, mass, *self._pieces))

    def density_by(self, mass: Floats) -> tuple[Ints, Floats]:
        """Where values are drawn if bins weigh so much, at least 0: first grid points of pieces,
        then the end, and what each weighs.
        """
        drawn = self.following(mass) if self.is_flat or self.has_gaps else self
        bins, starts, lengths, weights = drawn._parted
        shares = shares_of_groups(bins, lengths, weights)
        return np.append(starts, self.drawn_starts[-1]), mass[bins] * shares

    def reaching(self, starts: Ints, mass: Floats) -> Self:
        """This column, its outermost bins out to where a density begins and ends, and that density
        as its shape; as it is if its values cannot be so far out. See `density_by`.
        """
        last_point = starts[-1] - 1
        *begins, high = self._declared_at(np.append(starts[:-1], last_point))
        low = begins[0]
        # Codes stay: only the outermost edges move.
        inner = self.edges[1:-1] if self.edges else self._declared_at(self._starts[1:-1])
        changed: dict[str, Any] = {
            "minimum": low,
            "maximum": high,
            "bins": None,
            "edges": (low, *inner, high),
            "shape": Shape(starts=tuple(begins), weights=tuple(mass.tolist())),
        }
        try:
            return replace(self, **changed)
        # Wider bounds may be ones that the decimals, or a format, cannot say.
        except SchemaError:
            return self

    @cached_property
    def _pieces(self) -> tuple[Ints, Floats] | None:
        """First grid point of each piece of the shape, then the end of the last one, and what they
        weigh; None without a shape.
        """
        if self.density is not None:
            return self.density
        first = self._starts[0]
        end = self._starts[-1]
        if self.shape is None or end - first <= 1:
            return None
        points = np.clip(self._first_points(self.shape.starts), first, end)
        return np.append(points, end), np.asarray(self.shape.weights)

    def _mass(self, cuts: Ints) -> NDArray[np.float64]:
        """What each interval of grid points between two cuts weighs; each lies in one piece of the
        shape.
        """
        sizes = lengths_of if self._heaps is None else self._heaps.sizes
        if self._pieces is None:
            return sizes(cuts)
        return masses(cuts, *self._pieces, sizes)

    @property
    def drawn_starts(self) -> Ints:
        """`_starts`, but for a column of one value off its grid, which is written all the same."""
        first = self._starts[0]
        end = self._starts[-1]
        return np.append(self._starts[:-1], max(end, first + 1))

    def _cuts(self, *others: Ints) -> tuple[Ints, Ints]:
        """Where bins, pieces of the shape and kept spans begin and end, and for each interval
        between the bin it lies in.
        """
        starts = self.drawn_starts
        further = [*others]
        if self._pieces is not None:
            piece_starts, _ = self._pieces
            further.append(piece_starts)
        if self.kept is not None:
            further.append(self.kept)
        if self._heaps is not None:
            # 0 is no likelier than points of no step, though every step divides it.
            further.append(np.array([0, 1]))
        cuts = cut_at(starts, *further)
        return cuts, np.searchsorted(starts, cuts[:-1], side="right") - 1

    def _is_kept(self, points: Ints) -> NDArray[np.bool_]:
        if self.kept is None:
            return np.ones(len(points), np.bool_)
        return lie_in(points, self.kept)

    @property
    def _parted(self) -> tuple[Ints, Ints, Ints, NDArray[np.float64]]:
        """The grid in intervals that lie in one bin and one piece of the shape each: bin, first
        point, length and mass.
        """
        cuts, bins = self._cuts()
        kept = self._is_kept(cuts[:-1])
        # Bins of which nothing is kept stay whole: any code may be drawn, so each bin is a group.
        kept |= ~np.isin(bins, bins[kept])
        return bins[kept], cuts[:-1][kept], np.diff(cuts)[kept], self._mass(cuts)[kept]

    @cached_property
    def _intervals(self) -> GridIntervals:
        return GridIntervals.from_groups(*self._parted)

    @cached_property
    def _heaped_intervals(self) -> HeapedIntervals | None:
        if self._heaps is None:
            return None
        return HeapedIntervals.from_groups(self._heaps, *self._parted)

    @property
    def _heaps(self) -> Heaps | None:
        """How much likelier round grid points are than others; None for no more likely."""
        return None

    @property
    def _is_even(self) -> bool:
        return self._pieces is None and self.kept is None and self._heaps is None

    def _bins_of(self, codes: CodeColumn) -> CodeColumn:
        """The bin of each code; any where the value is missing."""
        return codes if self.required else np.minimum(codes, self.n_levels - 1)

    def draw(
        self, codes: CodeColumn, rng: np.random.Generator, parts: Sequence[NDArray[Any]] = ()
    ) -> Ints:
        """A grid point for each code, from its bin; any point where the value is missing."""
        bins = self._bins_of(codes)
        if self._is_even:  # each bin is one interval
            return self._intervals.points_in(bins, rng)
        return (self._heaped_intervals or self._intervals).draw(bins, rng)

    def draw_between(self, lows: Ints, highs: Ints, rng: np.random.Generator) -> Ints:
        """A grid point between each two of one bin, both included and kept, by the shape; round
        ones like others.
        """
        if self._is_even:
            return rng.integers(lows, highs + 1)
        return self._intervals.draw_between(lows, highs, rng)

    def share_between(self, lows: Ints, highs: Ints) -> NDArray[np.float64]:
        """What share of a bin is drawn between each two grid points of it, both included."""
        return self._intervals.share_between(lows, highs)

    @property
    def is_heaped(self) -> bool:
        """Whether round values are likelier than others."""
        return self._heaps is not None

    def is_missing(self, codes: CodeColumn) -> NDArray[np.bool_]:
        """Whether each code stands for no value."""
        return np.asarray(codes >= self.n_levels)

    def decode(self, codes: CodeColumn, rng: np.random.Generator) -> pd.Series:
        """Values drawn from their bins; see `values_at` for the dtype."""
        return self.values_at(self.draw(codes, rng), self.is_missing(codes))

    def decode_text(self, codes: CodeColumn, rng: np.random.Generator) -> NDArray[np.object_]:
        """The values that `decode` gives for the same generator, as texts."""
        return self.texts_at(self.draw(codes, rng), self.is_missing(codes))

    @abstractmethod
    def values_at(self, points: Ints, missing: NDArray[np.bool_]) -> pd.Series:
        """The values at grid points, and nothing where they are missing."""

    def texts_at(self, points: Ints, missing: NDArray[np.bool_]) -> NDArray[np.object_]:
        """The values at grid points as a CSV file holds them."""
        positions, unique = pd.factorize(points)
        texts = [*self._texts(self.at(unique)), self._missing_text]
        positions[missing] = len(texts) - 1
        return self._gathered(texts, positions)


def with_nothing(
    codes: CodeColumn, numbers: NDArray[np.float64], column: Column
) -> NDArray[np.unsignedinteger[Any]]:
    """Codes of what `BinnedColumn.read_numbers` gives, with those of missing and of unread values
    where it is NaN.
    """
    nothing = np.flatnonzero(np.isnan(numbers))
    codes[nothing] = np.where(are_unread(numbers[nothing]), column.unread_code, column.missing_code)
    return codes.astype(column.dtype)
