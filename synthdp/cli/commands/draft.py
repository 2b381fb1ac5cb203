"""``synthdp schema draft``: a schema to fill in."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from synthdp.cli.arguments.options import DialectOptions, SourceOptions
from synthdp.cli.commands.table import PACKAGE_COMMANDS
from synthdp.cli.planning.readings import readings_of_draft
from synthdp.cli.shared.given_dialects import given_dialect
from synthdp.cli.shared.outputs import check_distinct, input_files
from synthdp.core.files.json_files import write_json
from synthdp.core.files.writing import check_writable
from synthdp.data.files.drafting import draft_of
from synthdp.data.files.file_names import is_partitioned
from synthdp.data.frames.containers import opened
from synthdp.data.rows import files_of, opened_source
from synthdp.data.tables import open_table
from synthdp.schema.dialect import Dialect
from synthdp.schema.draft import KINDS_NOTE, draft_from_frame, draft_of_kinds


@final
@dataclass(frozen=True, kw_only=True)
class DraftOptions(SourceOptions, DialectOptions):
    """``synthdp schema draft``."""

    kinds: bool
    output: str
    force: bool


def draft_command(options: DraftOptions) -> None:
    """``synthdp schema draft``: names, and for Parquet and databases types, of a table; never a
    value.
    """
    files = input_files(options)
    for path in files:
        if Path(path).is_dir() and not is_partitioned(path):
            PACKAGE_COMMANDS["schema draft"].load()(path, options.output, force=options.force)
            return
    check_distinct([options.output], inputs=(*files, *files_of(options.source)))
    check_writable(options.output, force=options.force)
    draft = _draft(options, files)
    content, note = (
        (draft_of_kinds(draft), KINDS_NOTE) if options.kinds else (draft, draft["synthdp"]["note"])
    )
    write_json(options.output, content, force=options.force)
    sys.stderr.write(f"synthdp: {note}\n{readings_of_draft(draft)}\n")


def _draft(options: DraftOptions, files: tuple[str, ...]) -> dict[str, Any]:
    dialect = Dialect.from_properties(given_dialect(options, *files) or {})
    if options.source is not None and options.table is not None:
        with opened_source(options.source, options.table) as held:
            return draft_from_frame(opened(held.empty).frame) | dialect.as_property()
    (path,) = files
    with open_table(path, dialect) as table:
        return draft_of(table) | dialect.as_property()
