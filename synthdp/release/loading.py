"""Restoring a release from its file."""

from os import PathLike

from synthdp.core.imports import import_named
from synthdp.data.frames.form import TableForm
from synthdp.release.on_demand import SAVED_KNOWN
from synthdp.release.persistence.checks import checked_path
from synthdp.release.saving import archive
from synthdp.release.saving.pieces import Pieces
from synthdp.release.synthesis import Synthesis


def load(path: str | PathLike[str], *, max_bytes: int | None = None) -> Synthesis:
    """Restore the release of one table; raises as `synthdp.load`, and of other releases."""
    return restored(archive.read(checked_path(path, "path"), max_bytes=max_bytes))


def restored(pieces: Pieces) -> Synthesis:
    """The synthesis whose pieces they were."""
    return Synthesis(
        schema=pieces.schema,
        measurements=pieces.measurements,
        carried=pieces.carried,
        model=pieces.model,
        certificate=pieces.certificate,
        form=TableForm(dtypes=pieces.dtypes),
        known=import_named(SAVED_KNOWN)(pieces.known, pieces.schema.domain) if pieces.known else (),
    )
