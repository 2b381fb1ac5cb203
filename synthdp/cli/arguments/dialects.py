"""Options that say how files are written: the same as a schema's ``dialect``, which they override."""

import argparse

from synthdp.cli.arguments.parsing import option
from synthdp.schema.dialect import PRESETS

DIALECT_OPTIONS = ("dialect", "delimiter", "encoding", "decimal", "thousands", "quote", "sheet")
"""All of these options."""


def add_dialect(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a table is written into a file."""
    group = parser.add_argument_group(
        "how files are written",
        'as the schema\'s "dialect", which these override; never guessed; see docs/files.md',
    )
    *most, last = PRESETS
    option(
        group,
        "--dialect NAME",
        f"all at once: {', '.join(most)} or {last}: ; between columns, 1.234,56, UTF-8 with a byte-order mark",
    )
    option(
        group, "--delimiter C", "mark between columns, such as ';' or tab; default: , (.tsv: tab)"
    )
    option(
        group, "--encoding NAME", "encoding of the text, such as cp1252 or utf-16; default: utf-8"
    )
    option(
        group, "--decimal C", "decimal mark of numbers, unless their field names one; default: ."
    )
    option(
        group,
        "--thousands C",
        "mark between groups of digits, unless the field names one; default: none",
    )
    option(group, "--quote C", "mark around fields that hold a delimiter, '' for none; default: \"")
    option(group, "--sheet NAME", "sheet of an Excel file; default: the only one")
