"""Step 5: the run. It is one command, which can be stopped and gone on with."""

import re
from collections.abc import Mapping
from typing import Any

from synthdp.cli.studio.commands import budget_path, run_words
from synthdp.cli.studio.jobs import DONE, FAILED, NEW, PAUSED, RUNNING
from synthdp.cli.studio.project import KINDS, PUBLISH, Visit
from synthdp.cli.studio.step_columns import places_of
from synthdp.core.cautions import grouped
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.release.persistence.budget import Budget
from synthdp.report.texts.quality import quality_line

_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")


def run_view(visit: Visit) -> dict[str, Any]:
    """How far the run is, what it was charged, and what it says when it is done."""
    job, places = visit.studio.job(visit.run_name), places_of(visit)
    state, progress = job.state, job.progress
    result = (job.result if state == DONE else None) or {}
    return {
        "state": state,
        "progress": progress,
        "cautions": [(text, _named(text, places)) for text in grouped(result.get("cautions", ()))],
        "result": result,
        "quality": quality_line(result["quality"]) if result.get("quality") else "",
        "spent": sum(_spent(visit)),
        "left": _left(visit),
        "error_columns": _named(progress.error, places),
    }


def save_run(visit: Visit) -> str:
    """Start a run, pause it, go on with it, or begin another."""
    action, project = visit.text("action"), visit.project
    job = visit.studio.job(visit.run_name)
    if action == "pause":
        job.stop()
        return "/run"
    if action == "go_on":
        visit.saved(walked=max(project.walked, 5))
        return "/look"
    if job.state == RUNNING:
        return "/run"  # another page was faster
    if action == "resume" and job.state in (PAUSED, FAILED):
        job.start(job.arguments)
        return "/run"
    if action == "start" and job.state != NEW and project.run:
        raise ParameterError("the run was started in another page; this page shows it now")
    if action not in ("start", "again"):
        raise ParameterError("the form says not what is to be done; open the page again")
    visit = visit.saved(run=project.run + 1)
    words, run = run_words(visit), visit.folder.path / visit.run_name
    (run / PUBLISH).mkdir(parents=True, exist_ok=True)
    # A run has its own copy of what was declared: it goes on with that, whatever is changed here.
    visit.folder.save_public(f"{visit.run_name}/{KINDS}", visit.folder.public(KINDS))
    visit.studio.job(visit.run_name).start(words)
    return "/run"


def _named(text: str, places: Mapping[str, str]) -> list[tuple[str, str]]:
    """The columns that a sentence names, and where they are on the page of step 2."""
    named = dict.fromkeys(_QUOTED.findall(text))
    return [(name, places[name]) for name in named if name in places]


def _spent(visit: Visit) -> list[float]:
    """The epsilon of each run that began so far."""
    jobs = (visit.studio.job(f"run-{number + 1}") for number in range(visit.project.run))
    began = [job.arguments for job in jobs]
    return [float(each[each.index("--epsilon") + 1]) for each in began if "--epsilon" in each]


def _left(visit: Visit) -> float | None:
    """What the population's budget has left; None without one."""
    try:
        path = visit.folder.path / budget_path(visit)
        left: float = Budget(path).show()["left"]["epsilon"]
    except SynthdpError:
        return None
    return left
