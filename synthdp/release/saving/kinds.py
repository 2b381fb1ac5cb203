"""Kinds of files that hold a saved release: of one table, or of linked ones."""

from os import PathLike

from synthdp.release.saving.members import open_members

TABLE, LINKED = "table", "linked"
"""The kinds, by what the release is of."""

LINKED_MANIFEST = "linked.json"
"""What a file of linked tables has at its top, see `synthdp.linked.linked_archive`."""


def kind_of(path: str | PathLike[str]) -> str:
    """The kind of a file; `TABLE` as well if it is neither, or cannot be read: whoever reads it
    then says what is wrong with it.
    """
    try:
        with open_members(path, max_bytes=None) as (members, _):
            return LINKED if LINKED_MANIFEST in members.names else TABLE
    except Exception:
        return TABLE
