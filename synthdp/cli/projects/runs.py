"""The runs of a project: how one begins, what all of them cost, and what of each may go out."""

import shlex
from collections.abc import Callable, Mapping
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from synthdp.cli.planning.run_script import run_script
from synthdp.cli.projects.commands import PAGE, output_of, run_words, words_of
from synthdp.cli.projects.former import FORMER
from synthdp.cli.projects.places import rows_of
from synthdp.cli.projects.project import KINDS, PACKAGE, PRIVATE, PROJECT, PUBLISH, OpenProject
from synthdp.cli.shared.jobs import DONE, FAILED, Job
from synthdp.core.errors import ParameterError
from synthdp.core.files.json_files import load_json
from synthdp.core.files.writing import written
from synthdp.data.files.formats import is_named_as_table
from synthdp.report.release_pages.certificate_page import certificate_page
from synthdp.schema.dialect import Dialect
from synthdp.schema.keys import OWN

PAGES = {PUBLISH: PAGE, PRIVATE: "report.html"}
"""The page of a release that may go out, and the one that may not."""

HIDES = 0.05
"""The standard deviation of an error from which on noise may hide it."""

ANYWAY = "--anyway"
"""What tells a run to go on though nearly nothing of a column can be read."""


def begin(opened: OpenProject) -> None:
    """Start the run whose number is the project's.

    Raises as `run_words` does, and `DataFileError` if its folder cannot be written.
    """
    words = run_words(opened)
    (opened.path / opened.run.name / PUBLISH).mkdir(parents=True, exist_ok=True)
    # A run has its own copy of what was declared: it goes on with that, whatever changes here.
    for name in (KINDS, PACKAGE):
        opened.save_public(f"{opened.run.name}/{name}", opened.public(name))
    opened.run.start(words)


def go_on_anyway(run: Job) -> None:
    """Go on with a run that stopped because nearly nothing of a column can be read."""
    run.start([*run.arguments, *({ANYWAY} - {*run.arguments})])


def is_changed(opened: OpenProject) -> bool:
    """Whether something else is declared than what the last run was of."""
    name = PACKAGE if opened.project.is_linked else KINDS
    return opened.public(f"{opened.run.name}/{name}") not in ({}, opened.public(name))


def spent(opened: OpenProject) -> float:
    """The epsilon of all runs so far, without those that failed before they were charged."""
    jobs = (opened.job(f"run-{number + 1}") for number in range(opened.project.run))
    began = [job.arguments for job in jobs if job.state != FAILED or job.progress.charges]
    return sum(float(each[each.index("--epsilon") + 1]) for each in began if "--epsilon" in each)


def protected(opened: OpenProject, *, of_run: bool = False) -> dict[str, Any]:
    """Whom epsilon protects: ``by`` whose rows (``row``, ``person``, ``once`` if one row of each is
    used, of linked tables ``root``), at most how many rows ``most`` of a person, told apart by
    ``unit``; as chosen, or ``of_run``.
    """
    project = opened.project
    words = opened.run.arguments
    if project.is_linked:
        return {"by": "root"}
    unit = project.unit
    most = project.max_rows
    if of_run:
        said = dict(pairwise(words))
        unit = said.get("--unit", "")
        most = int(said.get("--max-rows-per-unit", 1))
    by = "person" if most > 1 else "once"
    return {"by": by, "unit": unit, "most": most} if unit else {"by": "row"}


def is_hidden(measured: Mapping[str, float]) -> bool:
    """Whether noise hides an error of a result: it may be many times what was measured.

    >>> is_hidden({"error": 0.0, "stddev": 0.07}), is_hidden({"error": 0.001, "stddev": 0.002})
    (True, False)
    """
    return measured["stddev"] > max(measured["error"], HIDES)


def published(opened: OpenProject) -> Path:
    """The folder of what may go out of the last run."""
    return opened.path / opened.run.name / PUBLISH


def published_files(opened: OpenProject) -> dict[str, Path]:
    """What may go out, by the name that it has in its folder; nothing before the run is done."""
    folder = published(opened)
    is_done = opened.run.state == DONE
    found = sorted(folder.rglob("*")) if is_done else ()
    files = [path for path in found if path.is_file() and not path.is_symlink()]
    return {path.relative_to(folder).as_posix(): path for path in files}


def certify(opened: OpenProject) -> None:
    """Write the page of the certificate of a run that is done, if it is not there yet."""
    name = output_of(opened)
    page = published(opened) / "certificate.html"
    beside = f"{name}/datapackage.json" if opened.project.is_linked else name
    if opened.run.state == DONE and not page.exists():
        content = load_json(published(opened) / f"{beside}.privacy.json", "certificate")
        written(lambda: certificate_page(content), page, force=True)


def published_file(opened: OpenProject, name: str) -> Path:
    """A file that may go out; raises `ParameterError` if there is none of that name."""
    if (path := published_files(opened).get(name)) is None:
        raise ParameterError(f"{name!r} is no file of the release")
    return path


def first_synthetic_rows(opened: OpenProject) -> dict[str, list[list[str]]]:
    """The first synthetic rows of a release, by the names of its tables, below those of columns."""
    dialect = dialect_of_run(opened)
    tables = {
        name: each for name, each in published_files(opened).items() if is_named_as_table(each)
    }
    return {name: rows_of(path, dialect, is_headed=True) for name, path in tables.items()}


def dialect_of_run(opened: OpenProject) -> Dialect:
    """How the tables of the last run are written."""
    return Dialect.from_properties(_kinds_of_run(opened).get("dialect") or opened.project.dialect)


def shell_text(opened: OpenProject) -> str:
    """The last run as a command line, to be given in the folder of the project."""
    return shlex.join(["synthdp", *words_of(opened)])


def script_text(opened: OpenProject) -> str:
    """The last run as a script, to be run in the folder of the project.

    Raises `ParameterError` if the run is of another version of synthdp.
    """
    return run_script(words_of(opened), _kinds_of_run(opened).get("dialect"))


def page_path(opened: OpenProject, tab: str) -> Path:
    """The file of one of the `PAGES` of the last run."""
    return opened.path / opened.run.name / tab / PAGES[tab]


def release_page(opened: OpenProject, tab: str) -> Path:
    """The file of one of the `PAGES`; raises `ParameterError` if it is not made yet."""
    if tab not in PAGES or not page_path(opened, tab).exists():
        raise ParameterError("there is no such page yet")
    return page_path(opened, tab)


def project_archive(opened: OpenProject) -> bytes:
    """The project for a colleague: what was said and declared, without the table."""
    held = BytesIO()
    folder = opened.path
    with ZipFile(held, "w") as archive:
        for name in (PROJECT, KINDS, PACKAGE, FORMER):
            if (folder / name).exists():
                archive.writestr(ZipInfo(f"{folder.name}/{name}"), (folder / name).read_bytes())
    return held.getvalue()


def release_archive(opened: OpenProject) -> bytes:
    """All files of the last run that may go out."""
    held = BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as archive:
        for name, path in published_files(opened).items():
            archive.write(path, f"{opened.run.name}/{name}")
    return held.getvalue()


ARCHIVES: Mapping[str, Callable[[OpenProject], bytes]] = {
    "project": project_archive,
    "release": release_archive,
}
"""What can be taken away whole."""


def _kinds_of_run(opened: OpenProject) -> Any:
    """What was declared of all columns when the last run was started."""
    return opened.public(f"{opened.run.name}/{KINDS}").get(OWN) or {}
