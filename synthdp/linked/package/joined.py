"""Columns of public tables, joined to the protected rows that refer to them.

They are functions of the column that refers to the public table, and of what is public. So nobody
measures them: what a release says of them follows from what it says of that column.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, NamedTuple, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import DataFileError, ParameterError, SchemaError
from synthdp.linked.package.linked_table import LinkedTable, in_package, refuse_package
from synthdp.linked.package.links import Links
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.reading import is_missing, plain_text
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.rules.rules import is_check, levels_where, names_in

FloatArray = NDArray[np.float64]

Lookup = Callable[[str], pd.DataFrame]
"""The rows of a look-up table, by its name: texts or other values."""

MAX_CELLS = 2**18
"""Cells of a public table whose columns are joined: they are in every file of a release, which is
to stay small.
"""


@final
@dataclass(frozen=True, eq=False)
class Joined:
    """A column of a public table as a function of the column that refers to that table."""

    source: str
    """The protected column, as views name it: ``table.column``."""
    column: Column
    """What its own codes mean; its name is that of the public table with its own."""
    codes: NDArray[np.integer[Any]]
    """For each code of ``source`` the code here, shape ``(size of source,)``."""

    @property
    def renames(self) -> bool:
        """Whether it tells apart what the key tells apart, and so says nothing else."""
        return len(np.unique(self.codes)) == len(self.codes)


def looked_up(links: Links, lookup: Lookup | None) -> Lookup | None:
    """The rows of public tables, each read once: ``data`` of the description, or what a lookup
    gives.
    """
    inline = {
        name: _inline(links[name]["data"], name) for name in links.public if "data" in links[name]
    }
    if lookup is None and not inline:
        return None

    @cache
    def rows(name: str) -> pd.DataFrame:
        if name in inline:
            return inline[name]
        if lookup is None:
            raise ParameterError(
                f"package: the rows of the public table {name!r} are not given; give them"
            )
        return lookup(name)

    return rows


def _inline(rows: Any, name: str) -> pd.DataFrame:
    """Rows that stand in a description."""
    plain = (str, int, float, type(None))
    declared = in_package(rows, name, "data")
    words = 'a list of rows, [{"code": "A", "name": "Alpha"}, ..], or a path'
    for row in declared.sequence(words):
        if not isinstance(row, Mapping) or not all(isinstance(v, plain) for v in row.values()):
            declared.expect(words)
    return pd.DataFrame(rows, dtype=object)


def joined_columns(
    tables: Sequence[LinkedTable], links: Links, rows: Lookup | None
) -> dict[str, Joined]:
    """The columns of public tables by the names that rules and marginals have for them.

    ``public table.column``; where several columns refer to one table, ``public table.column of
    table.column``. A public table that others of them refer to is followed. Tables whose rows are
    not at hand have none, nor have those of more than `MAX_CELLS`.

    Raises
    ------
    SchemaError
        If a public table lacks a column of its schema, or has a key with two rows.
    """
    ways = [(way, table, way.source) for table in tables for way in _ways(links, table.name)]
    columns: dict[str, Joined] = {}
    if rows is None:
        return columns
    for way, table, own in ways:
        if table.schema is None or own not in table.schema.names:
            continue
        joined = _rows_at(way, table.schema[own], links, rows)
        if joined is None:
            continue
        frame, places = joined
        is_named = sum(each.public == way.public for each, _, _ in ways) > 1
        for field in links[way.public]["schema"]["fields"]:
            if field["name"] == way.key:
                continue
            name = f"{way.public}.{field['name']}" + (f" of {way.path}" if is_named else "")
            column, codes = _column(
                field, name, frame[field["name"]], places, links[way.public]["schema"]
            )
            columns[name] = Joined(f"{table.name}.{own}", column, codes)
    return columns


class _Way(NamedTuple):
    """A public table, and the columns by which one comes to it from a protected table."""

    public: str
    key: str
    """The table, and its column that is referred to."""
    by: str
    """The column that refers to it."""
    path: str
    """That and those before it, as they are named."""
    above: "_Way | None"
    """The way to the public table that refers to it; None if a protected one does."""

    @property
    def source(self) -> str:
        """The column of the protected table where the way begins."""
        return self.by if self.above is None else self.above.source

    @property
    def tables(self) -> set[str]:
        """The public tables on it."""
        return {self.public} | (set() if self.above is None else self.above.tables)


def _ways(links: Links, name: str, above: _Way | None = None) -> Iterator[_Way]:
    """The ways from a table to public ones, and from these on to others, none twice on a way."""
    for own, other, there in links.references(name):
        if other not in links.public or len(own) > 1 or (above and other in above.tables):
            continue
        path = f"{name}.{own[0]}" + (f" of {above.path}" if above else "")
        way = _Way(other, there[0], own[0], path, above)
        yield way
        yield from _ways(links, other, way)


def _rows_at(
    way: _Way, source: Column, links: Links, rows: Lookup
) -> tuple[pd.DataFrame, NDArray[np.intp]] | None:
    """The rows of a public table, and for each code of a protected column which of them it comes
    to:
    -1 if none. None if rows on the way are not at hand.
    """
    frame = _public_rows(way.public, way.key, links, rows)
    if frame is None:
        return None
    if way.above is None:
        return frame, _places(frame[way.key], source, way.public)
    before = _rows_at(way.above, source, links, rows)
    if before is None:
        return None
    above, places = before
    keys = [_text(key) for key in frame[way.key]]
    _check_unique([key for key in keys if key is not None], way.key, way.public)
    numbers = {key: number for number, key in enumerate(keys) if key is not None}
    referred = np.array([numbers.get(_text(key) or "", -1) for key in above[way.by]], np.intp)
    return frame, np.where(places < 0, -1, referred[places] if len(referred) else -1)


def _text(value: object) -> str | None:
    return None if is_missing(value) else plain_text(str(value))


def with_rows(
    resources: Mapping[str, Mapping[str, Any]], links: Links, rows: Lookup | None
) -> dict[str, Any]:
    """The resources, those of public tables whose columns are joined with their rows as ``data``:
    texts.
    """
    described = dict(resources)
    there = {way.public: way.key for name in links.order for way in _ways(links, name)}
    for name, key in there.items():
        frame = None if rows is None else _public_rows(name, key, links, rows)
        if frame is not None:
            texts = frame.map(_text).astype(object)
            described[name] = {**resources[name], "data": texts.to_dict("records")}
    return described


def rule_on_sources(
    rule: Mapping[str, Any], joined: Mapping[str, Joined], columns: Mapping[str, Column]
) -> Any:
    """A rule with conditions on the columns that refer to public tables in place of conditions on
    columns of these.

    ``columns`` are the protected columns by their names. What stands before a name, such as
    ``other``, stays there.

    Raises
    ------
    SchemaError
        If the rule is no list of conditions, or one fits no level.
    """
    named = {name: _parted(name, joined) for name in names_in(rule)}
    if not any(named.values()):
        return rule
    if is_check(rule) or "determines" in rule:
        name = next(name for name, parts in named.items() if parts)
        refuse_package(
            f"a rule names {name!r}, a column of a public table; such rules are 'forbid' and 'allow'"
        )

    def replaced(conditions: Any) -> dict[str, Any]:
        levels: dict[str, list[Any]] = {}
        kept = dict(conditions)
        for name, parts in named.items():
            if parts is None or name not in conditions:
                continue
            before, each = parts
            met = _met(each, conditions[name], name)
            source = columns[each.source]
            key = before + each.source
            if key in conditions:
                # A condition on the key itself and one on the public table's columns both have to
                # hold.
                met &= levels_where(source, conditions[key])
            labels = source.labels.to_list()
            new = [
                None if is_missing(labels[code]) else labels[code] for code in np.flatnonzero(met)
            ]
            levels[key] = [level for level in new if key not in levels or level in levels[key]]
            del kept[name]
        if empty := [key for key, rewritten in levels.items() if not rewritten]:
            refuse_package(
                f"a rule's conditions on public tables leave no level of {empty[0]!r}; correct them"
            )
        return kept | levels

    rewritten = dict(rule)
    if "forbid" in rule:
        rewritten["forbid"] = replaced(rule["forbid"])
    if "allow" in rule:
        rewritten["allow"] = [replaced(entry) for entry in rule["allow"]]
    return rewritten


def regrouped(
    counts: FloatArray,
    asked: Sequence[str],
    columns: Mapping[str, Column],
    joined: Mapping[str, Joined],
) -> FloatArray:
    """Counts by some columns as counts by others, each of which is one of these or a function of
    one.

    Parameters
    ----------
    counts
        One axis a column of ``asked``.
    asked
        Names of the columns that were counted.
    columns
        The columns that are wanted, by their names.
    joined
        Those of them that are functions of others.

    Returns
    -------
    numpy.ndarray
        One axis a column of ``columns``.
    """
    cells = np.zeros((1,) * counts.ndim, np.int64)
    for name, column in columns.items():
        axis = asked.index(joined[name].source if name in joined else name)
        codes = joined[name].codes if name in joined else np.arange(counts.shape[axis])
        along = [-1 if place == axis else 1 for place in range(counts.ndim)]
        cells = cells * column.size + codes.astype(np.int64).reshape(along)
    shape = [column.size for column in columns.values()]
    every = np.broadcast_to(cells, counts.shape).ravel()
    return (
        np.bincount(every, weights=counts.ravel(), minlength=prod(shape))
        .astype(np.float64)
        .reshape(shape)
    )


def _met(joined: Joined, condition: Any, name: str) -> NDArray[np.bool_]:
    """For each code of the source whether it meets a condition on a column of the public table."""
    try:
        met: NDArray[np.bool_] = levels_where(joined.column, condition)[joined.codes]
    except SchemaError as error:
        refuse_package(f"a rule on {name!r}: {str(error).removeprefix('schema: constraints: ')}")
    return met


def _parted(name: str, joined: Mapping[str, Joined]) -> tuple[str, Joined] | None:
    """What stands before the name of a joined column, and that column."""
    if name in joined:
        return "", joined[name]
    for each, column in joined.items():
        if name == each or name.endswith(f" {each}"):
            return name.removesuffix(each), column
    return None


def _public_rows(name: str, key: str, links: Links, rows: Lookup) -> pd.DataFrame | None:
    """The key of a public table and its other columns; None if they are not at hand, are none, or
    too many.
    """
    try:
        frame = rows(name)
    except (ParameterError, DataFileError):
        return None  # levels are declared, or this had been told before
    names = [field["name"] for field in links[name]["schema"]["fields"]]
    if lacking := [each for each in names if each not in frame.columns]:
        refuse_package(
            f"it has no column {lacking[0]!r}, which its schema has; correct one of them", name
        )
    if names == [key] or frame.shape[0] * len(names) > MAX_CELLS:
        return None
    return frame[names].drop_duplicates(ignore_index=True)


def _places(keys: pd.Series, source: Column, name: str) -> NDArray[np.intp]:
    """For each code of a column the row of the public table with that key, -1 if there is none."""
    codes = source.encode(keys)
    present = np.flatnonzero(
        source.knows(keys) & np.array([not is_missing(key) for key in keys], dtype=np.bool_)
    )
    _check_unique(codes[present].tolist(), str(keys.name), name)
    places = np.full(source.size, -1)
    places[codes[present]] = present
    return places


def _check_unique(keys: Sequence[object], key: str, name: str) -> None:
    if len(set(keys)) < len(keys):
        refuse_package(
            f"its key {key!r}, to which other tables refer, has several rows; give each key one",
            name,
        )


def _column(
    field: Mapping[str, Any],
    name: str,
    values: pd.Series,
    places: NDArray[np.intp],
    schema: Mapping[str, Any],
) -> tuple[Column, NDArray[np.integer[Any]]]:
    """A column of a public table, and its code for each code of the column that refers to the
    table.
    """
    missing = [plain_text(text) for text in schema.get("missingValues", [""])]
    texts = [_text(value) for value in values]
    texts = [None if text in missing else text for text in texts]
    wanted = [None if place < 0 else texts[place] for place in places]
    constraints = {**(field.get("constraints") or {}), "required": None not in wanted}
    # What is public is not learnt: a draft may say so of all columns.
    own = {key: value for key, value in (field.get("synthdp") or {}).items() if key != "derive"}
    described = {"name": name, "constraints": constraints, "synthdp": own}
    if "type" in field:
        described |= {"type": field["type"]}
    # The rows of a public table are public, so its levels may be read off them.
    if not constraints.keys() & {"enum", "minimum", "maximum"} and field.get("type") != "boolean":
        levels = sorted({text for text in texts if text is not None})
        described = {
            "name": name,
            "type": "string",
            "constraints": {**constraints, "enum": levels or ["none"]},
        }
    try:
        alone = {"fields": [described], "missingValues": [""]}
        column = OpenSchema.from_dict(alone, learns_bins=False).resolved({})[name]
    except SchemaError as error:
        refuse_package(str(error).removeprefix("schema: "))
    return column, column.encode(pd.Series(wanted, dtype=object))
