"""The house's rules, checked on any tree of modules: floors and rooms. Nothing here names a module."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from runpy import run_path

import networkx as nx

FLOORS = run_path(str(Path(__file__).parents[2] / ".ci/closures.py"))["FLOORS"]
"""From the bottom up. Folders of one floor may not import each other."""

ROOMS = {
    "core": (("",), ("files",)),
    "privacy": (("noise",), ("",), ("values", "shares")),
    "inference": (
        ("",), ("trees", "products"), ("regions",), ("optimisers",), ("graphical",), ("rows", "known"), ("models",),
        ("engines",),
    ),
    "schema": (("words",), ("axes",), ("columns",), ("rules", "made_up"), ("",)),
    "mechanisms": (("shared",), ("auto",), ("",)),
    "learning": (("cells",), ("",)),
    "data": (
        ("asking",), ("files", "frames", "counting", "codes"), ("records",), ("engines",), ("engines.values",),
        ("engines.tables",), ("",),
    ),
    "release": (("drawing",), ("certificate", "persistence", "saving", "uncertainty"), ("",), ("sites",)),
    "linked": (("package",), ("linking",), ("families",), ("",), ("histories",), ("doors",)),
    "report": (
        ("metrics", "rendering"), ("pages", "prediction"), ("texts", ""), ("linked", "release_pages"), ("doors",),
    ),
    "audit": (("asking",), ("",)),
    "cli": (("arguments", "describing"), ("planning", "shared"), ("projects",), ("studio",), ("commands",), ("",)),
}  # fmt: skip
"""The floors inside a folder; an empty name is the folder's own files."""

DOORS = ("synthdp", "synthdp.__main__")
"""They stand at the top and open onto the whole house."""


@dataclass(frozen=True)
class Module:
    """One file: its name as it is imported, its text, and whether it is a package's ``__init__``."""

    name: str
    text: str
    is_package: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def folder(self) -> str:
        """The dotted name of the folder that it lies in."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @property
    def place(self) -> tuple[str, str]:
        """Its folder of the house, and the room in it."""
        parts = self.folder.split(".")
        if self.name in DOORS or len(parts) == 1:
            return "synthdp", ""
        return parts[1], ".".join(parts[2:])


@dataclass(frozen=True)
class House:
    """All modules of a package by name."""

    modules: Mapping[str, Module]
    _cache: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, sources: Mapping[str, str]) -> "House":
        """A house of texts; names that end in ``.__init__`` are packages."""
        found = [
            Module(name.removesuffix(".__init__"), text, name.endswith("__init__"))
            for name, text in sources.items()
        ]
        return cls({module.name: module for module in found})

    @classmethod
    def at(cls, root: Path) -> "House":
        """The house in a checkout."""
        sources = {}
        for folder, package in (
            (root / "synthdp", "synthdp"),
            (root / "mechanisms", "synthdp.mechanisms"),
        ):
            for path in sorted(folder.rglob("*.py")):
                sources[".".join([package, *path.relative_to(folder).with_suffix("").parts])] = (
                    path.read_text()
                )
        return cls.of(sources)

    def imports(self, name: str) -> set[str]:
        """Everything that a module imports: at its top, inside functions, for types only, or by a
        name in a text.
        """
        if name not in self._cache:
            self._cache[name] = set(self._found(self.modules[name]))
        return self._cache[name]

    def _found(self, module: Module) -> Iterator[str]:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{module.name}: imports are absolute"
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    yield full if full in self.modules else str(node.module)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = re.fullmatch(r"(synthdp(?:\.\w+)+)(?::\w+)?", node.value)
                if named and named[1] in self.modules:
                    yield named[1]

    def own(self, name: str) -> list[str]:
        """The modules of the house that a module imports."""
        return sorted(found for found in self.imports(name) if found.split(".")[0] == "synthdp")


def misplaced(house: House) -> list[str]:
    """Folders that the house does not know."""
    known = {"synthdp", *(name for floor in FLOORS for name in floor)}
    found = []
    for module in house.modules.values():
        top, room = module.place
        rooms = {name for floor in ROOMS.get(top, (("",),)) for name in floor}
        if top not in known or room not in rooms | {""}:
            found.append(
                f"{module.name}: the folder {module.folder} is unknown; give it a floor in tests/helpers/house.py"
            )
    return found


def upward(house: House) -> list[str]:
    """Imports that do not go down: to a higher floor, to a neighbour on the same floor, or to
    nothing.
    """
    found = []
    for name, module in house.modules.items():
        if name in DOORS:
            continue
        for other in house.own(name):
            if other == "synthdp.core.version":
                continue
            if other not in house.modules:
                found.append(f"{name} imports {other}, which does not exist")
            elif other in DOORS or not _goes_down(module.place, house.modules[other].place):
                found.append(f"{name} imports {other}, which is not below it")
    return found


def _goes_down(here: tuple[str, str], there: tuple[str, str]) -> bool:
    if here == there:
        return True
    if here[0] != there[0]:
        return _rank(FLOORS, there[0]) < _rank(FLOORS, here[0])
    return _rank(ROOMS[here[0]], there[1]) < _rank(ROOMS[here[0]], here[1])


def _rank(floors: tuple[tuple[str, ...], ...], name: str) -> int:
    return next((i for i, floor in enumerate(floors) if name in floor), -1)


def circles(house: House) -> list[set[str]]:
    """Modules that import each other, however far round."""
    graph = nx.DiGraph()
    for name in house.modules:
        if name not in DOORS:
            graph.add_edges_from((name, other) for other in _imported(house, name) if other != name)
    return [circle for circle in nx.strongly_connected_components(graph) if len(circle) > 1]


def _imported(house: House, name: str) -> list[str]:
    """What a module imports by statements; a registry's names are no circle: they are loaded when
    asked for.
    """
    by_statement = set()
    for node in ast.walk(house.modules[name].tree):
        if isinstance(node, ast.ImportFrom):
            by_statement |= {str(node.module)} | {
                f"{node.module}.{alias.name}" for alias in node.names
            }
        elif isinstance(node, ast.Import):
            by_statement |= {alias.name for alias in node.names}
    return sorted((by_statement & house.modules.keys()) - set(DOORS))


def code_lines(text: str) -> int:
    """Lines of code: without docstrings, comments, blank lines and imports."""
    tree, lines = ast.parse(text), text.splitlines()
    left = {
        i for i, line in enumerate(lines, 1) if line.strip() and not line.strip().startswith("#")
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
            left -= set(range(node.lineno, node.end_lineno + 1))
    return len(left)


def _is_text(node: ast.AST) -> bool:
    """Whether a statement is a docstring, or the text below an attribute."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
