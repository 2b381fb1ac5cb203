"""Faces of rooms, and which internal modules tests name by path."""

import ast
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

DOTTED = re.compile(r"(synthdp(?:\.\w+)+)(?::\w+)?")
IN_CODE = re.compile(r"^\s*(?:from|import) (synthdp(?:\.\w+)+)", flags=re.MULTILINE)


def stub_of(root: Path, room: str) -> Path:
    """The list of what a room offers."""
    folder = root / "mechanisms" if room == "mechanisms" else root / "synthdp" / room
    return folder / "__init__.pyi"


def deep_imports(sources: Mapping[str, str], modules: Container[str]) -> Counter[str]:
    """Internal modules that sources name by path, each with how many of the sources name it.

    It counts whether they import it, import from it, or patch it by a text; code that is itself a
    text, for another process, counts as well.
    """
    return Counter(
        module for text in sources.values() for module in set(_named(ast.parse(text), modules))
    )


def _named(tree: ast.Module, modules: Container[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = IN_CODE.findall(node.value)
            if match := DOTTED.fullmatch(node.value):
                names.append(match[1])
        for name in names:
            if (module := _module(name, modules)) is not None:
                yield module


def _module(name: str, modules: Container[str]) -> str | None:
    """The internal module that a dotted name lies in; None for a room, the package and others."""
    while name.count(".") > 1:
        if name in modules:
            return name
        name = name.rpartition(".")[0]
    return None
