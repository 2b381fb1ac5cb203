"""Reading values: from whatever a cell holds to a number, a second or a text, total on values.

Every function here accepts *any* value and none raises, warns or logs because of one: a
value that cannot be read becomes NaN. And a value is read by itself: what one row becomes
never depends on another row, or the sensitivity of every count would be wrong.
"""

import math
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Rational, Real
from typing import Any, TypeAlias
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Values: TypeAlias = NDArray[Any]
"""Values of one column: a typed array (bool, int, float, datetime64), or objects of any kind."""

_EPOCH = date(1970, 1, 1).toordinal()

_EXACT = 2**53
"""Below it, integers and floats tell the same ones apart."""

_UNMIXED = frozenset({str, float, date, type(None), type(pd.NA), type(pd.NaT)})
"""Types of which no two hold equal values that are read differently."""


def distinct(series: pd.Series) -> tuple[Values, NDArray[np.intp] | None]:
    """Split a column into values to read and, for each row, which of them it holds.

    Returns
    -------
    values, positions
        ``positions`` is -1 where the value is missing, or None when ``values`` has one
        entry a row. Values are merged only where equal means the same: in a list of mixed
        objects ``1``, ``1.0`` and ``True`` are equal but read differently.
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _plain(series.cat.categories), series.cat.codes.to_numpy(dtype=np.intp)
    if isinstance(dtype, pd.StringDtype) or (dtype == np.dtype(object) and _is_uniform(series)):
        positions, values = pd.factorize(series)
        return np.asarray(values, dtype=object), positions
    return _plain(series), None


def _is_uniform(series: pd.Series) -> bool:
    return _UNMIXED.issuperset(map(type, series.to_numpy()))


def _plain(values: pd.Series | pd.Index) -> Values:
    """A numpy array of bools, ints, floats or datetimes (missing: NaN, NaT), else of objects."""
    dtype = values.dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        return np.asarray(values.to_numpy(dtype=f"datetime64[{dtype.unit}]"))  # in UTC
    if isinstance(dtype, np.dtype) and dtype.kind in "biufM":
        # pandas has no index of half floats
        return np.asarray(values.to_numpy(dtype=np.float32 if dtype == np.float16 else None))
    kind = getattr(getattr(dtype, "numpy_dtype", None), "kind", "O")
    if pd.api.types.is_extension_array_dtype(dtype) and kind in "biuf":
        with np.errstate(invalid="ignore"):
            numbers = np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
        if kind not in "iu" or not (np.abs(numbers) >= _EXACT).any():  # else floats would make ids equal
            return numbers
    return np.asarray(values.astype(object).to_numpy(), dtype=object)


def floats_of(values: Values) -> NDArray[np.float64]:
    """Values as numbers: NaN where there is none, infinite where too large for a float.

    >>> floats_of(np.array(["39", " 39.0", "1e400", "n/a", None, 39], dtype=object)).tolist()
    [39.0, 39.0, inf, nan, nan, 39.0]
    """
    if values.dtype.kind in "biuf":
        with np.errstate(over="ignore", invalid="ignore"):  # there are signalling NaNs
            return values.astype(np.float64)
    if values.dtype != object:
        return np.full(len(values), np.nan)
    return np.fromiter(map(to_float, values), np.float64, len(values))


def to_float(value: object) -> float:
    """One value as a number; NaN if it is none."""
    if type(value) is str:
        try:
            return float(value) if "_" not in value else math.nan  # Python's own way of writing, nobody else's
        except ValueError:
            return math.nan
    return float(_attempt(_number_to_float, value, math.nan))


def _number_to_float(value: object) -> float:
    if isinstance(value, Real | Decimal | str | np.bool_) and not isinstance(value, np.timedelta64):
        try:
            return float(value)
        except OverflowError:  # an int or Fraction beyond 1e308 still has a sign to clip by
            return math.nan if not isinstance(value, Rational) else math.inf if int(value.numerator) > 0 else -math.inf
    return math.nan


def seconds_of(values: Values, parse: Callable[[str], datetime]) -> NDArray[np.float64]:
    """Values as whole seconds since 1970-01-01 in UTC; NaN where there is no date.

    ``parse`` reads text. Dates with a time zone are converted to UTC, dates without are
    taken as they are. Numbers are read as the text that they print, for formats like ``%Y%m%d``.
    """
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[s]")
        return np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64))
    return np.fromiter((_attempt(_to_seconds, value, math.nan, parse) for value in values), np.float64, len(values))


def _to_seconds(value: object, parse: Callable[[str], datetime]) -> float:
    if type(value) is str:
        return _since_1970(parse(value.strip()))
    if isinstance(value, np.datetime64):
        seconds = value.astype("datetime64[s]")
        return math.nan if np.isnat(seconds) else float(seconds.astype(np.int64))
    if isinstance(value, date):
        return _since_1970(value)
    for text in texts_of(value):
        try:
            return _since_1970(parse(text.strip()))
        except ValueError:
            continue
    return math.nan


def _since_1970(moment: date) -> float:
    """Seconds by plain arithmetic: a tenth of the time of `calendar.timegm`, and no overflow by time zones."""
    seconds = (moment.toordinal() - _EPOCH) * 86_400
    if isinstance(moment, datetime):
        seconds += moment.hour * 3600 + moment.minute * 60 + moment.second
        offset = moment.utcoffset()
        if offset is not None:
            seconds -= offset // timedelta(seconds=1)
    return float(seconds)


def texts_of(value: object) -> Iterator[str]:
    """The texts that a value could have been written as; none for foreign objects.

    >>> list(texts_of(1)), list(texts_of(1.0)), list(texts_of(True)), list(texts_of([1]))
    (['1.0', '1'], ['1.0', '1'], ['True'], [])
    """
    if isinstance(value, str):
        yield str.__str__(str(value))  # a text of Python's own, which says nothing else of equality
    elif isinstance(value, bool | np.bool_):
        yield str(bool(value))
    elif isinstance(value, int | np.integer) and not isinstance(value, np.timedelta64):
        number = int(value)
        if abs(number) <= _EXACT:  # pandas makes floats of all integers where one is missing
            yield repr(float(number))
        yield str(number)
    elif isinstance(value, float | np.floating):
        yield repr(float(value) + 0.0)  # -0.0 is equal to 0.0, so it is read alike
        if float(value).is_integer():
            yield str(int(value))


def is_missing(value: object) -> bool:
    """Whether a value is one of the ways that pandas and Python say "no value"."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def integers_of(values: Values, read: Callable[[object], int], unreadable: int) -> NDArray[np.int64]:
    """``read`` applied to each value, ``unreadable`` where it fails; typed values are read once each."""
    if values.dtype != object:
        unique, positions = np.unique(values, return_inverse=True)
        objects = np.asarray(pd.Index(unique).astype(object), dtype=object)  # numpy makes ints of datetimes
        return integers_of(objects, read, unreadable)[positions]
    return np.fromiter((_attempt(read, value, unreadable) for value in values), np.int64, len(values))


def _attempt(read: Callable[..., Any], value: object, unreadable: Any, *arguments: Any) -> Any:
    """``read(value)``, or ``unreadable``: a cell may be any object, and its methods may raise anything."""
    try:
        return read(value, *arguments)
    except Exception:
        return unreadable


def plain_text(text: str) -> str:
    """Without surrounding white space, and with accents composed: spellings that columns read as one.

    >>> plain_text(" e\\N{COMBINING ACUTE ACCENT} ") == "é"
    True
    """
    return text if text.isascii() and text == text.strip() else normalize("NFC", text.strip())


def canonical_text(value: object) -> str | None:
    """The text that a value is counted as, whole floats as integers; None for foreign objects.

    >>> canonical_text(" 12"), canonical_text(12.0), canonical_text([12])
    ('12', '12', None)
    """
    if type(value) is str:
        return plain_text(value)
    *_, text = (None, *map(plain_text, texts_of(value)))
    return text
