"""Short codes: each has its row in the page that explains them, and no phrase is out of use."""

import re
from pathlib import Path

import pytest
from helpers.homes import home

from synthdp.core import ParameterError, SchemaError, all_codes, caution_code, error_code

ROOT = Path(__file__).parents[2]
CODES = home(all_codes)
PAGE = (ROOT / "docs/troubleshooting.md").read_text()


def test_page_explains_exactly_the_codes_that_there_are():
    assert sorted(set(re.findall(r"^\| ([CE]\d\d) \|", PAGE, re.MULTILINE))) == all_codes()


def test_each_phrase_stands_in_a_message_of_the_code():
    code = "\n".join(
        path.read_text()
        for folder in ("synthdp", "mechanisms")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "message_codes.py"
    )
    joined = re.sub(r'"\s*\n\s*f?"', "", code)  # texts over several lines are one
    texts = re.sub(r"\{[^{}]*\}", "", joined)
    phrases = [
        phrase
        for codes in (CODES._CAUTIONS, CODES._REFUSALS)
        for _, phrases in codes
        for phrase in phrases
    ]
    assert [phrase for phrase in phrases if phrase not in joined and phrase not in texts] == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ParameterError("epsilon is -1; give a number above 0"), "E20"),
        (ParameterError("'a.csv': it exists; pass --force"), "E11"),
        (SchemaError("schema: 'a' and 'b' contradict each other"), "E19"),
    ],
)
def test_error_has_the_code_of_its_text_or_else_of_its_kind(error, code):
    assert error_code(error) == code


def test_caution_that_nobody_listed_says_so():
    assert caution_code("the moon is full") == "C00"
