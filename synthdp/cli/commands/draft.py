"""``synthdp schema draft``: a schema to fill in."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import final

from synthdp.cli.arguments.options import DialectOptions, SourceOptions
from synthdp.cli.commands.table import PACKAGE_COMMANDS
from synthdp.cli.planning.readings import readings_of_draft
from synthdp.cli.shared.drafts import drafted
from synthdp.cli.shared.given_dialects import given_dialect
from synthdp.cli.shared.outputs import check_distinct, input_files
from synthdp.core.files.json_files import write_json
from synthdp.core.files.writing import check_writable
from synthdp.core.imports import import_named
from synthdp.data.files.file_names import is_partitioned
from synthdp.data.rows import files_of
from synthdp.schema.draft import KINDS_NOTE, draft_of_kinds


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
            import_named(PACKAGE_COMMANDS["schema draft"])(
                path, options.output, kinds=options.kinds, force=options.force
            )
            return
    check_distinct([options.output], inputs=(*files, *files_of(options.source)))
    check_writable(options.output, force=options.force)
    draft = drafted(
        files,
        given_dialect(options, *files) or {},
        source=options.source,
        table=options.table,
    )
    content, note = (
        (draft_of_kinds(draft), KINDS_NOTE) if options.kinds else (draft, draft["synthdp"]["note"])
    )
    write_json(options.output, content, force=options.force)
    a_sentence_a_line = note.replace(". ", ".\n")
    sys.stderr.write(f"synthdp: {a_sentence_a_line}\n\n{readings_of_draft(draft)}\n")
