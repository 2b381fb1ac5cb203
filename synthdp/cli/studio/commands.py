"""The run of a project as a command line and as a script of Python: the first is what the studio
itself starts, word for word.
"""

import os
import shlex
from pathlib import Path
from typing import Any

from synthdp.cli.studio.descriptions import command_declared
from synthdp.cli.studio.places import command_path
from synthdp.cli.studio.projects import DATABASE, KINDS, Project, ProjectFolder
from synthdp.cli.studio.visits import PRIVATE, PUBLISH
from synthdp.core.errors import ParameterError
from synthdp.data.files.formats import Format, file_kind

RELEASE, SCHEMA, PAGE, CERTIFICATE = (
    "release.synthdp",
    "schema.json",
    "release.html",
    "certificate.html",
)
"""What a run publishes, besides the table and its certificate."""

TABLES = "tables"
"""The folder of linked tables that a run publishes."""


def output_of(project: Project) -> str:
    """What the synthetic table is called: it is of the same kind of file."""
    if project.is_linked:
        return TABLES
    if project.kind == DATABASE or project.table.endswith("/"):
        return "synthetic.csv"
    kind = file_kind(project.table)
    endings = {Format.PARQUET: "parquet", Format.EXCEL: "xlsx"}
    return f"synthetic.{endings.get(kind.format, 'tsv' if kind.delimiter != ',' else 'csv')}"


def run_words(folder: ProjectFolder, project: Project) -> list[str]:
    """The command that makes the release, to be given in the project's folder.

    Raises `ParameterError` if the table is not here, or the budget is not chosen.
    """
    if project.epsilon <= 0 or project.delta <= 0:
        raise ParameterError("no budget is chosen yet; choose epsilon in step 4")
    run = f"run-{project.run}"
    words = ["run"]
    if project.is_linked:
        words += [command_declared(folder, project)]
    elif project.kind == DATABASE:
        words += ["--source", project.source, "--table", project.table]
    else:
        words += [command_path(folder, project)]
    words += [] if project.is_linked else ["--kinds", f"{run}/{KINDS}"]
    words += ["-o", f"{run}/{PUBLISH}/{output_of(project)}"]
    words += ["--epsilon", f"{project.epsilon:g}", "--delta", f"{project.delta:g}"]
    if project.unit:
        words += ["--unit", project.unit, "--max-rows-per-unit", str(project.max_rows)]
        words += ["--order", project.order] if project.order else []
    words += ["--save", f"{run}/{PUBLISH}/{RELEASE}"]
    if not project.is_linked and not project.order:
        words += ["--save-schema", f"{run}/{PUBLISH}/{SCHEMA}"]
    words += ["--journal", f"{run}/journal"]
    if project.budget:
        words += ["--budget", budget_path(folder, project), "--budget-note", project.note]
    return [*words, "--json"]


def report_words(folder: ProjectFolder, project: Project) -> dict[str, list[str]]:
    """The commands that make the pages of a release: the one to publish, and the other."""
    run = f"run-{project.run}"
    made = f"{run}/{PUBLISH}/{output_of(project)}"
    published = [
        "report",
        "--public",
        f"{run}/{PUBLISH}/{RELEASE}",
        "-o",
        f"{run}/{PUBLISH}/{PAGE}",
    ]
    compared = ["report"]
    if project.is_linked:
        compared += [command_declared(folder, project), f"{made}/datapackage.json"]
    else:
        compared += [command_path(folder, project), made, "-s", f"{run}/{PUBLISH}/{RELEASE}"]
    return {PUBLISH: published, PRIVATE: [*compared, "-o", f"{run}/{PRIVATE}/report.html"]}


def budget_path(folder: ProjectFolder, project: Project) -> str:
    """The population's budget file, which lies where the table does."""
    path = folder.place / project.budget
    if project.budget not in budgets_in(folder):
        raise ParameterError(f"{project.budget!r} is not in the folder; choose the budget again")
    return Path(os.path.relpath(path, folder.path)).as_posix()


def budgets_in(folder: ProjectFolder) -> list[str]:
    """The budget files of the place."""
    try:
        return sorted(each.name for each in folder.place.glob("*.budget") if each.is_file())
    except OSError:
        return []


def shell_text(folder: ProjectFolder, project: Project) -> str:
    """The command line, to be typed in the folder of the project."""
    return shlex.join(["synthdp", *run_words(folder, project)])


def script_text(folder: ProjectFolder, project: Project) -> str:
    """A script that makes such a release, to be run in the folder of the project."""
    run = f"run-{project.run}/{PUBLISH}"
    given: dict[str, Any] = {}
    if project.is_linked:
        table: str = command_declared(folder, project)
    elif project.kind == DATABASE:
        table = f"{project.source} {project.table}"
    else:
        table = command_path(folder, project)
        given["kinds"] = f"run-{project.run}/{KINDS}"
    given |= {"epsilon": project.epsilon, "delta": project.delta}
    if project.unit:
        given |= {"unit": project.unit, "max_rows_per_unit": project.max_rows}
        given |= {"order": project.order} if project.order else {}
    if project.budget:
        given |= {"budget": budget_path(folder, project), "budget_note": project.note}
        given |= {"journal": "nightly.journal"}
    arguments = "".join(f"    {name}={value!r},\n" for name, value in given.items())
    lines = ["import json", "from pathlib import Path", "", "import synthdp", ""]
    lines += [f"synthesis = synthdp.synthesize(\n    {table!r},\n{arguments})"]
    lines += ["synthesis.save('again.synthdp', force=True)"]
    if project.is_linked:
        lines += ["for name, frame in synthesis.sample(text=True).items():"]
        lines += ["    frame.to_csv(f'{name}.again.csv', index=False)"]
    else:
        written = ["index=False"]
        for key, word in (("delimiter", "sep"), ("encoding", "encoding")):
            written += [f"{word}={project.dialect[key]!r}"] if key in project.dialect else []
        lines += [f"synthesis.sample(text=True).to_csv('again.csv', {', '.join(written)})"]
    lines += ["stated = json.dumps(synthesis.certificate, indent=2)"]
    lines += ["Path('again.privacy.json').write_text(stated)", f"# the first one: {run}"]
    return "\n".join(lines) + "\n"
