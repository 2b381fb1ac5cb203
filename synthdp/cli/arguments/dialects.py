"""Options that say how files are written: the same as a schema's ``dialect``, which they override."""

import argparse
from typing import Any

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.data.files.formats import Format, file_kind
from synthdp.schema.dialect import PRESETS, Dialect, properties_of

_PROPERTIES = {
    "delimiter": "delimiter",
    "encoding": "encoding",
    "decimal": "decimalChar",
    "thousands": "groupChar",
    "quote": "quoteChar",
    "sheet": "sheetName",
}
"""The properties of a dialect by the names of their options."""


_OF_CSV, _OF_EXCEL = (
    (Format.CSV, "CSV files (.csv, .tsv, -)"),
    (Format.EXCEL, "Excel files (.xlsx)"),
)
_MEANT_FOR = dict.fromkeys(("delimiter", "encoding", "quote"), _OF_CSV) | {"sheet": _OF_EXCEL}
"""The only files of which an option says anything; the others say how numbers are written, in texts
of any file.
"""


DIALECT_OPTIONS = ("dialect", *_PROPERTIES)
"""All of these options."""


def add_dialect(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a table is written into a file."""
    group = parser.add_argument_group(
        "how files are written",
        'as the schema\'s "dialect", which these override; never guessed; see docs/files.md',
    )
    *most, last = PRESETS
    group.add_argument(
        "--dialect",
        metavar="NAME",
        help=f"all at once: {', '.join(most)} or {last}: ; between columns, 1.234,56, UTF-8 with a byte-order mark",
    )
    group.add_argument(
        "--delimiter",
        metavar="C",
        help="between columns, such as ';' or tab; default: , (.tsv: tab)",
    )
    group.add_argument(
        "--encoding", metavar="NAME", help="of the text, such as cp1252 or utf-16; default: utf-8"
    )
    group.add_argument(
        "--decimal", metavar="C", help="decimal mark of numbers whose field names none; default: ."
    )
    group.add_argument(
        "--thousands", metavar="C", help="mark between groups of digits, likewise; default: none"
    )
    group.add_argument(
        "--quote", metavar="C", help="around fields that hold a delimiter, '' for none; default: \""
    )
    group.add_argument(
        "--sheet", metavar="NAME", help="sheet of an Excel file; default: its only one"
    )


def given_dialect(options: argparse.Namespace, *tables: str) -> dict[str, Any] | None:
    """The properties that the options say, None for none.

    Raises `ParameterError` if one is not possible, or says nothing of any of the tables that are
    read and written.
    """
    from synthdp.data.files.file_set import parts_of  # what it reads tables with is heavy

    formats = {file_kind(part).format for path in tables for part in parts_of(path)}
    for name, (format_, files) in _MEANT_FOR.items():
        if getattr(options, name) is not None and format_ not in formats:
            raise ParameterError(
                f"--{name} is for {files}, and no table here is in one; leave it out"
            )
    given = {
        key: getattr(options, name)
        for name, key in _PROPERTIES.items()
        if getattr(options, name) is not None
    }
    if options.dialect is not None and options.dialect not in PRESETS:
        raise ParameterError(f"--dialect is {options.dialect!r}; give one of {', '.join(PRESETS)}")
    given = properties_of(options.dialect) | given
    try:
        Dialect.of(given)
    except SchemaError as error:
        raise ParameterError(str(error)) from None
    return given or None
