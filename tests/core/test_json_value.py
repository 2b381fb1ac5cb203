"""JSON values that are asked for what they should be: what is refused, and what the line says."""

import re
from datetime import date

import numpy as np
import pandas as pd
import pytest

from synthdp.core import JsonValue, ParameterError, SchemaError


def value(content, path="k"):
    return JsonValue(content, "file", path)


def test_values_of_the_right_kind_are_given_back():
    assert (value(3).whole(3, 3), value(-7).whole()) == (3, -7)
    assert (value(2).number(), value(0.5).number(least=0, most=1)) == (2, 0.5)
    assert (value(False).flag(), value("").text(), value("b").choice("ab")) == (False, "", "b")
    assert value(("a", "b")).texts() == ("a", "b")
    assert value([1, "a"]).sequence() == (1, "a")
    assert value({"a": 1}).mapping() == {"a": 1}
    assert [each.whole() for each in value([1, 2]).entries()] == [1, 2]


WRONG = {
    "true is no number": (True, lambda v: v.whole(), "k is True; give a whole number"),
    "nor one with decimals": (True, lambda v: v.number(), "k is True; give a finite number"),
    "a fraction": (2.0, lambda v: v.whole(1), "k is 2.0; give a whole number of at least 1"),
    "too small": (0, lambda v: v.whole(1, 9), "k is 0; give a whole number from 1 to 9"),
    "too large": (10, lambda v: v.whole(1, 9), "k is 10; give a whole number from 1 to 9"),
    "not a number": (float("nan"), lambda v: v.number(), "k is nan; give a finite number"),
    "infinite": (float("inf"), lambda v: v.number("a share"), "k is inf; give a share"),
    "beyond floats": (10**400, lambda v: v.number(), f"k is 1{'0' * 59}..; give a finite number"),
    "no truth value": (1, lambda v: v.flag(), "k is 1; give true or false"),
    "no text": (1, lambda v: v.text(), "k is 1; give a text"),
    "no choice": ("c", lambda v: v.choice(("a", "b")), "k is 'c'; give one of 'a', 'b'"),
    "a text is no list": ("ab", lambda v: v.texts(), "k is 'ab'; give a list of texts"),
    "nor are numbers texts": ([1], lambda v: v.texts("names"), "k is [1]; give names"),
    "an empty list": ([], lambda v: v.entries(least=1), "k is []; give a list"),
    "no object": ([], lambda v: v.mapping(), "k is []; give an object in braces"),
    "null": (None, lambda v: v.text(), "k is not given; give a text"),
    "nothing there": ({}, lambda v: v["a"]["b"].flag(), "k.a.b is not given; give true or false"),
    "an entry": ([{"a": 1}], lambda v: v.entries()[0]["a"].text(), "k[0].a is 1; give a text"),
    "two lines": ("a\nb", lambda v: v.flag(), r"k is 'a\nb'; give true or false"),
    "an unknown key": ({"c": 1}, lambda v: v.check_keys(("a", "b")), "it may have a, b"),
    "a misspelt key": (
        {"colunms": 1},
        lambda v: v.check_keys(("columns",), " here"),
        "'k.colunms' is not known here; did you mean 'columns'?",
    ),
    "what others call it": (
        {"max rows": 1},
        lambda v: v.check_keys({"max_children": ("max_rows",)}),
        "'k.max rows' is not known; did you mean 'max_children'?",
    ),
}


@pytest.mark.parametrize(("content", "ask", "says"), WRONG.values(), ids=WRONG)
def test_all_else_is_refused_in_one_line(content, ask, says):
    with pytest.raises(SchemaError, match=f"^file: .*{re.escape(says)}$") as refused:
        ask(value(content))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"diagnosis": ["G35"]}),
        pd.Series(["G35"]),
        np.array(["G35"]),
        [{"diagnosis": pd.Series(["G35"])}],
        b"G35",
        {date(2026, 1, 1): "G35"},
    ],
)
@pytest.mark.parametrize("path", ["", "k"])
def test_no_line_shows_what_may_be_a_table(table, path):
    with pytest.raises(SchemaError, match=r"(it|k) is a \w+; give a text") as refused:
        value(table, path).text()
    assert "G35" not in str(refused.value)


def test_of_all_that_a_file_holds_a_line_shows_only_the_type():
    for content in ([{"diagnosis": "G35"}], {"diagnosis": "G35"}, "G35"):
        with pytest.raises(SchemaError, match=r"^file: it is a (list|dict|str); give true or fals"):
            value(content, "").flag()


def test_the_error_is_that_of_who_asks():
    asked = JsonValue({"k": 0}, "workload", error=ParameterError)
    with pytest.raises(ParameterError, match=r"^workload: k is 0; give a whole number of at least"):
        asked["k"].whole(1)
    assert asked["l"].default(3).whole() == 3
    assert asked["k"].default(3).whole() == 0
