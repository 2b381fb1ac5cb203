"""What is answered of a column, and the kind that it says."""

import numpy as np
import pandas as pd
import pytest

from synthdp.core import ParameterError
from synthdp.schema import Schema, answers_of_kind, kind_of_answers

POSTCODE = {
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 99999},
    "synthdp": {"bins": 100, "width": 5},
}
NEAR = [
    "integer",
    "categorical",
    POSTCODE | {"synthdp": {"width": 5}},
    POSTCODE | {"synthdp": {"bins": 100}},
    POSTCODE | {"synthdp": {"bins": 100, "width": 4}},
    POSTCODE | {"constraints": {"minimum": 1000, "maximum": 99999}},
    POSTCODE | {"synthdp": {"bins": 100, "width": 5, "relative_to": "a", "minimum": 0}},
]


@pytest.mark.parametrize(
    "more", [{}, {"missing": "-"}, {"width": "4"}, {"bins": "1000"}, {"required": "never"}]
)
def test_a_postcode_is_shown_as_it_was_answered(more):
    answers = {"kind": "postcode"} | more
    kind = kind_of_answers(answers)
    assert kind["type"] == "integer"
    assert answers_of_kind(kind, mark=",") == answers
    assert (
        kind_of_answers(answers | {"minimum": "5", "levels": "1", "width": ""})["constraints"][
            "minimum"
        ]
        == 0
    )  # what was answered of another kind says nothing


@pytest.mark.parametrize("kind", NEAR)
def test_what_is_no_postcode_is_shown_as_the_number_that_it_is(kind):
    answers = answers_of_kind(kind)
    assert answers["kind"] != "postcode"
    assert kind_of_answers(answers) == kind


def test_postcodes_are_read_and_written_with_all_digits():
    """Those of one region are one bin, and so are those that a spreadsheet took the zero of."""
    field = {"name": "plz", **kind_of_answers({"kind": "postcode"})}
    column = Schema.from_dict({"fields": [field]})["plz"]
    codes = column.encode(pd.Series(["01067", "1099", "01999", "02000", "99999"]))
    assert len(set(codes[:3])) == 1
    assert len(set(codes)) == 3
    drawn = column.decode_text(codes, np.random.default_rng(1))
    assert [len(each) for each in drawn] == [5] * 5
    assert [each[:2] for each in drawn] == ["01", "01", "01", "02", "99"]


@pytest.mark.parametrize("line", ["01000 ... 99999", " 00000…99999 "])
def test_a_series_too_long_for_levels_is_one_of_codes(line):
    kind = kind_of_answers({"kind": "categorical", "levels": line, "other": "andere"})
    first = int(line.strip()[:5])
    assert kind == {
        "type": "integer",
        "constraints": {"minimum": first, "maximum": 99999},
        "synthdp": {"width": 5},
    }


@pytest.mark.parametrize("line", ["1 ... 99999", "9" * 5000 + " ... " + "9" * 5000, "5 ... 1"])
def test_other_long_series_are_refused(line):
    with pytest.raises(ParameterError, match="is no series"):
        kind_of_answers({"kind": "categorical", "levels": line})


@pytest.mark.parametrize("width", ["x", "-1"])
def test_digits_of_a_postcode_are_a_number(width):
    with pytest.raises(ParameterError, match="width"):
        kind_of_answers({"kind": "postcode", "width": width})
