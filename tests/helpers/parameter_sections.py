"""Parameters on the pages of mechanisms and engines: the site renders the texts below their
fields, all of which must have one.

``python tests/helpers/parameter_sections.py`` writes these sections anew.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

from synthdp.mechanisms import Mechanism
from synthdp.privacy import Accounting
from synthdp.release import ENGINES, MECHANISMS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PUBLIC_DATA = {"public-data": "synthdp.inference.engines.public_data:PublicDataEngine"}
"""The engine that no name stands for, as it needs an argument."""

PAGES = {DOCS / f"mechanisms/{name}.md": home for name, home in MECHANISMS.items()}
PAGES |= {DOCS / f"engines/{name}.md": home for name, home in (ENGINES | PUBLIC_DATA).items()}
HEADING = "## Parameters\n"


def class_of(page: Path) -> type:
    """The class that a page describes."""
    module, _, name = PAGES[page].partition(":")
    found: type = getattr(import_module(module), name)
    return found


def shown(page: Path) -> str:
    """What a page says under the heading of its parameters."""
    return page.read_text(encoding="utf-8").partition(HEADING)[2].partition("\n## ")[0].strip()


def expected(page: Path) -> str:
    """What it should say there: where the class is, and its reference with all parameters."""
    cls, (module, _, name) = class_of(page), PAGES[page].partition(":")
    lines = [f"`{name}` in `{_place(module, name)}`{_facts(cls)}.", ""]
    known = [each.name for each in fields(cls)]
    if not known:
        return "\n".join([*lines, "It has none."])
    if undocumented := set(known) - dict(documented(cls)).keys():
        raise ValueError(
            f"{module}: no text below the fields of {name} says anything of {sorted(undocumented)}"
        )
    source = module.removeprefix("synthdp.") if "mechanisms" in module else module
    lines += [f"::: {source}.{name}", "    options:", f"      members: [{', '.join(known)}]"]
    return "\n".join([*lines, "      inherited_members: true"])


def _place(module: str, name: str) -> str:
    """What a reader imports the class from: the room, if its face lists it."""
    room = ".".join(module.split(".")[:2])
    return room if name in dir(import_module(room)) else module


def documented(cls: type) -> Iterator[tuple[str, str]]:
    """Names and meanings of parameters in Markdown, a line each: those of base classes first, as a
    class may say more of them.
    """
    for base in reversed(cls.__mro__):
        if is_dataclass(base):
            yield from _below_fields(base)
        yield from _documented(inspect.cleandoc(base.__doc__ or ""))


def _below_fields(cls: type) -> Iterator[tuple[str, str]]:
    """What stands below a field, or below the last of several that have one text in common."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef)
    names: list[str] = []
    for statement in tree.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.append(name)
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield from ((name, _line(text)) for name in names)
                names = []


def _documented(text: str) -> Iterator[tuple[str, str]]:
    """What stands in the parameters' section of a docstring."""
    found = re.search(
        r"^Parameters\n-+\n(.*?)(?=\n\n\w[^\n]*\n-+\n|\n\n>>>|\n\nSee |\Z)",
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
    entries = re.findall(
        r"^(\w[\w, ]*)\n((?:    .*\n?|\n(?=    ))+)", found[1] if found else "", flags=re.MULTILINE
    )
    for names, meaning in entries:
        for name in names.split(", "):
            yield name, _line(meaning)


def _line(text: str) -> str:
    """A text in one line of Markdown."""
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")


def _facts(cls: type) -> str:
    """Of a mechanism its engine and accounting, the one that it uses unless told otherwise first."""
    if not issubclass(cls, Mechanism):
        return ""
    known = [cls.default_accounting.value]
    known += (
        [each.value for each in Accounting if each.value not in known] if cls.is_gaussian else []
    )
    return (
        f"; engine `{cls.default_engine}`; accounting {' or '.join(f'`{each}`' for each in known)}"
    )


def main() -> None:
    for page in PAGES:
        before, heading, after = page.read_text(encoding="utf-8").partition(HEADING)
        rest = after.partition("\n## ")
        text = before + heading + "\n" + expected(page) + "\n" + "".join(rest[1:])
        page.write_text(
            text if heading else f"{before}\n{HEADING}\n{expected(page)}\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
