"""The run of a project as a command line and as a script of Python: the first is what the studio
itself starts, word for word.
"""

from typing import Any

from synthdp.cli.studio.declared import declared_path
from synthdp.cli.studio.places import from_project, path_of, source_of
from synthdp.cli.studio.project import DATABASE, KINDS, PRIVATE, PUBLISH, Visit
from synthdp.core.errors import SynthdpError
from synthdp.data.files.file_names import parts_of
from synthdp.data.files.formats import Format, file_kind
from synthdp.release.persistence.budget import Budget

RELEASE, SCHEMA, PAGE = "release.synthdp", "schema.json", "release.html"
"""What a run publishes, besides the table and its certificate."""


def output_of(visit: Visit) -> str:
    """What the synthetic table is called: it is of the same kind of file; linked ones are a folder."""
    if visit.project.is_linked:
        return "tables"
    if visit.project.kind == DATABASE:
        return "synthetic.csv"
    kind = file_kind(next(iter(parts_of(path_of(visit)))))
    endings = {Format.PARQUET: "parquet", Format.EXCEL: "xlsx"}
    return f"synthetic.{endings.get(kind.format, 'tsv' if kind.delimiter != ',' else 'csv')}"


def run_words(visit: Visit) -> list[str]:
    """The command that makes the release, to be given in the project's folder.

    Raises `ParameterError` if the table is not here, no budget is chosen, or it is not there any
    more.
    """
    project, published = visit.project, f"{visit.run.name}/{PUBLISH}"
    if project.epsilon <= 0 or project.delta <= 0:
        raise visit.refusal("epsilon_open")
    words = ["run", *_table_words(visit), "-o", f"{published}/{output_of(visit)}"]
    words += [] if project.is_linked else ["--kinds", f"{visit.run.name}/{KINDS}"]
    words += ["--epsilon", f"{project.epsilon}", "--delta", f"{project.delta}"]
    if project.unit:
        words += ["--unit", project.unit, "--max-rows-per-unit", f"{project.max_rows}"]
        words += ["--order", project.order] if project.order else []
    if project.budget:
        if project.budget not in budgets_in(visit):
            raise visit.refusal("budget_gone", name=project.budget)
        path = from_project(visit, visit.studio.place / project.budget)
        words += ["--budget", path, "--budget-note", project.note]
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


def words_of(visit: Visit) -> list[str]:
    """The command of the run that was made, else of the one that would be."""
    return visit.run.arguments or run_words(visit)
