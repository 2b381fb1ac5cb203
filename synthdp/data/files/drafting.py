"""Drafts of schemas from files: from what they declare, no row is read."""

from typing import Any

from synthdp.data.files.table_file import TableFile
from synthdp.schema.draft import draft_from_frame, draft_from_header


def draft_of(table: TableFile) -> dict[str, Any]:
    """A schema to be filled in, from what a file declares; no row is read."""
    if table.declared is None:
        return draft_from_header(table.names)
    return draft_from_frame(table.declared)
