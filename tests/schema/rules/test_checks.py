"""Checks of a schema: how they are read, refused, and told to engines."""

import itertools

import numpy as np
import pytest

from synthdp.core import SchemaError
from synthdp.schema import OpenSchema, Schema, relations_of

NUMBERS = {"a": 20, "b": 20, "c": 20, "amount due": 50}


def field(name, kind="integer", low=0, high=9, **own):
    return {
        "name": name,
        "type": kind,
        "constraints": {"minimum": low, "maximum": high, "required": True},
    } | ({"synthdp": own} if own else {})


FIELDS = [
    *(field(name) for name in "abcd"),
    field("far", low=100, high=200),
    field("loan value", high=99),
    field("price", "number", decimals=2),
    field("start", "date", "2000-01-01", "2005-12-31"),
    field("end", "datetime", "2003-01-01", "2009-12-31"),
    field("born", "date", "1900-01-01", "1950-12-31"),
    {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]}},
    {"name": "member", "type": "boolean"},
]


def schema(*checks, fields=FIELDS):
    return Schema.from_dict(
        {"fields": fields, "synthdp": {"constraints": [{"check": check} for check in checks]}}
    )


@pytest.mark.parametrize(
    ("text", "factors", "constant", "sign", "total"),
    [
        ("a <= b", {"a": 1, "b": -1}, 0, "<=", None),
        ("a>=b", {"a": -1, "b": 1}, 0, "<=", None),
        ("a < b", {"a": 1, "b": -1}, 0, "<", None),
        ("a > b", {"a": -1, "b": 1}, 0, "<", None),
        ("c = a + b", {"c": 1, "a": -1, "b": -1}, 0, "=", "c"),
        ("a - 2 * b == c", {"a": 1, "b": -2, "c": -1}, 0, "=", "c"),
        (
            "`amount due` = -.5*a + b*3 - 1.25",
            {"amount due": 1, "a": 0.5, "b": -3},
            1.25,
            "=",
            "amount due",
        ),
        ("a + b = b + c", {"a": 1, "c": -1}, 0, "=", None),
        ("a <= 5", {"a": 1}, -5, "<=", None),
        ("größe <= a", {"größe": 1, "a": -1}, 0, "<=", None),
    ],
)
def test_expressions_are_read_as_written(text, factors, constant, sign, total):
    (relation,) = relations_of(text)
    assert dict(relation.factors) == factors
    assert (relation.constant, relation.sign, relation.total) == (constant, sign, total)


def test_several_signs_state_several_relations():
    first, second = relations_of("a <= b < c")
    assert dict(first.factors) == {"a": 1, "b": -1}
    assert (dict(second.factors), second.sign) == ({"b": 1, "c": -1}, "<")


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (5, "not a short text"),
        ("a" * 2001, "not a short text"),
        ("", "compares nothing"),
        ("a + b", "compares nothing"),
        ("a <= ", "ends where"),
        ("<= a", "ends where"),
        ("a <= + b", "nothing stands before"),
        ("a * * b <= c", "nothing stands before"),
        ("a b <= c", "nothing stands between 'a' and 'b'"),
        ("a <= (b)", "cannot be read from"),
        ("a != b", "cannot be read from"),
        ("a <> b", "cannot be read from"),
        ("a => b", "cannot be read from"),
        ("a / 2 <= b", "cannot be read from"),
        ("a * b <= c", "multiply columns by numbers only"),
        ("a <= a", "no column is left"),
        ("1 <= 2", "no column is left"),
        ("loan value <= a", "nothing stands between"),
        ("a <= height", "there is no column 'height'"),
        ("a <= sex", "'sex' is a string column"),
        ("member <= a", "'member' is a boolean column"),
        ("a <= start", "'start' is a date and 'a' a number"),
        ("start + end <= born", "dates cannot be added"),
        ("start <= 2 * end", "dates cannot be added"),
        ("start <= 5", "dates cannot be added"),
        ("start + 5 <= end", "declared by synthdp.relative_to of the later one"),
        (
            "far <= a",
            "no values within the bounds keep to it, 'far' from 100 to 200, 'a' from 0 to 9;",
        ),
        ("start <= born", "no values within the bounds"),
        ("a > 9", "no values within the bounds"),
        ("a = price + 1", "make it a number, or its parts integers"),
        ("a = 0.5 * b", "make it a number, or its parts integers"),
        ("a < b < a", "contradicts itself"),
    ],
)
def test_checks_that_make_no_sense_are_refused_in_one_line(check, message):
    for reader in (Schema, OpenSchema):
        with pytest.raises(SchemaError, match=message) as raised:
            reader.from_dict({"fields": FIELDS, "synthdp": {"constraints": [{"check": check}]}})
        assert "\n" not in str(raised.value)
        assert str(raised.value).startswith("schema: constraints: ")
        assert not isinstance(check, str) or len(check) > 99 or repr(check) in str(raised.value)


@pytest.mark.parametrize(
    ("checks", "named"),
    [
        (["a < b", "b < a"], ["a < b", "b < a"]),
        (["a <= b", "b < a"], ["a <= b", "b < a"]),
        (
            ["a <= b", "c <= d", "b <= c - 1", "d <= b", "a <= 5"],
            ["b <= c - 1", "c <= d", "d <= b"],
        ),
        (["a = b + 1", "a <= b"], ["a <= b", "a = b + 1"]),
        (["2 * a <= 2 * b - 2", "b <= a"], ["2 * a <= 2 * b - 2", "b <= a"]),
        (["a >= b + 6", "b >= c + 6"], ["a >= b + 6", "b >= c + 6"]),
        (["a + b <= 3", "a >= 2", "b >= 2"], ["a + b <= 3", "a >= 2", "b >= 2"]),
    ],
)
def test_checks_that_contradict_each_other_are_named(checks, named):
    with pytest.raises(SchemaError, match=r"contradict each other|keep to them") as raised:
        schema(*checks)
    for check in checks:
        assert (repr(check) in str(raised.value)) == (check in named)


@pytest.mark.parametrize(
    "checks", [["a <= b", "b <= a"], ["a <= b + 5", "b <= a + 5"], ["a = b", "b = c", "c = a"]]
)
def test_circles_that_leave_something_are_no_contradiction(checks):
    assert schema(*checks).checks is not None


def brute_force(check, public):
    """Which bins hold values that keep to a comparison of two columns."""
    left, sign, right = check.split()
    values = {
        name: [np.flatnonzero(codes_of(public, name) == code) for code in range(20)]
        for name in (left, right)
    }
    compare = {"<=": np.less_equal, "<": np.less, ">=": np.greater_equal, "=": np.equal}[sign]
    pairs = itertools.product(*(filter(len, values[name]) for name in (left, right)))
    return [bool(compare.outer(one, other).any()) for one, other in pairs]


def codes_of(public, name):
    import pandas as pd

    return public[name].encode(pd.Series(range(10)))


@pytest.mark.parametrize("check", ["a <= b", "a < b", "a >= b", "a = b"])
def test_engines_are_told_which_bins_hold_values_that_keep_to_a_check(check):
    public = schema(check, fields=[field("a", bins=4), field("b", edges=[0, 1, 6, 9])])
    (constraint,) = public.constraints
    assert (
        constraint.clique == ("a", "b")
        if check != "a >= b"
        else set(constraint.clique) == {"a", "b"}
    )
    allowed = np.transpose(
        constraint.allowed, [constraint.clique.index(name) for name in ("a", "b")]
    )
    assert allowed.ravel().tolist() == brute_force(check, public)


def test_engines_are_told_nothing_of_missing_values():
    fields = [field("a"), field("b")]
    del fields[1]["constraints"]["required"]
    (constraint,) = schema("a <= b", fields=fields).constraints
    assert constraint.allowed[:, -1].all()
    assert constraint.allowed[:, :-1].tolist() == np.triu(np.ones((10, 10), bool)).tolist()


def test_engines_are_told_of_sums_that_are_small():
    (constraint,) = schema("c = a + b").constraints
    c, a, b = np.indices((10, 10, 10))
    assert constraint.clique == ("c", "a", "b")
    assert np.array_equal(constraint.allowed, c == a + b)
    larger = [field(name, high=31) for name in "abc"]
    assert schema("c = a + b", fields=larger).constraints == ()
    assert len(schema("c <= a", fields=larger).constraints) == 1


def test_engines_are_told_of_no_circles():
    told = {
        constraint.clique
        for constraint in schema("a <= b", "a <= c", "b <= d", "c <= d", "b <= a + 5").constraints
    }
    assert told == {("a", "b"), ("a", "c"), ("b", "d"), ("b", "a")}


def test_a_total_gets_the_decimals_that_its_parts_need():
    price, weight = field("price", "number", decimals=2), field("weight", "number", decimals=1)
    total, most = (
        field("total", "number", 0, 99, decimals=0),
        field("most", "number", 0, 999, decimals=1),
    )
    public = schema(
        "most = total + 1", "total = 0.5 * price + weight", fields=[price, weight, total, most]
    )
    assert [public[name].decimals for name in ("price", "weight", "total", "most")] == [2, 1, 3, 3]
    assert Schema.from_dict(public.to_dict()).fingerprint == public.fingerprint


def test_parts_of_a_total_have_no_more_decimals_than_it_can_hold():
    fields = [
        field("a", "number", 0, 9, decimals=14),
        field("b", "integer"),
        field("c", "number", 0, 5e6, decimals=1),
    ]
    public = schema("c = a + b", fields=fields)
    assert (public["a"].decimals, public["c"].decimals) == (8, 8)


def test_checks_survive_saving_and_reordering(tmp_path):
    original = schema("a <= `loan value`", "start <= end")
    original.save(tmp_path / "schema.json")
    loaded = Schema.load(tmp_path / "schema.json")
    assert loaded.fingerprint == original.fingerprint != schema().fingerprint
    turned = loaded.reordered(tuple(reversed(loaded.names)))
    assert [relation.text for relation in turned.checks.relations] == [
        "a <= `loan value`",
        "start <= end",
    ]


def test_a_check_may_name_what_is_to_be_learnt_other_rules_may_not():
    learnt = [
        {"name": name, "type": "date", "synthdp": {"derive": True}} for name in ("start", "end")
    ]
    fields = [*learnt, field("a"), field("b")]
    rules = [{"check": "start <= end"}, {"check": "a <= b"}]
    public = OpenSchema.from_dict({"fields": fields, "synthdp": {"constraints": rules}})
    assert [constraint.clique for constraint in public.outline.constraints] == [("a", "b")]
    assert OpenSchema.from_dict(public.to_dict()).to_dict() == public.to_dict()
    bounds = {"start": ("2001-01-01", "2004-12-31"), "end": ("2002-01-01", "2005-12-31")}
    found = {
        c.name: c.resolved(minimum=bounds[c.name][0], maximum=bounds[c.name][1])
        for c in public.open_columns
    }
    assert {constraint.clique for constraint in public.resolved(found).constraints} == {
        ("start", "end"),
        ("a", "b"),
    }
    with pytest.raises(SchemaError, match="'start' is a date and 'a' a number"):
        OpenSchema.from_dict(
            {"fields": fields, "synthdp": {"constraints": [{"check": "start <= a"}]}}
        )
    with pytest.raises(SchemaError, match="whose domain is derived"):
        OpenSchema.from_dict(
            {"fields": fields, "synthdp": {"constraints": [{"forbid": {"start": [None]}}]}}
        )
    with pytest.raises(SchemaError, match="which is ignored"):
        OpenSchema.from_dict(
            {"fields": fields, "synthdp": {"ignore": ["d"], "constraints": [{"check": "a <= d"}]}}
        )
    with pytest.raises(SchemaError, match="a rule names 'a', which is left out"):
        public.without("a")
