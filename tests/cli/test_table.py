"""What the shell finds by name is there, and is loaded only when it is asked for."""

import argparse
import ast
import subprocess
import sys

import pytest
from helpers.paths import ROOT

from synthdp.cli import (
    COMMANDS,
    LOAD_RELEASE,
    PACKAGE_COMMANDS,
    PACKAGE_FACTS,
    RUN_HISTORY,
    SAVED_FILES,
    command_line_parser,
)
from synthdp.core import import_named

NAMED = {
    **{
        f"{what} of {name}": f"{each.module}:{what}"
        for name, each in COMMANDS.items()
        for what in (each.function, each.options)
    },
    **{f"package {name}": named for name, named in PACKAGE_COMMANDS.items()},
    "run of a history": RUN_HISTORY,
    "facts of a package": PACKAGE_FACTS,
    "releases of any kind": LOAD_RELEASE,
    **{
        f"{kind} {what}": each
        for kind in SAVED_FILES
        for what, each in vars(SAVED_FILES[kind]).items()
    },
}


@pytest.mark.parametrize("name", NAMED)
def test_every_name_is_there(name):
    assert callable(import_named(NAMED[name]))


def words_of(parser, words=()):
    """Every command by its words, with what its parser says it is called."""
    below = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    if not below:
        yield " ".join(words), parser.get_default("command")
    for action in below:
        for word, each in action.choices.items():
            yield from words_of(each, (*words, word))


def test_every_command_stands_in_the_table_by_its_words():
    found = dict(words_of(command_line_parser()))
    assert found == {name: name for name in COMMANDS}
    assert PACKAGE_COMMANDS.keys() <= COMMANDS.keys()


def test_every_kind_of_saved_file_stands_in_it():
    assert SAVED_FILES.keys() == {"table", "linked"}


@pytest.mark.parametrize("command", ["run", "sample"])
def test_a_command_for_one_table_loads_nothing_of_linked_ones(command):
    script = f"import sys, synthdp.cli.commands.{command}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True
    )
    assert not [name for name in done.stdout.split() if name.startswith("synthdp.linked")]


def test_no_other_file_of_the_shell_names_a_module_that_is_still_to_be_loaded():
    shell = ROOT / "synthdp/cli"
    for path in sorted(shell.rglob("*.py")):
        texts = [
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        if path not in (shell / "commands/table.py", shell / "projects/declared.py"):
            assert not [text for text in texts if text.startswith("synthdp.") and ":" in text], path
