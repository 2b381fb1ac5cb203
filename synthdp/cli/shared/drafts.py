"""Drafts of schemas, of tables wherever they are: names, and types where they are declared."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

from synthdp.core.errors import SynthdpError
from synthdp.data.files.drafting import draft_of
from synthdp.data.frames.containers import opened
from synthdp.data.rows import opened_source
from synthdp.data.tables import open_table
from synthdp.schema.dialect import Dialect
from synthdp.schema.draft import draft_from_frame


def drafted(
    files: Sequence[str], properties: Mapping[str, Any], *, source: str | None, table: str | None
) -> dict[str, Any]:
    """The draft of a schema of the one file that is given, or of a table in a database; no record
    is read.

    ``properties`` say how the file is written.
    """
    dialect = Dialect.from_properties(properties)
    if source is not None and table is not None:
        with opened_source(source, table) as held:
            return draft_from_frame(opened(held.empty).frame) | dialect.as_property()
    (path,) = files
    with open_table(path, dialect) as opened_table:
        return draft_of(opened_table) | dialect.as_property()


def divisions(
    paths: Sequence[Path], encodings: Iterable[str], delimiters: Iterable[str]
) -> dict[tuple[str, str], int]:
    """Into how many columns each encoding and delimiter would divide the first lines of some files,
    all together; 0 if one cannot be read so. No record is read.
    """
    n_columns = dict.fromkeys(product(encodings, delimiters), 0)
    for encoding, delimiter in n_columns:
        dialect = Dialect(encoding=encoding, delimiter=delimiter)
        with suppress(SynthdpError):
            n_columns[encoding, delimiter] = sum(_n_columns(path, dialect) for path in paths)
    return n_columns


def _n_columns(path: Path, dialect: Dialect) -> int:
    with open_table(path, dialect) as table:
        return len(table.names)
