"""Rules of a schema: what they forbid, and how they are refused."""

import numpy as np
import pandas as pd
import pytest

import synthdp
from synthdp.core import ParameterError, SchemaError
from synthdp.data import encode
from synthdp.schema import Schema

FIELDS = [
    {
        "name": "age",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 99, "required": True},
    }
    | {"synthdp": {"edges": [0, 15, 18, 65, 99]}},
    {
        "name": "marital",
        "type": "string",
        "constraints": {"enum": ["single", "married", "widowed"]},
    },
    {"name": "town", "type": "string", "constraints": {"enum": ["t1", "t2", "t3"]}},
    {
        "name": "region",
        "type": "string",
        "constraints": {"enum": ["north", "south"], "required": True},
    },
    {
        "name": "born",
        "type": "date",
        "constraints": {"minimum": "1920-01-01", "maximum": "2020-12-31"},
    }
    | {"synthdp": {"resolution": "year", "bins": 101}},
    {"name": "member", "type": "boolean", "constraints": {"required": True}},
]
CHILD = {"forbid": {"age": {"maximum": 14}, "marital": ["married", "widowed"]}}
TOWN = {"determines": ["town", "region"], "map": {"t1": "north", "t2": "north", "t3": "south"}}


def schema(*rules):
    return Schema.from_dict({"fields": FIELDS, "synthdp": {"constraints": list(rules)}})


def test_forbid_forbids_what_meets_all_conditions():
    (constraint,) = schema(CHILD).constraints
    assert constraint.clique == ("age", "marital")
    assert constraint.allowed.tolist() == [[True, False, False, True], *([[True] * 4] * 3)]


def test_allow_allows_what_meets_the_conditions_of_any_entry():
    rule = {
        "allow": [
            {"age": {"maximum": 17}, "member": [False]},
            {"member": [True, False], "age": {"minimum": 18}},
        ]
    }
    (constraint,) = schema(rule).constraints
    columns = schema().reordered([field["name"] for field in FIELDS])
    true, false = (int(columns["member"].encode(pd.Series([flag]))[0]) for flag in (True, False))
    assert constraint.allowed[:, false].tolist() == [True, True, True, True]
    assert constraint.allowed[:, true].tolist() == [False, False, True, True]


def test_determines_lets_missing_be_anything():
    (constraint,) = schema(TOWN).constraints
    assert constraint.allowed.astype(int).tolist() == [[1, 0], [1, 0], [0, 1], [1, 1]]


def test_null_is_missing_and_dates_have_ranges():
    (constraint,) = schema(
        {"forbid": {"born": {"minimum": "2006-01-01"}, "marital": [None, "married"]}}
    ).constraints
    forbidden = ~constraint.allowed
    born = schema()["born"].encode(pd.Series(["2005-12-31", "2006-01-01", ""]))
    assert forbidden[born].tolist() == [[False] * 4, [False, True, False, True], [False] * 4]


def test_rules_survive_saving_and_reordering(tmp_path):
    original = schema(CHILD, TOWN)
    original.save(tmp_path / "schema.json")
    loaded = Schema.load(tmp_path / "schema.json")
    assert loaded.fingerprint == original.fingerprint != schema().fingerprint
    reordered = loaded.reordered(["region", "town", "member", "born", "marital", "age"])
    assert [c.clique for c in reordered.constraints] == [("age", "marital"), ("town", "region")]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("no", r"constraints\[0\] is 'no'; give {\"forbid\""),
        ({}, "has the keys"),
        ({"forbid": {}}, "conditions"),
        ({"forbid": {"height": [1]}}, "no column 'height'"),
        ({"forbid": {"marital": ["divorced"]}}, "has no level 'divorced'"),
        ({"forbid": {"marital": "married"}}, "neither a list"),
        ({"forbid": {"marital": {"minimum": 1}}}, "a range needs"),
        ({"forbid": {"age": {"least": 1}}}, "did you mean 'minimum'"),
        ({"forbid": {"age": {"maximum": 12}}}, "cuts a bin in two"),
        ({"forbid": {"age": [16]}}, "cuts a bin in two"),
        ({"forbid": {"age": {"maximum": "young"}}}, "not a value"),
        ({"forbid": {"age": [None]}}, "required"),
        ({"forbid": {"age": {"minimum": 0}}}, "allows nothing"),
        ({"allow": []}, "allow is \\[\\]; give a list of conditions"),
        ({"allow": [{"age": {"maximum": 14}}, {"member": [True]}]}, "different columns"),
        ({"determines": ["town"], "map": {}}, "two columns"),
        ({"determines": ["town", "region"], "map": {"t1": "north"}}, "says nothing of level 't2'"),
        ({"determines": ["town", "region"], "map": {"t1": "east"}}, "no level 'east'"),
        ({"determines": ["town", "region"]}, "has the keys"),
    ],
    ids=str,
)
def test_rules_that_make_no_sense_are_refused(rule, message):
    with pytest.raises(SchemaError, match=message) as raised:
        schema(rule)
    assert "\n" not in str(raised.value)


def people(n_rows=3000):
    generator = np.random.default_rng(0)
    age = generator.integers(0, 100, n_rows)
    town = generator.choice(["t1", "t2", "t3", ""], n_rows, p=[0.5, 0.3, 0.1, 0.1])
    return pd.DataFrame(
        {
            "age": age,
            "marital": np.where(
                age < 18, "single", generator.choice(["single", "married", "widowed"], n_rows)
            ),
            "town": town,
            "region": np.where(town == "t3", "south", "north"),
            "born": [f"{year}-07-01" for year in 2020 - age],
            "member": generator.random(n_rows) < 0.5,
        }
    )


@pytest.mark.parametrize("mechanism", ["mst", "independent"])
@pytest.mark.parametrize("epsilon", [0.05, 5])
@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.FitWarning"
)  # of noise alone, now and then
def test_no_synthetic_row_breaks_a_rule(mechanism, epsilon):
    public = schema(CHILD, TOWN)
    run = synthdp.synthesize(people(), public, epsilon=epsilon, delta=1e-6, mechanism=mechanism)
    table = run.sample(5000, seed=0)
    assert not ((table["age"] < 15) & table["marital"].isin(["married", "widowed"])).any()
    known = table[table["town"].notna()]
    assert (known["region"] == np.where(known["town"] == "t3", "south", "north")).all()
    codes = encode(table, run.schema).columns
    assert all(
        constraint.holds(run.schema.domain, codes).all() for constraint in run.schema.constraints
    )
    assert run.marginal(["age", "marital"]).to_numpy().reshape(4, 4)[0, 1:3].sum() == pytest.approx(
        0, abs=1e-9
    )


def test_rules_that_contradict_each_other_are_refused_before_anything_is_paid():
    rules = [{"forbid": {"member": [True]}}, {"forbid": {"member": [False]}}]
    kept = []
    with pytest.raises(ParameterError, match="impossible"):
        synthdp.synthesize(people(10), schema(*rules), epsilon=1, delta=1e-6, rescue=kept.append)
    assert kept == []
