"""Steps 5 to 7: the run, which is one command that can be stopped and gone on with; two pages that
cannot be confused; and what is taken away.
"""

import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from synthdp.cli.planning.run_script import run_script
from synthdp.cli.projects.commands import (
    PAGE,
    budget_in,
    output_of,
    report_words,
    run_words,
    words_of,
)
from synthdp.cli.projects.places import rows_of
from synthdp.cli.projects.project import DATABASE, KINDS, PACKAGE, PRIVATE, PROJECT, PUBLISH
from synthdp.cli.shared.jobs import DONE, FAILED, NEW, PAUSED, RUNNING, Job
from synthdp.cli.studio.step_columns import places_of
from synthdp.cli.studio.visit import Visit
from synthdp.core.cautions import grouped
from synthdp.core.errors import ParameterError
from synthdp.core.files.json_files import load_json
from synthdp.core.files.writing import written
from synthdp.core.message_codes import caution_code
from synthdp.data.files.formats import is_named_as_table
from synthdp.linked.histories.history_package import ROWS
from synthdp.release.certificate.meaning import FALSE_POSITIVES, protection_of
from synthdp.report.release_pages.certificate_page import certificate_page
from synthdp.schema.dialect import Dialect
from synthdp.schema.keys import OWN

PAGES = {PUBLISH: PAGE, PRIVATE: "report.html"}
"""The page of each tab."""

_ANYWAY = "--anyway"
"""What a run is told that is to go on though nearly nothing of a column can be read."""

_STOPPED = "E21"
"""The code of a run that would be of no use, and is gone on with only if somebody says so."""

_MENDED = {
    **dict.fromkeys(("E30", "E34"), "budget"),
    **dict.fromkeys(("E17", "E18"), "table"),
    **dict.fromkeys(("E12", "E13", "E16", "E19", "E20"), "columns"),
    "E14": "people",
}
"""In which step an error of a run is mended, by its code."""

_TABLES = ("synthetic.", "tables/")
"""How the names of synthetic tables and their certificates begin, which are what most want first."""

_FIELD = {
    **dict.fromkeys(("C01", "C02"), "missing"),
    **dict.fromkeys(("C03", "C05"), "levels"),
    "C04": "kind",
    "C07": "minimum",
    "C08": "decimals",
    "C16": "bins",
}
"""Which input of a column mends a caution, by its code."""

_SHARE = re.compile(r"about ([0-9.]+)(?: to ([0-9.]+))? %")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")


def run_view(visit: Visit) -> dict[str, Any]:
    """How far the run is, what it was charged, and what it says when it is done."""
    places, state, progress = places_of(visit), visit.run.state, visit.run.progress
    result = (visit.run.result if state == DONE else None) or {}
    is_private = result.get("is_private")
    return {
        "state": state,
        "progress": progress,
        "cautions": [_card(text, places) for text in grouped(result.get("cautions", ()))],
        "result": result,
        "pair": _pair(visit, f"{result.get('guarantee', '')}"),
        "recognised": protection_of(result).true_positives(FALSE_POSITIVES) if is_private else 0,
        "spent": sum(_spent(visit)),
        "left": budget_in(visit.opened, visit.project.budget).get("left"),
        "error_columns": _named(progress.error, places),
        "mended": _MENDED.get(progress.code, ""),
        "is_stopped": progress.code == _STOPPED,
        "is_mended": state == FAILED and _is_changed(visit),
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
        words = visit.run.arguments
        visit.run.start([*words, *({_ANYWAY} - {*words})])
    elif visit.action == "start" and state not in (NEW, RUNNING):
        raise visit.refusal("run")
    elif visit.action in ("start", "again") and state != RUNNING:  # else another page was faster
        visit = visit.saved(run=visit.project.run + 1)
        words = run_words(visit.opened)
        (visit.studio.path / visit.run.name / PUBLISH).mkdir(parents=True, exist_ok=True)
        # A run has its own copy of what was declared: it goes on with that, whatever changes here.
        for name in (KINDS, PACKAGE):
            visit.opened.save_public(f"{visit.run.name}/{name}", visit.opened.public(name))
        visit.run.start(words)
    return "/run"


def is_outdated(visit: Visit) -> bool:
    """Whether there is a result of what was declared before it was changed."""
    return visit.run.state == DONE and _is_changed(visit)


def _is_changed(visit: Visit) -> bool:
    name, said = PACKAGE if visit.project.is_linked else KINDS, visit.opened.public
    return said(f"{visit.run.name}/{name}") not in ({}, said(name))


def _pair(visit: Visit, guarantee: str) -> str:
    """Epsilon and delta of a guarantee as the language writes numbers."""
    numbers = re.findall(r"[0-9][0-9.e+-]*", guarantee.partition(")")[0])
    apart = "; " if visit.texts("decimal") == "," else ", "
    return f"({apart.join(visit.texts.number(float(each), '%.15g') for each in numbers)})"


def _card(text: str, places: Mapping[str, str]) -> dict[str, Any]:
    """A caution, with what it is about, how many records, and which input mends it."""
    code, share = caution_code(text), _SHARE.search(text)
    return {
        "code": code,
        "text": text,
        "columns": _named(text, places),
        "shares": [float(each) for each in share.groups() if each] if share else [],
        "field": _FIELD.get(code, ""),
    }


def _named(text: str, places: Mapping[str, str]) -> list[tuple[str, str]]:
    """The columns that a sentence names, and where they are on the page of step 2."""
    named = dict.fromkeys(_QUOTED.findall(text))
    shortest = {place: name for name, place in [*places.items()][::-1]}  # as the table calls it
    found = {places[name]: name for name in named if name in places}
    return [
        (shortest[at] if name.startswith(f"{ROWS}.") else name, at) for at, name in found.items()
    ]


def _spent(visit: Visit) -> list[float]:
    """The epsilon of each run so far, without those that failed before they were charged."""
    jobs = (visit.opened.job(f"run-{number + 1}") for number in range(visit.project.run))
    began = [job.arguments for job in jobs if job.state != FAILED or job.progress.charges]
    return [float(each[each.index("--epsilon") + 1]) for each in began if "--epsilon" in each]


def look_view(visit: Visit) -> dict[str, Any]:
    """The pages that are there, or are being made."""
    visit, tab = visit.of_release(), PRIVATE if visit.text("tab") == PRIVATE else PUBLISH
    job, has_page = _maker(visit, tab), page_path(visit, tab).exists()
    return {
        "is_done": bool(visit.opened.ended),
        **_releases(visit),
        "tables": _first_rows(visit) if tab == PUBLISH and visit.opened.ended else {},
        "tab": tab,
        "has_page": has_page,
        "is_being_made": job.state == RUNNING and not has_page,
        "error": "" if has_page else job.progress.error,
        "can_compare": visit.project.kind != DATABASE,
    }


def save_look(visit: Visit) -> str:
    """Have a page made, or go on."""
    if visit.action == "go_on":
        visit.saved(walked=6)
        return "/take"
    visit, tab = visit.of_release(), visit.text("tab")
    if tab not in PAGES or visit.run.state != DONE:
        raise visit.refusal("release")
    page_path(visit, tab).parent.mkdir(parents=True, exist_ok=True)
    _maker(visit, tab).start(report_words(visit.opened, tab))
    return f"/look?tab={tab}&run={visit.project.run}"


def _releases(visit: Visit) -> dict[str, Any]:
    """Which releases there are, the newest first, and which one is shown."""
    return {"ended": visit.opened.ended, "release": visit.project.run}


def _first_rows(visit: Visit) -> dict[str, list[list[str]]]:
    """The first synthetic rows of a release, by the names of its tables, below those of columns."""
    said = _kinds_of_run(visit).get("dialect") or visit.project.dialect
    dialect = Dialect.from_properties(said)
    files = _published_files(visit)
    tables = {name: path for name, path in files.items() if is_named_as_table(path)}
    return {name: rows_of(path, dialect, is_headed=True) for name, path in tables.items()}


def _kinds_of_run(visit: Visit) -> Any:
    """What was declared of all columns when a run was started."""
    return visit.opened.public(f"{visit.run.name}/{KINDS}").get(OWN) or {}


def page_path(visit: Visit, tab: str) -> Path:
    """The file of a tab's page."""
    return visit.studio.path / visit.run.name / tab / PAGES[tab]


def _maker(visit: Visit, tab: str) -> Job:
    return visit.opened.job(f"{visit.run.name}/page-{tab}")


def _certify(visit: Visit) -> None:
    """Write the page of the certificate of a run that is done, if it is not there yet."""
    name, page = output_of(visit.opened), _published(visit) / "certificate.html"
    beside = f"{name}/datapackage.json" if visit.project.is_linked else name
    if visit.run.state == DONE and not page.exists():
        content = load_json(_published(visit) / f"{beside}.privacy.json", "certificate")
        written(lambda: certificate_page(content), page, force=True)


def take_view(visit: Visit) -> dict[str, Any]:
    """The files to publish, and the run as a command line and as a script."""
    released = visit.of_release()
    _certify(released)
    words, script = words_of(released.opened), ""
    with suppress(ParameterError):  # of a run of another version
        script = run_script(words, _kinds_of_run(released).get("dialect"))
    return {
        "is_done": bool(visit.opened.ended),
        **_releases(released),
        "files": sorted(_published_files(released), key=lambda name: not name.startswith(_TABLES)),
        "folder": str(_published(released).resolve()),
        "shell": shlex.join(["synthdp", *words]),
        "script": script,
    }


def published_file(visit: Visit, name: str) -> Path:
    """A file that may go out; raises `ParameterError` if there is none of that name."""
    found = _published_files(visit)
    if name not in found:
        raise ParameterError(f"{name!r} is no file of the release")
    return found[name]


def project_archive(visit: Visit) -> bytes:
    """The project for a colleague: what was said and declared, without the table."""
    held, folder = BytesIO(), visit.studio.path
    with ZipFile(held, "w") as archive:
        for name in (PROJECT, KINDS, PACKAGE):
            if (folder / name).exists():
                archive.writestr(ZipInfo(f"{folder.name}/{name}"), (folder / name).read_bytes())
    return held.getvalue()


def release_archive(visit: Visit) -> bytes:
    """All files of a release that may go out."""
    visit, held = visit.of_release(), BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as archive:
        for name, path in _published_files(visit).items():
            archive.write(path, f"{visit.run.name}/{name}")
    return held.getvalue()


def _published(visit: Visit) -> Path:
    return visit.studio.path / visit.run.name / PUBLISH


def _published_files(visit: Visit) -> dict[str, Path]:
    """What may go out, by the name that it has in its folder; nothing before the run is done."""
    folder, is_done = _published(visit), visit.run.state == DONE
    found = sorted(folder.rglob("*")) if is_done else ()
    files = [path for path in found if path.is_file() and not path.is_symlink()]
    return {path.relative_to(folder).as_posix(): path for path in files}
