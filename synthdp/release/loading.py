"""Restoring a release from its file."""

from os import PathLike

from synthdp.data.frames.form import TableForm
from synthdp.release.persistence.checks import checked_path
from synthdp.release.saving import archive
from synthdp.release.saving.pieces import Pieces
from synthdp.release.synthesis import Synthesis


def load(path: str | PathLike[str], *, max_bytes: int | None = None) -> Synthesis:
    """Restore a synthesis that `Synthesis.save`, of this version or an earlier one, wrote. Opens no
    private data.

    The file may come from anybody: it runs no code, and takes no more memory than a file of its
    size should. That its checksums hold does not say who wrote it.

    Parameters
    ----------
    path
        The file.
    max_bytes
        Most bytes that it may unpack to, and that tables of its model may take. By default it may
        unpack to 1,000 times its size (16 MiB at least, 4 GiB at most), and tables may take 512
        MiB, or 1,000 times its size.

    Raises
    ------
    DataFileError
        If the file cannot be read, is not such a file or of a newer format, or is larger than it
        may be.
    ParameterError
        If ``path`` is no path.
    """
    return restored(archive.read(checked_path(path, "path"), max_bytes=max_bytes))


def restored(pieces: Pieces) -> Synthesis:
    """The synthesis whose pieces they were."""
    return Synthesis(
        schema=pieces.schema,
        measurements=pieces.measurements,
        model=pieces.model,
        certificate=pieces.certificate,
        form=TableForm(dtypes=pieces.dtypes),
    )
