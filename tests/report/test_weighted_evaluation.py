"""Evaluations that weigh: each number against a weighted computation of its own, in pandas."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke

from synthdp import evaluate
from synthdp.core import ParameterError

FIELDS = [
    {"name": "area", "type": "string", "constraints": {"enum": ["a", "b"], "required": True}},
    {"name": "job", "type": "string", "constraints": {"enum": ["x", "y", "z"]}},
    {
        "name": "pay",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 99},
        "synthdp": {"bins": 10},
    },
    {"name": "w", "type": "number", "constraints": {"minimum": 0, "maximum": 50}},
]
RULE = {"forbid": {"area": ["a"], "job": ["z"]}}
SCHEMA = {"fields": FIELDS, "synthdp": {"constraints": [RULE]}}


def survey(seed, n_rows=600):
    chance = np.random.default_rng(seed)
    area = chance.choice(["a", "b"], n_rows, p=[0.7, 0.3])
    job = chance.choice(["x", "y", "z"], n_rows)
    pay = np.where(area == "a", chance.integers(0, 60, n_rows), chance.integers(30, 100, n_rows))
    weight = np.where(area == "a", 1.0, 9.0) * chance.uniform(0.5, 1.5, n_rows)
    table = pd.DataFrame({"area": area, "job": job, "pay": pay.astype(float), "w": weight})
    table.loc[::50, "pay"] = np.nan
    return table


REAL, LIKE = survey(0), survey(1)
POPULATION = survey(2, 900).sample(1500, replace=True, weights="w", random_state=0)
POPULATION = POPULATION.drop(columns="w").reset_index(drop=True)


@pytest.fixture(scope="module")
def found():
    tables = {"weighted": LIKE, "population": POPULATION}
    query = {"where": {"pay": {"minimum": 50}}}
    return evaluate(REAL, tables, SCHEMA, weight="w", by="area", queries=[query], targets=[])


def weights_of(table):
    return table["w"] if "w" in table else pd.Series(1.0, table.index)


def shares(table, names):
    weights = weights_of(table)
    keys = [table[name].astype(object).fillna("none") for name in names]
    return weights.groupby(keys).sum() / weights.sum()


def of(found, section, name):
    frame = getattr(found, section)
    return frame[frame["table"] == name]


@pytest.mark.parametrize(("name", "table"), [("weighted", LIKE), ("population", POPULATION)])
def test_numbers_are_those_of_a_weighted_computation(found, name, table):
    marginals = of(found, "marginals", name).set_index("columns")["tvd"]
    assert not any("w" in columns for columns in marginals.index)
    for names in (("area",), ("job",), ("area", "job")):
        gap = shares(REAL, names).sub(shares(table, names), fill_value=0).abs().sum() / 2
        assert marginals[names] == pytest.approx(gap, abs=1e-12)
    values = of(found, "values", name).iloc[0]
    points = np.arange(100)
    cdfs = []
    for each, kind in ((REAL, "real"), (table, "synthetic")):
        rows, weights = each[each["pay"].notna()], weights_of(each)[each["pay"].notna()]
        mean = (rows["pay"] * weights).sum() / weights.sum()
        assert values[f"mean_{kind}"] == pytest.approx(mean)
        cdf = np.array([weights[rows["pay"] <= point].sum() for point in points]) / weights.sum()
        assert values[f"median_{kind}"] == points[np.searchsorted(cdf, 0.5)]
        cdfs.append(cdf)
    assert values["ks"] == pytest.approx(np.abs(cdfs[0] - cdfs[1]).max())
    assert values["moved"] == pytest.approx(np.abs(cdfs[0] - cdfs[1]).sum())
    broken = (table["area"] == "a") & (table["job"] == "z")
    rule = of(found, "rules", name).iloc[0]
    assert rule["share_synthetic"] == pytest.approx(
        weights_of(table)[broken].sum() / weights_of(table).sum()
    )
    high = weights_of(table)[table["pay"] >= 50].sum() / weights_of(table).sum()
    assert of(found, "queries", name).iloc[0]["synthetic"] == pytest.approx(high)
    group = of(found, "groups", name).set_index("level").loc["b"]
    assert group["share_real"] == pytest.approx(shares(REAL, ["area"])["b"])
    column = of(found, "columns", name).set_index("column").loc["pay"]
    missing = weights_of(table)[table["pay"].isna()].sum() / weights_of(table).sum()
    assert column["missing_synthetic"] == pytest.approx(missing)


def test_what_is_drawn_in_proportion_is_near_the_weighted_one(found):
    similarity = of(found, "similarity", "weighted").set_index("columns")["score"]
    exact = 1 - shares(REAL, ["area"]).sub(shares(LIKE, ["area"])).abs().sum() / 2
    assert similarity[("area",)] == pytest.approx(exact, abs=0.02)


def test_references_and_notes_say_what_weighs(found):
    effective = REAL["w"].sum() ** 2 / np.square(REAL["w"]).sum()
    notes = " ".join(found.notes["note"])
    assert f"those of {effective:,.0f} rows that weigh alike" in notes
    assert "population, which has no such column" in notes
    assert found.facts["weight"] == "w"
    assert found.marginals["noise"].isna().all()
    plain = evaluate(REAL, LIKE.assign(w=1.0), SCHEMA, targets=[])
    chance, less = (
        each.set_index("columns")["sampling"][("area",)]
        for each in (of(found, "marginals", "weighted"), plain.marginals)
    )
    assert chance > 1.2 * less


def test_without_weight_a_marked_column_is_named():
    fields = [*FIELDS[:3], {**FIELDS[3], "synthdp": {"weight": True}}]
    notes = evaluate(REAL, LIKE, {"fields": fields}, targets=[]).notes["note"]
    assert any("give weight='w'" in note for note in notes)


@pytest.mark.parametrize(
    ("real", "weight", "said"),
    [
        (REAL, "nothing", "there is no column 'nothing'"),
        (REAL, "area", "which has no numbers"),
        (REAL.drop(columns="w"), "w", "the real table has no column 'w'"),
        (REAL.assign(w=0.0), "w", "are below 0, or all 0"),
    ],
)
def test_weights_that_are_none_are_refused(real, weight, said):
    with pytest.raises(ParameterError, match=said):
        evaluate(real, LIKE, SCHEMA, weight=weight, targets=[])


def test_the_report_weighs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    REAL.to_csv("real.csv", index=False)
    POPULATION.to_csv("people.csv", index=False)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    asked = ("report", "real.csv", "people.csv", "-s", "schema.json")
    outcome = invoke(*asked, "--weight", "w", "--json")
    assert outcome.code == 0, outcome
    marginals = {tuple(each["columns"]): each for each in json.loads(outcome.out)["marginals"]}
    gap = shares(REAL, ["area"]).sub(shares(POPULATION, ["area"])).abs().sum() / 2
    assert marginals[("area",)]["tvd"] == pytest.approx(gap)
    slip = invoke(*asked, "--weight", "area", "--json")
    assert (slip.code, slip.lines[-1]) == (
        2,
        "synthdp: weight is 'area', which has no numbers; name a column of numbers [E20]",
    )
