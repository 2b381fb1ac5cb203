"""How a column is read, with one example of what fits, and how that is written: from its
declaration alone.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import final

import numpy as np

from synthdp.schema.columns.boolean import FALSE_WORDS, TRUE_WORDS, BooleanColumn
from synthdp.schema.columns.calendar import DEFAULT_RESOLUTION
from synthdp.schema.columns.categorical import CategoricalColumn
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.dates import DateColumn
from synthdp.schema.columns.numeric import IntegerColumn, NumberColumn

_NUMBER, _YEAR = 1234, 2019
_MOMENT = datetime(2019, 12, 31, 23, 59, 58)  # noqa: DTZ001 (no time zone is meant)
"""What examples are made of, as far as it lies between the bounds."""


_UNITS = "; units and currencies around a number are not written"


@final
@dataclass(frozen=True, kw_only=True)
class Reading:
    """How one column is read.

    Parameters
    ----------
    what
        What its values are, in a few words.
    fits
        A text that is one of them.
    written
        How that is written, where the column can say it.
    note
        What comes out in another way than it came in, or is not read, and what to declare; empty if
        nothing is.
    """

    what: str
    fits: str
    written: str
    note: str = ""


def reading_of(column: Column) -> Reading:
    """How a column is read.

    >>> found = reading_of(IntegerColumn(name="age", minimum=0, maximum=110))
    >>> found.what, found.fits, found.written
    ('whole numbers', '110', '110')
    """
    if isinstance(column, BooleanColumn):
        return _of_truth(column)
    if isinstance(column, CategoricalColumn):
        return _of_levels(column)
    if isinstance(column, DateColumn):
        return _of_date(column)
    assert isinstance(column, IntegerColumn | NumberColumn)
    return _of_number(column)


def _of_truth(column: BooleanColumn) -> Reading:
    of_true, of_false = column.true_values or TRUE_WORDS, column.false_values or FALSE_WORDS
    words = f"truth values: {', '.join(of_true)} or {', '.join(of_false)}"
    if column.true_values is not None and column.false_values is not None:
        return Reading(what=words, fits=of_true[0], written=column.written[1])
    if column.spelling is not None:
        return Reading(
            what=f"{words}, also in capitals", fits=column.written[1], written=column.written[1]
        )
    note = f"all are written {column.written[1]} and {column.written[0]}; declare trueValues and falseValues for others"
    return Reading(
        what=f"{words}, also in capitals", fits=of_true[0], written=column.written[1], note=note
    )


def _of_levels(column: CategoricalColumn) -> Reading:
    level = column.levels[0]
    text = str(level) if column.type == "string" else column.notation.written(str(level))
    what = (
        f"{len(column.levels)} levels, as they are spelt"
        if column.type == "string"
        else "numbers that are listed"
    )
    rest = "others cannot be read" if column.other is None else f"others become {column.other!r}"
    return Reading(what=what, fits=text, written=text, note=rest)


def _of_number(column: IntegerColumn | NumberColumn) -> Reading:
    low, high = column.minimum, column.maximum
    assert low is not None
    assert high is not None
    if isinstance(column, IntegerColumn):
        number = str(int(min(max(_YEAR if column.type == "year" else _NUMBER, low), high)))
        text = column.notation.written(number)
        if column.notation.width:
            note = f"whole numbers have {column.notation.width} digits, zeros in front included"
        else:
            way_out = "" if column.type == "year" else ": declare synthdp.width, or type 'string'"
            note = f"fractions are not read, nor zeros in front, as in 007{way_out}"
        note += _UNITS if not column.notation.bare_number else ""
        return Reading(
            what="years" if column.type == "year" else "whole numbers",
            fits=text,
            written=text,
            note=note,
        )
    usual = float(min(max(_NUMBER + 0.5, low), high))
    fits, written = (
        column.notation.written(text)
        for text in (repr(usual), f"{usual:.{max(column.decimals or 0, 0)}f}")
    )
    mark, group = column.notation.decimal_char, column.notation.group_char
    marks = (
        f"{group!r} between thousands is not written"
        if group
        else "thousands are marked by groupChar only"
    )
    note = f"decimals begin with {mark!r} (decimalChar), {marks}; zeros in front, as in 007, are not read"
    note += (
        "; fractions are rounded, and not written (synthdp.decimals)"
        if (column.decimals or 0) <= 0
        else ""
    )
    note += _UNITS if not column.notation.bare_number else ""
    return Reading(what="numbers", fits=fits, written=written, note=note)


def _of_date(column: DateColumn) -> Reading:
    bounds = np.array([column.minimum, column.maximum], dtype="datetime64[s]")
    usual = _MOMENT if column.type == "datetime" else _MOMENT.replace(hour=0, minute=0, second=0)
    moment = np.datetime64(usual, "s").clip(*bounds)
    if column.type == "date":
        moment = moment.astype("datetime64[D]").astype("datetime64[s]")
    (fits,) = column.texts_of_moments(moment.astype(np.int64).reshape(1))
    (written,) = column.texts_of_moments(column.truncated(moment.astype(np.int64).reshape(1)))
    notes = []
    if column.format is None:
        notes.append("other ways of writing need a format, such as '%d.%m.%Y'")
    if column.type == "date":
        notes.append("with a time of day use type 'datetime'")
    elif column.format is None:
        notes.append("offsets from UTC are read by a format with %z only")
    if column.resolution != DEFAULT_RESOLUTION[column.type]:
        notes.append(f"kept by {column.resolution}")
    what = {"date": "dates", "datetime": "dates with a time of day"}[column.type]
    what += "" if column.format is None else f" by the format {column.format}"
    return Reading(what=what, fits=fits, written=written, note="; ".join(notes))
