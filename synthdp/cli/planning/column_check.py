"""Checks of one column of a kinds file, without the others, before any data is opened."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

from synthdp.cli.planning.readings import readings
from synthdp.cli.planning.schema_findings import schema_findings
from synthdp.core.errors import SynthdpError
from synthdp.schema.columns.described import Reading
from synthdp.schema.keys import OWN
from synthdp.schema.kinds import IGNORE, schema_of_kinds
from synthdp.schema.open_schema import OpenSchema

MAX_KEPT = 2_000
"""Answers that are kept: those of a wide table."""


@final
@dataclass(frozen=True, kw_only=True)
class ColumnCheck:
    """What follows from the declaration of a column alone."""

    error: str = ""
    """What refuses it."""
    findings: tuple[str, ...] = ()
    """What will not work well."""
    reading: Reading | None = None
    """How it is read and written."""
    learnt: tuple[str, ...] = ()
    """What is left to be learnt."""
    made: str = ""
    """What its values look like, if they are made up."""


def checked_column(
    name: str, kinds: Mapping[str, Any], *, dialect: Mapping[str, Any]
) -> ColumnCheck:
    """What `synthdp schema check` says of a column; nothing yet of one that has no kind, or is left
    out.

    Parameters
    ----------
    name
        The column.
    kinds
        The kinds of all columns, of which those that it is relative to are asked as well.
    dialect
        How the file is written.

    >>> checked_column("age", {"age": "integer", "x": None}, dialect={}).learnt
    ('bins', 'bounds', 'missing')
    """
    asked = dict[str, Any]()
    other: Any = name
    while isinstance(other, str) and other not in asked and kinds.get(other) not in (None, IGNORE):
        asked[other] = kinds[other]
        own = kinds[other].get(OWN, {}) if isinstance(kinds[other], Mapping) else {}
        other = own.get("relative_to")
    if not asked:
        return ColumnCheck()
    return _checked(name, json.dumps(asked), json.dumps(dict(dialect)))


@lru_cache(MAX_KEPT)
def _checked(name: str, asked: str, dialect: str) -> ColumnCheck:
    """What is said of a column by its text and its neighbours': a page asks for it again and again."""
    # A schema needs a column that is read, which ids and fakes are not.
    beside = {OWN: {"dialect": json.loads(dialect)}, f"{name} beside": "integer"}
    try:
        content = schema_of_kinds(json.loads(asked) | beside)
        schema = OpenSchema.from_dict(content)
    except SynthdpError as error:
        return ColumnCheck(error=str(error))
    learnt = {column.name: sorted(column.open_parts) for column in schema.open_columns}
    made = {column.name: column.summary for column in schema.generated.columns}
    return ColumnCheck(
        made=made.get(name, ""),
        findings=tuple(str(each) for each in schema_findings(schema) if name in each.columns),
        reading=readings(schema).get(name),
        learnt=tuple(learnt.get(name, ())),
    )
