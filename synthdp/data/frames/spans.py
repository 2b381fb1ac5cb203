"""What periods, durations, intervals and narrow floats say to a column.

A period is the moment at which it starts, a duration its seconds, an interval its text, a narrow
float what it is written as. A value that its column's type has no use for stays what it is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.data.frames.plain import DURATIONS, NARROW, SPANS, taken

_SECONDS = {"W": (604_800, 1), "D": (86_400, 1), "h": (3600, 1), "m": (60, 1), "s": (1, 1)} | {
    unit: (1, 1000**power) for power, unit in enumerate(("ms", "us", "ns", "ps", "fs", "as"), 1)
}
"""The seconds of each unit of numpy's durations, as a fraction; years and months have no fixed
number.
"""

_NO_COUNT = -(2**63)
"""What numpy counts a missing duration as."""


def said_by(series: pd.Series, kind: str) -> pd.Series:
    """What the spans of a column say to a field type, or its narrow floats; the column itself if it
    has none after all.
    """
    if series.dtype == object:
        return pd.Series(
            _objects(_value_of_span(value, kind) for value in series.to_numpy()),
            index=series.index,
            dtype=object,
        )
    if kind == "number" and (narrow := NARROW.get(str(series.dtype))) is not None:
        return _widened(series, narrow)
    if (spans := _distinct_spans(series)) is None:
        return series
    distinct, positions = spans
    # Durations that a column of numbers reads, at once; all else is converted one distinct span at
    # a time.
    if isinstance(distinct, np.ndarray) and _READERS[kind] is _seconds:
        readings = _seconds_of(distinct)
    else:
        readings = [_value_of_span(span, kind) for span in distinct]
    return taken(_of_one_type(readings, kind), positions, series)


_DIGITS = range(1, 10)
"""So many digits tell all floats of 32 bits apart."""


def _widened(series: pd.Series, floats: type[np.floating[Any]]) -> pd.Series:
    """Narrow floats as the number that their shortest text says: 80.7 and not 80.69999694824219."""
    with np.errstate(all="ignore"):  # no bit pattern of a float is an error, or a warning
        wide = _shortest(series.to_numpy(dtype=floats, na_value=np.nan))
    return pd.Series(wide, index=series.index)


def _shortest(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Of each narrow float the float of 64 bits with the fewest digits that is the same to its own
    type.
    """
    # Every narrow float is a float of 64 bits exactly, but seldom the decimal number that was
    # meant.
    wide = numbers.astype(np.float64)
    rest = np.flatnonzero(np.isfinite(wide) & (wide != np.rint(wide)))
    powers = np.floor(np.log10(np.abs(wide[rest]))).astype(np.int64)
    # what is divided, and by what, is exact
    rest = rest[np.abs(powers) < 9]
    powers = powers[np.abs(powers) < 9]
    for n_digits in _DIGITS:
        scale = 10.0 ** (n_digits - 1 - powers)
        shorter = np.rint(wide[rest] * scale) / scale
        # The fewest digits that the narrow type cannot tell from the number are what it was most
        # likely made of.
        fits = shorter.astype(numbers.dtype) == numbers[rest]
        wide[rest[fits]] = shorter[fits]
        rest = rest[~fits]
        powers = powers[~fits]
    return wide


def _distinct_spans(
    series: pd.Series,
) -> tuple[Sequence[object] | NDArray[np.timedelta64], NDArray[np.intp]] | None:
    """The spans of a typed column, and where among them each row's is; None if the type has none."""
    dtype: Any = series.dtype
    if isinstance(dtype, pd.IntervalDtype):
        # by the bits of both ends: zeros of either sign are equal, and are written differently
        ends = [_bits_of(end) for end in (series.array.left, series.array.right)]
        left, right = (np.unique(end, return_inverse=True)[1] for end in ends)
        _, firsts, positions = np.unique(
            left * len(series) + right, return_index=True, return_inverse=True
        )
        return list(series.array.take(firsts)), positions
    if isinstance(dtype, pd.PeriodDtype):
        numbers, positions = np.unique(series.array.asi8, return_inverse=True)
        return list(pd.arrays.PeriodArray(numbers, dtype=dtype)), positions
    if isinstance(dtype, pd.ArrowDtype):
        durations = _arrow_durations(series.array.__arrow_array__())
    else:
        durations = np.asarray(series.array) if getattr(dtype, "kind", "O") == "m" else None
    if durations is None:
        return None
    distinct, positions = np.unique(durations.view(np.int64), return_inverse=True)
    return distinct.view(durations.dtype), positions


def _bits_of(ends: pd.Index) -> NDArray[np.int64]:
    """What tells the ends of intervals apart, whatever their width."""
    if isinstance(ends, pd.DatetimeIndex | pd.TimedeltaIndex):
        return np.asarray(ends.asi8)
    numbers = ends.to_numpy()
    return np.asarray(
        numbers.astype(np.float64).view(np.int64)
        if numbers.dtype.kind == "f"
        else numbers.astype(np.int64)
    )


def _arrow_durations(array: Any) -> NDArray[np.timedelta64] | None:
    """Durations of Arrow as numpy's, NaT where there is none; None if the array is of another type."""
    from pyarrow import types  # it is there, if it made the array

    if types.is_dictionary(array.type) and types.is_duration(array.type.value_type):
        array = array.cast(array.type.value_type)
    if not types.is_duration(array.type):
        return None
    counted = array.cast("int64").fill_null(_NO_COUNT).to_numpy()
    return np.asarray(counted.view(f"timedelta64[{array.type.unit}]"))


def _of_one_type(readings: list[object], kind: str) -> pd.Series:
    """What the spans of a typed column say, in the type that is read fastest."""
    if kind in ("date", "datetime"):
        nothing = np.datetime64("NaT", "s")
        return pd.Series(
            np.array(
                [x if type(x) is np.datetime64 else nothing for x in readings],
                dtype="datetime64[s]",
            )
        )
    if kind == "string":
        return pd.Series(_objects(readings), dtype=object)
    return pd.Series([x if type(x) is float else np.nan for x in readings], dtype=np.float64)


def _objects(values: Iterable[object]) -> NDArray[np.object_]:
    return np.fromiter(values, dtype=object)


def _value_of_span(value: object, kind: str) -> object:
    """What a period, duration or interval says to a column of some type; any other value itself."""
    if type(value) not in SPANS:
        return value
    try:
        return _READERS[kind](value)
    except Exception:  # beyond what pandas can count with
        return value


def _start(value: Any) -> object:
    if type(value) is not pd.Period:
        return value
    return np.datetime64(value.asfreq("s", "start").ordinal, "s")


def _year(value: Any) -> object:
    return float(value.year) if type(value) is pd.Period else value


def _seconds(value: Any) -> object:
    if type(value) not in DURATIONS:
        return value
    duration = value.to_timedelta64() if type(value) is pd.Timedelta else np.timedelta64(value)
    return _seconds_of(duration.reshape(1))[0]


def _seconds_of(durations: NDArray[np.timedelta64]) -> list[object]:
    """Durations in seconds, each by exact arithmetic of integers; None for those that are missing."""
    unit, n_units = np.datetime_data(durations.dtype)
    seconds, parts = _SECONDS[unit]
    counts = durations.astype(np.int64).tolist()
    return [None if count == _NO_COUNT else count * n_units * seconds / parts for count in counts]


def _text(value: Any) -> object:
    if type(value) not in DURATIONS:
        return str(value)
    return None if np.isnat(np.timedelta64(value)) else str(pd.Timedelta(value))


_READERS: Mapping[str, Callable[[Any], object]] = {
    "string": _text,
    "number": _seconds,
    "integer": _seconds,
    "date": _start,
    "datetime": _start,
    "year": _year,
}
"""What a span is to a column, by field type."""
