"""How each column of a schema will be read, with one example of what fits: from its declaration
alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from synthdp.report.texts.listing import table, wrapped
from synthdp.schema.columns.described import Reading
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.types import TYPES, type_named

SHOWN = 12
"""Columns of a short table, and names in a line."""

CLIPPED = (
    "values beyond the declared bounds are clipped to them; a caution says so if they are many, "
    "where a column is measured by itself"
)
"""What is said of columns with bounds."""

TYPED = (
    "all: Parquet files and data frames get the types that columns are read as here, whatever they had; "
    "moments of Parquet keep its time zone"
)
"""What is said of types of typed tables: those of a table may depend on its records."""

_HEADER = ("column", "is read as", "such as", "written as")
_WIDTH = 44
"""Characters of a cell; longer ones are cut."""


def readings(schema: OpenSchema) -> dict[str, Reading]:
    """How each column is read, by its name; generated ones are not."""
    columns = {column.name: column.reading for column in schema.columns}
    return columns if schema.relatives is None else columns | schema.relatives.readings


def reading_facts(schema: OpenSchema) -> list[dict[str, Any]]:
    """How each column is read, as plain JSON values."""
    missing = {column.name: list(column.missing_values) for column in schema.columns}
    return [
        {"name": name, **asdict(reading), "missing_values": missing[name]}
        for name, reading in readings(schema).items()
    ]


def readings_text(schema: OpenSchema, *, is_whole: bool) -> str:
    """A line for each column, and below what of it comes out in another way, or not at all."""
    columns = readings(schema)
    rows = [
        tuple(map(_plain, (name, each.what, each.fits, each.written)))
        for name, each in columns.items()
    ]
    shown = rows if is_whole else [tuple(map(_cut, row)) for row in rows[:SHOWN]]
    if len(rows) > len(shown):
        more = f"\n... and {len(rows) - len(shown)} more; --all shows them"
    else:
        more = ""
    notes = _by_note((name, each.note) for name, each in columns.items() if each.note)
    unbounded = {
        column.name
        for column in schema.open_columns
        if "bounds" in column.open_parts and not column.limits
    }
    notes += _by_note(
        (column.name, CLIPPED)
        for column in schema.columns
        if column.template.axis is not None and column.name not in unbounded
    )
    missing = _by_note(
        (column.name, f"missing is {_words(column.missing_values)}") for column in schema.columns
    )
    notes += (
        missing if len(missing) > 1 else [f"all: {line.partition(': ')[2]}" for line in missing]
    )
    lines = [line if is_whole else wrapped(line) for line in (*notes, TYPED)]
    return "\n".join([f"{table(_HEADER, shown)}{more}", *lines])


def readings_of_draft(draft: Mapping[str, Any]) -> str:
    """How columns of a drafted schema will be read whose types are known; else how those of each
    type would be.
    """
    typed = {field["name"]: field["type"] for field in draft["fields"] if field["type"] is not None}
    kinds = typed or {f"of type {kind}": _barely_declared(kind) for kind in TYPES}
    text = readings_text(OpenSchema.from_kinds(kinds), is_whole=False).replace(
        "--all shows", "synthdp schema check shows"
    )
    return f"how columns are read, and written, unless more is declared:\n{text}"


def _barely_declared(kind: str) -> dict[str, Any]:
    """A field of a type of which nothing is declared but, as an example, what cannot be learnt."""
    of_type = type_named(kind)
    example = of_type.example_field(kind).get("synthdp", {})
    return {
        "type": kind,
        "synthdp": {key: example[key] for key in of_type.to_fill_in().get("synthdp", {})},
    }


def _by_note(notes: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each note, with the columns that it is about."""
    names: dict[str, list[str]] = {}
    for name, note in notes:
        names.setdefault(note, []).append(name)
    return [f"{_names(columns)}: {note}" for note, columns in names.items()]


def _names(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
    return ", ".join(map(repr, columns[:SHOWN])) + more


def _words(texts: Sequence[str]) -> str:
    return ", ".join("an empty cell" if text == "" else repr(text) for text in texts) or "nothing"


def _plain(text: str) -> str:
    """A text in one line, as it is if it can be shown so."""
    return text if text.isprintable() else repr(text)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
