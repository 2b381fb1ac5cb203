"""Checks hold in every row, whatever the codes are."""

import re
from datetime import date
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from synthdp.core import ParameterError, SchemaError
from synthdp.data import decode, encode
from synthdp.schema import Schema, drawn_values

N_ROWS = 150
REFUSALS = "keeps? to|contradict|hold no value"
"""What systems that are drawn at random are refused for: checks, bounds and decimals need not fit."""


def schema_of(fields, *checks, more=()):
    rules = [*({"check": check} for check in checks), *more]
    return Schema.from_dict({"fields": fields, "synthdp": {"constraints": rules}})


def integer(name, low=0, high=99, *, required=True, **own):
    return _field(name, "integer", low, high, required, own)


def number(name, low=0, high=100, *, required=True, **own):
    return _field(name, "number", low, high, required, own)


def day(name, low="2000-01-01", high="2009-12-31", *, required=True, kind="date", **own):
    return _field(name, kind, low, high, required, own)


def _field(name, kind, low, high, required, own):
    constraints = {"minimum": low, "maximum": high, "required": required}
    return {"name": name, "type": kind, "constraints": constraints, "synthdp": own}


def any_codes(schema, n_rows=N_ROWS, seed=0):
    """Codes of all attributes, those that checks forbid as well."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, size, n_rows) for size in schema.domain.shape]


def drawn(schema, *, n_rows=N_ROWS, seed=0, **settings):
    return decode(any_codes(schema, n_rows, seed), schema, np.random.default_rng(seed), **settings)


def holds(smaller, larger, *, strict=False):
    missing = smaller.isna() | larger.isna()
    compared = (smaller < larger) if strict else (smaller <= larger)
    return bool((missing | compared.fillna(False)).all())


# --- any comparisons ------------------------------------------------------------------------------


@st.composite
def number_fields(draw, name):
    low = draw(st.integers(-20, 20))
    high = low + draw(st.integers(1, 300))
    required = draw(st.booleans())
    bins = draw(st.integers(2, min(9, high - low + 1)))
    if draw(st.booleans()):
        return integer(name, low, high, required=required, bins=bins)
    decimals = draw(st.integers(-1, 3))
    if decimals < 0:
        low, high, bins = 10 * low, 10 * high, min(bins, max(2, (high - low) // 2))
    field = number(name, low, high, required=required, bins=bins, decimals=decimals)
    if draw(st.booleans()):
        field["synthdp"]["shape"] = {
            "starts": [low, (low + high) / 2],
            "weights": draw(st.permutations([0, 3])),
        }
    return field


@st.composite
def date_fields(draw, name):
    first = date(2000, 1, 1).toordinal() + draw(st.integers(0, 400))
    last = first + draw(st.integers(400, 2000))
    low, high = (date.fromordinal(moment).isoformat() for moment in (first, last))
    required, resolution = (
        draw(st.booleans()),
        draw(st.sampled_from(["day", "week", "month", "quarter", "year"])),
    )
    own = {"parts": ["weekday"]} if resolution == "day" and draw(st.booleans()) else {}
    kind = "date"
    if draw(st.booleans()):
        kind, resolution = "datetime", draw(st.sampled_from(["second", "hour", "day"]))
        own = {}
    bins = draw(st.integers(2, {"year": 2, "quarter": 4}.get(resolution, 9)))
    return day(
        name, low, high, required=required, kind=kind, resolution=resolution, bins=bins, **own
    )


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_any_comparisons_hold_in_every_row(data):
    names = "abcde"[: data.draw(st.integers(2, 5))]
    fields = data.draw(st.sampled_from([number_fields, date_fields]))
    ranks = data.draw(st.permutations(range(len(names))))
    pairs = st.tuples(st.integers(0, len(names) - 1), st.integers(0, len(names) - 1), st.booleans())
    chosen = data.draw(
        st.lists(pairs.filter(lambda pair: pair[0] < pair[1]), min_size=1, max_size=7)
    )
    sides = [
        (names[ranks.index(low)], names[ranks.index(high)], strict) for low, high, strict in chosen
    ]
    checks = [f"{low} {'<' if strict else '<='} {high}" for low, high, strict in sides]
    try:
        schema = schema_of([data.draw(fields(name)) for name in names], *checks)
    except SchemaError as error:
        assert re.search(REFUSALS, str(error))  # noqa: PT017
        assume(False)
    table = drawn(schema, seed=data.draw(st.integers(0, 99)))
    for low, high, strict in sides:
        assert holds(table[low], table[high], strict=strict)
    for column in schema.table_columns:
        assert column.knows(table[column.name]).all()


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_any_sum_is_exact_and_inside_bounds(data):
    names = "abc"[: data.draw(st.integers(1, 3))]
    fields = [data.draw(number_fields(name)) for name in names]
    factors = data.draw(
        st.lists(
            st.sampled_from(["", "2 * ", "-", "0.5*"]), min_size=len(names), max_size=len(names)
        )
    )
    added = data.draw(st.sampled_from(["", " + 7", " - 0.25"]))
    ends = [field["constraints"][key] for field in fields for key in ("minimum", "maximum")]
    spread = 2 * sum(map(abs, ends)) + 10
    fields.append(
        number(
            "total", -data.draw(st.integers(0, spread)), data.draw(st.integers(1, spread)), bins=6
        )
    )
    expression = " + ".join(f"{factor}{name}" for factor, name in zip(factors, names, strict=True))
    expression = expression.replace("+ -", "- ") + added
    more = data.draw(st.sampled_from([[], [f"{names[0]} <= total"], [f"{names[-1]} >= 5"]]))
    try:
        schema = schema_of(fields, f"total = {expression}", *more)
        texts = drawn(schema, seed=data.draw(st.integers(0, 99)), text=True)
    except (SchemaError, ParameterError) as error:
        assert re.search(REFUSALS, str(error))  # noqa: PT017
        assume(False)
    known = texts[(texts != "").all(axis=1)]
    values = {name: [Fraction(text) for text in known[name]] for name in known}
    for row in range(len(known)):
        parts = zip(factors, names, strict=True)
        total = sum(
            values[name][row] * Fraction({"": "1", "-": "-1"}.get(factor, factor.strip(" *")))
            for factor, name in parts
        )
        assert values["total"][row] == total + Fraction(added.replace(" ", "") or "0")
    assert schema["total"].knows(texts["total"]).all()


# --- how they are drawn ---------------------------------------------------------------------------


def test_values_of_one_bin_are_uniform_given_the_check():
    schema = schema_of([number("a", bins=2, decimals=6), number("b", bins=2, decimals=6)], "a <= b")
    codes = [np.zeros(40_000, int)] * 2
    table = decode(codes, schema, np.random.default_rng(1)) / 50
    assert (
        kstest(table["a"], lambda x: 1 - (1 - x) ** 2).statistic < 0.0225
    )  # 1e-9 by Dvoretzky, Kiefer, Wolfowitz
    assert kstest(table["b"], lambda x: x**2).statistic < 0.0225
    assert kstest(table["a"], lambda x: x).statistic > 0.1


def test_codes_that_keep_to_the_checks_stay():
    fields = [
        integer("a", 0, 999),
        integer("b", 0, 999),
        integer("total", 0, 1998),
        integer("c", 0, 999),
    ]
    schema = schema_of(fields, "total = a + b", "c >= a")
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 1000, (2, 5000))
    real = pd.DataFrame(
        {"a": a, "b": b, "total": a + b, "c": np.minimum(a + rng.integers(0, 500, 5000), 999)}
    )
    codes = encode(real, schema).columns
    table = decode(codes, schema, rng)
    assert (table["total"] == table["a"] + table["b"]).all()
    assert (table["c"] >= table["a"]).all()
    for before, after in zip(codes, encode(table, schema).columns, strict=True):
        assert np.array_equal(before, after)


def test_a_total_outside_its_bin_moves_and_its_parts_stay():
    schema = schema_of([integer(name, 0, 999) for name in ("a", "b", "total")], "total = a + b")
    codes = [np.array([3, 31]), np.array([4, 31]), np.array([31, 0])]
    table = decode(codes, schema, np.random.default_rng(0))
    assert (table["total"] == table["a"] + table["b"]).all()
    kept = [code.tolist() for code in encode(table, schema).columns]
    assert [kept[0][0], kept[1][0]] == [3, 4]
    assert table["total"].max() <= 999  # in the second row parts had to move as well


@pytest.mark.parametrize("check", ["a <= b", "a >= b", "a = b"])
def test_a_missing_side_is_compared_with_nothing(check):
    schema = schema_of([integer("a", 0, 99), integer("b", 0, 99, required=False)], check)
    missing = schema["b"].size - 1
    codes = [np.array([0, 16, 31, 0, 16, 31]), np.array([0, 16, 31, missing, missing, missing])]
    table = decode(codes, schema, np.random.default_rng(0))
    assert table["b"].isna().tolist() == [False] * 3 + [True] * 3
    for before, after in zip(codes, encode(table, schema).columns, strict=True):
        assert np.array_equal(before, after)


def test_dates_agree_with_their_parts_and_with_checks():
    schema = schema_of(
        [day("a", bins=20, parts=["weekday"]), day("b", bins=20, parts=["weekday"])], "a < b"
    )
    rng = np.random.default_rng(0)
    a = np.datetime64("2000-01-01") + rng.integers(0, 3000, 3000).astype("timedelta64[D]")
    real = pd.DataFrame({"a": a, "b": a + rng.integers(1, 300, 3000).astype("timedelta64[D]")})
    codes = encode(real, schema)
    table = decode(codes.columns, schema, rng)
    assert (table["a"] < table["b"]).all()
    again = encode(table, schema)
    for before, after in zip(codes.columns, again.columns, strict=True):
        assert (
            before == after
        ).mean() > 0.99  # in a bin that both share, few pairs of weekdays may be left


def test_a_moved_value_breaks_no_other_rule():
    fields = [integer(name, 0, 9) for name in "abc"] + [{"name": "s", "type": "string"}]
    fields[3]["constraints"] = {"enum": ["x", "y"], "required": True}
    forbidden = [{"forbid": {"s": ["x"], "c": {"minimum": 8}}}, {"forbid": {"s": ["y"], "a": [0]}}]
    schema = schema_of(fields, "a <= b", "b <= c", "a + b <= c", more=forbidden)
    codes = np.stack(any_codes(schema, 4000), axis=1)
    allowed = ~((codes[:, 3] == 0) & (codes[:, 2] >= 8)) & ~(
        (codes[:, 3] == 1) & (codes[:, 0] == 0)
    )
    table = decode(codes[allowed], schema, np.random.default_rng(0))
    assert len(table) == allowed.sum()
    assert (table["a"] + table["b"] <= table["c"]).all()
    assert not ((table["s"] == "x") & (table["c"] >= 8)).any()
    assert not ((table["s"] == "y") & (table["a"] == 0)).any()


def test_a_column_of_one_value_off_its_decimals_is_compared_as_it_is():
    fields = [
        number("a", 0.25, 0.25, decimals=0, required=False),
        number("b", 0, 1, decimals=2, bins=2),
    ]
    table = drawn(schema_of(fields, "a < b"))
    assert set(table["a"].dropna()) == {0.25}
    assert holds(table["a"], table["b"], strict=True)
    assert table["b"][table["a"].notna()].min() < 0.4


@pytest.mark.parametrize(("check", "possible"), [("a >= b", {2, 3}), ("a <= b", {0, 1})])
def test_a_given_value_between_those_of_a_column_is_compared_as_it_is(check, possible):
    schema = schema_of([integer("a", 0, 3), integer("b", 0, 3)], check)
    codes = [np.tile(range(4), 100), np.ones(400, int)]
    table = decode(codes, schema, np.random.default_rng(0), given={"b": np.full(400, 1.5)})
    assert set(table["a"]) == possible


def test_sums_beyond_64_bits_are_exact():
    limit = 2**53
    fields = [
        integer("a", -limit, limit),
        number("b", 0, 9, decimals=14, bins=4),
        number("c", 0, 9, decimals=3),
    ]
    for larger in "bc":
        table = drawn(schema_of(fields, f"a <= {larger}"))
        assert (table["a"] <= table[larger]).all()


def test_the_same_seed_gives_the_same_values_typed_and_as_text():
    schema = schema_of([integer("a"), integer("b", required=False), day("c")], "a <= b")
    one, other, texts = drawn(schema), drawn(schema), drawn(schema, text=True)
    pd.testing.assert_frame_equal(one, other)
    assert texts["b"].tolist() == ["" if pd.isna(value) else str(value) for value in one["b"]]


# --- what drawing does not find is searched for ---------------------------------------------------


def test_rows_that_hardly_anything_keeps_to_are_found():
    """Only 0 and 0 do; narrowing intervals comes near to that by halves only."""
    schema = schema_of([integer("a", 0, 10**6), integer("b", 0, 10**6)], "a = 10 * b", "b = a")
    assert (drawn(schema) == 0).all(axis=None)
    schema = schema_of(
        [integer(name, 0, 10**6) for name in "abc"], "3 * a = 5 * b", "7 * b = 3 * c + 6"
    )
    table = drawn(schema)
    assert (3 * table["a"] == 5 * table["b"]).all()
    assert (7 * table["b"] == 3 * table["c"] + 6).all()


def test_given_values_of_drawn_rows_can_always_be_completed():
    fields = [
        integer("a", 0, 10**6),
        integer("b", 0, 10**6, required=False),
        integer("c", 0, 10**6),
    ]
    schema = schema_of(fields, "3 * a = 5 * b", "7 * b = 3 * c + 6")
    whole = drawn(schema, n_rows=60)
    for name in "abc":
        given = {name: schema[name].read_numbers(whole[name])}
        codes = any_codes(schema, 60, seed=1)
        codes[schema.names.index(name)] = schema[name].encode(whole[name])
        table = decode(codes, schema, np.random.default_rng(0), given=given)
        known = whole[name].notna() & table["b"].notna()
        values = table.assign(**{name: whole[name]})[known]
        assert (3 * values["a"] == 5 * values["b"]).all()
        assert (7 * values["b"] == 3 * values["c"] + 6).all()


def test_an_optional_value_gives_way_to_a_given_one():
    schema = schema_of([integer("a", 0, 5), integer("b", -5, 0, required=False)], "a = b")
    codes = [np.array([0, 3]), np.array([2, 2])]
    table = decode(codes, schema, np.random.default_rng(0), given={"a": np.array([0.0, 3.0])})
    assert table["b"].isna().tolist() == [False, True]
    assert table["b"][0] == 0


def test_a_given_value_that_only_the_search_shows_to_break_a_check_is_refused_in_one_line():
    schema = schema_of([integer(name, 0, 99) for name in "abcd"], "a + b = 2 * c + d", "a = b")
    codes = [np.zeros(2, int)] * 4
    with pytest.raises(
        SchemaError, match=r"record 1 .* breaks the check 'a .*' and 'a = b'; correct"
    ) as raised:
        decode(codes, schema, np.random.default_rng(0), given={"d": np.array([4.0, 7.0])})
    assert "\n" not in str(raised.value)


def test_more_rows_than_a_chunk(monkeypatch):
    monkeypatch.setattr(home(drawn_values), "CHUNK", 64)
    schema = schema_of([integer("a"), integer("b")], "a <= b")
    table = drawn(schema)
    assert (table["a"] <= table["b"]).all()
    assert table["a"].nunique() > 50
