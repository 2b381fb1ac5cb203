"""Steps 5 to 7: the run, which is one command that can be stopped and gone on with; two pages that
cannot be confused; and what is taken away.
"""

from contextlib import suppress
from typing import Any

from synthdp.cli.projects import runs
from synthdp.cli.projects.columns import columns_named
from synthdp.cli.projects.commands import budget_in, report_words
from synthdp.cli.projects.mending import MENDED_IN, quoted
from synthdp.cli.projects.outcome import first_rows_said, outcome
from synthdp.cli.projects.project import DATABASE, PRIVATE, PUBLISH
from synthdp.cli.shared.jobs import DONE, FAILED, NEW, PAUSED, RUNNING, Job
from synthdp.cli.studio.visit import Visit
from synthdp.core.errors import ParameterError

_STOPPED = "E21"
"""The code of a run that would be of no use, and is gone on with only if somebody says so."""

_TABLES = ("synthetic.", "tables/")
"""How the names of synthetic tables and their certificates begin, which most want first."""


def run_view(visit: Visit) -> dict[str, Any]:
    """How far the run is, what it was charged, and what it says when it is done."""
    state = visit.run.state
    progress = visit.run.progress
    said = outcome(visit.opened)
    apart = "; " if visit.texts("decimal") == "," else ", "
    pair = apart.join(visit.texts.number(each, "%.15g") for each in said["pair"])
    return {
        "state": state,
        "progress": progress,
        **said,
        "is_hidden": runs.is_hidden,
        "pair": f"({pair})",
        "spent": runs.spent(visit.opened),
        "protected": runs.protected(visit.opened, of_run=state == DONE),
        "left": budget_in(visit.opened, visit.project.budget).get("left"),
        "error_columns": columns_named(visit.opened, quoted(progress.error)),
        "mended": MENDED_IN.get(progress.code, ""),
        "is_stopped": progress.code == _STOPPED,
        "is_mended": state == FAILED and runs.is_changed(visit.opened),
        "ended": visit.opened.ended,
    }


def save_run(visit: Visit) -> str:
    """Start a run, pause it, go on with it, or begin another."""
    if visit.action == "go_on":
        visit.saved(walked=5)
        return "/look"
    state = visit.run.state
    if visit.action == "pause":
        visit.run.stop()
    elif visit.action == "resume" and state in (PAUSED, FAILED):
        visit.run.start(visit.run.arguments)
    elif visit.action == "anyway" and state == FAILED:
        runs.go_on_anyway(visit.run)
    elif visit.action == "start" and state not in (NEW, RUNNING):
        raise visit.refusal("run")
    elif visit.action in ("start", "again") and state != RUNNING:  # else another page was faster
        runs.begin(visit.saved(run=visit.project.run + 1).opened)
    return "/run"


def look_view(visit: Visit) -> dict[str, Any]:
    """The pages that are there, or are being made."""
    visit, tab = visit.of_release(), PRIVATE if visit.text("tab") == PRIVATE else PUBLISH
    job = _maker(visit, tab)
    has_page = runs.page_path(visit.opened, tab).exists()
    return {
        "ended": visit.opened.ended,
        "release": visit.project.run,
        "tables": first_rows_said(visit.opened, visit.texts) if tab == PUBLISH else {},
        "tab": tab,
        "has_page": has_page,
        "is_being_made": job.state == RUNNING and not has_page,
        "error": "" if has_page else job.progress.error,
        "can_compare": visit.project.kind != DATABASE,
        **outcome(visit.opened),
    }


def save_look(visit: Visit) -> str:
    """Have a page made, or go on."""
    if visit.action == "go_on":
        visit.saved(walked=6)
        return "/take"
    visit, tab = visit.of_release(), visit.text("tab")
    if tab not in runs.PAGES or visit.run.state != DONE:
        raise visit.refusal("release")
    runs.page_path(visit.opened, tab).parent.mkdir(parents=True, exist_ok=True)
    _maker(visit, tab).start(report_words(visit.opened, tab))
    return f"/look?tab={tab}&run={visit.project.run}"


def _maker(visit: Visit, tab: str) -> Job:
    return visit.opened.job(f"{visit.run.name}/page-{tab}")


def take_view(visit: Visit) -> dict[str, Any]:
    """The files to publish, and the run as a command line and as a script."""
    opened = visit.of_release().opened
    script = ""
    runs.certify(opened)
    with suppress(ParameterError):  # of a run of another version
        script = runs.script_text(opened)
    return {
        "ended": opened.ended,
        "release": opened.project.run,
        "files": sorted(runs.published_files(opened), key=lambda one: not one.startswith(_TABLES)),
        "folder": str(runs.published(opened).resolve()),
        "spent": runs.spent(visit.opened),
        "shell": runs.shell_text(opened),
        "script": script,
        **outcome(opened),
    }
