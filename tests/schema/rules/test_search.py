"""The search for a row that keeps to all checks, against all rows of small tables."""

import itertools
import operator
from fractions import Fraction

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import SchemaError
from synthdp.schema import IntegerColumn, Schema, System, point_between, relations_of, rows_of

NAMES = "abcd"
COMPARE = {"<=": operator.le, "<": operator.lt, "=": operator.eq}


@st.composite
def sums(draw, names):
    """An inequality or equation between some columns."""
    factors = [draw(st.integers(-3, 3)) for _ in names]
    terms = " ".join(
        f"{'-' if factor < 0 else '+'} {abs(factor)} * {name}"
        for factor, name in zip(factors, names, strict=True)
    )
    return f"0 {draw(st.sampled_from(['<=', '<', '=']))} {draw(st.integers(-6, 6)) + 6} - 6 {terms}"


@st.composite
def systems(draw):
    names = NAMES[: draw(st.integers(1, 4))]
    columns = {}
    for name in names:
        low = draw(st.integers(-4, 4))
        high = low + draw(st.integers(0, 4))
        columns[name] = IntegerColumn(name=name, minimum=low, maximum=high, required=True)
    texts = draw(
        st.lists(
            sums(names).filter(lambda text: any(f" {k} * " in text for k in (1, 2, 3))),
            min_size=1,
            max_size=4,
        )
    )
    return System(columns, tuple(relation for text in texts for relation in relations_of(text)))


def keeps(relations, row):
    totals = (
        (relation, sum(factor * row[name] for name, factor in relation.factors.items()))
        for relation in relations
    )
    return all(COMPARE[relation.sign](total + relation.constant, 0) for relation, total in totals)


def all_rows(columns):
    grids = [range(column.minimum, column.maximum + 1) for column in columns.values()]
    return (dict(zip(columns, values, strict=True)) for values in itertools.product(*grids))


@settings(deadline=None, max_examples=examples(60))
@given(systems())
def test_a_row_is_found_if_and_only_if_there_is_one(system):
    rows = [row for row in all_rows(system.columns) if keeps(system.relations, row)]
    blame = system.blamed_for(system.columns)
    assert (blame is None) == bool(rows) == system.is_possible
    if blame is not None:  # nothing keeps to these, and something to any fewer
        assert not any(keeps(blame.relations, row) for row in all_rows(system.columns))
        for relation in blame.relations:
            fewer = [other for other in blame.relations if other is not relation]
            assert any(keeps(fewer, row) for row in all_rows(system.columns))


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_other_rules_are_kept_as_well(data):
    fields = [
        {
            "name": name,
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 3, "required": True},
        }
        for name in "abc"
    ]
    fields.append(
        {"name": "s", "type": "string", "constraints": {"enum": ["x", "y"], "required": True}}
    )
    levels = st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True)
    texts = st.lists(st.sampled_from("xy"), min_size=1, max_size=1)
    entry = st.sampled_from(["ab", "sa", "sb", "bc"])
    forbidden = []
    for _ in range(data.draw(st.integers(1, 4))):
        pair = data.draw(entry)
        forbidden.append({name: data.draw(texts if name == "s" else levels) for name in pair})
    check = data.draw(st.sampled_from(["a < b", "a + b = c", "a >= b + 2", "c <= 2 * a - b"]))
    possible = [
        row
        for values in itertools.product(range(4), range(4), range(4), "xy")
        if keeps(relations_of(check), row := dict(zip("abcs", values, strict=True)))
        and not any(all(row[name] in levels for name, levels in rule.items()) for rule in forbidden)
    ]
    rules = [{"check": check}, *({"forbid": rule} for rule in forbidden)]
    try:
        Schema.from_dict({"fields": fields, "synthdp": {"constraints": rules}})
    except SchemaError as error:
        assert not possible, error  # noqa: PT017
    else:
        assert possible


@pytest.mark.parametrize(
    ("checks", "is_possible"),
    [
        (["a < b < c"], False),  # between 0 and 1 there is no room
        (["a < b"], True),
        (["a + b + c = 3", "a + b <= 1"], False),
        (["2 * a = 2 * b + 1"], False),
        (["2 * a + 2 * b = 3 * c + 2"], True),
    ],
)
def test_whole_numbers_matter(checks, is_possible):
    columns = {
        name: IntegerColumn(name=name, minimum=0, maximum=1, required=True) for name in "abc"
    }
    system = System(
        columns, tuple(relation for check in checks for relation in relations_of(check))
    )
    assert system.is_possible == is_possible


@settings(deadline=None, max_examples=examples(60))
@given(st.data())
def test_points_are_exact(data):
    """Scaled by what makes floats fail, the answers stay the same."""
    n = data.draw(st.integers(1, 4))
    small = st.integers(-3, 3)
    rows = [
        ({i: f for i in range(n) if (f := data.draw(small))}, data.draw(st.integers(-9, 9)))
        for _ in range(data.draw(st.integers(1, 5)))
    ]
    rows = [(factors, most) for factors, most in rows if factors]
    lows = [data.draw(small) for _ in range(n)]
    highs = [low + data.draw(st.integers(0, 4)) for low in lows]
    found = point_between(rows, lows, highs, lows)
    large = 10**25
    scaled = [(factors, most * large) for factors, most in rows]
    bounds = [[bound * large for bound in ends] for ends in (lows, highs)]
    again = point_between(scaled, *bounds, bounds[0])
    assert (found is None) == (again is None)
    if found is not None:
        assert again == [value * large for value in found]
        assert all(sum(f * found[i] for i, f in factors.items()) <= most for factors, most in rows)
        assert all(
            low <= value <= high for low, value, high in zip(lows, found, highs, strict=True)
        )
    else:
        grids = [
            [low + Fraction(k, 2) for k in range(2 * (high - low) + 1)]
            for low, high in zip(lows, highs, strict=True)
        ]
        points = itertools.product(*grids)
        assert not any(
            all(sum(f * p[i] for i, f in factors.items()) <= most for factors, most in rows)
            for p in points
        )


def test_dates_of_any_resolution_meet_where_they_begin_together():
    fields = [
        {
            "name": name,
            "type": "date",
            "constraints": {"minimum": "2000-01-01", "maximum": last, "required": True},
        }
        | {"synthdp": {"resolution": resolution, "bins": 2}}
        for name, resolution, last in (("a", "week", "2004-12-31"), ("b", "year", "2009-12-31"))
    ]
    for last, is_possible in (
        ("2006-12-31", False),
        ("2007-12-31", True),
    ):  # 1 January is a Monday in 2001, then in 2007
        fields[0]["constraints"]["maximum"] = last
        rules = [{"check": "a = b"}, {"check": "a > c"}]
        third = {
            "name": "c",
            "type": "date",
            "constraints": {"minimum": "2001-06-01", "maximum": "2002-01-01"},
        }
        public = {"fields": [*fields, third], "synthdp": {"constraints": rules}}
        if is_possible:
            assert Schema.from_dict(public).checks.is_possible
        else:
            with pytest.raises(SchemaError, match="no values within the bounds keep to them"):
                Schema.from_dict(public)


def test_large_numbers_are_held_against_each_other_exactly():
    limit = 2**53
    columns = {
        name: IntegerColumn(name=name, minimum=-limit, maximum=limit, required=True)
        for name in "ab"
    }
    for checks, is_possible in (
        (["a = b", "a < b + 1"], True),
        (["a = 3 * b", f"a > {limit - 2}"], False),
    ):
        system = System(
            columns, tuple(relation for check in checks for relation in relations_of(check))
        )
        assert system.is_possible == is_possible, checks


def test_rules_that_share_a_column_without_checks_count_together():
    bounds = {"minimum": 0, "maximum": 3, "required": True}
    fields = [{"name": name, "type": "integer", "constraints": bounds} for name in "ab"]
    fields.append(
        {"name": "s", "type": "string", "constraints": {"enum": ["x", "y"], "required": True}}
    )
    rules = [
        {"forbid": {"s": ["x"], "a": [0, 1]}},
        {"forbid": {"s": ["y"], "a": [0]}},
        {"check": "a < b"},
    ]
    assert Schema.from_dict(
        {"fields": fields, "synthdp": {"constraints": rules}}
    ).checks.is_possible
    rules[1] = {"forbid": {"s": ["y"], "a": [0, 1]}}
    rules[2] = {"check": "a < b - 1"}
    with pytest.raises(SchemaError, match="no row that keeps to the other rules keeps to it"):
        Schema.from_dict({"fields": fields, "synthdp": {"constraints": rules}})


def test_days_are_compared_by_days():
    """By seconds the search would walk from day to day through centuries."""
    limits = {"minimum": "0001-01-01", "maximum": "9999-12-31", "required": True}
    fields = [{"name": name, "type": "date", "constraints": limits} for name in "abc"]
    (a_b, b_c, c_a) = ({"check": check} for check in ("a < b", "b < c", "c <= a"))
    system = Schema.from_dict({"fields": fields, "synthdp": {"constraints": [a_b, b_c]}}).checks
    row = system.everything({name: np.ones(1, np.bool_) for name in "abc"}, {})
    rows = list(rows_of(system.inequalities, list("abc"), row, system.lines))
    assert [most for _, most in rows] == [-86_400, -86_400]
    with pytest.raises(SchemaError, match="contradict each other"):
        Schema.from_dict({"fields": fields, "synthdp": {"constraints": [a_b, b_c, c_a]}})


def test_a_search_without_end_is_cut_off_and_said(monkeypatch):
    """Many checks of many columns with wild factors: nobody writes them but to keep a reader busy."""
    monkeypatch.setattr(System._searched, "__defaults__", (None, 8))  # in place of 256 steps
    rng = np.random.default_rng(1)
    names = [f"x{i}" for i in range(10)]
    texts = []
    for _ in range(6):
        chosen = rng.permutation(names)[:8].tolist()
        terms = [f"{rng.integers(2, 10**6)} * {name}" for name in chosen]
        texts.append(
            f"{' + '.join(terms[:4])} == {' + '.join(terms[4:])} + {rng.integers(1, 10**6)}"
        )
    fields = [
        {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 10**9}}
        for name in names
    ]
    with pytest.raises(SchemaError, match="no row that keeps to them was found in a long search"):
        Schema.from_dict(
            {"fields": fields, "synthdp": {"constraints": [{"check": text} for text in texts]}}
        )
