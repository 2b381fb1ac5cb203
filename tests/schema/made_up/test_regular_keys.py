"""Texts that fit a regular expression: all of them do, no two are the same, and what cannot be told
apart is left alone.
"""

import re

import pytest

from synthdp.schema import RegularKeys

EXPRESSIONS = [
    r"^H\d{4}$",
    r"[A-Z]{2}-\d{3}",
    r"[A-Za-z_]\w*",
    r"[1-9]\d*",
    r"P\.[0-9a-f]{2,8}",
    r"\d+/\d+",
    r"x?\d?",
    r"[\dX]{3}-?[ab]",
    r"[-a]{9}",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_is_written_fits_and_is_never_the_same(expression):
    keys = RegularKeys.parse(expression)
    written = keys.written(range(3000))
    assert len(set(written)) == len(written)
    assert all(written)
    fitting = [text for text in written if re.fullmatch(expression.strip("^$"), text)]
    rooms = {r"x?\d?": 10, r"[\dX]{3}-?[ab]": 2 * 11**3, r"[-a]{9}": 512}
    assert fitting == written[: rooms.get(expression, 3000)], "as long as there is room"


@pytest.mark.parametrize(
    "expression",
    ["(a|b)\\d", "H-7", "[^a]+", "\\d(?=x)", ".{4}", "", "a||b", "\\bx\\d", "[a", "\\d*+"],
)
def test_other_expressions_are_left_alone(expression):
    assert RegularKeys.parse(expression) is None
