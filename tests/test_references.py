"""Names that docstrings and pages give in full exist: a reader who looks for one finds it."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import synthdp

PACKAGES = [
    Path(synthdp.__file__).parent,
    Path(import_module("synthdp.mechanisms").__file__).parent,
]
NAME = re.compile(r"`(synthdp(?:\.\w+)+)`")
KEYS = {"synthdp.ignore", "synthdp.per"}
"""Keys of schema files, which look alike."""


def named():
    """Each name, with the file that gives it first."""
    files = [file for package in PACKAGES for file in sorted(package.rglob("*.py"))]
    found = {}
    for file in files:
        for name in NAME.findall(file.read_text()):
            found.setdefault(name, file.name)
    return {name: file for name, file in found.items() if name not in KEYS}


@pytest.mark.parametrize("name", sorted(named()))
def test_a_name_in_backticks_exists(name):
    holder, _, member = name.rpartition(".")
    assert _resolved(name) or member in getattr(_resolved(holder), "__annotations__", {}), named()[
        name
    ]


def _resolved(name):
    """What a dotted name says, a module or something in one; None if there is no such."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:n]))
        except ImportError:
            continue
        for part in parts[n:]:
            thing = getattr(thing, part, None)
        return thing
    return None
