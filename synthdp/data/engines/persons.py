"""Rows per person in an engine: a bound on what one person contributes, before anything is counted."""

import secrets
from collections.abc import Sequence

import narwhals as nw

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.data.engines.engine_frame import EngineColumn, EngineFrame
from synthdp.data.engines.engines import HASHED, with_hashes
from synthdp.schema.columns.reading import plain_text

_TURN = "turn"

_FAMILIES = ("integer", "text", "date", "datetime")
"""Families of types of which equal values are one person."""


def bounded(
    frame: EngineFrame,
    unit: str,
    columns: Sequence[str],
    *,
    max_rows: int,
    missing_values: Sequence[str],
    key: int | None = None,
) -> EngineFrame:
    """The rows of a table of which no person has more than ``max_rows``, still in the engine.

    Whose a row is, its id says: equal ids, as the engine compares them, are one person; texts are
    stripped of white space first. A row without an id is left out. Of each person the rows of least
    hash are kept, by a hash of the id, of the columns that the release may look at, and of a random
    key.

    Why the bound is one on sensitivity. For every key the hashes of a person's rows are a function
    of these rows, and which are kept is one of their hashes. Rows with one hash agree in all that
    is ever counted (or collide by chance), so whichever of them an engine takes, each scan sees the
    same. So adding or removing a person with all rows adds or removes at most ``max_rows`` rows,
    and changes no other; see `synthdp.data.records.unit_rows`.

    Parameters
    ----------
    unit, columns
        The column of the ids, and those that the release may look at.
    max_rows
        Most rows of a person, at least 1.
    missing_values
        Texts that mean "no id"; an empty text always does. Whole numbers are compared as they are
        written, dates and moments with none.
    key
        Of the hash; by default random, as it has to be.

    Raises
    ------
    ParameterError
        If ``max_rows`` is below 1.
    SchemaError
        If the type of the ids is none of whole numbers, texts, dates or moments.
    SourceError
        If the engine fails.
    """
    if max_rows < 1:
        raise ParameterError(
            f"max_rows is {max_rows!r}; give a whole number of at least 1: most rows of a person"
        )
    ids = frame.columns[unit]
    if ids.family not in _FAMILIES:
        way_out = "give a view where they are texts or whole numbers"
        raise SchemaError(
            f"unit (--unit) is {unit!r}: its type in the engine is {ids.dtype}; {way_out}"
        )
    looked_at = [ids.alias, *(frame.columns[name].alias for name in columns if name != unit)]
    # By all columns that may ever be counted: rows that tie then agree in all that matters, so
    # which of them an engine keeps is no matter.
    hashed = with_hashes(
        frame.engine, frame.rows, looked_at, secrets.randbits(31) if key is None else key
    )
    of_person = hashed.filter(~_has_no_id(ids, missing_values))
    # Ranked within a person only: nobody else's rows have a part in it.
    ranked = of_person.with_columns(nw.col(HASHED).rank("ordinal").over(ids.alias).alias(_TURN))
    return frame.with_rows(ranked.filter(nw.col(_TURN) <= max_rows))


def _has_no_id(ids: EngineColumn, missing_values: Sequence[str]) -> nw.Expr:
    words = {"", *map(plain_text, missing_values)}
    missing = ids.is_missing
    if ids.family == "text":
        return missing | ids.values.is_in(sorted(words))
    whole = sorted(
        # "007" is no whole number as it would be written, so it means no id of a column of numbers.
        int(word)
        for word in words
        if word.removeprefix("-").isdecimal() and word == str(int(word))
    )
    if ids.family == "integer":
        numbers = [number for number in whole if number in ids.whole_numbers]
    else:
        numbers = []
    return missing | ids.values.is_in(numbers) if numbers else missing
