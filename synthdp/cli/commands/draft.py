"""``synthdp schema draft``: a schema to fill in."""

import argparse
import sys
from pathlib import Path
from typing import Any

from synthdp.cli.arguments.dialects import given_dialect
from synthdp.cli.commands.table import PACKAGE_COMMANDS
from synthdp.cli.planning.readings import readings_of_draft
from synthdp.cli.shared.outputs import check_distinct, input_files
from synthdp.core.files.json_files import write_json
from synthdp.core.files.writing import check_writable
from synthdp.data.files.drafting import draft_of
from synthdp.data.files.file_set import is_partitioned
from synthdp.data.frames.containers import opened
from synthdp.data.rows import files_of, opened_source
from synthdp.data.tables import open_table
from synthdp.schema.dialect import Dialect
from synthdp.schema.draft import KINDS_NOTE, draft_from_frame, draft_of_kinds


def draft_command(options: argparse.Namespace) -> None:
    """``synthdp schema draft``: names, and for Parquet and databases types, of a table; never a
    value.
    """
    files = input_files(options)
    if files and Path(options.input).is_dir() and not is_partitioned(options.input):
        PACKAGE_COMMANDS["schema draft"].load()(options)
        return
    check_distinct([options.output], inputs=(*files, *files_of(options.source)))
    check_writable(options.output, force=options.force)
    draft = _draft(options, files)
    content, note = (
        (draft_of_kinds(draft), KINDS_NOTE) if options.kinds else (draft, draft["synthdp"]["note"])
    )
    write_json(options.output, content, force=options.force)
    sys.stderr.write(f"synthdp: {note}\n{readings_of_draft(draft)}\n")


def _draft(options: argparse.Namespace, files: tuple[str, ...]) -> dict[str, Any]:
    dialect = Dialect.of(given_dialect(options, *files) or {})
    if options.source is not None:
        with opened_source(options.source, options.table) as held:
            return draft_from_frame(opened(held.empty).frame) | dialect.as_property()
    with open_table(options.input, dialect) as table:
        return draft_of(table) | dialect.as_property()
