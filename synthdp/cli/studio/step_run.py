"""Step 5: the run. It is one command, which can be stopped and gone on with."""

import re
from typing import Any

from synthdp.cli.studio.commands import budget_path, run_words
from synthdp.cli.studio.descriptions import kinds_of_tables
from synthdp.cli.studio.jobs import DONE, FAILED, NEW, PAUSED, RUNNING
from synthdp.cli.studio.projects import KINDS
from synthdp.cli.studio.visits import PUBLISH, Visit
from synthdp.core.cautions import grouped
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.core.files.json_files import write_json
from synthdp.release.persistence.budget import Budget
from synthdp.report.texts.quality import quality_line

_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")


def run_view(visit: Visit) -> dict[str, Any]:
    """How far the run is, what it was charged, and what it says when it is done."""
    job = visit.studio.job(visit.run_name)
    state, places = job.state, _places(visit)
    result = job.result if state == DONE else None
    progress = job.progress
    cautions = [
        {
            "text": text,
            "columns": [
                (name, places[name])
                for name in dict.fromkeys(_QUOTED.findall(text))
                if name in places
            ],
        }
        for text in grouped((result or {}).get("cautions", ()))
    ]
    return {
        "state": state,
        "progress": progress,
        "cautions": cautions,
        "result": result,
        "quality": quality_line(result["quality"]) if result and result.get("quality") else "",
        "is_private": bool((result or {}).get("is_private", True)),
        "spent": _spent(visit),
        "left": _left(visit),
        "error_columns": [
            (name, places[name]) for name in _QUOTED.findall(progress.error) if name in places
        ],
    }


def save_run(visit: Visit) -> str:
    """Start a run, pause it, go on with it, or begin another."""
    action, project = visit.text("action"), visit.project
    job = visit.studio.job(visit.run_name)
    if action == "pause":
        job.stop()
        return "/run"
    if action == "go_on":
        visit.save(walked=max(project.walked, 5))
        return "/look"
    if job.state == RUNNING:
        return "/run"  # another page was faster
    if action == "resume" and job.state in (PAUSED, FAILED):
        job.start(job.arguments, force=True)
        return "/run"
    if action == "start" and job.state != NEW and project.run:
        raise ParameterError("the run was started in another page; this page shows it now")
    if action not in ("start", "again"):
        raise ParameterError("the form says not what is to be done; open the page again")
    project = visit.save(run=project.run + 1)
    name = f"run-{project.run}"
    words = run_words(visit.folder, project)
    published = visit.folder.path / name / PUBLISH
    published.mkdir(parents=True, exist_ok=True)
    # A run has its own copy of what was declared: it goes on with that, whatever is changed here.
    write_json(published.parent / KINDS, visit.folder.public(KINDS), force=True)
    visit.studio.job(name).start(words, force=True)
    return "/run"


def _places(visit: Visit) -> dict[str, str]:
    """Where columns are on the page of step 2, by their names, of linked tables by both."""
    places = dict[str, str]()
    for number, (table, kinds) in enumerate(kinds_of_tables(visit.folder, visit.project).items()):
        for column, name in enumerate(kinds):
            places.setdefault(name, f"c{number}-{column}")
            places[f"{table}.{name}"] = f"c{number}-{column}"
    return places


def _spent(visit: Visit) -> list[float]:
    """The epsilon of each run that began so far."""
    found = []
    for number in range(1, visit.project.run + 1):
        words = visit.studio.job(f"run-{number}").arguments
        if "--epsilon" in words:
            found.append(float(words[words.index("--epsilon") + 1]))
    return found


def _left(visit: Visit) -> float | None:
    """What the population's budget has left; None without one."""
    if not visit.project.budget:
        return None
    try:
        path = visit.folder.path / budget_path(visit.folder, visit.project)
        left: float = Budget(path).show()["left"]["epsilon"]
    except SynthdpError:
        return None
    return left
