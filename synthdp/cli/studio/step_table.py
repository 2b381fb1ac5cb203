"""Step 1: which table it is, and how it is written. Only names of columns are read."""

from typing import Any

from synthdp.cli.projects.declared import content_of, kinds_of, save_content, save_kinds
from synthdp.cli.projects.places import (
    DELIMITERS,
    DUCKDB,
    ENCODINGS,
    files_in,
    first_rows,
    names_of,
    package_of,
    path_of,
    shapes,
    store_upload,
    tables_in,
)
from synthdp.cli.projects.project import DATABASE, FOLDER, LINKED, PACKAGE, TABLE
from synthdp.cli.shared.package_files import DESCRIPTION
from synthdp.cli.studio.visit import Visit
from synthdp.core.errors import SynthdpError
from synthdp.data.files.file_names import parts_of
from synthdp.data.files.formats import is_text
from synthdp.linked.package.drafts import package_files, with_former_tables
from synthdp.schema.draft import draft_of_kinds
from synthdp.schema.keys import OWN

MARKS = {".": {"decimalChar": "."}, ",": {"decimalChar": ",", "groupChar": "."}}
"""How numbers are written, by their decimal mark."""


def table_view(visit: Visit) -> dict[str, Any]:
    """What can be chosen, what is, and the shape of it."""
    project, listed = visit.project, tables_in(visit.studio.place)
    is_here = project.kind == DATABASE or project.table in listed
    is_text_here = is_here and _is_text(visit)
    # Where a comma divides columns, it cannot divide numbers; else nobody but the steward knows.
    usual = "." if project.dialect.get("delimiter", ",") == "," else ""
    view: dict[str, Any] = {"listed": listed, "is_here": is_here, "is_text": is_text_here}
    view |= {"place": visit.studio.place.resolve().name}
    view |= {"delimiters": DELIMITERS, "encodings": ENCODINGS, "problem": "", "rows": []}
    # Of names in plain letters nobody can tell either how they are encoded.
    is_plain = all(name.isascii() for names in kinds_of(visit.opened).values() for name in names)
    encoding = "" if is_plain and not project.walked else "utf-8"
    view["said"] = {"delimiter": ",", "encoding": encoding, "decimalChar": usual, **project.dialect}
    sent = {
        "delimiter": DELIMITERS.get(visit.text("delimiter")),
        "encoding": visit.text("encoding"),
    }
    sent["decimalChar"] = visit.text("mark")
    view["said"] |= {key: each for key, each in sent.items() if each}  # refused, and stays typed
    view |= {"shapes": shapes(visit.opened) if is_text_here else {}}
    view["tables"] = {table: names for table, names in kinds_of(visit.opened).items() if names}
    view |= {"can_look": is_here and project.kind in (TABLE, FOLDER)}
    if is_here and project.table:
        try:
            if project.is_linked or not project.names:
                (package_of if project.is_linked else names_of)(visit.opened)
            if view["can_look"] and visit.studio.may_look:
                view["rows"] = first_rows(visit.opened)
        except SynthdpError as error:
            view |= {"problem": str(error), "tables": {}}
    return view


def save_table(visit: Visit) -> str:
    """Choose a table, say how it is written, or look at it."""
    actions = {"choose": _choose, "upload": _upload, "database": _choose_database}
    location: str = visit.chosen(actions | {"dialect": _declare, "look": _look})(visit)
    return location


def _choose(visit: Visit) -> str:
    name = visit.text("table")
    kind = tables_in(visit.studio.place).get(name)
    if kind is None:
        raise visit.refusal("table_gone", name=name)
    if kind == FOLDER and visit.text("holds") != "parts":
        kind = LINKED
    return _take(visit, kind=kind, table=name)


def _upload(visit: Visit) -> str:
    given = next(iter(visit.form.get("file", ())), None)
    if given is None or isinstance(given, str) or not given.filename:
        raise visit.refusal("file")
    name, replaces = visit.text("as") or given.filename, bool(visit.text("replace"))
    if name in tables_in(visit.studio.place) and not replaces:
        raise visit.refusal("exists", name=name)
    name = store_upload(visit.studio.place, name, given.file, replaces=replaces)
    return _take(visit, kind=TABLE, table=name)


def _choose_database(visit: Visit) -> str:
    source, table = visit.text("source"), visit.text("name")
    scheme, _, rest = source.partition("://")
    if not table or not rest or scheme not in ("duckdb", "postgres", "postgresql"):
        raise visit.refusal("address", usual=f"postgres://USER@HOST/DATABASE, {DUCKDB}NAME")
    if scheme == "duckdb" and source.removeprefix(DUCKDB) not in files_in(visit.studio.place):
        raise visit.refusal("duckdb", usual=f"{DUCKDB}NAME")
    if ":" in rest.rpartition("@")[0]:
        raise visit.refusal("password")
    return _take(visit, kind=DATABASE, table=table, source=source)


def _take(visit: Visit, *, kind: str, table: str, source: str = "") -> str:
    """Another table: its names are read, and what was said of columns of these names stays."""
    is_other = (kind, table) != (visit.project.kind, visit.project.table)
    visit = visit.saved(kind=kind, table=table, source=source, dialect={}, names=[])
    if kind == LINKED and is_other:
        visit.opened.save_public(PACKAGE, {})
    if kind == LINKED and not _is_text(visit):
        save_content(visit.opened, package_of(visit.opened))
    else:
        # The first line holds names, no record: what divides it into most of them is proposed.
        found = shapes(visit.opened) if _is_text(visit) else {("utf-8", ","): 1}
        _read_names(visit, _dialect(*max(found, key=lambda each: found[each])))
    return "/table"


def _declare(visit: Visit) -> str:
    is_read, goes_on = True, visit.text("then") == "go_on"
    if _is_text(visit):
        encoding, delimiter = visit.text("encoding"), DELIMITERS.get(visit.text("delimiter"))
        mark = visit.text("mark")
        encoding = encoding if encoding or goes_on else "utf-8"
        if encoding not in ENCODINGS or delimiter is None or (goes_on and mark not in MARKS):
            raise visit.refusal("dialect")
        dialect = _dialect(encoding, delimiter)
        dialect |= {} if (delimiter, mark) == (",", ".") else MARKS.get(mark, {})
        visit, is_read = _read_names(visit, dialect)
    if not goes_on or not is_read or not any(kinds_of(visit.opened).values()):
        return f"/table?encoding={visit.text('encoding')}"
    visit.saved(walked=1)
    return "/columns"


def _dialect(encoding: str, delimiter: str) -> dict[str, str]:
    """How a file is written, where it is not as usual."""
    said = {"delimiter": delimiter, "encoding": encoding}
    return {key: each for key, each in said.items() if each not in (",", "utf-8")}


def _read_names(visit: Visit, dialect: dict[str, str]) -> tuple[Visit, bool]:
    """Read the names by a dialect, and keep what was said of them; whether they could be read."""
    visit = visit.saved(dialect=dialect, names=[])
    try:
        if visit.project.is_linked:
            save_content(
                visit.opened, with_former_tables(package_of(visit.opened), content_of(visit.opened))
            )
            return visit, True
        draft = draft_of_kinds(names_of(visit.opened))
    except SynthdpError:
        return visit, False  # the page says why
    former = content_of(visit.opened)
    kinds = {name: former.get(name, kind) for name, kind in draft.items() if name != OWN}
    declared = {name: kind for name, kind in former.items() if name != OWN}
    rules = former.get(OWN, {}).get("constraints", []) if kinds == declared else []
    visit = visit.saved(names=list(kinds))
    save_kinds(visit.opened, {"": kinds}, rules)
    return visit, True


def _look(visit: Visit) -> str:
    visit.studio.may_look = bool(visit.text("may_look"))
    return "/table#records"


def _is_text(visit: Visit) -> bool:
    """Whether it has to be said how the file is written."""
    project = visit.project
    if project.kind == DATABASE or not project.table:
        return False
    try:
        if project.is_linked:
            described = DESCRIPTION in files_in(path_of(visit.opened))
            return not described and any(map(is_text, package_files(path_of(visit.opened))))
        return is_text(next(iter(parts_of(path_of(visit.opened)))))
    except (StopIteration, SynthdpError):
        return False
