"""Step 1: which table it is, and how it is written. Only names of columns are read."""

from pathlib import Path
from typing import Any

from synthdp.cli.studio.declared import content_of, save_content, save_table
from synthdp.cli.studio.places import (
    DELIMITERS,
    DUCKDB,
    first_rows,
    names_of,
    package_of,
    path_of,
    shapes,
    store_upload,
    tables_in,
)
from synthdp.cli.studio.project import DATABASE, FOLDER, LINKED, TABLE, Visit
from synthdp.core.errors import ParameterError, SynthdpError
from synthdp.data.files.file_names import parts_of
from synthdp.data.files.formats import is_text
from synthdp.schema.draft import draft_of_kinds
from synthdp.schema.keys import OWN

ENCODINGS = ("utf-8", "cp1252", "utf-16")
"""What the page offers; any other is declared by whoever opens the project in an editor."""

MARKS = {".": {}, ",": {"decimalChar": ",", "groupChar": "."}}
"""How numbers are written, by their decimal mark."""


def table_view(visit: Visit) -> dict[str, Any]:
    """What can be chosen, what is, and the shape of it."""
    project, listed = visit.project, tables_in(visit.folder)
    is_here = project.kind == DATABASE or project.table in listed
    view: dict[str, Any] = {"listed": listed, "is_here": is_here, "problem": "", "rows": []}
    view |= {"place": visit.folder.place.resolve().name, "is_text": is_here and _is_text(visit)}
    view |= {"delimiters": DELIMITERS, "encodings": ENCODINGS, "marks": list(MARKS)}
    view["shapes"] = shapes(visit) if view["is_text"] else {}
    view["can_look"] = is_here and project.kind in (TABLE, FOLDER)
    if is_here and project.table and not project.is_linked:
        try:
            if not project.names:
                names_of(visit)
            if view["can_look"] and visit.studio.may_look:
                view["rows"] = first_rows(visit)
        except SynthdpError as error:
            view["problem"] = str(error)
    return view


def save_table_step(visit: Visit) -> str:
    """Choose a table, say how it is written, or look at it."""
    actions = {"choose": _choose, "upload": _upload, "database": _choose_database}
    actions |= {"dialect": _declare, "look": _look}
    if visit.text("action") not in actions:
        raise ParameterError("the form says not what is to be done; open the page again")
    return actions[visit.text("action")](visit)


def _choose(visit: Visit) -> str:
    name = visit.text("table")
    kind = tables_in(visit.folder).get(name)
    if kind is None:
        raise ParameterError(f"{name!r} is not in the folder; choose a table of the list")
    if kind == FOLDER and visit.text("holds") != "parts":
        kind = LINKED
    return _take(visit, kind=kind, table=name)


def _upload(visit: Visit) -> str:
    given = next(iter(visit.form.get("file", ())), None)
    if given is None or isinstance(given, str) or not given.filename:
        raise ParameterError("no file was chosen; choose one")
    return _take(visit, kind=TABLE, table=store_upload(visit.folder, given.filename, given.file))


def _choose_database(visit: Visit) -> str:
    source, table = visit.text("source"), visit.text("name")
    if not source or not table:
        raise ParameterError(
            "the address of the database or the table's name is missing; give both"
        )
    scheme, _, rest = source.partition("://")
    if scheme == "duckdb":
        name = source.removeprefix(DUCKDB)
        if name != Path(name).name or not (visit.folder.place / name).is_file():
            problem = "a DuckDB file has to lie in the folder of the studio"
            raise ParameterError(f"{problem}: {DUCKDB}NAME")
    elif scheme not in ("postgres", "postgresql") or not rest:
        raise ParameterError(
            f"give an address such as postgres://USER@HOST/DATABASE or {DUCKDB}NAME"
        )
    if ":" in rest.partition("@")[0] and "@" in rest:
        raise ParameterError("the address holds a password; leave it to the environment or .pgpass")
    return _take(visit, kind=DATABASE, table=table, source=source)


def _take(visit: Visit, *, kind: str, table: str, source: str = "") -> str:
    """Another table: its names are read, and what was said of columns of these names stays."""
    visit = visit.saved(kind=kind, table=table, source=source, dialect={}, names=[])
    if kind == LINKED:
        save_content(visit, package_of(visit))
    else:
        # The first line holds names, no record: the mark that divides it into most of them.
        found = shapes(visit) if _is_text(visit) else {",": 1}
        most = max(found, key=lambda each: found[each])
        _read_names(visit, {} if most == "," else {"delimiter": most})
    return "/table"


def _declare(visit: Visit) -> str:
    is_read, goes_on = True, visit.text("then") == "go_on"
    if not visit.project.is_linked and _is_text(visit):
        encoding, delimiter = visit.text("encoding"), DELIMITERS.get(visit.text("delimiter"))
        marks = MARKS.get(visit.text("mark"))
        if encoding not in ENCODINGS or delimiter is None or marks is None:
            raise ParameterError("the form says not how the file is written; open the page again")
        dialect = {} if delimiter == "," else {"delimiter": delimiter}
        dialect |= {} if encoding == "utf-8" else {"encoding": encoding}
        visit, is_read = _read_names(visit, dialect | marks)
    if not goes_on or not is_read:
        return "/table"
    visit.saved(walked=max(visit.project.walked, 1))
    return "/columns"


def _read_names(visit: Visit, dialect: dict[str, str]) -> tuple[Visit, bool]:
    """Read the names by a dialect, and keep what was said of them; whether they could be read."""
    visit = visit.saved(dialect=dialect, names=[])
    try:
        draft = draft_of_kinds(names_of(visit))
    except SynthdpError:
        return visit, False  # the page says why
    former = content_of(visit)
    kinds = {name: former.get(name, kind) for name, kind in draft.items() if name != OWN}
    declared = {name: kind for name, kind in former.items() if name != OWN}
    rules = former.get(OWN, {}).get("constraints", []) if kinds == declared else []
    visit = visit.saved(names=list(kinds))
    save_table(visit, kinds, rules)
    return visit, True


def _look(visit: Visit) -> str:
    visit.studio.may_look = bool(visit.text("may_look"))
    return "/table#records"


def _is_text(visit: Visit) -> bool:
    """Whether it has to be said how the file is written."""
    if visit.project.kind not in (TABLE, FOLDER) or not visit.project.table:
        return False
    try:
        return is_text(next(iter(parts_of(path_of(visit)))))
    except (StopIteration, SynthdpError):
        return False
