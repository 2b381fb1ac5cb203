"""Commands see what they were told as plain frozen values, and never argparse's namespace."""

import argparse
import ast
from dataclasses import FrozenInstanceError, fields
from importlib import import_module

import pytest
from helpers.paths import ROOT

from synthdp.cli import COMMANDS, command_line_parser, options_of

RUN = ["run", "in.csv", "-s", "schema.json", "-o", "out.csv", "--epsilon", "1", "--delta", "1e-9"]
SEES_NAMESPACES = {"parsing.py", "options.py"}


def parser_of(words):
    """The parser of a command."""
    parser = command_line_parser()
    for word in words.split():
        (below,) = (
            each for each in parser._actions if isinstance(each, argparse._SubParsersAction)
        )
        parser = below.choices[word]
    return parser


def told_by(*words):
    """What a command is told by some words."""
    parsed = command_line_parser().parse_args(words)
    command = COMMANDS[parsed.command]
    return options_of(getattr(import_module(command.module), command.options), parsed)


@pytest.mark.parametrize("words", COMMANDS)
def test_each_command_is_told_what_its_parser_knows(words):
    known = {action.dest for action in parser_of(words)._actions} - {"help"}
    kind = getattr(import_module(COMMANDS[words].module), COMMANDS[words].options)
    assert {field.name for field in fields(kind)} - {"began"} == known


def test_what_is_told_is_frozen():
    told = told_by(*RUN)
    assert (told.input, told.epsilon, told.rows, told.force) == ("in.csv", 1.0, None, False)
    with pytest.raises(FrozenInstanceError):
        told.rows = 3
    assert told_by("marginal", "m.synthdp", "a", "b").columns == ("a", "b")


def test_only_parsers_and_the_one_conversion_see_namespaces():
    seeing = set()
    for path in (ROOT / "synthdp/cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr == "Namespace":
                seeing.add(path.name)
    assert seeing == SEES_NAMESPACES
