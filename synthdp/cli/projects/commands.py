"""The commands of a project, word for word as the studio starts them in its folder."""

from typing import Any

from synthdp.cli.projects.declared import declared_path
from synthdp.cli.projects.places import from_project, path_of, source_of
from synthdp.cli.projects.project import (
    DATABASE,
    KINDS,
    PRIVATE,
    PUBLISH,
    OpenProject,
    ProjectError,
)
from synthdp.core.errors import SynthdpError
from synthdp.data.files.file_names import parts_of
from synthdp.data.files.formats import Format, file_kind
from synthdp.linked.package.package import Package
from synthdp.release.persistence.budget import Budget

RELEASE, SCHEMA, PAGE = "release.synthdp", "schema.json", "release.html"
"""What a run publishes, besides the table and its certificate."""


def output_of(opened: OpenProject) -> str:
    """What the synthetic table is called: it is of the same kind of file; linked ones are a folder."""
    if opened.project.is_linked:
        return "tables"
    if opened.project.kind == DATABASE:
        return "synthetic.csv"
    kind = file_kind(next(iter(parts_of(path_of(opened)))))
    endings = {Format.PARQUET: "parquet", Format.EXCEL: "xlsx"}
    return f"synthetic.{endings.get(kind.format, 'tsv' if kind.delimiter != ',' else 'csv')}"


def run_words(opened: OpenProject) -> list[str]:
    """The command that makes the release, to be given in the project's folder.

    Raises `ParameterError` if the table is not here, no budget is chosen, or it is not there any
    more.
    """
    project = opened.project
    published = f"{opened.run.name}/{PUBLISH}"
    if project.epsilon <= 0 or project.delta <= 0:
        raise ProjectError("epsilon_open", "no budget is chosen; choose an epsilon")
    words = ["run", *_table_words(opened), "-o", f"{published}/{output_of(opened)}"]
    if not project.is_linked:
        words += ["--kinds", f"{opened.run.name}/{KINDS}"]
    words += ["--epsilon", f"{project.epsilon}", "--delta", f"{project.delta}"]
    if project.unit:
        words += ["--unit", project.unit, "--max-rows-per-unit", f"{project.max_rows}"]
        if project.order:
            words += ["--order", project.order]
        elif project.together:
            words += ["--together"]
        if project.constant:
            words += ["--constant", project.constant]
    if project.budget:
        if project.budget not in budgets_in(opened):
            problem = f"{project.budget!r} is not in {str(opened.place)!r}; choose a budget file"
            raise ProjectError("budget_gone", problem, name=project.budget)
        path = from_project(opened, opened.place / project.budget)
        words += ["--budget", path, "--budget-note", project.note]
    words += ["--save", f"{published}/{RELEASE}"]
    if not project.is_linked and not project.keeps_persons:
        words += ["--save-schema", f"{published}/{SCHEMA}"]
    return [*words, "--journal", f"{opened.run.name}/journal", "--json"]


def _table_words(opened: OpenProject) -> list[str]:
    """The table as commands name it."""
    if opened.project.kind == DATABASE:
        return ["--source", source_of(opened), "--table", opened.project.table]
    linked = opened.project.is_linked
    return [from_project(opened, declared_path(opened) if linked else path_of(opened))]


def report_words(opened: OpenProject, tab: str) -> list[str]:
    """The command that makes a page of a release: the one to publish, or the other."""
    published = f"{opened.run.name}/{PUBLISH}"
    release = f"{published}/{RELEASE}"
    made = f"{published}/{output_of(opened)}"
    if tab == PUBLISH:
        return ["report", "--public", release, "-o", f"{published}/{PAGE}"]
    linked = opened.project.is_linked
    words = [f"{made}/datapackage.json"] if linked else [made, "-s", release]
    output = f"{opened.run.name}/{PRIVATE}/report.html"
    return ["report", *_table_words(opened), *words, "-o", output]


def budgets_in(opened: OpenProject) -> list[str]:
    """The budget files of the place."""
    return sorted(each.name for each in opened.place.glob("*.budget") if each.is_file())


def budget_in(opened: OpenProject, name: str) -> dict[str, Any]:
    """Whose budget it is, and what is left of it; or why it cannot be used. Empty without one."""
    try:
        return Budget(opened.place / name).show() if name in budgets_in(opened) else {}
    except SynthdpError as error:
        return {"problem": str(error)}


def new_budget(opened: OpenProject, population: str, *, epsilon: float, delta: float) -> str:
    """The name of a new budget file beside the table, which outlives the project.

    Raises as `Budget.create` does, such as for a file that is there.
    """
    plain = "".join(each if each.isalnum() else "-" for each in population.lower()).strip("-")
    name = f"{plain[:40] or 'population'}.budget"
    unit = opened.project.unit
    if opened.project.is_linked:  # what is protected together is called by the root's key
        unit = "+".join(Package.load(declared_path(opened)).root.key)
    path = opened.place / name
    unit_name = unit or None
    Budget.create(path, epsilon=epsilon, delta=delta, population=population, unit=unit_name)
    return name


def words_of(opened: OpenProject) -> list[str]:
    """The command of the run that was made, else of the one that would be."""
    return opened.run.arguments or run_words(opened)
