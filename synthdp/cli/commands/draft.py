"""``synthdp schema draft``: a schema to fill in."""

import argparse
import sys
from pathlib import Path

from synthdp.cli.arguments.dialects import given_dialect
from synthdp.cli.outputs import (
    check_distinct,
)
from synthdp.cli.packages import draft_package
from synthdp.table.files.dialect import Dialect
from synthdp.table.files.file_set import is_partitioned
from synthdp.table.files.json_files import write_json
from synthdp.table.files.tables import open_table
from synthdp.table.files.writing import check_writable
from synthdp.table.schema.draft import KINDS_NOTE, draft_of, draft_of_kinds


def draft_command(options: argparse.Namespace) -> None:
    """``synthdp schema draft``: names, and for Parquet types, of a table; never a value."""
    if Path(options.input).is_dir() and not is_partitioned(options.input):
        draft_package(options)
        return
    check_distinct([options.output], inputs=(options.input,))
    check_writable(options.output, force=options.force)
    dialect = Dialect.of(given_dialect(options, options.input) or {})
    with open_table(options.input, dialect) as table:
        draft = draft_of(table) | dialect.as_property()
    content, note = (draft_of_kinds(draft), KINDS_NOTE) if options.kinds else (draft, draft["synthdp"]["note"])
    write_json(options.output, content, force=options.force)
    sys.stderr.write(f"synthdp: {note}\n")
