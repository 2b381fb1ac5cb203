"""Which table a project is of: its names are read, and what was declared of them stays."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from synthdp.cli.projects.declared import content_of, kinds_of, save_content, save_kinds
from synthdp.cli.projects.places import (
    DELIMITERS,
    files_in,
    names_of,
    package_of,
    path_of,
    shapes,
    tables_in,
)
from synthdp.cli.projects.project import (
    DATABASE,
    FOLDER,
    LINKED,
    PACKAGE,
    PROJECT,
    OpenProject,
    ProjectError,
)
from synthdp.cli.shared.package_files import DESCRIPTION
from synthdp.core.errors import DataFileError, SynthdpError
from synthdp.data.files.file_names import parts_of
from synthdp.data.files.formats import is_text
from synthdp.linked.package.drafts import package_files, with_former_tables
from synthdp.schema.draft import draft_of_kinds
from synthdp.schema.keys import OWN

MARKS: Mapping[str, Mapping[str, str]] = {
    ".": {"decimalChar": "."},
    ",": {"decimalChar": ",", "groupChar": "."},
}
"""How numbers are written, by their decimal mark."""


ENDING = ".studio"
"""Of the folder of a project, after the name of its table."""


def chosen_project(given: str | None, project: str | None = None) -> OpenProject:
    """The project of a table, which is chosen as the studio's page would, in a folder beside it or
    in ``project``; or the project that was given itself.

    Raises `DataFileError` if there is nothing of that name, or the project is of another version.
    """
    path = Path(given or Path.cwd() / "synthdp").resolve()
    if given is not None and not path.exists():
        raise DataFileError(f"{given!r}: it does not exist; check the path")
    is_project = given is not None and (path / PROJECT).is_file()
    folder = path if is_project else Path(project or f"{path}{ENDING}")
    opened = OpenProject.load(folder, path.parent)
    name = path.name + ("/" if path.is_dir() else "")
    if given is None or is_project or opened.project.table == name:
        return opened
    if name not in tables_in(opened.place):
        raise DataFileError(
            f"{given!r}: it is no table; give a file such as people.csv, or a folder"
        )
    opened = opened.changed(kind=kind_of_choice(opened.place, name), table=name)
    opened.save()
    with suppress(SynthdpError):  # if it cannot be read, a page says why
        opened = with_first_names(opened, is_other=True)
        opened.save()
    return opened


def kind_of_choice(place: Path, name: str, *, is_one: bool = False) -> str:
    """Of which kind a table of the place is; a folder holds linked tables unless they ``is_one``.

    Raises `ProjectError` if it is not there.
    """
    kind = tables_in(place).get(name)
    if kind is None:
        raise ProjectError("table_gone", f"{name!r} is not in {str(place)!r}", name=name)
    return LINKED if kind == FOLDER and not is_one else kind


def with_first_names(opened: OpenProject, *, is_other: bool) -> OpenProject:
    """The project with the names of its table, by the delimiter and encoding that divide the first
    line into most columns; that line holds names, no record. What was described of linked tables
    goes if it ``is_other`` ones.

    What the project says of itself is left to the caller to save.
    """
    if opened.project.is_linked and is_other:
        opened.save_public(PACKAGE, {})
    if opened.project.is_linked and not is_written(opened):
        save_content(opened, package_of(opened))
        return opened
    found = shapes(opened) if is_written(opened) else {("utf-8", ","): 1}
    return with_names(opened, dialect_of(*max(found, key=lambda each: found[each])))[0]


def with_names(opened: OpenProject, dialect: Mapping[str, str]) -> tuple[OpenProject, bool]:
    """The project with the names as a dialect gives them, and whether they could be read; what was
    declared of columns of these names is kept.
    """
    opened = opened.changed(dialect=dict(dialect), names=[])
    try:
        if opened.project.is_linked:
            save_content(opened, with_former_tables(package_of(opened), content_of(opened)))
            return opened, True
        draft = draft_of_kinds(names_of(opened))
    except SynthdpError:
        return opened, False  # whoever looks at the table sees why
    former = content_of(opened)
    kinds = {name: former.get(name, kind) for name, kind in draft.items() if name != OWN}
    declared = {name: kind for name, kind in former.items() if name != OWN}
    rules = former.get(OWN, {}).get("constraints", []) if kinds == declared else []
    opened = opened.changed(names=list(kinds))
    save_kinds(opened, {"": kinds}, rules)
    return opened, True


def dialect_of(encoding: str, delimiter: str, mark: str = "") -> dict[str, str]:
    """How a file and its numbers, by their decimal mark, are written, where it is not as usual.

    >>> dialect_of("utf-8", ";", ",")
    {'delimiter': ';', 'decimalChar': ',', 'groupChar': '.'}
    """
    said = {"delimiter": delimiter, "encoding": encoding}
    numbers = {} if (delimiter, mark) == (",", ".") else dict(MARKS.get(mark, {}))
    return {key: each for key, each in said.items() if each not in (",", "utf-8")} | numbers


def likely_dialect(opened: OpenProject) -> dict[str, str]:
    """How a file is written as far as it is said or can be told of its names; '' where it cannot:
    of names in plain letters their encoding, and where no comma divides columns, the decimal mark.
    """
    project = opened.project
    is_plain = all(name.isascii() for names in kinds_of(opened).values() for name in names)
    encoding = "" if is_plain and not project.walked else "utf-8"
    mark = "." if project.dialect.get("delimiter", ",") == "," else ""
    usual = {"delimiter": ",", "encoding": encoding, "decimalChar": mark}
    return usual | dict(project.dialect)


def clear_delimiter(shapes: Mapping[tuple[str, str], int], said: Mapping[str, str]) -> str:
    """What a page calls the delimiter if it is the only one that divides the names, by an encoding
    that is known; '' if either has to be looked at.

    >>> clear_delimiter({("utf-8", ";"): 4, ("utf-8", ","): 1}, {"encoding": "utf-8"})
    ';'
    """
    dividing = [
        name for name, mark in DELIMITERS.items() if shapes.get((said["encoding"], mark), 0) > 1
    ]
    return dividing[0] if len(dividing) == 1 else ""


def is_written(opened: OpenProject) -> bool:
    """Whether it has to be said how the file is written: it is a text, and nothing describes it."""
    project = opened.project
    if project.kind == DATABASE or not project.table:
        return False
    try:
        if project.is_linked:
            described = DESCRIPTION in files_in(path_of(opened))
            return not described and any(map(is_text, package_files(path_of(opened))))
        return is_text(next(iter(parts_of(path_of(opened)))))
    except (StopIteration, SynthdpError):
        return False
