"""A release as one page of HTML, made without the real table: what was measured, how precisely, and
what came of it.
"""

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike

from synthdp.core.files.writing import written
from synthdp.core.version import __version__
from synthdp.release.result import Result
from synthdp.report.release_pages.certificate_page import FOLDER, certificate_view
from synthdp.report.release_pages.measured import error_section, fit_section, measured_section
from synthdp.report.release_pages.modelled import column_section, graph_section
from synthdp.report.release_pages.noisy_release import NoisyRelease
from synthdp.report.rendering.page import rendered
from synthdp.report.rendering.section import Section

_SECTIONS = (measured_section, error_section, fit_section, column_section, graph_section)


def release_page(
    result: Result,
    path: str | PathLike[str] | None = None,
    *,
    force: bool = False,
) -> str:
    """What a release says of itself: pictures, tables and the certificate in one file that needs no
    network.

    No real table is read, so the page costs no privacy, and may go where the release goes.

    Parameters
    ----------
    result
        The release, of one table or of several that are linked.
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
    return written(lambda: _page(result), path, force=force)


def _page(result: Result) -> str:
    content = certificate_view(result.certificate) | {"is_folded": True}
    content |= {"sections": list(_sections(result)), "version": __version__}
    return rendered("release.html", content, folder=FOLDER)


def _sections(result: Result) -> Iterator[Section]:
    """The sections of each model that a release is made of, with what is drawn from it."""
    for place, part in enumerate(result.fitted_parts):
        view = NoisyRelease.from_part(part)
        for number, each in enumerate(_SECTIONS):
            section = each(view)
            if not part.label:
                yield section
                continue
            words = section.words if number else [part.rows, *section.words]
            yield replace(
                section,
                name=f"view-{place}-{section.name}",
                title=f"{part.label}: {section.title}",
                words=words,
            )
