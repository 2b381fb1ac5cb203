"""Restoring a release from its file, of one table or of several."""

from os import PathLike

from synthdp.release import loading
from synthdp.release.keeping.checks import checked_path
from synthdp.release.linked import linked_archive
from synthdp.release.linked.linked_synthesis import LinkedSynthesis
from synthdp.release.synthesis import Synthesis


def load(path: str | PathLike[str], *, max_bytes: int | None = None) -> Synthesis | LinkedSynthesis:
    """Restore what `Synthesis.save` or `LinkedSynthesis.save`, of this version or an earlier one, wrote.

    All is as in `synthdp.release.loading.load`: it opens no private data, runs no code that is in the file, and raises
    the same errors.

    Parameters
    ----------
    path
        The file.
    max_bytes
        Most bytes that it may unpack to, and that tables of one model may take.

    Raises
    ------
    DataFileError
        If the file cannot be read, is not such a file or of a newer format, or is larger than it may be.
    ParameterError
        If ``path`` is no path.
    """
    if not linked_archive.is_linked(checked_path(path, "path")):
        return loading.load(path, max_bytes=max_bytes)
    return LinkedSynthesis.load(path, max_bytes=max_bytes)
