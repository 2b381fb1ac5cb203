"""What noisy counts say of values that were not read: cautions, for nothing in a cell is ever an
error.

A value that a column cannot read goes to the column's place for unread values, or becomes
``other``, and nobody may hear of a record. What is said is what was released and paid for
anyhow: the noisy share of all records that ended there, where it stands clear of noise. Whether it
should be is for people to say who know the table. Counts that came from elsewhere have no such
place: there unread values are "missing", or in the first level.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from types import MappingProxyType
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.level_counts import level_counts
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.percent import percent
from synthdp.learning.cells.significance import significance
from synthdp.learning.filling import CLEAR, UnreadCount
from synthdp.schema.columns.column import Column
from synthdp.schema.schema import Schema

MANY = 0.2
"""More records than this part of all without a value are worth a word."""

MOST = 0.5
"""So are more than this part of all that have none of the levels that a column has."""

NEARLY_ALL, SURELY = 0.99, 0.98
"""So is all but everything in the one level that unread values of a required column become, this
much beyond doubt: a second level that has a fiftieth of the records, or more, is not taken for
none.
"""

SOME = 0.005
"""From this part of all records on unread values are worth a word, if they stand clear of noise."""


@final
@dataclass(frozen=True, kw_only=True)
class _Suspect:
    """A level in which unread values end, and the share of records from which on that is worth a
    word.
    """

    code: int
    """The level."""
    share: float
    surely: float
    """What the share of records may be as far as noise can tell, and what it exceeds beyond doubt.
    """
    words: str
    """What is said of so many records."""

    def caution(self, column: Column, count: float, total: float, noise: float) -> list[str]:
        """A caution if too many records of all are at the level; ``noise`` is what passes for
        nothing.
        """
        if total <= 0 or count - self.surely * total <= noise or count < self.share * total - noise:
            return []
        return [
            f"column {column.name!r}: about {100 * min(count / total, 1.0):.0f} % of the records {self.words}"
        ]


def unread_facts(unread: Mapping[str, UnreadCount]) -> dict[str, object]:
    """What a certificate says of unread values of each column with a place for them, and of those
    beyond its bounds: noisy numbers, paid for anyhow.
    """
    facts = {
        name: {
            "share": round(each.share, 6),
            "records": round(each.count, 1),
            "stddev": round(each.stddev, 1),
        }
        for name, each in unread.items()
    }
    beyond = {
        name: {
            "below": round(each.beyond.below, 1),
            "above": round(each.beyond.above, 1),
            "stddev": round(each.beyond.stddev, 1),
        }
        for name, each in unread.items()
        if each.beyond is not None
    }
    both = {"unread": facts, "beyond_bounds": beyond}
    return {name: stated for name, stated in both.items() if stated}


def unread_cautions(
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    unread: Mapping[str, UnreadCount] = MappingProxyType({}),
    is_learnt: Collection[str] = (),
    has_learnt_bounds: Collection[str] = (),
) -> list[str]:
    """What users should know of columns of which much was not read, from released measurements
    only.

    Parameters
    ----------
    schema
        The columns, learnt ones closed.
    measurements
        Noisy marginals over its codes. Of those that hold a column the least noisy one speaks.
    unread
        Of columns with a place for unread values how many there are. Of those each is told of which
        the share stands clear of noise, by `CLEAR` standard deviations and by as many more as so
        many columns ask for, and is `SOME`.
    is_learnt
        Columns of which it was learnt whether values may be missing.
    has_learnt_bounds
        Columns whose bounds were learnt, which are cautioned as such.
    """
    limit = significance(2 * len(schema.columns))
    cautions = []
    for column in schema.table_columns:
        of_column = []
        about = [measurement for measurement in measurements if column.name in measurement.clique]
        for suspect in _suspects(column, has_place=column.name in unread):
            counts = filter(None, (level_counts(each, column.name, suspect.code) for each in about))
            answers = ((_noise(variances, suspect), values) for values, variances in counts)
            if best := min(answers, key=lambda answer: answer[0], default=None):
                noise, values = best
                of_column += suspect.caution(
                    column, values[suspect.code], values.sum(), limit * noise
                )
        if column.name in unread:  # of its suspects there is one: nearly all others are missing
            of_column = (
                _unread_caution(
                    column,
                    unread[column.name],
                    max(CLEAR, limit),
                    is_bare=bool(of_column),
                    is_learnt=column.name in is_learnt,
                )
                or of_column
            )
            if column.name not in has_learnt_bounds:
                of_column += _beyond_caution(column, unread[column.name], max(CLEAR, limit))
        cautions += of_column
    return cautions


def missing_caution(
    column: Column, missing: float, present: float, stddevs: tuple[float, float]
) -> str:
    """A caution if too many records of a column were without a value when it was learnt; empty if
    not.

    Parameters
    ----------
    column
        The column.
    missing, present
        Noisy counts of records without and with a value.
    stddevs
        Of the noise of either.
    """
    noise = hypot((1 - SURELY) * stddevs[0], SURELY * stddevs[1])
    suspect = _missing(column, has_place=True)
    return "".join(suspect.caution(column, missing, missing + present, significance(1) * noise))


def unread_problem(column: Column, share: float) -> str:
    """What to say of a column of which so large a part of the values could not be read when it was
    learnt.
    """
    what = column.reading.what
    fits = column.reading.fits
    what = what if fits in what else f"{what} such as {fits!r}"
    return (
        f"column {column.name!r}: about {100 * share:.0f} % of its values could not be read, for they are not {what}; "
        f"declare how it is written: {_ways(column)}"
    )


def _unread_caution(
    column: Column, unread: UnreadCount, limit: float, *, is_bare: bool, is_learnt: bool
) -> list[str]:
    """What is said of unread values; ``is_bare`` of a column of which nearly all else is missing."""
    if unread.count <= limit * unread.stddev or unread.share < SOME:
        return []
    share = percent(unread.share)
    none = "no value, or one that" if column.required else "a value that"
    may_be_missing = ""
    if column.required:
        way_out = (
            "set constraints.required to false" if is_learnt else "leave out constraints.required"
        )
        may_be_missing = f", or {way_out} if values may be missing"
    if is_bare:
        place = "no value in its place, as nearly all others have none"
    else:
        place = "values of the others in its place"
    return [
        f"column {column.name!r}: about {share} of the records have {none} {column.not_read}; "
        f"drawn rows have {place}; "
        f"if that is not so in your table, declare how it is written: {_ways(column)}{may_be_missing}"
    ]


def _beyond_caution(column: Column, unread: UnreadCount, limit: float) -> list[str]:
    """What is said of values beyond declared bounds."""
    if unread.beyond is None or unread.total <= 0:
        return []
    bounds = column.field()["constraints"]
    total = unread.total
    shares = 0.0
    parts = []
    wider = []
    for count, word, key in zip(
        unread.beyond.clear(limit), ("below", "above"), ("minimum", "maximum"), strict=True
    ):
        if count >= SOME * total:
            shares += count / total
            parts.append(f"{percent(count / total)} {word} {bounds[key]}")
            wider.append(f"constraints.{key}")
    if not parts:
        return []
    return [
        clipped_caution(column.name, shares, ends=parts, way_out=f"widen {' and '.join(wider)}")
    ]


def clipped_caution(name: str, share: float, *, ends: Sequence[str] = (), way_out: str) -> str:
    """What is said of a share of the records that lie beyond the declared bounds of a column.

    ``ends`` says how many lie at which end, where that was counted.
    """
    where = f" ({', '.join(ends)})" if ends else ""
    return (
        f"column {name!r}: about {percent(share)} of the records lie beyond its bounds{where} "
        f"and are clipped to them; if that is not meant, {way_out}"
    )


def _suspects(column: Column, *, has_place: bool = False) -> Iterator[_Suspect]:
    """Where values of a column end that are not read, or missing; with ``other`` only what is
    missing is missing.
    """
    if not column.required and column.other is None:
        yield _missing(column, has_place=has_place)
    if column.n_levels == 1 or has_place:
        return
    if column.other is not None:
        spelling = "list the levels as they are spelt there: constraints.enum"
        words = (
            f"have none of its other levels and became {column.other!r}; "
            f"if that is not so in your table, {spelling}"
        )
        yield _Suspect(code=column.unknown_code, share=MOST, surely=MOST, words=words)
    elif column.required:
        words = (
            "are in its first level or lowest bin, where values end that could not be read, for constraints.required "
            f"is true; if that is not so in your table, declare how it is written: {_ways(column)}"
        )
        yield _Suspect(code=column.missing_code, share=NEARLY_ALL, surely=SURELY, words=words)


def _missing(column: Column, *, has_place: bool) -> _Suspect:
    """Missing values: where unread ones have a place of their own only nearly all of them are a
    surprise.
    """
    words = (
        "have no value, or none that could be read; "
        f"if that is not so in your table, declare how it is written: {_ways(column)}"
    )
    share, surely = (NEARLY_ALL, SURELY) if has_place else (MANY, MANY)
    return _Suspect(code=column.missing_code, share=share, surely=surely, words=words)


def _ways(column: Column) -> str:
    """What a field can declare so that more of its values are read."""
    return f"{column.ways_of_writing}, missingValues{column.hint}"


def _noise(variances: NDArray[np.float64], suspect: _Suspect) -> float:
    """Standard deviation of: records at a level, less the share of all that is surely exceeded."""
    weights = np.full(len(variances), -suspect.surely)
    weights[suspect.code] += 1
    return float(sqrt(weights**2 @ variances))
