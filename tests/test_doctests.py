"""Every example in a docstring is run."""

import doctest
from importlib import import_module

import pytest
from helpers.paths import ROOT

MODULES = [
    ".".join([package, *path.relative_to(folder).with_suffix("").parts]).removesuffix(".__init__")
    for folder, package in (
        (ROOT / "synthdp", "synthdp"),
        (ROOT / "mechanisms", "synthdp.mechanisms"),
    )
    for path in sorted(folder.rglob("*.py"))
    if path.name != "__main__.py" and ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    assert (
        sum(len(test.examples) for name in MODULES for test in finder.find(import_module(name)))
        > 30
    )
