"""Columns of points in time: what dates, moments and times of day have in common.

Values are read as whole seconds, from 1970 or from midnight, and kept at a resolution: the grid of
such a column counts its units of resolution, and what is written is the first point of a unit.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from synthdp.schema.axes.bin_shape import Shape
from synthdp.schema.columns.binned import BinnedColumn
from synthdp.schema.columns.calendar import SECONDS, SECONDS_A_DAY
from synthdp.schema.columns.edges import (
    check_bins,
    check_edges,
    check_order,
    default_bins,
    even_starts,
)
from synthdp.schema.columns.field import Field
from synthdp.schema.words.grid_intervals import Ints
from synthdp.schema.words.texts import check_text, refuse

Moment = TypeVar("Moment")
"""What a value is in Python."""

KEYS = ("resolution", "bins", "edges", "shape")
"""What a field can have under ``synthdp``."""

N_PROBES = 500
"""A format is tried on this many points between the bounds, and the first ones: more than a year of
days. Python reads 100,000 of them a second.
"""

_TRIED: set[tuple[object, ...]] = set()
"""What was tried and found fit: a schema makes each of its columns several times, first with open
bounds, then with what was learnt.
"""


@dataclass(frozen=True, kw_only=True)
class TemporalColumn(BinnedColumn, Generic[Moment]):
    """A column of points in time between public bounds.

    Parameters
    ----------
    minimum, maximum
        Inclusive public bounds; values outside go to the nearest bin. Not needed with ``edges``.
    format
        A pattern of `datetime.strftime`, or None for ISO 8601 as most systems write it.
    resolution
        What values are truncated to: a decoded value is the first point of its unit of resolution
        (or ``minimum``, if that is later). By default the finest that the format can say.
    bins
        Number of bins of whole units of resolution, as even as possible; by default one a
        unit if there are at most `binned.MAX_SINGLE_LEVELS`, else `binned.DEFAULT_BINS`.
    edges
        Increasing edges: bin ``i`` holds ``edges[i] <= x < edges[i + 1]``, the last bin its
        right edge too. All but the first and last begin a unit of resolution. In place of ``bins``.
    """

    minimum: Moment | None = None
    maximum: Moment | None = None
    format: str | None = None
    resolution: Any = None
    bins: int | None = None
    edges: tuple[Moment, ...] | None = None

    # --- what a type says -------------------------------------------------------------------------

    noun: ClassVar[str]

    described: ClassVar[str]
    """What a declared value has to be, and how it is written."""

    seconds_of_all: ClassVar[tuple[int, int]]
    """The first and the last second that any column of the type can hold."""

    @classmethod
    @abstractmethod
    def pattern_of(cls, name: str, declared: Any) -> str | None:
        """The format that a field declares, None for ISO 8601; raises `SchemaError`."""

    @staticmethod
    @abstractmethod
    def parser(pattern: str | None) -> Callable[[str], Moment]:
        """What reads one text by a format; it raises `ValueError` if the text does not fit."""

    @staticmethod
    @abstractmethod
    def from_iso(text: str) -> Moment:
        """A value that a schema or a rule declares as ISO 8601; raises `ValueError`."""

    @classmethod
    def _typed_as(cls, field: Field) -> dict[str, Any]:
        """What else a field declares."""
        return {}

    def _typed_words(self) -> dict[str, Any]:
        """How a schema says it under ``synthdp``."""
        return {}

    @property
    @abstractmethod
    def type_name(self) -> str:
        """The type of the field."""

    @property
    @abstractmethod
    def _resolutions(self) -> Sequence[str]:
        """The resolutions that the column can have, from coarse to fine."""

    @property
    @abstractmethod
    def _default_resolution(self) -> str:
        """The finest resolution that the format can say."""

    @abstractmethod
    def _checked(self, key: str, value: object) -> Moment:
        """A bound, edge or start, without what the column does not keep; raises `SchemaError`."""

    @staticmethod
    @abstractmethod
    def _second_of(value: Moment) -> int:
        """The second of a value that was checked."""

    @staticmethod
    @abstractmethod
    def _moment_at(second: int) -> Moment:
        """The value at a second; undoes `_second_of`."""

    @staticmethod
    @abstractmethod
    def _iso(value: Moment) -> str:
        """A value as ISO 8601 has it."""

    @staticmethod
    @abstractmethod
    def _label(second: int) -> Any:
        """What stands for a second in the interval of a bin."""

    @abstractmethod
    def _unit_of(self, seconds: Ints) -> Ints:
        """The number of the unit of resolution that each second lies in."""

    @abstractmethod
    def _start_of(self, units: Ints) -> Ints:
        """The first second of each unit of resolution."""

    # --- declaration ------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.format is not None:
            check_text(self.format, self.name, "the format")
        self._check_bounds()
        if self.resolution is None:
            object.__setattr__(self, "resolution", self._default_resolution)
        if self.resolution not in self._resolutions:
            units = ", ".join(self._resolutions)
            refuse(self.name, f"synthdp.resolution is {self.resolution!r}; use one of {units}")
        if self.edges is None:
            n_units = int(self._units[1] - self._units[0] + 1)
            bins = default_bins(n_units) if self.bins is None else self.bins
            bins = check_bins(self.name, bins, n_units, f"{self.resolution}s")
            object.__setattr__(self, "bins", bins)
        else:
            self._check_edges(self.edges)
        self._check_format()
        self._check_missing_outside(*self._bounds)
        if self.shape is not None:
            shape = self.shape.checked(self.name, self._checked, self.minimum, self.maximum)
            object.__setattr__(self, "shape", shape)

    def _check_bounds(self) -> None:
        """Fill in bounds from edges, and check each and their order."""
        given = {"minimum": self.minimum, "maximum": self.maximum}
        bounds = {
            key: self._checked(f"constraints.{key}", bound)
            for key, bound in given.items()
            if self.edges is None or bound is not None
        }
        if self.edges is None:
            check_order(self.name, *bounds.values())
        else:
            edges = tuple(self._checked("an entry of synthdp.edges", edge) for edge in self.edges)
            check_edges(self.name, edges, bounds.get("minimum"), bounds.get("maximum"), self.bins)
            bounds = {"minimum": edges[0], "maximum": edges[-1]}
            object.__setattr__(self, "edges", edges)
            object.__setattr__(self, "bins", None)
        for key, bound in bounds.items():
            object.__setattr__(self, key, bound)

    def _check_edges(self, edges: Sequence[Moment]) -> None:
        inner = edges[1:-1]
        seconds = self._seconds(inner)
        begins_unit = self._start_of(self._unit_of(seconds)) == seconds
        for edge, is_whole in zip(inner, begins_unit, strict=True):
            if not is_whole:
                problem = f"synthdp.edges has {edge}, which cuts a {self.resolution} in two"
                refuse(self.name, f"{problem}; move it, or set a finer synthdp.resolution")

    def _check_format(self) -> None:
        """Refuse a format that cannot say what the resolution asks for, by trying it."""
        if self.format is None:
            return
        first, last = self._units.tolist()
        trial = (type(self), *self._written_by(), self.format, self.resolution, first, last)
        if trial in _TRIED:
            return
        units = np.unique(np.linspace(first, last, N_PROBES).astype(np.int64).clip(first, last))
        units = np.union1d(units, np.arange(first, min(first + N_PROBES, last + 1)))
        read_back = self._read(np.array(self._texts(self.at(units)), dtype=object))
        wrong = np.isnan(read_back)
        if not wrong.any():
            wrong = self._unit_of(read_back.astype(np.int64)) != units
        if wrong.any():
            problem = (
                f"the format {self.format!r} cannot say which {self.resolution} a {self.noun} is in"
            )
            way_out = "correct the format, or set a coarser synthdp.resolution"
            refuse(self.name, f"{problem}; {way_out}")
        _TRIED.add(trial)

    def _written_by(self) -> tuple[object, ...]:
        """What decides how a value is written, beside format and resolution."""
        return ()

    @classmethod
    def parse(cls, field: Field) -> Self:
        """The column that a field declares."""
        own = field.own(cls.keys(field.type, has_levels=False))
        pattern = cls.pattern_of(field.name, field.get("format"))

        def declared(key: str, value: Any) -> Moment:
            for read in (cls.parser(pattern), cls.from_iso):
                # re.error: a pattern that says the same thing twice
                with suppress(ValueError, TypeError, re.error):
                    return read(value)
            return refuse(
                field.name, f"{key} {value!r} is not {cls.described}, or by the field's format"
            )

        binning: dict[str, Any] = {key: own.get(key) for key in KEYS}
        edges = field.listed("edges", f"increasing {cls.noun}s")
        if edges is not None:
            what = "an entry of synthdp.edges"
            binning["edges"] = tuple(declared(what, edge) for edge in edges)
        shape = field.parts_of("shape", ("starts", "weights"))
        if shape is not None:
            what = "an entry of synthdp.shape.starts"
            starts = tuple(declared(what, start) for start in shape["starts"])
            binning["shape"] = Shape(starts=starts, weights=shape["weights"])
        for key in ("minimum", "maximum"):
            bound = field["constraints"][key]
            if not bound.is_given and edges is None:
                bound.refuse("is not filled in; give the bound that is public knowledge")
            if bound.is_given:
                binning[key] = declared(f"constraints.{key}", bound.value)
        return cls(format=pattern, **binning, **cls._typed_as(field), **field.shared)

    @classmethod
    def keys(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What a field can have under ``synthdp``; it lists no levels."""
        return KEYS

    @classmethod
    def derivable(cls, kind: str, *, has_levels: bool) -> tuple[str, ...]:
        """What of a field can be learnt; it lists no levels."""
        return ("bounds", "bins", "missing")

    @classmethod
    def settled(cls, field: Mapping[str, Any]) -> Mapping[str, Any]:
        """A field whose format is as the column has it, if it has one."""
        pattern = cls.pattern_of(field["name"], field.get("format"))
        return field if pattern is None else dict(field) | {"format": pattern}

    def field(self) -> dict[str, Any]:
        """This column as a field of Frictionless Table Schema."""
        low, high = map(self._moment_at, self._bounds)
        constraints = {"minimum": self._bound_text(low), "maximum": self._bound_text(high)}
        properties = {} if self.format is None else {"format": self.format}
        own: dict[str, Any] = {"resolution": self.resolution}
        if self.edges is None:
            own["bins"] = self.bins
        else:
            own["edges"] = list(map(self._bound_text, self.edges))
        if self.shape is not None:
            starts = list(map(self._bound_text, self.shape.starts))
            own["shape"] = {"starts": starts, "weights": list(self.shape.weights)}
        own |= self._typed_words()
        return self._field(self.type_name, constraints, own, **properties)

    def _bound_text(self, bound: Moment) -> str:
        """A bound by the format if that loses nothing, else as ISO 8601."""
        second = self._second_of(bound)
        (text,) = self._texts(np.array([second]))
        is_exact = self._read(np.array([text], dtype=object))[0] == second
        return text if is_exact else self._iso(bound)

    # --- the grid ---------------------------------------------------------------------------------

    def _seconds(self, values: Sequence[Moment]) -> Ints:
        return np.array([self._second_of(value) for value in values], dtype=np.int64)

    @cached_property
    def _bounds(self) -> tuple[int, int]:
        assert self.minimum is not None
        assert self.maximum is not None
        return self._second_of(self.minimum), self._second_of(self.maximum)

    @cached_property
    def _units(self) -> Ints:
        return self._unit_of(np.array(self._bounds))

    @cached_property
    def _starts(self) -> Ints:
        first, last = self._units.tolist()
        if self.edges is None:
            return even_starts(first, last, self.bins or 1)
        inner = self._unit_of(self._seconds(self.edges[1:-1]))
        return np.array([first, *inner, last + 1], dtype=np.int64)

    @cached_property
    def inner_edges(self) -> NDArray[np.float64]:
        """Where one bin ends and the next begins, in seconds."""
        return self._start_of(self._starts[1:-1]).astype(np.float64)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The first second of the first unit of resolution, and the first one after the last unit."""
        first, stop = self._start_of(self._starts[[0, -1]]).tolist()
        return float(first), float(stop)

    @property
    def _outer_edges(self) -> Sequence[Any]:
        seconds = [*self.at(self._starts[:-1]).tolist(), self._bounds[1]]
        return list(map(self._label, seconds))

    def _first_points(self, values: Sequence[Moment]) -> Ints:
        seconds = self._seconds(values)
        units = self._unit_of(seconds)
        # The lower bound is at its unit's grid point, wherever in that unit it lies.
        return units + (self.at(units) < seconds)

    def at(self, points: Ints) -> Ints:
        """The seconds at grid points, within the bounds."""
        return np.clip(self._start_of(points), *self._bounds)

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""
        return self.minimum, self.maximum

    @property
    def n_values(self) -> int:
        """How many units of resolution there are between the bounds."""
        first, last = self._units.tolist()
        return 1 if self.minimum == self.maximum else int(last - first) + 1

    can_be_added: ClassVar[bool] = False

    @cached_property
    def step(self) -> int:
        """All places are multiples of so many seconds."""
        lowest = int(self.at(self.drawn_starts[:1])[0])  # wherever in its unit it lies
        return gcd(SECONDS.get(self.resolution, SECONDS_A_DAY), lowest)

    def places_of(self, points: Ints) -> Ints:
        """The seconds of grid points."""
        return self.at(points)

    def points_of(self, places: Ints) -> Ints:
        """The last grid point at or below each second."""
        points = self._unit_of(places)
        return points - (self.at(points) > places)

    # --- what can be learnt -----------------------------------------------------------------------

    def grid_points(self, numbers: NDArray[np.float64], decimals: int) -> Ints:
        """The units of resolution that seconds lie in."""
        return self._unit_of(np.clip(numbers, *self.seconds_of_all).astype(np.int64))

    def written_points(self, points: Ints, decimals: int) -> list[Any]:
        """The first points of units of resolution, by the format."""
        return list(map(self._bound_text, self._declared_at(points)))

    def _declared_at(self, points: Ints) -> list[Any]:
        """The first points of units of resolution."""
        seconds = np.clip(self._start_of(points), *self.seconds_of_all).tolist()
        return list(map(self._moment_at, seconds))

    def outermost_points(self, decimals: int, limits: Mapping[str, Any] | None) -> tuple[int, int]:
        """The lowest and the highest grid point that a bound can have."""
        first, last = self._units.tolist()
        return first, last

    has_even_cells: ClassVar[bool] = True

    # --- limits of rules --------------------------------------------------------------------------

    def _limits(self, low: object, high: object) -> tuple[float, float]:
        """Two limits, as bounds in a schema by the format or as ISO 8601."""
        return super()._limits(self._limit(low), self._limit(high))

    def _limit(self, value: object) -> object:
        if isinstance(value, str) and np.isnan(
            self._read_limits(np.array([value], dtype=object))[0]
        ):
            with suppress(ValueError):
                return self.from_iso(value)
        return value

    # --- words ------------------------------------------------------------------------------------

    @cached_property
    def _parser(self) -> Callable[[str], Moment]:
        return self.parser(self.format)

    def _example_texts(self, usual: int) -> tuple[str, str]:
        """How the value nearest to a usual second is given, and how it is written."""
        second = np.clip(np.array([usual]), *self._bounds)
        (given,) = self._texts(second)
        (written,) = self._texts(self.at(self._unit_of(second)))
        return given, written
