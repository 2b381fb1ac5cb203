"""Codes in an engine's own terms: for each column of a schema an expression that gives each row its
code.

The rules are those of `synthdp.schema.columns.column`: a value gets the code that it would get in a
file. The codec itself says which (`Column.encode` of the *public* values: levels, edges, missing
values), and the engine compares values with these. No text is cast in an engine: that fails at one
bad value, and the error quotes it. So a column whose type in the engine does not say what the
schema wants of it is refused, by its type alone.

What an expression gives a row depends on that row only: comparisons with public values, arithmetic
on what was clipped before, casts of numbers to wider ones, lookups in tables of public values; none
in a table of other rows.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from itertools import chain
from typing import Any, NoReturn, TypeAlias
from unicodedata import normalize

import narwhals as nw
import numpy as np
import pandas as pd

from synthdp.core.errors import SchemaError
from synthdp.data.engines.comparisons import (
    CodesByValue,
    Lookup,
    are_successive,
    chosen,
    is_value,
    searched,
)
from synthdp.data.engines.engine_frame import EngineColumn
from synthdp.data.engines.engines import KEEP_TABLES
from synthdp.data.frames.plain import plain_column
from synthdp.schema.axes.points import LARGEST
from synthdp.schema.axes.rule import Edges, Levels, PartOf, Rule
from synthdp.schema.columns.calendar import SECONDS_A_DAY
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.reading import plain_text, to_float

MAX_CASES = 4096
"""Most public values that a column is compared with: engines take no expressions of any size."""

MAX_LOOKED_UP = 2**17
"""The same where values are looked up in a table of public ones; both spellings of an accent count.
"""

_NARROW = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32)
"""Types of whole numbers that all fit into 64 bits with a sign."""


def code_of(column: Column, held: EngineColumn) -> nw.Expr:
    """The code of each row of a column in an engine, in 64 bits.

    Raises
    ------
    SchemaError
        If the column's type in the engine does not say what the schema wants, or there are more
        than `MAX_CASES` levels or edges (`MAX_LOOKED_UP` if they are looked up). It names types,
        never a value.
    """
    coding = _coding(column, held)
    code = coding.worked_out if isinstance(coding, Lookup) else coding
    return (
        nw.when(held.is_missing)
        .then(nw.lit(int(column.missing_code)))
        .otherwise(code)
        .cast(nw.Int64)
    )


def lookup_of(column: Column, held: EngineColumn) -> Lookup | None:
    """What the codes of a column are looked up in; None if they are worked out. Raises as
    `code_of`.
    """
    code = _coding(column, held)
    return code if isinstance(code, Lookup) else None


def _coding(column: Column, held: EngineColumn) -> nw.Expr | Lookup:
    rule = column.rule
    way = _WAYS[rule.kind].get(held.family)
    if way is None:
        _refuse(column, held, "which is not read as that, value by value, in an engine")
    return way(column, rule, held)


def _refuse(column: Column, held: EngineColumn, problem: str) -> NoReturn:
    way_out = "give a view that casts it (docs/sources.md says how), or read the table as a file"
    problem = f"the schema says {column.type_name!r}, and the engine {held.dtype}, {problem}"
    raise SchemaError(f"column {column.source!r}: {problem}; {way_out}")


def _of_number(column: Column, rule: Edges, held: EngineColumn) -> nw.Expr:
    edges = rule.edges
    # One level for each whole number: a subtraction in place of a comparison for each edge.
    if rule.is_whole and held.dtype in _NARROW and are_successive(edges):
        whole = held.values.cast(nw.Int64)
        first = int(edges[0]) - 1
        last = int(edges[-1])
        clipped = (
            nw.when(whole < first)
            .then(nw.lit(first))
            .when(whole > last)
            .then(nw.lit(last))
            .otherwise(whole)
        )
        code = (
            nw.when(whole < int(rule.ends[0]))
            .then(nw.lit(column.end_codes[0]))
            .when(whole >= int(rule.ends[1]))
            .then(nw.lit(column.end_codes[1]))
            .otherwise(clipped - first)
        )
    else:
        value = _number(held)
        code = _ordered(column, rule, held, lambda limit: value >= _first_at(limit, column, held))
    if held.family == "float":
        code = (
            # Infinities and numbers beyond the codec's reach are missing there, so they are here.
            nw.when(_number(held).abs() > LARGEST)
            .then(nw.lit(int(column.missing_code)))
            .otherwise(code)
        )
    if rule.is_whole and held.family == "float":
        code = nw.when(_has_fraction(held)).then(nw.lit(int(column.unread_code))).otherwise(code)
    for number in rule.missing:
        # Missing numbers are compared in the column's own type: 80.7 is no float32.
        same = _first_at(number, column, held)
        if _read(same, column, held) == number:
            code = (
                nw.when(is_value(_number(held), same))
                .then(nw.lit(int(column.missing_code)))
                .otherwise(code)
            )
    return code


def _ordered(
    column: Column, rule: Edges, held: EngineColumn, is_from: Callable[[float], nw.Expr | None]
) -> nw.Expr:
    """The code of values in an order, by limits that they are from on; None of one that none is."""
    _check_cases(column, held, len(rule.edges))
    below, above = column.end_codes
    limits = map(is_from, (rule.ends[0], *rule.edges, rule.ends[1]))
    return chosen(
        [each for each in limits if each is not None], [below, *range(len(rule.edges) + 1), above]
    )


def _number(held: EngineColumn) -> nw.Expr:
    return held.values.cast(nw.Float64)


def _has_fraction(held: EngineColumn) -> nw.Expr:
    """Whether a number is none of the whole ones, as floats from 2**53 on are."""
    size = _number(held).abs()
    inside = nw.when(size < 2.0**53).then(size).otherwise(nw.lit(0.0))
    return inside != inside.floor().cast(nw.Float64)


def _first_at(number: float, column: Column, held: EngineColumn) -> float:
    """The first value of the column's type that is read as a number or as more."""
    if held.dtype != nw.Float32:
        return number
    with np.errstate(over="ignore"):
        # The nearest float32 may lie on either side of the edge, and reads back as another decimal;
        # so its neighbours are tried by the codec itself.
        near = np.float32(number)
    below, above = (np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf))
    return next(
        each for each in map(float, (below, near, above)) if _read(each, column, held) >= number
    )


def _read(number: float, column: Column, held: EngineColumn) -> float:
    """What the codec reads a value of the column's type as: the float32 next to 80.7 as 80.7."""
    if held.dtype != nw.Float32:
        return number
    return float(
        plain_column(pd.Series([number], dtype=np.float32), column.field()["type"]).iloc[0]
    )


def _of_date(column: Column, rule: Edges, held: EngineColumn) -> nw.Expr:
    def is_at_or_after(second: float) -> nw.Expr | None:
        moment = held.moment(int(second))
        return None if moment is None else is_from(moment, held)

    code = _ordered(column, rule, held, is_at_or_after)
    return _less_missing(_of_midnights(code, column, rule, held), column, rule, held)


def _of_midnights(code: nw.Expr, column: Column, dates: Edges, held: EngineColumn) -> nw.Expr:
    """A code of moments, but of dates for those with a time of day, which are none."""
    if not dates.is_whole or held.family == "date":
        return code
    if held.has_zone and held.engine != "polars":
        _refuse(column, held, "whose days are those of a session's time zone and not of UTC")
    within = held.values.dt
    # Of an infinity, none.
    has_time = (within.hour() != 0) | (within.minute() != 0) | (within.second() != 0)
    return nw.when(has_time).then(nw.lit(int(column.unread_code))).otherwise(code)


def _less_missing(code: nw.Expr, column: Column, dates: Edges, held: EngineColumn) -> nw.Expr:
    """A code of moments, but for those that are among the missing values."""
    for seconds in map(int, dates.missing):
        first = held.moment(seconds)
        after = held.moment(seconds + 1)
        if first is not None and first != after:
            if after is None:
                same = is_from(first, held)
            else:
                same = is_from(first, held) & ~is_from(after, held)
            code = nw.when(same).then(nw.lit(int(column.missing_code))).otherwise(code)
    return code


def is_from(moment: date, held: EngineColumn, *, or_at: bool = True) -> nw.Expr:
    """Whether each value is a moment or later; without ``or_at`` whether it is later."""
    # of Python Spark takes moments by the session's zone and by old calendars
    bound: Any = nw.lit(str(moment)).cast(held.dtype) if held.engine == "pyspark" else moment
    later: nw.Expr = held.values >= bound if or_at else held.values > bound
    return later


def _of_time(column: Column, rule: Edges, held: EngineColumn) -> nw.Expr:
    seconds = held.seconds_of_day
    code = _ordered(column, rule, held, lambda second: seconds >= int(second))
    for second in map(int, rule.missing):
        code = nw.when(seconds == second).then(nw.lit(int(column.missing_code))).otherwise(code)
    return nw.when(seconds >= SECONDS_A_DAY).then(nw.lit(int(column.unread_code))).otherwise(code)


def _of_part(column: Column, rule: PartOf, held: EngineColumn) -> nw.Expr:
    if held.has_zone and held.engine != "polars":
        _refuse(
            column, held, "whose days and hours are those of a session's time zone and not of UTC"
        )
    low, high = rule.bounds
    of_low, of_high = column.codes_of_numbers(np.array([low, high], dtype=np.float64)).tolist()
    values = held.values
    code = {
        "weekday": lambda: (values.dt.weekday() + 6) % 7,  # Sunday is 7, or 0 with PySpark
        "month": lambda: values.dt.month() - 1,
        "hour": lambda: nw.lit(0) if held.family == "date" else values.dt.hour(),
    }[rule.part]()
    code = (
        # An infinity of dates has no parts in an engine, and the codec clips it to the last one.
        nw.when(code.is_null()).then(nw.lit(of_high)).otherwise(code)
    )  # DuckDB has an infinity, which has no parts
    for bound, after, of_bound in ((low, False, of_low), (high + 1, True, of_high)):
        if (moment := held.moment(bound)) is not None:
            is_beyond = is_from(moment, held) if after else ~is_from(moment, held)
            code = nw.when(is_beyond).then(nw.lit(of_bound)).otherwise(code)
    moments = rule.moments
    return _less_missing(_of_midnights(code, column, moments, held), column, moments, held)


def _of_truth(column: Column, rule: Rule, held: EngineColumn) -> nw.Expr:  # noqa: ARG001
    of_false, of_true = _codes(column, [False, True]).values()
    return nw.when(held.values).then(nw.lit(of_true)).otherwise(nw.lit(of_false))


def _of_text(column: Column, rule: Levels, held: EngineColumn) -> Lookup:
    if not rule.is_complete:
        problem = "of which an engine does not know all words for true and false: declare trueValues and falseValues"
        raise SchemaError(f"column {column.name!r}: in the engine it is {held.dtype}, {problem}")
    words = [str(word) for word in rule.words]
    spellings = [(word, plain_text(word), normalize("NFD", word)) for word in map(str.strip, words)]
    codes = _codes(column, list(chain(*spellings)))
    for word, code in _codes(column, words).items():
        if codes[plain_text(word)] != code:
            problem = f"{word!r} and another of its values differ in white space or in how accents are encoded only"
            raise SchemaError(
                f"column {column.name!r}: {problem}, which an engine does not tell apart; remove one"
            )
    return _looked_up(column, held, codes)


def _of_level(column: Column, rule: Levels, held: EngineColumn) -> nw.Expr:
    codes = {
        _first_at(number, column, held): code
        for number, code in _codes(column, rule.numbers).items()
        if _read(_first_at(number, column, held), column, held) == number
    }
    return _searched(column, held, codes)


def _of_whole_number(column: Column, rule: Levels, held: EngineColumn) -> Lookup:
    """Whole numbers where the schema has words, "1" among them."""
    numbers = [
        whole
        for word in rule.words
        for whole in _whole_numbers(str(word))
        if whole in held.whole_numbers
    ]
    if any(number.bit_length() > 63 for number in numbers):
        _refuse(column, held, "in which levels of more than 63 bits are not looked for")
    return _looked_up(column, held, _codes(column, numbers))


def _whole_numbers(word: str) -> Iterable[int]:
    number = to_float(word)
    if number.is_integer() and abs(number) <= 2**53:  # larger ones are written as integers only
        yield int(number)
    try:
        yield int(word)
    except ValueError:
        return


def _of_fraction(column: Column, rule: Levels, held: EngineColumn) -> nw.Expr:
    """Floats where the schema has words, "1.5" among them."""
    if held.dtype.is_decimal():
        _refuse(column, held, "whose values have no one text")
    numbers = [number for word in rule.words if not math.isnan(number := to_float(word))]
    return _searched(column, held, _codes(column, numbers))


def _codes(column: Column, values: Sequence[Any]) -> CodesByValue:
    """What the codec makes of some public values."""
    return dict(zip(values, column.encode(pd.Series(values, dtype=object)).tolist(), strict=True))


def _looked_up(column: Column, held: EngineColumn, codes: CodesByValue) -> Lookup:
    """Values by equality with public ones."""
    by_engine = held.engine == "polars"
    _check_cases(
        column,
        held,
        len(codes),
        most=MAX_LOOKED_UP if by_engine or held.engine in KEEP_TABLES else MAX_CASES,
    )
    return Lookup(held.values, codes, int(column.unknown_code), by_engine)


def _searched(column: Column, held: EngineColumn, codes: CodesByValue) -> nw.Expr:
    """Numbers by comparison with public ones."""
    _check_cases(column, held, len(codes))
    return searched(
        _number(held),
        sorted(codes.items(), key=lambda pair: pair[0]),
        nw.lit(int(column.unknown_code)),
    )


def _check_cases(
    column: Column, held: EngineColumn, n_cases: int, *, most: int = MAX_CASES
) -> None:
    if n_cases > most:
        problem = f"and {n_cases} levels or edges are more than the {most} that an engine is asked to compare with"
        raise SchemaError(
            f"column {column.name!r}: it is {held.dtype}, {problem}; declare fewer, or merge levels"
        )


_Way: TypeAlias = Callable[[Column, Any, EngineColumn], nw.Expr | Lookup]

_WAYS: dict[str, dict[str, _Way]] = {
    "number": {"integer": _of_number, "float": _of_number, "boolean": _of_truth},
    "date": {"date": _of_date, "datetime": _of_date},
    "time": {"time": _of_time},
    "part": {"date": _of_part, "datetime": _of_part},
    "boolean": {
        "boolean": _of_truth,
        "integer": _of_whole_number,
        "float": _of_fraction,
        "text": _of_text,
    },
    "texts": {
        "text": _of_text,
        "integer": _of_whole_number,
        "float": _of_fraction,
        "boolean": _of_truth,
    },
    "levels": {"integer": _of_level, "float": _of_level, "boolean": _of_truth},
    "unread": {},
}
"""How a kind of columns is read from a family of types; all else is refused."""
