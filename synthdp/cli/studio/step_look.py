"""Step 6: two pages that cannot be confused, one to publish and one that is not private."""

from pathlib import Path
from typing import Any

from synthdp.cli.studio.commands import CERTIFICATE, PAGE, output_of, report_words
from synthdp.cli.studio.jobs import DONE, RUNNING
from synthdp.cli.studio.projects import DATABASE
from synthdp.cli.studio.visits import PRIVATE, PUBLISH, Visit
from synthdp.core.errors import ParameterError
from synthdp.core.files.json_files import load_json
from synthdp.core.files.writing import write_atomically
from synthdp.report.release_pages.certificate_page import certificate_page

PAGES = {PUBLISH: PAGE, PRIVATE: "report.html"}
"""The page of each tab."""


def look_view(visit: Visit) -> dict[str, Any]:
    """The pages that are there, or are being made."""
    tab = PRIVATE if visit.text("tab") == PRIVATE else PUBLISH
    is_done = visit.studio.job(visit.run_name).state == DONE
    page = page_path(visit, tab)
    job = visit.studio.job(f"{visit.run_name}/page-{tab}")
    return {
        "is_done": is_done,
        "tab": tab,
        "has_page": page.exists(),
        "is_being_made": job.state == RUNNING and not page.exists(),
        "error": "" if page.exists() else job.progress.error,
        "can_compare": visit.project.kind != DATABASE,
    }


def save_look(visit: Visit) -> str:
    """Have a page made, or go on."""
    if visit.text("action") == "go_on":
        visit.save(walked=max(visit.project.walked, 6))
        return "/take"
    tab = visit.text("tab")
    if tab not in PAGES or visit.studio.job(visit.run_name).state != DONE:
        raise ParameterError("there is no release to look at yet; run it in step 5")
    page_path(visit, tab).parent.mkdir(parents=True, exist_ok=True)
    if tab == PUBLISH:
        _write_certificate(visit)
    words = report_words(visit.folder, visit.project)[tab]
    visit.studio.job(f"{visit.run_name}/page-{tab}").start(words, force=True)
    return f"/look?tab={tab}"


def page_path(visit: Visit, tab: str) -> Path:
    """The file of a tab's page."""
    return visit.folder.path / visit.run_name / tab / PAGES[tab]


def _write_certificate(visit: Visit) -> None:
    """The certificate as a page to print, beside the table."""
    published = visit.folder.path / visit.run_name / PUBLISH
    name = output_of(visit.project)
    beside = f"{name}/datapackage.json" if visit.project.is_linked else name
    content = load_json(published / f"{beside}.privacy.json", "certificate")
    with write_atomically(published / CERTIFICATE, force=True) as stream:
        stream.write(certificate_page(content).encode())
