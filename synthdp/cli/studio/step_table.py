"""Step 1: which table it is, and how it is written. Only names of columns are read."""

from typing import Any

from synthdp.cli.projects.chosen import (
    MARKS,
    clear_delimiter,
    dialect_of,
    is_written,
    kind_of_choice,
    likely_dialect,
    with_first_names,
    with_names,
)
from synthdp.cli.projects.declared import kinds_of
from synthdp.cli.projects.places import (
    DELIMITERS,
    ENCODINGS,
    check_source,
    first_rows,
    names_of,
    package_of,
    shapes,
    store_upload,
    tables_in,
)
from synthdp.cli.projects.project import DATABASE, FOLDER, TABLE
from synthdp.cli.studio.visit import Visit
from synthdp.core.errors import SynthdpError


def table_view(visit: Visit) -> dict[str, Any]:
    """What can be chosen, what is, and the shape of it."""
    project = visit.project
    listed = tables_in(visit.studio.place)
    is_here = project.kind == DATABASE or project.table in listed
    is_text_here = is_here and is_written(visit.opened)
    view: dict[str, Any] = {"listed": listed, "is_here": is_here, "is_text": is_text_here}
    view |= {"place": visit.studio.place.resolve().name, "rows": []}
    view |= {"delimiters": DELIMITERS, "encodings": ENCODINGS}
    sent = (DELIMITERS.get(visit.text("delimiter")), visit.text("encoding"), visit.text("mark"))
    typed = zip(("delimiter", "encoding", "decimalChar"), sent, strict=True)
    view["said"] = likely_dialect(visit.opened) | {key: each for key, each in typed if each}
    view |= {"shapes": shapes(visit.opened) if is_text_here else {}}
    view |= {"clear": clear_delimiter(view["shapes"], view["said"])}
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
    actions |= {"dialect": _declare, "look": _look}
    if visit.action not in actions:
        raise visit.refusal("action")
    return actions[visit.action](visit)


def _choose(visit: Visit) -> str:
    name = visit.text("table")
    kind = kind_of_choice(visit.studio.place, name, is_one=visit.text("holds") == "parts")
    return _take(visit, kind=kind, table=name)


def _upload(visit: Visit) -> str:
    given = next(iter(visit.form.get("file", ())), None)
    if given is None or isinstance(given, str) or not given.filename:
        raise visit.refusal("file")
    name = visit.text("as") or given.filename
    name = store_upload(visit.studio.place, name, given.file, replaces=bool(visit.text("replace")))
    return _take(visit, kind=TABLE, table=name)


def _choose_database(visit: Visit) -> str:
    source = visit.text("source")
    table = visit.text("name")
    check_source(visit.studio.place, source, table)
    return _take(visit, kind=DATABASE, table=table, source=source)


def _take(visit: Visit, *, kind: str, table: str, source: str = "") -> str:
    """Another table, whose names are read."""
    is_other = (kind, table) != (visit.project.kind, visit.project.table)
    visit = visit.saved(kind=kind, table=table, source=source, dialect={}, names=[])
    said = with_first_names(visit.opened, is_other=is_other).project
    visit.saved(dialect=said.dialect, names=said.names)
    return "/table"


def _declare(visit: Visit) -> str:
    is_read = True
    goes_on = visit.text("then") == "go_on"
    if is_written(visit.opened):
        encoding = visit.text("encoding")
        delimiter = DELIMITERS.get(visit.text("delimiter"))
        mark = visit.text("mark")
        encoding = encoding if encoding or goes_on else "utf-8"
        if encoding not in ENCODINGS or delimiter is None or (goes_on and mark not in MARKS):
            raise visit.refusal("dialect")
        dialect = dialect_of(encoding, delimiter, mark)
        visit = visit.saved(dialect=dialect, names=[])
        opened, is_read = with_names(visit.opened, dialect)
        visit = visit.saved(names=opened.project.names)
    if not goes_on or not is_read or not any(kinds_of(visit.opened).values()):
        return f"/table?encoding={visit.text('encoding')}"
    visit.saved(walked=1)
    return "/columns"


def _look(visit: Visit) -> str:
    visit.studio.may_look = bool(visit.text("may_look"))
    return "/table#records"
