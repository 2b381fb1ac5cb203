"""Rules of the answers of a form, without a page."""

import pytest

from synthdp.core import ParameterError
from synthdp.schema import rule_of_answers

WARD = {"type": "categorical", "constraints": {"enum": ["A", "B"]}}


def test_numbers_have_the_marks_of_the_file():
    answers = {"0.side": ["left"], "1.side": ["right"], "1.times": ["2,5"], "number": ["-1.000"]}
    answers |= {"compared": ["<="]}
    rule = rule_of_answers("check", {"a": "number", "b c": "number"}, answers, mark=",")
    assert rule == {"check": "a <= 2.5 * `b c` - 1000"}


def test_a_limit_is_of_the_columns_of_its_own_table():
    answers = {"0.0.level": ['"A"'], "at_most": ["2"]}
    limit = rule_of_answers("limit", {"stays.ward": WARD}, answers)
    assert limit == {"where": {"ward": ["A"]}, "at_most": 2}


@pytest.mark.parametrize(
    "name", ["", "x", "²", "99999999999.0.level", "9999.0.level", "-1.0.level"]
)
def test_odd_names_of_answers_are_no_cases(name):
    cases = {"0.0.level": ['"A"'], name: ['"B"']}
    assert rule_of_answers("allow", {"ward": WARD}, cases) == {"allow": [{"ward": ["A"]}]}
    with pytest.raises(ParameterError, match="no condition"):
        rule_of_answers("forbid", {"ward": WARD}, {name: ['"B"']})
