"""Values that are learnt, in an engine's own terms: what stands for each, and the points of grids
that they lie on.

The rules are those of `synthdp.schema.axes.points`, step for step: the same products, quotients and
comparisons of floats of 64 bits, which all engines round alike. Nothing is worked out that an
engine could refuse for one row: what is missing, too large or too small is replaced before. What an
expression gives a row depends on that row only.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Literal, TypeAlias

import narwhals as nw
import numpy as np

from synthdp.core.grid import MAX_POINT, Grid
from synthdp.data.engines.codes import code_of, is_from
from synthdp.data.engines.comparisons import chosen, counted, is_value
from synthdp.data.engines.engine_frame import OF_NANOSECONDS, EngineColumn
from synthdp.data.engines.values.spellings import IN_UTC
from synthdp.schema.axes.points import (
    EXACT,
    EXPONENTS,
    LARGEST,
    MAX_SHOWN_DECIMALS,
    MEANT,
    NEAR,
    SLIP,
    STEPS,
)
from synthdp.schema.columns.calendar import (
    FIRST_SECOND,
    LAST_SECOND,
    SECONDS,
    Resolution,
    seconds_at,
    unit_of,
)
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.reading import plain_text
from synthdp.schema.open_column import OpenColumn

Form: TypeAlias = Literal["text", "raw", "code", "number", "unit"]
"""What stands for values: texts, what is written as a text, codes of levels, floats, units of time
since 1970.
"""

VALUE, MISSING = "value", "missing"
"""What the columns are called that hold what stands for a value, and 1 where it is missing, else 0.
"""

UNREADABLE = 2
"""What stands in place of that 1 where a value is there and cannot be read."""

UNBOUNDED = 3
"""The same where it is an infinite number, which counts as missing but where it is asked for."""

_OF_32_BITS = 2.0**30
"""More than the nine digits that the shortest text of a float of 32 bits has at most."""

_WHOLE = 2.0**52
"""Of numbers of this size floats hold none but the whole ones."""

_NO_REACH = 1e-200
"""Numbers so near to 0 have no grid point within reach, whose distance may be less than floats
hold.
"""


def form_of(column: OpenColumn, held: EngineColumn) -> Form:
    """What stands for the values of a column."""
    if "levels" in column.open_parts:
        return "text" if held.family == "text" else "raw"
    if column.template.axis is None:
        return "code"
    return "number" if column.resolution is None else "unit"


def is_missing(column: OpenColumn, held: EngineColumn) -> nw.Expr:
    """Whether each value is missing; texts are given as `plain_text` makes them. Raises as
    `code_of`.
    """
    if form_of(column, held) == "text":
        words = sorted(set(map(plain_text, column.missing_values)))
        return held.is_missing | held.values.is_in(words) if words else held.is_missing
    return code_of(_reader(column), held) >= column.template.n_levels


def is_unread(column: OpenColumn, held: EngineColumn) -> nw.Expr:
    """Whether each of the values that `is_missing` says are missing is there, and cannot be read."""
    reader = _reader(column)
    if not reader.has_unread_place:  # as of texts whose levels are learnt: each is a level
        return nw.lit(False)
    return code_of(reader, held) == reader.unread_code


def is_infinite(column: OpenColumn, held: EngineColumn) -> nw.Expr:
    """Whether each of the values that `is_missing` says are missing is an infinite number, or one
    too large to be held, and not declared to be missing.
    """
    axis = column.template.axis
    if held.family != "float" or axis is None or not axis.can_be_added:
        return nw.lit(False)
    number = held.values.cast(nw.Float64)
    most = float(np.finfo(np.float64).max)
    words = set(map(plain_text, column.missing_values))
    is_infinite = ~held.is_missing & (number.abs() > LARGEST)
    is_infinite = is_infinite & (number <= most) if "inf" in words else is_infinite
    return is_infinite & (number >= -most) if "-inf" in words else is_infinite


def _reader(column: OpenColumn) -> Column:
    """The column closed, with places for what is missing and for what is unread: of a required one
    as it was declared, both have the code of the first level.
    """
    template = column.template
    optional = replace(template, required=False) if template.missing_values else template
    return optional.with_unread_place()


def spelling_of(column: OpenColumn, held: EngineColumn) -> int:
    """The number of how all truth values of a column are spelt, whose type says it; 0 of other
    columns.
    """
    if held.family not in ("integer", "float"):
        return 0
    return int(column.template.spellings_of(np.array([1]))[0])


def standing_for(column: OpenColumn, held: EngineColumn) -> nw.Expr:
    """What stands for each value; where it is missing, anything."""
    form = form_of(column, held)
    if form == "code":
        return code_of(column.template, held)
    if form == "number":
        return _number(column, held)
    if form == "unit":
        if held.family == "time":
            return held.seconds_of_day // SECONDS[column.resolution]
        return _unit(held, column.resolution)
    return held.values + 0.0 if held.family == "float" else held.values  # -0.0 is equal to 0.0


def in_place_of_missing(form: Form, held: EngineColumn) -> str | float | bool:
    """A value of the same type."""
    if form == "text":
        return ""
    if form == "raw":
        return {"boolean": False, "float": 0.0}.get(held.family, 0)
    return 0.0 if form == "number" else 0


def points_of(column: OpenColumn, grid: Grid, form: Form) -> Iterator[nw.Expr]:
    """What makes grid points, in 64 bits, of what stands for values, one step after the other; as
    `Grid` says.
    """
    value = nw.col(VALUE)
    if grid.of == "decimals":
        yield _decimals(value)
        return
    if grid.of == "exponents":
        yield from _exponents(value)
        return
    if form == "number":
        yield _nearest(value, grid.decimals) if column.has_decimals else _whole(value)
    if grid.of == "steps":
        yield _steps(value, column.round_steps)


def _number(column: OpenColumn, held: EngineColumn) -> nw.Expr:
    """A number as it is read, 0 where it is null or NaN: of 32 bits the one that its shortest text
    says.
    """
    if held.family == "boolean":
        return nw.when(held.values).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    number = nw.when(held.is_missing).then(nw.lit(0.0)).otherwise(held.values.cast(nw.Float64))
    if held.dtype != nw.Float32 or not column.has_decimals:
        return number
    shown = number
    size = number.abs()
    for decimals in reversed(range(MAX_SHOWN_DECIMALS)):
        scaled, is_small = _scaled(size, decimals, below=_OF_32_BITS)
        # Adding and taking off 2^52 leaves no room for a fraction: rounding by the hardware's own
        # rule in any engine.
        near = _divided(scaled + _WHOLE - _WHOLE, 10.0**decimals)  # rounds halves to even, as numpy
        same = is_small & (near.cast(nw.Float32) == size.cast(nw.Float32))
        shown = nw.when(same).then(nw.when(number < 0).then(-near).otherwise(near)).otherwise(shown)
    return shown


def _scaled(size: nw.Expr, decimals: int, *, below: float) -> tuple[nw.Expr, nw.Expr]:
    """A number of at least 0 times a power of ten, and whether that is below a limit; 0 where it is
    not.
    """
    is_small = size < below / 10.0**decimals
    scaled = nw.when(is_small).then(size).otherwise(nw.lit(0.0)) * 10.0**decimals
    return scaled, is_small & (scaled < below)


def _floor(numbers: nw.Expr) -> nw.Expr:
    """Floors of numbers of at most 63 bits, which some engines make integers, as floats."""
    return numbers.floor().cast(nw.Float64)


def _divided(numbers: nw.Expr, divisor: float) -> nw.Expr:
    """Quotients of finite floats, rounded once: in place of dividing by a constant, polars
    multiplies.
    """
    # A product with the inverse is rounded twice, and differs from a quotient in the last digit now
    # and then.
    return numbers / (numbers * 0.0 + divisor)


def _whole(number: nw.Expr) -> nw.Expr:
    """As `points.integer_points`."""
    most = float(MAX_POINT)
    inside = (
        nw.when(number >= most)
        .then(nw.lit(most))
        .when(number <= -most)
        .then(nw.lit(-most))
        .otherwise(number)
    )
    return inside.floor().cast(nw.Int64)


def _nearest(number: nw.Expr, decimals: int) -> nw.Expr:
    """As `points.decimal_points`: the point below each number, or the one above if it is next to
    that.
    """
    most = float(MAX_POINT)
    size = number.abs()
    factor = 10.0 ** abs(decimals)
    limit = 2 * most / factor if decimals >= 0 else 2 * most * factor
    is_large = is_value(size, limit, or_above=True)
    inside = nw.when(is_large).then(nw.lit(0.0)).otherwise(number)
    if decimals < 0:  # what would be divided to 0 is an error in Postgres
        inside = nw.when(size < _least_over(factor)).then(nw.lit(0.0)).otherwise(inside)
    scaled = inside * factor if decimals >= 0 else _divided(inside, factor)
    scaled = (
        nw.when(is_large & (number > 0))
        .then(nw.lit(most))
        .when(is_large)
        .then(nw.lit(-most))
        .otherwise(scaled)
    )
    scaled = (
        nw.when(scaled > most)
        .then(nw.lit(most))
        .when(scaled < -most)
        .then(nw.lit(-most))
        .otherwise(scaled)
    )
    below = _floor(scaled)
    rest = scaled - below
    is_odd = below - 2.0 * _floor(below / 2.0) == 1.0
    reach = nw.when(scaled.abs() < _NO_REACH).then(nw.lit(0.0)).otherwise(scaled.abs()) * NEAR
    # As the codec does: to the nearest point, halves to even, and up only if the number is that
    # point but for rounding.
    is_above = ((rest > 0.5) | ((rest == 0.5) & is_odd)) & (below + 1.0 - scaled <= reach)
    return nw.when(is_above).then(below + 1.0).otherwise(below).cast(nw.Int64)


def _least_over(factor: float) -> float:
    """The least float above 0 that is no 0 if it is divided by a factor."""
    least = float(np.nextafter(factor * 2.0**-1074 / 2, 0))
    while least / factor == 0:
        least = float(np.nextafter(least, 1))
    return least


def _decimals(number: nw.Expr) -> nw.Expr:
    """As `points.decimals_of`."""
    # Floats from there on are whole.
    inside = nw.when(number.abs() < 2.0**53).then(number.abs()).otherwise(nw.lit(0.0))
    shown = nw.lit(MAX_SHOWN_DECIMALS)
    for decimals in reversed(range(MAX_SHOWN_DECIMALS)):
        scaled, is_small = _scaled(inside, decimals, below=EXACT)
        gap = (_divided(_floor(scaled + 0.5), 10.0**decimals) - inside).abs()
        is_meant = (gap == 0.0) | ((scaled < MEANT) & (gap <= SLIP * inside))
        shown = nw.when(is_small & is_meant).then(nw.lit(decimals)).otherwise(shown)
    return nw.when(inside == _floor(inside)).then(nw.lit(0)).otherwise(shown).cast(nw.Int64)


def _exponents(value: nw.Expr) -> Iterator[nw.Expr]:
    """As `points.exponents_of`: first which 32 of them it is among, and the number in units of
    these; then which.
    """
    first, last = EXPONENTS
    size = value.abs()
    inside = nw.when(size >= 2.0**last).then(nw.lit(2.0**last)).otherwise(size)
    bases = range(first, last + 1, 32)
    is_from_base = [inside >= 2.0**base for base in bases[1:]]
    # This is exact, and below 2**31.
    scaled = inside * chosen(is_from_base, [2.0 ** -(base + 1) for base in bases])
    # Two steps: so many comparisons in one expression would be more than some engines take.
    yield counted(is_from_base).cast(nw.Int64) * 2**31 + scaled.floor().cast(nw.Int64)
    among = counted([value % 2**31 >= 2**exponent for exponent in range(31)])
    yield value // 2**31 * 32 + among.cast(nw.Int64) + first


def _steps(point: nw.Expr, steps: tuple[int, ...] = STEPS) -> nw.Expr:
    """As `points.steps_of`."""
    passed = [point % step == 0 for step in steps] + [point == 0]
    return counted(passed).cast(nw.Int64)  # each step divides the next


def _unit(held: EngineColumn, resolution: Resolution) -> nw.Expr:
    """As `calendar.unit_of`, of moments from the year 1 to 9999, or that nanoseconds count; others
    are at the ends.
    """
    is_fine = getattr(held.dtype, "time_unit", None) == "ns"
    ends = tuple(map(seconds_at, OF_NANOSECONDS)) if is_fine else (FIRST_SECOND, LAST_SECOND)
    first, last = unit_of(np.array(ends), resolution).tolist()
    values = (
        nw.col(held.alias + IN_UTC) if held.has_zone and held.engine != "polars" else held.values
    )
    unit = _unit_of(values, resolution, has_hours=held.family == "datetime")
    if (moment := held.moment(FIRST_SECOND)) is not None:
        unit = nw.when(is_from(moment, held)).then(unit).otherwise(nw.lit(first))
    if held.family == "date":
        unit = nw.when(is_from(date.max, held, or_at=False)).then(nw.lit(last)).otherwise(unit)
    elif (moment := held.moment(LAST_SECOND)) is not None:
        unit = nw.when(is_from(moment, held)).then(nw.lit(last)).otherwise(unit)
    # DuckDB's infinity has no parts.
    return nw.when(unit.is_null()).then(nw.lit(last)).otherwise(unit).cast(nw.Int64)


def _unit_of(values: nw.Expr, resolution: Resolution, *, has_hours: bool) -> nw.Expr:
    year, month, day = (
        part().cast(nw.Int64) for part in (values.dt.year, values.dt.month, values.dt.day)
    )
    if resolution in ("year", "quarter", "month"):
        months = year * 12 + month - 1
        return {
            "year": year - 1970,
            "quarter": months // 3 - 1970 * 4,
            "month": months - 1970 * 12,
        }[resolution]
    # The calendar by whole numbers, with years that begin in March: the leap day comes last, and
    # the months' lengths follow one formula.
    before_march = nw.when(month <= 2).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64)
    # Years that begin in March, from its 0th month on.
    year = year - before_march
    month = month + before_march * 12 - 3
    unit = (
        year * 365
        + year // 4
        - year // 100
        + year // 400
        + (month * 153 + 2) // 5
        + day
        - 1
        - _DAYS_TO_1970
    )
    if resolution == "week":
        return (unit + _DAYS_TO_1970 // 7 * 7 + 3) // 7 - _DAYS_TO_1970 // 7
    parts = {
        "hour": (24, values.dt.hour),
        "minute": (60, values.dt.minute),
        "second": (60, values.dt.second),
    }
    for part, (size, within) in parts.items() if resolution != "day" else ():
        unit = unit * size + (within().cast(nw.Int64) if has_hours else 0)
        if part == resolution:
            break
    return unit


_DAYS_TO_1970 = 719_468
"""Days from the first of March of the year 0 on."""
