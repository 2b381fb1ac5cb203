"""A release as one page of HTML, made without the real table: what was measured, how precisely, and what came of it."""

from os import PathLike

from synthdp.explain.pages.certificate_page import FOLDER, certificate_view
from synthdp.explain.pages.measured import error_section, fit_section, measured_section
from synthdp.explain.pages.modelled import column_section, graph_section
from synthdp.explain.pages.noisy_release import NoisyRelease
from synthdp.release.synthesis import Synthesis
from synthdp.rendering.page import rendered
from synthdp.table.files.writing import written
from synthdp.version import __version__


def release_page(synthesis: Synthesis, path: str | PathLike[str] | None = None, *, force: bool = False) -> str:
    """What a release says of itself: pictures, tables and the certificate in one file that needs no network.

    No real table is read, so the page costs no privacy, and may go where the release goes.

    Parameters
    ----------
    synthesis
        The release.
    path
        Where to write the page, if anywhere; whole or not at all.
    force
        Replace a file that exists.

    Returns
    -------
    str
        The page.

    Raises
    ------
    MissingExtraError
        If matplotlib or Jinja is not installed (``pip install 'synthdp[report]'``).
    DataFileError
        If the file exists and ``force`` is not set, or cannot be written.
    """
    return written(lambda: _page(synthesis), path, force=force)


def _page(synthesis: Synthesis) -> str:
    view = NoisyRelease.of(synthesis)
    sections = [
        measured_section(view),
        error_section(view),
        fit_section(view),
        column_section(view),
        graph_section(view),
    ]
    content = certificate_view(synthesis.certificate) | {"is_folded": True}
    content |= {"sections": sections, "version": __version__}
    return rendered("release.html", content, folder=FOLDER)
