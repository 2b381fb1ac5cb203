"""Step 1: which table it is, and how it is written. Only names of columns are read."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from synthdp.cli.studio.descriptions import save_package, save_table
from synthdp.cli.studio.places import (
    DELIMITERS,
    first_rows,
    names_of,
    package_of,
    path_of,
    shapes,
    store_upload,
    tables_in,
)
from synthdp.cli.studio.projects import DATABASE, FOLDER, KINDS, LINKED, TABLE, Project
from synthdp.cli.studio.visits import Visit
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.data.files.formats import Format, file_kind
from synthdp.schema.draft import draft_of_kinds

ENCODINGS = ("utf-8", "cp1252", "utf-16")
"""What the page offers; any other is declared by whoever opens the project in an editor."""

MARKS = {".": {"decimalChar": "."}, ",": {"decimalChar": ",", "groupChar": "."}}
"""How numbers are written, by their decimal mark."""


def table_view(visit: Visit) -> dict[str, Any]:
    """What can be chosen, what is, and the shape of it."""
    project, folder = visit.project, visit.folder
    listed = tables_in(folder)
    is_here = project.kind == DATABASE or project.table in listed
    is_text = is_here and _is_text(visit)
    shown: dict[str, Any] = {"listed": listed, "is_here": is_here, "is_text": is_text}
    shown |= {"shapes": {}, "rows": [], "problem": "", "place": folder.place.resolve().name}
    shown |= {"delimiters": DELIMITERS, "encodings": ENCODINGS, "marks": MARKS}
    shown["can_look"] = is_here and project.kind in (TABLE, FOLDER)
    if is_text:
        shown["shapes"] = shapes(folder, project)
    if is_here and not project.names and not project.is_linked and project.table:
        shown["problem"] = _problem(visit)
    if shown["can_look"] and visit.studio.may_look and not shown["problem"]:
        shown["rows"] = first_rows(folder, project)
    return shown


def save_table_step(visit: Visit) -> str:
    """Choose a table, say how it is written, or look at it."""
    actions = {
        "choose": _choose,
        "upload": _upload,
        "database": _choose_database,
        "dialect": _declare,
        "look": _look,
    }
    action = actions.get(visit.text("action"))
    if action is None:
        raise ParameterError("the form says not what is to be done; open the page again")
    return action(visit)


def _choose(visit: Visit) -> str:
    name = visit.text("table")
    kind = tables_in(visit.folder).get(name)
    if kind is None:
        raise ParameterError(f"{name!r} is not in the folder; choose a table of the list")
    if kind == FOLDER and visit.text("holds") != "parts":
        kind = LINKED
    return _take(visit, kind=kind, table=name, source="")


def _upload(visit: Visit) -> str:
    given = visit.form.get("file")
    if given is None or isinstance(given, str) or not given.filename:
        raise ParameterError("no file was chosen; choose one")
    return _take(
        visit, kind=TABLE, table=store_upload(visit.folder, given.filename, given.file), source=""
    )


def _choose_database(visit: Visit) -> str:
    source, table = visit.text("source"), visit.text("name")
    if not source or not table:
        raise ParameterError(
            "the address of the database or the table's name is missing; give both"
        )
    scheme, _, rest = source.partition("://")
    if scheme == "duckdb":
        name = Path(rest).name
        if rest.lstrip("/") != name or not (visit.folder.place / name).is_file():
            raise ParameterError(
                "a DuckDB file has to lie in the folder of the studio: duckdb:///NAME"
            )
        source = f"duckdb:///{(visit.folder.place / name).resolve().as_posix()}"
    elif scheme not in ("postgres", "postgresql") or not rest:
        raise ParameterError(
            "give an address such as postgres://USER@HOST/DATABASE or duckdb:///NAME"
        )
    if ":" in rest.partition("@")[0] and "@" in rest:
        raise ParameterError("the address holds a password; leave it to the environment or .pgpass")
    return _take(visit, kind=DATABASE, table=table, source=source)


def _take(visit: Visit, **chosen: Any) -> str:
    """Another table: its names are read, and what was said of columns of these names stays."""
    project = visit.save(**chosen, dialect={}, names=())
    visit = replace(visit, project=project)
    if project.kind == LINKED:
        content = package_of(visit.folder, project)
        save_package(visit.folder, project, content)
        return "/table"
    dialect: Mapping[str, str] = {}
    if _is_text(visit):
        # The first line holds names, no record: the mark that divides it into most of them.
        found = shapes(visit.folder, project)
        most = max(found, key=lambda each: found[each] or 0)
        dialect = {} if most == "," else {"delimiter": most}
    _read_names(visit, project, dialect)
    return "/table"


def _declare(visit: Visit) -> str:
    if visit.project.is_linked or not _is_text(visit):
        visit.save(walked=max(visit.project.walked, 1))
        return "/columns"
    encoding, delimiter = visit.text("encoding"), DELIMITERS.get(visit.text("delimiter"))
    marks = MARKS.get(visit.text("mark"))
    if encoding not in ENCODINGS or delimiter is None or marks is None:
        raise ParameterError("the form says not how the file is written; open the page again")
    dialect = {} if delimiter == "," else {"delimiter": delimiter}
    dialect |= {} if encoding == "utf-8" else {"encoding": encoding}
    dialect |= marks if marks["decimalChar"] != "." else {}
    goes_on = visit.text("then") == "go_on"
    project = visit.save(walked=max(visit.project.walked, int(goes_on)))
    is_read = _read_names(visit, project, dialect)
    return "/columns" if goes_on and is_read else "/table"


def _read_names(visit: Visit, project: Project, dialect: Mapping[str, str]) -> bool:
    """Read the names by a dialect, and keep what was said of them; whether they could be read."""
    folder = visit.folder
    project = folder.save(replace(project, dialect=dict(dialect), names=()), seen=project.version)
    try:
        draft = draft_of_kinds(names_of(folder, project))
    except SynthdpError:
        return False  # the page says why
    former = folder.public(KINDS)
    kinds = {name: former.get(name, kind) for name, kind in draft.items() if name != "synthdp"}
    own = former.get("synthdp")
    rules = own.get("constraints", []) if isinstance(own, Mapping) and kinds == former else []
    project = folder.save(replace(project, names=tuple(kinds)), seen=project.version)
    save_table(folder, project, kinds, rules)
    return True


def _look(visit: Visit) -> str:
    visit.studio.may_look = bool(visit.text("may_look"))
    return "/table#records"


def _problem(visit: Visit) -> str:
    """Why names cannot be read."""
    try:
        names_of(visit.folder, visit.project)
    except SynthdpError as error:
        return str(error)
    return ""


def _is_text(visit: Visit) -> bool:
    """Whether it has to be said how the file is written."""
    project = visit.project
    if project.kind not in (TABLE, FOLDER) or not project.table:
        return False
    try:
        path = path_of(visit.folder, project.table)
        parts = sorted(path.iterdir()) if path.is_dir() else [path]
        return any(file_kind(part).format is Format.CSV for part in parts[:1])
    except (OSError, SynthdpError):
        return False
