"""A release as one page of HTML, made without the real table: what was measured, how precisely, and
what came of it.
"""

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike

from synthdp.core.files.writing import written
from synthdp.core.version import __version__
from synthdp.linked.histories.history_package import is_history
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.package.view import View, views_of
from synthdp.release.synthesis import Synthesis
from synthdp.report.release_pages.certificate_page import FOLDER, certificate_view
from synthdp.report.release_pages.measured import error_section, fit_section, measured_section
from synthdp.report.release_pages.modelled import column_section, graph_section
from synthdp.report.release_pages.noisy_release import NoisyRelease
from synthdp.report.rendering.page import rendered
from synthdp.report.rendering.section import Section


def release_page(
    synthesis: Synthesis | LinkedSynthesis,
    path: str | PathLike[str] | None = None,
    *,
    force: bool = False,
) -> str:
    """What a release says of itself: pictures, tables and the certificate in one file that needs no
    network.

    No real table is read, so the page costs no privacy, and may go where the release goes.

    Parameters
    ----------
    synthesis
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
    return written(lambda: _page(synthesis), path, force=force)


def _page(synthesis: Synthesis | LinkedSynthesis) -> str:
    content = certificate_view(synthesis.certificate) | {"is_folded": True}
    found = (
        _of_views(synthesis)
        if isinstance(synthesis, LinkedSynthesis)
        else _sections(NoisyRelease.of(synthesis))
    )
    content |= {"sections": list(found), "version": __version__}
    return rendered("release.html", content, folder=FOLDER)


def _sections(view: NoisyRelease) -> Iterator[Section]:
    yield from (
        each(view)
        for each in (measured_section, error_section, fit_section, column_section, graph_section)
    )


def _of_views(synthesis: LinkedSynthesis) -> Iterator[Section]:
    """The sections of each view of linked tables, with what is drawn from it."""
    views, unit = (
        views_of(synthesis.package),
        "persons" if is_history(synthesis.package) else "families",
    )
    for place, (label, part) in enumerate(synthesis.parts.items()):
        for n, section in enumerate(_sections(NoisyRelease.of_view(part, views[label], unit))):
            words = section.words if n else [_rows_of(views[label]), *section.words]
            yield replace(
                section,
                name=f"view-{place}-{section.name}",
                title=f"{label}: {section.title}",
                words=words,
            )


def _rows_of(view: View) -> str:
    """Which rows a view is about, for readers who know the tables only."""
    if view.table.parent is None:
        return f"All rows of {view.name}, each by itself."
    if not view.is_later:
        return f"The first row of {view.name} of each parent, with what it hangs on."
    beside = "the row before" if view.table.order is not None else "another row of its parent"
    return f"All rows of {view.name} but the first of each parent, with what they hang on and {beside} (other)."
