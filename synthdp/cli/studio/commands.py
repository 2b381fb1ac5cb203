"""The run of a project as a command line and as a script of Python: the first is what the studio
itself starts, word for word.
"""

import shlex
from typing import Any

from synthdp.cli.studio.declared import declared_path
from synthdp.cli.studio.places import DUCKDB, from_project, path_of, source_of
from synthdp.cli.studio.project import DATABASE, KINDS, PRIVATE, PUBLISH, Visit
from synthdp.core.errors import ParameterError
from synthdp.data.files.file_names import parts_of
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


def output_of(visit: Visit) -> str:
    """What the synthetic table is called: it is of the same kind of file."""
    project = visit.project
    if project.is_linked:
        return TABLES
    if project.kind == DATABASE:
        return "synthetic.csv"
    kind = file_kind(next(iter(parts_of(path_of(visit)))))
    endings = {Format.PARQUET: "parquet", Format.EXCEL: "xlsx"}
    return f"synthetic.{endings.get(kind.format, 'tsv' if kind.delimiter != ',' else 'csv')}"


def _options(visit: Visit) -> dict[str, Any]:
    """What a run is told besides its table, by the names of parameters.

    Raises `ParameterError` if no budget is chosen.
    """
    project = visit.project
    if project.epsilon <= 0 or project.delta <= 0:
        raise ParameterError("no budget is chosen yet; choose epsilon in step 4")
    given: dict[str, Any] = {} if project.is_linked else {"kinds": f"{visit.run_name}/{KINDS}"}
    given |= {"epsilon": project.epsilon, "delta": project.delta}
    if project.unit:
        given |= {"unit": project.unit, "max_rows_per_unit": project.max_rows}
        given |= {"order": project.order} if project.order else {}
    if project.budget:
        given |= {"budget": budget_path(visit), "budget_note": project.note}
    return given


def run_words(visit: Visit) -> list[str]:
    """The command that makes the release, to be given in the project's folder.

    Raises `ParameterError` if the table is not here, or no budget is chosen.
    """
    project, published = visit.project, f"{visit.run_name}/{PUBLISH}"
    words = ["run", *_table_words(visit), "-o", f"{published}/{output_of(visit)}"]
    for name, value in _options(visit).items():
        words += [f"--{name.replace('_', '-')}", f"{value}"]
    words += ["--save", f"{published}/{RELEASE}"]
    if not project.is_linked and not project.order:
        words += ["--save-schema", f"{published}/{SCHEMA}"]
    return [*words, "--journal", f"{visit.run_name}/journal", "--json"]


def _table_words(visit: Visit) -> list[str]:
    """The table as commands name it."""
    if visit.project.kind == DATABASE:
        return ["--source", source_of(visit), "--table", visit.project.table]
    linked = visit.project.is_linked
    return [from_project(visit, declared_path(visit) if linked else path_of(visit))]


def report_words(visit: Visit, tab: str) -> list[str]:
    """The command that makes a page of a release: the one to publish, or the other."""
    published = f"{visit.run_name}/{PUBLISH}"
    release, made = f"{published}/{RELEASE}", f"{published}/{output_of(visit)}"
    if tab == PUBLISH:
        return ["report", "--public", release, "-o", f"{published}/{PAGE}"]
    linked = visit.project.is_linked
    words = [f"{made}/datapackage.json"] if linked else [made, "-s", release]
    output = f"{visit.run_name}/{PRIVATE}/report.html"
    return ["report", *_table_words(visit), *words, "-o", output]


def budget_path(visit: Visit) -> str:
    """The population's budget file, which lies where the table does."""
    if visit.project.budget not in budgets_in(visit):
        raise ParameterError(
            f"{visit.project.budget!r} is not in the folder; choose the budget again"
        )
    return from_project(visit, visit.folder.place / visit.project.budget)


def budgets_in(visit: Visit) -> list[str]:
    """The budget files of the place."""
    return sorted(each.name for each in visit.folder.place.glob("*.budget") if each.is_file())


def shell_text(visit: Visit) -> str:
    """The command line, to be typed in the folder of the project."""
    return shlex.join(["synthdp", *run_words(visit)])


def script_text(visit: Visit) -> str:
    """A script that makes such a release, to be run in the folder of the project."""
    project, given = visit.project, _options(visit)
    if project.budget:
        given |= {"journal": "nightly.journal"}
    lines, table = ["import json", "from pathlib import Path", "", "import synthdp", ""], ""
    if project.kind != DATABASE:
        table = repr(_table_words(visit)[0])
    elif (source := source_of(visit)).startswith(DUCKDB):
        path = source.removeprefix(DUCKDB)
        table = f"duckdb.connect({path!r}, read_only=True).table({project.table!r})"
        lines.insert(3, "import duckdb")
    else:
        schema, _, name = project.table.rpartition(".")
        table = f"ibis.connect({source!r}).table({name!r}, database={schema or None!r})"
        lines.insert(3, "import ibis")
    arguments = "".join(f"    {name}={value!r},\n" for name, value in given.items())
    lines += [f"synthesis = synthdp.synthesize(\n    {table},\n{arguments})"]
    lines += ["synthesis.save('again.synthdp', force=True)"]
    if project.is_linked:
        lines += ["for name, frame in synthesis.sample(text=True).items():"]
        lines += ["    frame.to_csv(f'{name}.again.csv', index=False)"]
    else:
        keys = (("delimiter", "sep"), ("encoding", "encoding"))
        written = [
            f", {word}={project.dialect[key]!r}" for key, word in keys if key in project.dialect
        ]
        lines += [f"synthesis.sample(text=True).to_csv('again.csv', index=False{''.join(written)})"]
    lines += ["stated = json.dumps(synthesis.certificate, indent=2)"]
    lines += ["Path('again.privacy.json').write_text(stated)"]
    return "\n".join(lines) + "\n"
