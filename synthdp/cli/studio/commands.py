"""The run of a project as a command line and as a script of Python: the first is what the studio
itself starts, word for word.
"""

import shlex
from typing import Any

from synthdp.cli.planning.run_script import run_script
from synthdp.cli.studio.declared import declared_path
from synthdp.cli.studio.places import from_project, path_of, source_of
from synthdp.cli.studio.project import DATABASE, KINDS, PRIVATE, PUBLISH, Visit
from synthdp.core.errors import SynthdpError
from synthdp.data.files.file_names import parts_of
from synthdp.data.files.formats import Format, file_kind
from synthdp.release.persistence.budget import Budget

RELEASE, SCHEMA, PAGE = "release.synthdp", "schema.json", "release.html"
"""What a run publishes, besides the table and its certificate."""

ANYWAY = "--anyway"
"""What a run is told that is to go on though nearly nothing of a column can be read."""


def output_of(visit: Visit) -> str:
    """What the synthetic table is called: it is of the same kind of file; linked ones are a folder."""
    if visit.project.is_linked:
        return "tables"
    if visit.project.kind == DATABASE:
        return "synthetic.csv"
    kind = file_kind(next(iter(parts_of(path_of(visit)))))
    endings = {Format.PARQUET: "parquet", Format.EXCEL: "xlsx"}
    return f"synthetic.{endings.get(kind.format, 'tsv' if kind.delimiter != ',' else 'csv')}"


def _options(visit: Visit) -> dict[str, Any]:
    """What a run is told besides its table, by the names of parameters.

    Raises `ParameterError` if no budget is chosen, or it is not there any more.
    """
    project = visit.project
    if project.epsilon <= 0 or project.delta <= 0:
        raise visit.refusal("epsilon_open")
    given: dict[str, Any] = {} if project.is_linked else {"kinds": f"{visit.run.name}/{KINDS}"}
    given |= {"epsilon": project.epsilon, "delta": project.delta}
    if project.unit:
        given |= {"unit": project.unit, "max_rows_per_unit": project.max_rows}
        given |= {"order": project.order} if project.order else {}
    if project.budget:
        if project.budget not in budgets_in(visit):
            raise visit.refusal("budget_gone", name=project.budget)
        path = from_project(visit, visit.studio.place / project.budget)
        given |= {"budget": path, "budget_note": project.note}
    return given | ({"anyway": True} if ANYWAY in visit.run.arguments else {})


def run_words(visit: Visit) -> list[str]:
    """The command that makes the release, to be given in the project's folder.

    Raises `ParameterError` if the table is not here, or no budget is chosen.
    """
    project, published = visit.project, f"{visit.run.name}/{PUBLISH}"
    words = ["run", *_table_words(visit), "-o", f"{published}/{output_of(visit)}"]
    for name, value in _options(visit).items():
        option = f"--{name.replace('_', '-')}"
        words += [option] if value is True else [option, f"{value}"]
    words += ["--save", f"{published}/{RELEASE}"]
    if not project.is_linked and not project.order:
        words += ["--save-schema", f"{published}/{SCHEMA}"]
    return [*words, "--journal", f"{visit.run.name}/journal", "--json"]


def _table_words(visit: Visit) -> list[str]:
    """The table as commands name it."""
    if visit.project.kind == DATABASE:
        return ["--source", source_of(visit), "--table", visit.project.table]
    linked = visit.project.is_linked
    return [from_project(visit, declared_path(visit) if linked else path_of(visit))]


def report_words(visit: Visit, tab: str) -> list[str]:
    """The command that makes a page of a release: the one to publish, or the other."""
    published = f"{visit.run.name}/{PUBLISH}"
    release, made = f"{published}/{RELEASE}", f"{published}/{output_of(visit)}"
    if tab == PUBLISH:
        return ["report", "--public", release, "-o", f"{published}/{PAGE}"]
    linked = visit.project.is_linked
    words = [f"{made}/datapackage.json"] if linked else [made, "-s", release]
    output = f"{visit.run.name}/{PRIVATE}/report.html"
    return ["report", *_table_words(visit), *words, "-o", output]


def budgets_in(visit: Visit) -> list[str]:
    """The budget files of the place."""
    return sorted(each.name for each in visit.studio.place.glob("*.budget") if each.is_file())


def budget_in(visit: Visit, name: str) -> dict[str, Any]:
    """Whose budget it is, and what is left of it; or why it cannot be used. Empty without one."""
    try:
        return Budget(visit.studio.place / name).show() if name in budgets_in(visit) else {}
    except SynthdpError as error:
        return {"problem": str(error)}


def shell_text(visit: Visit) -> str:
    """The command line, to be typed in the folder of the project: of a run that was made, its own."""
    return shlex.join(["synthdp", *(visit.run.arguments or run_words(visit))])


def script_text(visit: Visit) -> str:
    """A script that makes such a release, to be run in the folder of the project."""
    given = _options(visit) | ({"journal": "nightly.journal"} if visit.project.budget else {})
    is_database = visit.project.kind == DATABASE
    return run_script(
        visit.project.table if is_database else _table_words(visit)[0],
        given,
        source=source_of(visit) if is_database else "",
        is_linked=visit.project.is_linked,
        dialect=visit.project.dialect,
    )
