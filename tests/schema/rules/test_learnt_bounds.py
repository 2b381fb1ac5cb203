"""Learnt bounds that contradict a check give way."""

import pytest

from synthdp.core import SchemaError
from synthdp.schema import NumberColumn, OpenSchema


def opened(name, kind="integer", **more):
    return {"name": name, "type": kind, "synthdp": {"derive": True}} | more


def declared(name, low, high):
    bounds = {"minimum": low, "maximum": high}
    own = {"bins": min(10, high - low + 1)}
    return {"name": name, "type": "integer", "constraints": bounds, "synthdp": own}


def resolved(fields, checks, **found):
    public = OpenSchema.from_dict(
        {"fields": fields, "synthdp": {"constraints": [{"check": check} for check in checks]}}
    )
    by_name = {column.name: column for column in public.open_columns}
    return public.resolved(
        {name: by_name[name].resolved(**settings) for name, settings in found.items()}
    )


def bounds(schema, *names):
    return [(schema[name].minimum, schema[name].maximum) for name in names]


def test_bounds_that_leave_values_stay():
    found = {
        "a": {"minimum": 10, "maximum": 90, "edges": [10, 20, 90]},
        "b": {"minimum": 0, "maximum": 15},
    }
    schema = resolved([opened("a"), opened("b")], ["a <= b"], **found)
    assert bounds(schema, "a", "b") == [(10, 90), (0, 15)]


def test_bounds_that_leave_none_are_widened_and_others_are_not():
    found = {
        "a": {
            "minimum": 50,
            "maximum": 90,
            "edges": [50, 60, 90],
            "shape": {"starts": [50, 70], "weights": [1, 2]},
        },
        "b": {"minimum": 0, "maximum": 15},
        "c": {"minimum": 7, "maximum": 7},
        "d": {"minimum": 3, "maximum": 3},
    }
    fields = [*map(opened, found), declared("e", 0, 5)]
    schema = resolved(fields, ["a <= b", "c <= a", "d <= e"], **found)
    assert bounds(schema, "a", "b", "c", "d", "e") == [(0, 90), (0, 90), (7, 7), (3, 3), (0, 5)]
    assert schema["a"].edges == (0, 60, 90)


def test_declared_bounds_stay_where_bins_are_learnt():
    binned = {
        "name": "b",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 9},
        "synthdp": {"derive": ["bins"]},
    }
    found = {"a": {"minimum": 50, "maximum": 60}, "b": {"edges": [0, 4, 9]}}
    schema = resolved([opened("a"), binned], ["a <= b"], **found)
    assert bounds(schema, "a", "b") == [(0, 60), (0, 9)]


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        (
            ["a > 200", "a < 100"],
            "the check 'a > 200' and the check 'a < 100' contradict each other",
        ),
        (
            ["a <= b", "b <= c"],
            "no values within the bounds keep to them, 'a' from 50 to 500, 'c' from 0 to 9;",
        ),
        (
            ["day <= end", "end <= born"],
            "'day' from 2010-01-01 to 2010-12-31, 'born' from 1950-01-01 to 1950-12-31",
        ),
    ],
)
def test_what_no_bounds_could_mend_is_refused_before_anything_is_learnt(checks, message):
    fields = [opened("b"), opened("end", "date"), declared("c", 0, 9), declared("a", 50, 500)]
    for name, year in (("day", 2010), ("born", 1950)):
        limits = {"minimum": f"{year}-01-01", "maximum": f"{year}-12-31"}
        fields.append({"name": name, "type": "date", "constraints": limits})
    with pytest.raises(SchemaError, match=message) as raised:
        OpenSchema.from_dict(
            {"fields": fields, "synthdp": {"constraints": [{"check": check} for check in checks]}}
        )
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("fields", "checks", "found"),
    [
        ([opened("a"), declared("b", 0, 9)], ["a <= b"], {"a": {"minimum": 50, "maximum": 50}}),
        (
            [opened("a"), declared("b", 0, 99), opened("c")],
            ["a <= b", "b <= c"],
            {"a": {"minimum": 60, "maximum": 90}, "c": {"minimum": 0, "maximum": 5}},
        ),
        (
            [opened("a"), opened("b")],
            ["a < b"],
            {"a": {"minimum": 5, "maximum": 5}, "b": {"minimum": 5, "maximum": 5}},
        ),
        (
            [opened("a"), opened("b"), opened("c", "number")],
            ["c = a + 2 * b"],
            {name: {"minimum": 10**i, "maximum": 2 * 10**i} for i, name in enumerate("cab")},
        ),
        (
            [opened("a", "date"), opened("b", "datetime")],
            ["a < b"],
            {
                "a": {"minimum": "2010-01-01", "maximum": "2011-01-01"},
                "b": {"minimum": "2009-01-01T00:00:00", "maximum": "2009-03-01T12:00:00"},
            },
        ),
        (
            [
                opened("a", "date", synthdp={"derive": True, "resolution": "week"}),
                declared("n", 0, 9),
                opened("b", "date"),
            ],
            ["a <= b"],
            {
                "a": {"minimum": "9999-01-01", "maximum": "9999-12-31"},
                "b": {"minimum": "0001-01-08", "maximum": "0001-02-01"},
            },
        ),
        (
            [opened("a"), opened("b")],
            ["a + 1000 <= b"],
            {name: {"minimum": 0, "maximum": 9} for name in "ab"},
        ),
    ],
)
def test_nothing_that_bounds_can_be_ends_a_run(fields, checks, found):
    schema = resolved(fields, checks, **found)
    schema.checks.check_possible()


@pytest.mark.parametrize(
    ("fields", "checks", "message"),
    [
        (map(opened, "abc"), ["b < c + a", "b = c", "c >= a + b"], "contradict each other"),
        (
            [opened("a"), declared("b", 1, 99), opened("c")],
            ["a = 2 * b", "a <= b"],
            "keep to them, 'b' from 1 to 99;",
        ),
        (
            [opened("b"), declared("a", 0, 1), declared("c", 0, 1)],
            ["a < b < c"],
            "'a' from 0 to 1, 'c' from 0 to 1;",
        ),
        (
            [opened("b", "number"), declared("a", 0, 5)],
            ["2 * b = 2 * a + 11", "b <= a"],
            "'2 \\* b = 2 \\* a",
        ),
        (
            [opened("a", constraints={"maximum": 10}), opened("b")],
            ["a >= b + 2", "b >= 9"],
            "'b >= 9'",
        ),
    ],
)
def test_what_nothing_learnt_could_keep_to_is_refused_before_it_is_learnt(fields, checks, message):
    rules = [{"check": check} for check in checks]
    with pytest.raises(SchemaError, match=message) as raised:
        OpenSchema.from_dict({"fields": list(fields), "synthdp": {"constraints": rules}})
    assert "\n" not in str(raised.value)


def test_widened_bounds_keep_to_a_declared_limit():
    fields = [opened("a", constraints={"minimum": 40}), opened("b")]
    found = {"a": {"minimum": 50, "maximum": 60}, "b": {"minimum": 0, "maximum": 20}}
    schema = resolved(fields, ["a <= b"], **found)
    assert schema["a"].minimum == 40
    assert schema["b"].maximum >= 40


def test_bins_that_decimals_of_a_total_would_leave_empty_are_merged():
    learnt = {"derive": True, "decimals": 1}
    part = {
        "name": "c",
        "type": "number",
        "constraints": {"minimum": 100, "maximum": 105},
        "synthdp": {"bins": 64},
    }
    fields = [opened(name, "number", synthdp=learnt) for name in "ab"] + [part]
    found = {name: {"minimum": -1e14, "maximum": 1e14} for name in "ab"}
    schema = resolved(fields, ["a = 2 * c", "b = 10 * c"], **found)
    assert schema["c"].decimals == 1
    assert schema["c"].n_levels == 51
    assert (schema["c"].minimum, schema["c"].maximum) == (100, 105)


def test_where_bounds_cannot_be_widened_columns_become_examples():
    far = {"a": {"minimum": 1e200, "maximum": 2e200, "required": True}}
    schema = resolved([opened("a", "number"), declared("b", 1, 9)], ["a = b"], **far)
    assert schema.checks.is_possible
    assert schema["a"].maximum < 1e16
    assert schema["a"].required


def test_other_rules_count_before_anything_is_learnt():
    grown = {
        "name": "age",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 99, "required": True},
    }
    grown["synthdp"] = {"edges": [0, 18, 99]}
    fields = [opened("years"), grown, declared("n", 0, 9)]
    forbidden = [{"forbid": {"age": {"minimum": 18}}}]
    rules = [{"check": "age >= 50 + n"}, *forbidden]
    with pytest.raises(SchemaError, match="no row that keeps to the other rules keeps to it"):
        OpenSchema.from_dict({"fields": fields, "synthdp": {"constraints": rules}})
    rules = [{"check": "years >= age + 5"}, *forbidden]
    public = OpenSchema.from_dict({"fields": fields, "synthdp": {"constraints": rules}})
    (column,) = public.open_columns
    schema = public.resolved({"years": column.resolved(minimum=-20, maximum=-10)})
    assert schema["years"].maximum >= 5


def test_decimals_that_no_float_has_are_an_error_of_the_schema():
    """So that a run whose bounds came out astronomic goes on with others, and what it paid for is
    not lost.
    """
    column = NumberColumn(name="income", minimum=0.0, maximum=1e150)
    with pytest.raises(SchemaError, match=r"decimals is -400; use at most -135"):
        column.with_decimals(-400)
