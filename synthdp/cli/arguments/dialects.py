"""Options that say how files are written: the same as a schema's ``dialect``, which they override."""

import argparse
from typing import Any

from synthdp.errors import ParameterError, SchemaError
from synthdp.table.files.dialect import PRESETS, Dialect, properties_of

_PROPERTIES = {
    "delimiter": "delimiter",
    "encoding": "encoding",
    "decimal": "decimalChar",
    "thousands": "groupChar",
    "quote": "quoteChar",
    "sheet": "sheetName",
}
"""The properties of a dialect by the names of their options."""


def add_dialect(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a table is written into a file."""
    group = parser.add_argument_group(
        "how files are written", 'as the schema\'s "dialect", which these override; never guessed; see docs/files.md'
    )
    *most, last = PRESETS
    group.add_argument(
        "--dialect",
        metavar="NAME",
        help=f"all at once: {', '.join(most)} or {last}: ; between columns, 1.234,56, UTF-8 with a byte-order mark",
    )
    group.add_argument("--delimiter", metavar="C", help="between columns, such as ';' or tab; default: , (.tsv: tab)")
    group.add_argument("--encoding", metavar="NAME", help="of the text, such as cp1252 or utf-16; default: utf-8")
    group.add_argument("--decimal", metavar="C", help="decimal mark of numbers whose field names none; default: .")
    group.add_argument("--thousands", metavar="C", help="mark between groups of digits, likewise; default: none")
    group.add_argument("--quote", metavar="C", help="around fields that hold a delimiter, '' for none; default: \"")
    group.add_argument("--sheet", metavar="NAME", help="sheet of an Excel file; default: its only one")


def given_dialect(options: argparse.Namespace) -> dict[str, Any] | None:
    """The properties that the options say, None for none; raises `ParameterError` if one is not possible."""
    given = {key: getattr(options, name) for name, key in _PROPERTIES.items() if getattr(options, name) is not None}
    if options.dialect is not None and options.dialect not in PRESETS:
        raise ParameterError(f"--dialect is {options.dialect!r}; give one of {', '.join(PRESETS)}")
    given = properties_of(options.dialect) | given
    try:
        Dialect.of(given)
    except SchemaError as error:
        raise ParameterError(str(error)) from None
    return given or None
