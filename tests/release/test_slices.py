"""Slices that cut bins: what lies inside is drawn as often as it weighs, and nothing else is."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import synthdp
from synthdp.core import LinearMeasurement, ParameterError, SchemaError
from synthdp.schema import Schema

SHAPE = {"starts": [0, 10, 16, 19], "weights": [5, 1, 3, 91]}
AGE = {
    "name": "age",
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 99, "required": True},
}
FIELDS = {
    "whole numbers": AGE | {"synthdp": {"bins": 5}},
    "a shape": AGE | {"synthdp": {"bins": 5, "shape": SHAPE}},
    "edges": AGE | {"synthdp": {"edges": [0, 7, 40, 99]}},
    "numbers": {
        "name": "age",
        "type": "number",
        "constraints": {"minimum": 0, "maximum": 100, "required": True},
    }
    | {"synthdp": {"bins": 5, "decimals": 1}},
    "days": {
        "name": "age",
        "type": "date",
        "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"},
    }
    | {"synthdp": {"bins": 4}},
    "days and weekdays": {"name": "age", "type": "date"}
    | {"constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}}
    | {"synthdp": {"bins": 4, "parts": ["weekday"]}},
    "minutes": {"name": "age", "type": "datetime", "format": "%Y-%m-%d %H:%M"}
    | {"constraints": {"minimum": "2020-01-01 00:00", "maximum": "2020-12-31 23:59"}}
    | {"synthdp": {"bins": 4}},
}
BAD = {"name": "BAD", "type": "string", "constraints": {"enum": ["0", "1"], "required": True}}
RANGES = {"whole numbers": (18, 64), "a shape": (18, 64), "edges": (18, 64), "numbers": (17.35, 64)}
DAYS = ("2020-02-10", "2020-07-31")


def synthesis_of(*fields, weight=1000.0):
    """A synthesis of independent, uneven columns, whatever their levels."""
    schema = Schema.from_dict({"fields": list(fields)})
    counts = [
        LinearMeasurement(
            (name,), weight * np.arange(1.0, size + 1) / (size * (size + 1) / 2), 1e-3
        )
        for name, size in zip(schema.domain.attributes, schema.domain.shape, strict=True)
    ]
    return synthdp.from_measurements(schema, counts)


def limits_of(kind):
    low, high = RANGES.get(kind, DAYS)
    low, high = (f"{low} 00:00", f"{high} 00:00") if kind == "minutes" else (low, high)
    return low, high, {"minimum": low, "maximum": high}


@pytest.mark.parametrize("kind", FIELDS)
@pytest.mark.parametrize("text", [False, True])
def test_all_rows_lie_inside_and_every_value_there_occurs(kind, text):
    synthesis = synthesis_of(FIELDS[kind], BAD)
    low, high, condition = limits_of(kind)
    drawn = synthesis.sample(20_000, seed=1, where={"age": condition, "BAD": ["1"]}, text=text)
    assert set(drawn["BAD"]) == {"1"}
    values = drawn["age"] if not text else synthesis.schema["age"].read_numbers(drawn["age"])
    if kind in RANGES or not text:
        low, high = (low, high) if kind in RANGES else (pd.Timestamp(low), pd.Timestamp(high))
        assert ((values >= low) & (values <= high)).all()
    if kind in ("whole numbers", "a shape", "edges") and not text:
        assert set(values) == set(range(18, 65))
    if kind.startswith("days") and not text:
        assert set(values) == set(pd.date_range(low, high))


@pytest.mark.parametrize("kind", FIELDS)
def test_a_cut_bin_has_the_share_that_lies_inside(kind):
    """Against drawing from the whole and leaving out what lies outside."""
    synthesis = synthesis_of(FIELDS[kind], BAD)
    low, high, condition = limits_of(kind)
    low, high = (low, high) if kind in RANGES else (pd.Timestamp(low), pd.Timestamp(high))
    whole = synthesis.sample(400_000, seed=1)["age"]
    inside = whole[(whole >= low) & (whole <= high)]
    assert len(synthesis.sample(where={"age": condition}, seed=1)) == pytest.approx(
        len(inside) / 400, abs=5
    )
    drawn = synthesis.sample(len(inside), seed=2, where={"age": condition})["age"]
    column = synthesis.schema["age"]
    expected, found = (
        np.bincount(column.encode(values), minlength=column.size) for values in (inside, drawn)
    )
    for n, mean in zip(found, expected, strict=True):
        share = mean / len(inside)
        assert abs(n - mean) <= 10 + 9 * np.sqrt(2 * len(inside) * share * (1 - share))


def test_a_shape_says_what_part_of_a_bin_lies_inside():
    """Of ages 0 to 19, 18 has a third of 3 in 100, and 19 its part of 91 that is spread over 19 to
    99.
    """
    synthesis = synthesis_of(FIELDS["a shape"])
    one = 91 / 81
    share = (1 + one) / (5 + 1 + 3 + one)
    counts = synthesis.marginal(["age"]).to_numpy()
    assert len(synthesis.sample(where={"age": {"maximum": 19, "minimum": 18}})) == round(
        counts[0] * share
    )
    drawn = synthesis.sample(10_000, where={"age": [18, 19]}, seed=0)["age"]
    assert set(drawn) == {18, 19}
    assert binomtest(int((drawn == 19).sum()), len(drawn), one / (1 + one)).pvalue > 1e-9


def test_limits_of_dates_are_written_by_the_format_or_as_iso():
    synthesis = synthesis_of(FIELDS["minutes"])
    limits = (
        {"minimum": "2020-02-10", "maximum": "2020-02-11 12:00"},
        {"minimum": pd.Timestamp("2020-02-10")},
    )
    first, second = (synthesis.sample(500, where={"age": limit}, seed=0)["age"] for limit in limits)
    assert first.between(pd.Timestamp("2020-02-10"), pd.Timestamp("2020-02-11 12:00")).all()
    assert second.min() >= pd.Timestamp("2020-02-10")
    with pytest.raises(
        SchemaError,
        match=r"where: column 'age': a limit between '10.2.2020' and None is not a value",
    ):
        synthesis.sample(3, where={"age": {"minimum": "10.2.2020"}})


def test_levels_of_a_binned_column_are_values_and_missing_is_one():
    synthesis = synthesis_of(
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
    )
    drawn = synthesis.sample(3000, where={"age": [3, 50, None, 50]}, seed=0)["age"]
    assert set(drawn.dropna()) == {3, 50}
    assert drawn.isna().any()
    assert synthesis.sample(50, where={"age": [None]}, seed=0)["age"].isna().all()
    with pytest.raises(
        ParameterError, match="where: no value of column 'age' meets its condition; widen it"
    ):
        synthesis.sample(3, where={"age": {"minimum": 18.2, "maximum": 18.7}})
    with pytest.raises(ParameterError, match="where: no value of column 'age' meets"):
        synthesis.sample(3, where={"age": []})


def test_where_a_shape_leaves_nothing_inside_values_are_even():
    nothing = {"starts": [0, 10], "weights": [0, 1]}
    synthesis = synthesis_of(AGE | {"synthdp": {"bins": 5, "shape": nothing}})
    assert set(
        synthesis.sample(2000, where={"age": {"minimum": 2, "maximum": 5}}, seed=0)["age"]
    ) == {2, 3, 4, 5}


def test_learnt_bins_are_cut_as_well(tmp_path):
    generator = np.random.default_rng(0)
    people = pd.DataFrame(
        {"age": generator.gamma(4, 10, 4000).round(), "BAD": generator.choice(["0", "1"], 4000)}
    )
    fields = [{"name": "age", "type": "integer", "synthdp": {"derive": True}}, BAD]
    run = synthdp.synthesize(people, {"fields": fields}, epsilon=20, delta=1e-6)
    run.save(tmp_path / "m.synthdp")
    for synthesis in (run, synthdp.load(tmp_path / "m.synthdp")):
        drawn = synthesis.sample(where={"age": {"minimum": 31, "maximum": 47}}, seed=0)
        assert drawn["age"].between(31, 47).all()
        assert len(drawn) == pytest.approx(people["age"].between(31, 47).sum(), rel=0.15)


@pytest.mark.parametrize("where", ["BAD==1", 3, ["BAD"], pd.DataFrame({"BAD": [1]}), len], ids=str)
def test_what_is_no_condition_is_refused_in_a_line(where):
    with pytest.raises(
        ParameterError,
        match=r'^where: it is a .*; give conditions such as \{"sex": \["F"\], ',
    ) as no:
        synthesis_of(BAD).sample(3, where=where)
    assert "\n" not in str(no.value)


@pytest.mark.parametrize("condition", ["1", 1, None, True, b"1", 1.5], ids=str)
def test_a_condition_is_a_list_or_a_range(condition):
    with pytest.raises(ParameterError, match=r"^where: BAD is .*; give conditions such as \{"):
        synthesis_of(BAD).sample(3, where={"BAD": condition})


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"bad": [1]}, "where: there is no column 'bad'; there are 'BAD', 'age'"),
        ({"BAD": [2]}, "where: column 'BAD': it has no level 2; list levels of the column"),
        (
            {"BAD": [None]},
            "where: column 'BAD': null means missing, but the column is required; remove it",
        ),
        (
            {"BAD": {"minimum": 1}},
            "where: column 'BAD': a range needs minimum or maximum, and a number or date",
        ),
        (
            {"age": {"min": 1}},
            "where: column 'age': the key 'min' is not known; did you mean 'minimum'?",
        ),
        (
            {"age": {"maximun": 1}},
            "where: column 'age': the key 'maximun' is not known; did you mean 'maximum'?",
        ),
        (
            {"age": {"colour": 1}},
            "where: column 'age': the key 'colour' is not known; it may have minimum, maximum",
        ),
        (
            {"age": {"minimum": "young"}},
            "where: column 'age': a limit between 'young' and None is not a value",
        ),
    ],
    ids=str,
)
def test_conditions_that_do_not_fit_are_refused(where, message):
    with pytest.raises(SchemaError) as raised:
        synthesis_of(BAD, AGE).sample(3, where=where)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("field", "level", "value"),
    [
        (BAD, 1, "1"),
        (BAD, 1.0, "1"),
        (BAD, np.int64(1), "1"),
        (BAD | {"constraints": {"enum": ["false", "true"], "required": True}}, True, "true"),
        (BAD | {"constraints": {"enum": ["False", "True"], "required": True}}, np.True_, "True"),
        (BAD | {"type": "integer", "constraints": {"enum": [0, 1], "required": True}}, "1", 1),
        (BAD | {"type": "number", "constraints": {"enum": [0.5, 1], "required": True}}, "1", 1),
        ({"name": "BAD", "type": "boolean", "constraints": {"required": True}}, "true", True),
        ({"name": "BAD", "type": "boolean", "constraints": {"required": True}}, 1, True),
        ({"name": "BAD", "type": "boolean", "constraints": {"required": True}}, True, True),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "of", [list, tuple, set, np.array, pd.Series, lambda levels: {levels[0]: 0}.keys()]
)
def test_levels_match_by_their_plain_spelling(field, level, value, of):
    assert synthesis_of(field).sample(4, where={"BAD": of([level])})["BAD"].tolist() == [value] * 4


def test_a_truth_value_is_no_number():
    field = BAD | {"type": "integer", "constraints": {"enum": [0, 1], "required": True}}
    with pytest.raises(SchemaError, match="no level True"):
        synthesis_of(field).sample(3, where={"BAD": [True]})


@pytest.mark.parametrize(
    ("field", "condition", "edges"),
    [
        (AGE | {"synthdp": {"edges": [0, 15, 18, 65, 99]}}, {"maximum": 16}, "15 and 18"),
        (AGE | {"synthdp": {"bins": 5}}, {"minimum": 41}, "40 and 60"),
        (AGE | {"synthdp": {"bins": 5}}, [99], "80 and 99"),
        (FIELDS["days"], {"minimum": "2020-02-10"}, "2020-01-01 00:00:00 and 2020-04-01 00:00:00"),
    ],
    ids=["edges", "bins", "level", "days"],
)
def test_a_rule_that_cuts_a_bin_names_the_nearest_edges(field, condition, edges):
    rule = {"forbid": {"age": condition, "BAD": ["1"]}}
    with pytest.raises(SchemaError, match="cuts a bin in two") as raised:
        Schema.from_dict({"fields": [field, BAD], "synthdp": {"constraints": [rule]}})
    assert f"the nearest edges of bins are {edges}: let the rule end there, add an edge" in str(
        raised.value
    )


def test_conditions_leave_the_schema_as_it_is():
    synthesis = synthesis_of(AGE, BAD)
    before = json.dumps(synthesis.schema.to_dict())
    synthesis.sample(10, where={"age": {"minimum": 18}})
    assert json.dumps(synthesis.schema.to_dict()) == before
    assert synthesis.sample(2000, seed=0)["age"].min() < 18


def test_a_slice_by_a_column_of_one_level_is_the_whole_table():
    """Such a condition leaves all rows; it was said to contradict nothing that had a name."""
    fields = [
        {"name": name, "type": "string", "constraints": {"enum": levels, "required": True}}
        for name, levels in (("s", ["a", "b"]), ("one", ["k"]))
    ]
    table = pd.DataFrame({"s": ["a", "b"] * 200, "one": "k"})
    release = synthdp.synthesize(table, {"fields": fields}, epsilon=5, delta=1e-6)
    assert set(release.sample(50, where={"one": ["k"]}, seed=1)["s"]) == {"a", "b"}
