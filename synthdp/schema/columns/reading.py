"""Reading: a column of anything becomes values, and a value a number, a second or a text.

Total on values: every function here accepts *any* value and none raises, warns or logs because
of one; a value that cannot be read becomes NaN. And a value is read by itself: what one row
becomes depends on that row and on the column's type, never on another row, or the sensitivity of
every count would be wrong. So no table of other values, no cast of a whole column and no guess of
a type by another library stands between a value and what is read, but for numpy's casts of
numbers, numpy's sorting of numbers, the dictionaries of Arrow (see `arrow_values`) and the dict of
Python in `distinct`, which tests hold to this rule.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import count
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

_PER_SECOND = {("s", 1): 1, ("ms", 1): 10**3, ("us", 1): 10**6, ("ns", 1): 10**9}
"""The units of datetimes that pandas has."""

_UNMIXED = frozenset({str, float, date, type(None), type(pd.NA), type(pd.NaT)})
"""Types of which no two hold equal values that are read differently; of int and float, 10**22 and
1e22 are.
"""

_is_padded = re.compile(r"\s*[+-]?0[0-9]").match
"""Whether a text begins with zeros that no number is written with: 04109 is a code unless its width
is declared.
"""

_FOREIGN = object()
"""Stands for every object that is neither text nor number, truth value or date: nothing else of it
is read.
"""


def distinct(series: pd.Series) -> tuple[Values, NDArray[np.intp] | None]:
    """Split a column into values to read and, for each row, the position of its own among them.

    Returns
    -------
    values, positions
        ``positions`` is None when ``values`` has one entry a row; a position of -1 is that of the
        last value, None. Values are merged only where equal means the same: in a list of mixed
        objects ``1``, ``1.0`` and ``True`` are equal but read differently.
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        # Categories are read once each, whatever the number of rows.
        values, positions = distinct(dtype.categories.to_series())
        codes = series.cat.codes.to_numpy(dtype=np.intp)
        return _objects([*objects_of(values), None]), codes if positions is None else np.append(
            positions, -1
        )[codes]
    if isinstance(dtype, pd.StringDtype) and dtype.storage != "python":
        # By bytes, texts are equal exactly if they are the same; other tables of pandas are not so
        # careful with surrogates and NUL.
        positions, texts = pd.factorize(series)  # a dictionary of Arrow, which goes by bytes
        from synthdp.schema.columns.arrow_values import decoded

        return _objects([*decoded(texts.array.__arrow_array__()), None]), positions
    if not isinstance(dtype, np.dtype) and _kind(dtype) == "b":
        truths = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return _objects([False, True, None]), np.nan_to_num(truths, nan=-1).astype(np.intp)
    values = _values(series)
    if values.dtype == object and set(map(type, values)) <= _UNMIXED:
        # a dict of Python, for pandas' own tables take texts with lone surrogates, or with NUL, for
        # others
        numbers: defaultdict[object, int] = defaultdict(count().__next__)
        positions = np.fromiter(map(numbers.__getitem__, values), np.intp, len(values))
        return _objects(numbers), positions
    return values, None


def _kind(dtype: Any) -> str:
    """numpy's letter for the kind of an extension dtype of pandas; "O" where there is none."""
    try:
        return str(getattr(getattr(dtype, "numpy_dtype", None), "kind", "O"))
    except NotImplementedError:  # a type of Arrow that pandas does not know
        return "O"


def _objects(values: Iterable[object]) -> NDArray[np.object_]:
    return np.fromiter(values, dtype=object)


def _values(series: pd.Series) -> Values:
    """A numpy array of bools, ints, floats or datetimes (missing: NaN, NaT), else of objects; an
    entry a row.
    """
    dtype = series.dtype
    if isinstance(dtype, np.dtype | pd.SparseDtype | pd.StringDtype):
        return _of_numpy(np.asarray(series.array))
    if isinstance(dtype, pd.DatetimeTZDtype):
        return np.asarray(series.to_numpy(dtype=f"datetime64[{dtype.unit}]"))  # in UTC
    if _kind(dtype) in "iuf":
        with np.errstate(invalid="ignore"):
            numbers = np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
        if (
            # Whole numbers of more than 53 bits would be rounded, and two ids would become one.
            _kind(dtype) == "f" or not (np.abs(numbers) >= _EXACT).any()
        ):  # else floats would make ids equal
            return numbers
        return np.asarray(series.to_numpy(dtype=object, na_value=None))
    if isinstance(dtype, pd.ArrowDtype):
        from synthdp.schema.columns.arrow_values import arrow_values

        return arrow_values(series.array.__arrow_array__())
    return _foreign(series.isna().to_numpy())  # periods, intervals, and what other libraries bring


def _of_numpy(values: Values) -> Values:
    if values.dtype.kind == "f":
        # There are long floats, and signalling NaNs.
        with np.errstate(over="ignore", invalid="ignore"):
            return values.astype(np.float64, copy=False)
    return values if values.dtype.kind in "biuMO" else _objects(values)


def _foreign(is_missing: NDArray[np.bool_]) -> NDArray[np.object_]:
    return _objects(None if missing else _FOREIGN for missing in is_missing)


def objects_of(values: Values) -> NDArray[np.object_]:
    """Values as objects of Python, dates as ``datetime64``: numpy would make integers of dates."""
    if values.dtype == object:
        return values
    return _objects(values if values.dtype.kind == "M" else values.tolist())


def floats_of(values: Values) -> NDArray[np.float64]:
    """Values as numbers: NaN where there is none, infinite where too large for a float.

    >>> floats_of(np.array(["39", " 39.0", "1e400", "n/a", None, 39, "039"], dtype=object)).tolist()
    [39.0, 39.0, inf, nan, nan, 39.0, nan]
    """
    if values.dtype == object:
        return numbers_by(to_float, values)
    if values.dtype.kind not in "biuf":
        return np.full(len(values), np.nan)
    return _with_plain_nan(values.astype(np.float64))


def numbers_by(read: Callable[[object], float], values: Values) -> NDArray[np.float64]:
    """``read`` applied to each value."""
    return _with_plain_nan(np.fromiter(map(read, values), np.float64, len(values)))


def _with_plain_nan(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same numbers, of all bit patterns that are NaN but the usual one: arithmetic warns of
    some others.
    """
    numbers[np.isnan(numbers)] = np.nan
    return numbers


def to_float(value: object) -> float:
    """One value as a number; NaN if it is none."""
    if type(value) is str:
        try:
            # underscores are Python's own way of writing, nobody else's; zeros in front would be
            # lost, and none are where a text begins otherwise, as nearly all do
            # float("1_000") is 1000 in Python, and "007" loses its zeros: neither is what a file
            # means.
            is_written = "_" not in value and ("1" <= value[:1] <= "9" or not _is_padded(value))
            return float(value) if is_written else math.nan
        except ValueError:
            return math.nan
    return float(_attempt(_number_to_float, value, math.nan))


def _number_to_float(value: object) -> float:
    if isinstance(value, str):
        return to_float(str.__str__(value))
    if isinstance(value, Real | Decimal | np.bool_) and not isinstance(value, np.timedelta64):
        try:
            return float(value)
        except OverflowError:  # an int or Fraction beyond 1e308 still has a sign to clip by
            return (
                math.nan
                if not isinstance(value, Rational)
                else math.inf
                if int(value.numerator) > 0
                else -math.inf
            )
    return math.nan


def seconds_of(values: Values, parse: Callable[[str], datetime]) -> NDArray[np.float64]:
    """Values as whole seconds since 1970-01-01 in UTC; NaN where there is no date.

    ``parse`` reads text. Dates with a time zone are converted to UTC, dates without are
    taken as they are. Numbers are read as the text that they print, for formats like ``%Y%m%d``.
    """
    if values.dtype.kind == "M":
        # Whole numbers are divided, rounding down before 1970 as well.
        # Numpy's own cast overflows at the lower end.
        per_second = _PER_SECOND.get(np.datetime_data(values.dtype))
        counted = values.astype("datetime64[s]" if per_second is None else values.dtype).astype(
            np.int64
        )
        return np.where(np.isnat(values), np.nan, counted // (per_second or 1))
    return np.fromiter(
        (_attempt(_to_seconds, value, math.nan, parse) for value in values), np.float64, len(values)
    )


def _to_seconds(value: object, parse: Callable[[str], datetime]) -> float:
    if type(value) is str:
        return _since_1970(parse(value.strip()))
    if isinstance(value, pd.Timestamp | np.datetime64):
        return float(seconds_of(np.array([in_utc(value)]), parse)[0])
    if isinstance(value, date):
        return _since_1970(value)
    for text in texts_of(value):
        try:
            return _since_1970(parse(text.strip()))
        except ValueError:
            continue
    return math.nan


def _since_1970(moment: date) -> float:
    """Seconds by plain arithmetic: a tenth of the time of `calendar.timegm`, and no overflow by
    time zones.
    """
    seconds = (moment.toordinal() - _EPOCH) * 86_400
    if isinstance(moment, datetime):
        seconds += moment.hour * 3600 + moment.minute * 60 + moment.second
        if (offset := moment.utcoffset()) is not None:
            seconds += (timedelta(microseconds=moment.microsecond) - offset) // timedelta(seconds=1)
    return float(seconds)


def in_utc(moment: date | np.datetime64) -> np.datetime64:
    """A moment in UTC, or a date, as exactly as it was given and in any year; without a time zone
    it stays as it is.

    >>> in_utc(pd.Timestamp("2020-01-01 12:00", tz="Europe/Berlin"))
    np.datetime64('2020-01-01T11:00:00.000000')
    """
    if isinstance(moment, pd.Timestamp):
        return np.datetime64(moment.to_datetime64())
    if isinstance(moment, datetime) and (offset := moment.utcoffset()) is not None:
        return np.datetime64(moment.replace(tzinfo=None)) - np.timedelta64(offset)
    return np.datetime64(moment)


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
    if isinstance(value, Decimal):
        return value.is_nan()  # a signalling one raises where it is compared
    return isinstance(
        value, float | complex | np.inexact | np.datetime64 | np.timedelta64
    ) and bool(value != value)


def is_blank(value: object) -> bool:
    """Whether a value is a text of nothing but white space."""
    return isinstance(value, str) and not str.strip(value)


UNREAD_NAN = -math.nan
"""Stands for a number or date that could not be read; NaN without the sign for one that is missing.
"""

_INFINITE_BITS = 0x7FF8_0000_0000_0001
INFINITE_NAN = float(np.array(_INFINITE_BITS).view(np.float64))
"""Stands for an infinite number, which is missing: another bit pattern than that of all others."""


def are_infinite(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of some numbers stand for infinite ones."""
    return np.asarray(numbers.view(np.int64) == _INFINITE_BITS)


def nothing_in(values: Values, missing_texts: Collection[str]) -> NDArray[np.float64]:
    """Of values that are no numbers or dates which are missing, NaN, and which are unread,
    `UNREAD_NAN`.

    >>> np.signbit(
    ...     nothing_in(np.array([None, "", " NA ", "unknown", [1]], dtype=object), {"NA"})
    ... ).tolist()
    [False, False, False, True, True]
    """
    if values.dtype.kind == "f":
        missing = np.isnan(values) | np.isin(values, [to_float(text) for text in missing_texts])
        return np.where(missing, math.nan, UNREAD_NAN)
    if values.dtype.kind == "M":
        return np.where(np.isnat(values), math.nan, UNREAD_NAN)
    numbers = (_attempt(_nothing, value, UNREAD_NAN, missing_texts) for value in objects_of(values))
    return np.fromiter(numbers, np.float64, len(values))


def _nothing(value: object, missing_texts: Collection[str]) -> float:
    if is_missing(value) or is_blank(value):
        return math.nan
    texts = [text.strip() for text in texts_of(value)]
    if any(text in missing_texts or text.casefold() in _NAN for text in texts):
        return math.nan
    return UNREAD_NAN


_NAN = frozenset({"nan", "-nan", "nat"})
"""How libraries write that a number or date is missing, in small letters; C prints the sign of what
is no number.
"""


def integers_of(
    values: Values, read: Callable[[object], int], unreadable: int
) -> NDArray[np.int64]:
    """``read`` applied to each value, ``unreadable`` where it fails; typed values are read once
    each.
    """
    if values.dtype != object:
        unique, positions = np.unique(values, return_inverse=True)
        return integers_of(objects_of(unique), read, unreadable)[positions]
    return np.fromiter(
        (_attempt(read, value, unreadable) for value in values), np.int64, len(values)
    )


def _attempt(read: Callable[..., Any], value: object, unreadable: Any, *arguments: Any) -> Any:
    """``read(value)``, or ``unreadable``: a cell may be any object, and its methods may raise
    anything.
    """
    try:
        return read(value, *arguments)
    except Exception:
        return unreadable


def plain_text(text: str) -> str:
    """Without surrounding white space, and with accents composed: spellings that columns read as
    one.

    >>> plain_text(" e\\N{COMBINING ACUTE ACCENT} ") == "é"
    True
    """
    return text if text.isascii() and text == text.strip() else normalize("NFC", text.strip())


def canonical_text(value: object) -> str | None:
    """The text that a value is counted as, whole floats as integers; None for foreign objects.

    >>> canonical_text(" 12"), canonical_text(12.0), canonical_text([12])
    ('12', '12', None)
    """
    return (
        plain_text(value) if type(value) is str else [None, *map(plain_text, texts_of(value))][-1]
    )
