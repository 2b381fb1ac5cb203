"""Points on a map: longitude and latitude in one column, in the cells of a grid over a public box.

The two are read, binned and drawn as two columns of numbers are, and counted together: the code of
a point is its cell's number, row by row from the south-west. A cell has no one order, so a column
of points has no axis; its coordinates are compared each by itself where tables are evaluated.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Literal, Self, TypeAlias, final, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import SchemaError
from synthdp.schema.axes.axis import CodeColumn
from synthdp.schema.axes.bin_limits import MAX_LEVELS
from synthdp.schema.axes.points import are_unread
from synthdp.schema.axes.rule import Unread
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.described import Reading
from synthdp.schema.columns.field import Field
from synthdp.schema.columns.numeric import NumberColumn
from synthdp.schema.columns.reading import Values, distinct, nothing_in, to_float
from synthdp.schema.words.texts import in_column, refuse

PointFormat: TypeAlias = Literal["default", "array", "object"]
"""How points are written: ``13.4, 52.5``, ``[13.4, 52.5]`` or ``{"lon": 13.4, "lat": 52.5}``."""

FORMATS: tuple[PointFormat, ...] = get_args(PointFormat)
"""All formats."""

DEFAULT_BINS = (8, 8)
"""Columns and rows of a grid that names none: as many cells as a column keeps single values."""

LIMITS = (180.0, 90.0)
"""The largest longitude and latitude, east and north, and with a minus sign west and south."""

KEYS = ("bbox", "bins", "decimals")
"""What a field can have under ``synthdp``."""

_COORDINATES = ("longitude", "latitude")
_BBOX = "[west, south, east, north]"
_FOUR = f"four numbers, {_BBOX}"
_WORLD = "[-180, -90, 180, 90] is the whole world"


@final
@dataclass(frozen=True, kw_only=True)
class GeopointColumn(Column):
    """A column of points, as longitude and latitude in degrees, in a public box.

    >>> column = GeopointColumn(name="home", bbox=(13.0, 52.0, 14.0, 53.0), bins=(2, 2))
    >>> column.encode(pd.Series(["13.1, 52.1", (13.9, 52.9), "?"], dtype=object)).tolist()
    [0, 3, 4]
    """

    bbox: tuple[float, ...] | None = None
    """The public box: west, south, east and north, as GeoJSON has it. Points outside go to the
    nearest cell. It does not reach over the 180th meridian.
    """
    bins: tuple[int, ...] | int | None = None
    """Number of columns and of rows of the grid, each of equal width in degrees; one number for
    both. `DEFAULT_BINS` if None.
    """
    decimals: int | None = None
    """Decoded points have so many decimals, and are drawn evenly over those of their cell. By
    default as many as give the narrower side of a cell `numeric.POINTS_PER_BIN` of them.
    """
    format: PointFormat = "default"
    """How texts are written. Values that are no texts are read whatever it is: pairs, and mappings
    with ``lon`` and ``lat``; decoded values are texts, tuples or dicts by it.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.format not in FORMATS:
            formats = ", ".join(map(repr, FORMATS))
            refuse(self.name, f"the format {self.format!r} is not supported; use one of {formats}")
        object.__setattr__(self, "bbox", self._checked_box())
        object.__setattr__(self, "bins", self._checked_bins())
        if self.decimals is None:
            # Degrees of longitude and of latitude get the same number of decimals, as people write
            # points; the side with narrower cells decides.
            finest = max(int(each.decimals or 0) for each in self._made_axes())
            most = min(each.most_decimals for each in self._made_axes())
            object.__setattr__(self, "decimals", min(finest, most))
        _ = self.axes  # refuses bins without values
        self._check_missing_outside()

    def _checked_box(self) -> tuple[float, ...]:
        """The box as floats, checked."""
        box = self.bbox
        if box is None:
            problem = (
                f"synthdp.bbox is not filled in; give the public box {_BBOX} that points lie in"
            )
            refuse(self.name, f"{problem} ({_WORLD}); a box is not learnt")
        declared = in_column(self.name, "synthdp.bbox", list(box))
        corners = [each.number(_FOUR) for each in declared.entries(_FOUR)]
        if len(corners) != 4:
            declared.expect(_FOUR)
        west, south, east, north = map(float, corners)
        if not (
            # A box over the 180th meridian would have west above east. It is refused, not split:
            # longitudes are drawn as numbers of one interval.
            -LIMITS[0] <= west < east <= LIMITS[0] and -LIMITS[1] <= south < north <= LIMITS[1]
        ):
            problem = f"synthdp.bbox is {list(box)!r}, and no box of degrees from west to east, south to north"
            refuse(self.name, f"{problem}; {_WORLD}")
        return west, south, east, north

    def _checked_bins(self) -> tuple[int, ...]:
        """How many columns and rows there are."""
        bins = self.bins
        if bins is None:
            return DEFAULT_BINS
        both = (bins, bins) if isinstance(bins, int) else tuple(bins)
        # type, not isinstance: true is an int to Python.
        are_counts = len(both) == 2 and all(type(each) is int and each >= 2 for each in both)
        if not are_counts or math.prod(both) > MAX_LEVELS:
            way_out = (
                f"give [columns, rows] of the grid, each 2 or more, at most {MAX_LEVELS:,} cells"
            )
            refuse(self.name, f"synthdp.bins is {self.bins!r}; {way_out}")
        return both

    def _check_missing_outside(self) -> None:
        """Refuse a missing value that is a point in the box: what is written could then be either."""
        for text in self.missing_values:
            if self._lies_inside(self._point(text)):
                problem = f"the missing value {text!r} lies in synthdp.bbox"
                refuse(self.name, f"{problem}; move the box or remove it")

    def _made_axes(self) -> tuple[NumberColumn, NumberColumn]:
        west, south, east, north = self.bbox or ()
        n_columns, n_rows = self._shape
        spans = ((west, east, n_columns), (south, north, n_rows))
        made = []
        for coordinate, (low, high, bins) in zip(_COORDINATES, spans, strict=True):
            name = f"{self.name}:{coordinate}"
            bounds: dict[str, Any] = {
                "minimum": low,
                "maximum": high,
                "bins": bins,
                "decimals": self.decimals,
            }
            try:
                made.append(NumberColumn(name=name, required=True, missing_values=(), **bounds))
            except SchemaError as error:
                # Nobody declared a column "home:longitude": errors name the one that is in the
                # schema.
                raise SchemaError(str(error).replace(name, self.name)) from None
        longitude, latitude = made
        return longitude, latitude

    @cached_property
    def axes(self) -> tuple[NumberColumn, NumberColumn]:
        """Longitude and latitude, each as a column of numbers."""
        return self._made_axes()

    @property
    def _shape(self) -> tuple[int, int]:
        assert isinstance(self.bins, tuple)
        n_columns, n_rows = self.bins
        return n_columns, n_rows

    # --- words of the type ------------------------------------------------------------------------

    @classmethod
    def parse(cls, field: Field) -> Self:
        """The column that a field declares."""
        own = field.own(KEYS)
        for key in ("minimum", "maximum", "enum"):
            if (stated := field["constraints"][key]).is_given:
                stated.refuse(f"is not for points; give synthdp.bbox, {_BBOX}")
        bins = own.get("bins")
        return cls(
            bbox=field.listed("bbox", _BBOX),
            bins=bins if isinstance(bins, int) else field.listed("bins", "[columns, rows]"),
            decimals=own.get("decimals"),
            format=field.get("format") or "default",
            **field.shared,
        )

    @classmethod
    def example_field(cls, kind: str) -> dict[str, Any]:
        """A city in sixteen cells."""
        own = {"bbox": [13.0, 52.3, 13.8, 52.7], "bins": [4, 4], "decimals": 3}
        return {"type": kind, "synthdp": own}

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field can have under ``synthdp``."""
        return KEYS

    @classmethod
    def to_fill_in(cls) -> dict[str, Any]:
        """The box."""
        return {"synthdp": {"bbox": None}}

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        own = {"bbox": list(self.bbox or ()), "bins": list(self._shape), "decimals": self.decimals}
        properties = {} if self.format == "default" else {"format": self.format}
        return self._field("geopoint", {}, own, **properties)

    # --- values to codes --------------------------------------------------------------------------

    @property
    def n_levels(self) -> int:
        """Number of cells."""
        return math.prod(self._shape)

    def _point(self, value: object) -> tuple[float, float]:
        """Longitude and latitude of one value; NaN if it is no point. A cell may be any object, and
        its methods may raise anything.
        """
        try:
            longitude, latitude = map(to_float, self._pair(value))
        # Cells of data frames are any objects: what `float`, indexing or a mapping's methods raise
        # is theirs to choose. One such cell must not be distinguished from others by an error.
        except Exception:
            return math.nan, math.nan
        # The two exchanged is the usual mistake; where it gives no latitude it is found here.
        is_point = abs(longitude) <= LIMITS[0] and abs(latitude) <= LIMITS[1]
        return (longitude, latitude) if is_point else (math.nan, math.nan)

    def _pair(self, value: object) -> Sequence[object]:
        """What stands for longitude and for latitude in one value; raises anything if nothing does."""
        if isinstance(value, str):
            text = str.__str__(value)
            if self.format == "default":
                return text.split(",")
            parsed = json.loads(text)
            if not isinstance(parsed, list if self.format == "array" else dict):
                raise ValueError("no point in this format")
            return self._pair(parsed)
        if isinstance(value, Mapping):
            return [value["lon"], value["lat"]]
        if isinstance(value, tuple | list | np.ndarray):
            return list(value)
        raise ValueError("no point")

    def _points(self, values: Values) -> NDArray[np.float64]:
        """Longitude and latitude of each value, NaN where it is none; shape ``(n, 2)``."""
        if values.dtype != object:
            # A column of numbers, dates or truth values holds no points, whatever the rows.
            return np.full((len(values), 2), np.nan)
        points = [self._point(value) for value in values]
        return np.array(points, dtype=np.float64).reshape(len(values), 2)

    def _codes_of(self, values: Values) -> NDArray[np.int64]:
        points = self._points(values)
        longitude, latitude = self.axes
        nothing = np.flatnonzero(np.isnan(points[:, 0]) | self._means_missing(points))
        columns = longitude.codes_of_numbers(np.nan_to_num(points[:, 0])).astype(np.int64)
        rows = latitude.codes_of_numbers(np.nan_to_num(points[:, 1])).astype(np.int64)
        # Row by row from the south-west: cells east of each other have neighbouring codes.
        codes = rows * self._shape[0] + columns
        if nothing.size:
            texts = frozenset(text.strip() for text in self.missing_values)
            unread = are_unread(nothing_in(values[nothing], texts))
            # A point that means missing, such as 0, 0, was read.
            unread &= np.isnan(points[nothing, 0])
            codes[nothing] = np.where(unread, self.unread_code, self.missing_code)
        return codes

    @cached_property
    def _missing_points(self) -> frozenset[tuple[float, float]]:
        points = map(self._point, self.missing_values)
        return frozenset(point for point in points if not math.isnan(point[0]))

    def _means_missing(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each point is one of ``missing_values``, such as 0, 0."""
        means = np.zeros(len(points), dtype=np.bool_)
        for point in self._missing_points:
            means |= (points == point).all(axis=1)
        return means

    def _lies_inside(self, point: tuple[float, float]) -> bool:
        west, south, east, north = self.bbox or ()
        return west <= point[0] <= east and south <= point[1] <= north

    def _has(self, value: object) -> bool:
        return self._lies_inside(self._point(value))

    def coordinates_of(self, values: pd.Series) -> tuple[NDArray[np.float64], ...]:
        """Longitudes and latitudes, NaN where there is no point."""
        unique, positions = distinct(values)
        points = self._points(unique)
        points[self._means_missing(points)] = np.nan
        rows = points if positions is None else points[positions]
        return rows[:, 0], rows[:, 1]

    # --- codes to values --------------------------------------------------------------------------

    def _drawn(
        self, codes: CodeColumn, rng: np.random.Generator
    ) -> list[tuple[float, float] | None]:
        """A point of each cell, even over its decimals; None where it is missing."""
        cells = np.minimum(codes.astype(np.int64), self.n_levels - 1)
        rows, columns = np.divmod(cells, self._shape[0])
        longitude, latitude = (
            axis.at(axis.draw(bins, rng)).tolist()
            for axis, bins in zip(self.axes, (columns, rows), strict=True)
        )
        is_missing = (codes >= self.n_levels).tolist()
        points = zip(longitude, latitude, is_missing, strict=True)
        # Adding 0 makes 0 of -0, which would be written with a minus sign.
        return [None if missing else (x + 0.0, y + 0.0) for x, y, missing in points]

    def decode(self, codes: CodeColumn, rng: np.random.Generator) -> pd.Series:
        """Texts, tuples or dicts by the format; None where missing."""
        drawn = self._drawn(codes, rng)
        made = np.empty(len(drawn), dtype=object)
        for place, point in enumerate(drawn):
            made[place] = None if point is None else self._value(point)
        return pd.Series(made, dtype=object)

    def decode_text(self, codes: CodeColumn, rng: np.random.Generator) -> NDArray[np.object_]:
        """The same points as texts."""
        texts = [
            self._missing_text if point is None else self._text(point)
            for point in self._drawn(codes, rng)
        ]
        return np.array(texts, dtype=object)

    @property
    def arrow_dtype(self) -> Any:
        """Texts, lists or structures by the format."""
        import pyarrow as pa  # whoever asks has it

        numbers = {
            "default": pa.string(),
            "array": pa.list_(pa.float64()),
            "object": pa.struct([("lon", pa.float64()), ("lat", pa.float64())]),
        }
        return pd.ArrowDtype(numbers[self.format])

    def _value(self, point: tuple[float, float]) -> object:
        if self.format == "default":
            return self._text(point)
        return point if self.format == "array" else {"lon": point[0], "lat": point[1]}

    def _text(self, point: tuple[float, float]) -> str:
        longitude, latitude = (f"{each:.{max(self.decimals or 0, 0)}f}" for each in point)
        if self.format == "array":
            return f"[{longitude}, {latitude}]"
        if self.format == "object":
            return f'{{"lon": {longitude}, "lat": {latitude}}}'
        return f"{longitude}, {latitude}"

    def typed(self, values: pd.Series) -> pd.Series:
        """Points for what texts say."""
        points = [self._point(value) for value in values]
        made = np.empty(len(points), dtype=object)
        for place, point in enumerate(points):
            made[place] = None if math.isnan(point[0]) else self._value(point)
        return values if self.format == "default" else pd.Series(made, dtype=object)

    def text_of(self, value: object) -> str:
        """How a file holds a value, as exactly as it was given."""
        longitude, latitude = self._point(value)
        if isinstance(value, str) or math.isnan(longitude):
            return super().text_of(value)
        pair = json.dumps([longitude, latitude])
        if self.format == "object":
            return json.dumps({"lon": longitude, "lat": latitude})
        return pair if self.format == "array" else pair.strip("[]")

    # --- what is said of it -----------------------------------------------------------------------

    @property
    def _labels(self) -> pd.Index:
        """The middle of each cell, which is read as that cell."""
        middles = [
            axis.at((axis.drawn_starts[:-1] + axis.drawn_starts[1:] - 1) // 2).tolist()
            for axis in self.axes
        ]
        cells = [self._text((x, y)) for y, x in product(middles[1], middles[0])]
        missing = [] if self.required else [None]
        return pd.Index([*cells, *missing], dtype=object, name=self.name)

    @property
    def code_texts(self) -> list[str | None]:
        """The span of each cell, longitude first."""
        longitudes, latitudes = (each.code_texts for each in self.axes)
        cells: list[str | None] = [f"{x}, {y}" for y, x in product(latitudes, longitudes)]
        return [*cells, *([] if self.required else [self._missing_text])]

    has_bins: ClassVar[bool] = True

    @property
    def outside(self) -> str:
        """The error about a given value that is none of the column's."""
        return f"is no point in the box {list(self.bbox or ())}, written as the column is declared"

    noun: ClassVar[str] = "point"

    @property
    def rule(self) -> Unread:
        """No engine reads points: what it would have to take apart is a text or a structure."""
        return Unread()

    not_read: ClassVar[str] = "is no point as it is declared"
    ways_of_writing: ClassVar[str] = (
        "format: 'default' for 13.4, 52.5, 'array' or 'object'; longitude comes first"
    )

    @property
    def reading(self) -> Reading:
        """How the column is read, with one example."""
        west, south, east, north = self.bbox or ()
        # Nine decimals are a tenth of a millimetre: only the noise of floats is cut.
        middle = [round((low + high) / 2, 9) for low, high in ((west, east), (south, north))]
        longitude, latitude = self.axes
        codes = [
            axis.codes_of_numbers(np.array([number]))[0]
            for axis, number in zip((longitude, latitude), middle, strict=True)
        ]
        cell = int(codes[1]) * self._shape[0] + int(codes[0])
        text = str(self._labels[cell])
        what = "points, longitude before latitude, in degrees"
        note = f"kept by {self._shape[0]} x {self._shape[1]} cells"
        return Reading(what=what, fits=text, written=text, note=note)
