"""Steps 6 and 7: two pages that cannot be confused, and what is taken away."""

from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

from synthdp.cli.studio.commands import (
    CERTIFICATE,
    PAGE,
    output_of,
    report_words,
    script_text,
    shell_text,
)
from synthdp.cli.studio.jobs import DONE, RUNNING
from synthdp.cli.studio.project import DATABASE, KINDS, PACKAGE, PRIVATE, PROJECT, PUBLISH, Visit
from synthdp.core.errors import ParameterError
from synthdp.core.files.json_files import load_json
from synthdp.core.files.writing import written
from synthdp.report.release_pages.certificate_page import certificate_page

PAGES = {PUBLISH: PAGE, PRIVATE: "report.html"}
"""The page of each tab."""


def look_view(visit: Visit) -> dict[str, Any]:
    """The pages that are there, or are being made."""
    tab = PRIVATE if visit.text("tab") == PRIVATE else PUBLISH
    job, has_page = visit.studio.job(f"{visit.run_name}/page-{tab}"), page_path(visit, tab).exists()
    return {
        "is_done": _is_done(visit),
        "tab": tab,
        "has_page": has_page,
        "is_being_made": job.state == RUNNING and not has_page,
        "error": "" if has_page else job.progress.error,
        "can_compare": visit.project.kind != DATABASE,
    }


def save_look(visit: Visit) -> str:
    """Have a page made, or go on."""
    if visit.text("action") == "go_on":
        visit.saved(walked=max(visit.project.walked, 6))
        return "/take"
    tab = visit.text("tab")
    if tab not in PAGES or not _is_done(visit):
        raise ParameterError("there is no release to look at yet; run it in step 5")
    page_path(visit, tab).parent.mkdir(parents=True, exist_ok=True)
    if tab == PUBLISH:
        _write_certificate(visit)
    visit.studio.job(f"{visit.run_name}/page-{tab}").start(report_words(visit, tab))
    return f"/look?tab={tab}"


def page_path(visit: Visit, tab: str) -> Path:
    """The file of a tab's page."""
    return visit.folder.path / visit.run_name / tab / PAGES[tab]


def _write_certificate(visit: Visit) -> None:
    """The certificate as a page to print, beside the table."""
    name = output_of(visit)
    beside = f"{name}/datapackage.json" if visit.project.is_linked else name
    content = load_json(_published(visit) / f"{beside}.privacy.json", "certificate")
    written(lambda: certificate_page(content), _published(visit) / CERTIFICATE, force=True)


def take_view(visit: Visit) -> dict[str, Any]:
    """The files to publish, and the run as a command line and as a script."""
    is_done = _is_done(visit)
    return {
        "is_done": is_done,
        "files": list(_published_files(visit)) if is_done else [],
        "folder": str(_published(visit).resolve()),
        "shell": shell_text(visit),
        "script": script_text(visit),
    }


def published_file(visit: Visit, name: str) -> Path:
    """A file that may go out; raises `ParameterError` if there is none of that name."""
    found = _published_files(visit) if _is_done(visit) else {}
    if name not in found:
        raise ParameterError(f"{name!r} is no file of the release")
    return found[name]


def project_archive(visit: Visit) -> bytes:
    """The project for a colleague: what was said and declared, without the table."""
    held, folder = BytesIO(), visit.folder.path
    with ZipFile(held, "w") as archive:
        for name in (PROJECT, KINDS, PACKAGE):
            if (folder / name).exists():
                archive.writestr(ZipInfo(f"{folder.name}/{name}"), (folder / name).read_bytes())
    return held.getvalue()


def _is_done(visit: Visit) -> bool:
    return visit.studio.job(visit.run_name).state == DONE


def _published(visit: Visit) -> Path:
    return visit.folder.path / visit.run_name / PUBLISH


def _published_files(visit: Visit) -> dict[str, Path]:
    """What may go out, by the name that it has in its folder."""
    folder = _published(visit)
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path for path in found}
