"""Faces of rooms: the names that a room offers, each loaded when it is first used."""

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module


def face(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose stub lists what it offers.

    The stub, ``__init__.pyi``, is the only list: type checkers read it, and so does the package
    when somebody asks it for a name. Importing the package loads nothing of it.
    """

    @cache
    def homes() -> dict[str, str]:
        """Names and their modules; the stub is opened for the first name only."""
        with open(f"{file.rpartition('.')[0]}.pyi", encoding="utf-8") as stub:  # noqa: PTH123
            return listed(stub.read())

    def load(name: str) -> object:
        # Python asks for __path__ and the like, too: those are no reason to open the stub.
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes()[name]), name)

    return load, lambda: sorted(homes())


def listed(stub: str) -> dict[str, str]:
    """The names that a stub imports, each with the module that defines it."""
    return {
        alias.name: str(node.module)
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
