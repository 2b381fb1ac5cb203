"""Keys that are written: of the declared type and pattern, fresh, and with the parts of composite keys
that are columns of their own.
"""

import json
import re

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.families import field, link

import synthdp
from synthdp import evaluate
from synthdp.core import SchemaError
from synthdp.linked import Package

BUDGET = {"epsilon": 50.0, "delta": 1e-6, "mechanism": "mst"}
SECRET = "Z99-"


def regional():
    """Homes that are numbered in their region, days of each, and visits on one of them."""
    region = field("region", "north", "south", "west")
    del region["constraints"]["required"]
    number = {"name": "number", "type": "string", "constraints": {"pattern": r"^H\d{4}$"}}
    day = {"name": "day", "type": "integer", "constraints": {"minimum": 1, "maximum": 4}}
    homes = {
        "fields": [region, number, field("place", "town", "land")],
        "primaryKey": ["region", "number"],
    }
    own, above = ["region", "number"], {"name": "region", "type": "string"}
    days = {
        "fields": [above, number, {**day, "synthdp": {"bins": 4}}, field("sun", "yes", "no")],
        "primaryKey": [*own, "day"],
        "foreignKeys": [link(own, "homes", own)],
    }
    code = {"name": "code", "type": "integer", "constraints": {"minimum": 1001}}
    visits = {
        "fields": [above, number, day, code, field("why", "ill", "check")],
        "primaryKey": [*own, "day", "code"],
        "foreignKeys": [link([*own, "day"], "days", [*own, "day"])],
    }
    once = {"max_children": 4, "order": "day", "increasing": ["day"]}
    return {
        "resources": [
            {"name": "homes", "path": "homes.csv", "schema": homes},
            {"name": "days", "path": "days.csv", "schema": days, "synthdp": once},
            {
                "name": "visits",
                "path": "visits.csv",
                "schema": visits,
                "synthdp": {"max_children": 3},
            },
        ]
    }


def regional_tables(n=600):
    rng = np.random.default_rng(0)
    region = np.repeat(["north", "south"], [n // 4, n - n // 4])
    number = [f"{SECRET}{i}" for i in range(n)]
    homes = pd.DataFrame(
        {"region": region, "number": number, "place": np.where(region == "north", "land", "town")}
    )
    days = homes.loc[homes.index.repeat(3), ["region", "number"]].reset_index(drop=True)
    days["day"] = np.tile([1, 2, 4], n)
    days["sun"] = np.where(days["day"] == 4, "yes", "no")
    visits = days.loc[days.index.repeat(2), ["region", "number", "day"]].reset_index(drop=True)
    visits["code"] = np.tile([7, 8], 3 * n)
    visits["why"] = rng.choice(["ill", "check"], len(visits))
    return {"homes": homes, "days": days, "visits": visits}


@pytest.fixture(scope="module")
def drawn():
    synthesis = synthdp.synthesize(regional_tables(), regional(), **BUDGET)
    return synthesis, synthesis.sample(400, seed=1)


def test_parts_of_a_key_that_are_columns_keep_their_values_and_the_rest_is_fresh(drawn):
    synthesis, tables = drawn
    homes, days, visits = tables["homes"], tables["days"], tables["visits"]
    assert homes["region"].isin(["north", "south"]).mean() > 0.98
    assert 0.15 < (homes["region"] == "north").mean() < 0.35
    is_land = (homes["place"] == "land") == (homes["region"] == "north")
    assert is_land.mean() > 0.95, "measured with the other columns"
    assert all(re.fullmatch(r"H\d{4}", key) for key in homes["number"])
    assert not any(
        frame.astype(str).map(lambda v: SECRET in v).any().any() for frame in tables.values()
    )
    assert homes.groupby("region")["number"].min().unique().tolist() == ["H0001"]
    assert days["day"].isin([1, 2, 4]).mean() > 0.98
    assert ((days["day"] == 4) == (days["sun"] == "yes")).mean() > 0.95
    assert visits["code"].min() == 1001
    assert (
        visits["code"].max() == 1001 + visits.groupby(["region", "number", "day"]).size().max() - 1
    )
    for name, table in tables.items():
        assert not table.duplicated(list(synthesis.package[name].key)).any(), name
    assert sum(evaluate(tables, tables, synthesis.package).broken_links.values()) == 0


def test_keys_that_are_given_may_be_some_of_their_parts(drawn):
    synthesis, _ = drawn
    given = pd.DataFrame({"region": ["west", "west", "north"], "place": ["town", "land", "land"]})
    tables = synthesis.sample(given=given, seed=0)
    assert tables["homes"]["region"].tolist() == given["region"].tolist()
    assert tables["homes"]["number"].tolist() == ["H0001", "H0002", "H0001"]
    assert set(tables["days"]["region"]) <= {"west", "north"}


def test_the_folder_that_is_written_declares_keys_as_they_are(tmp_path):
    for name, table in regional_tables(200).items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    described = tmp_path / "datapackage.json"
    described.write_text(json.dumps(regional()), "utf-8")
    budget = ["--epsilon", "50", "--delta", "1e-6", "--mechanism", "independent"]
    assert invoke("run", described, "-o", tmp_path / "out", *budget).code == 0
    written = json.loads((tmp_path / "out/datapackage.json").read_text("utf-8"))
    fields = {
        (resource["name"], field["name"]): field
        for resource in written["resources"]
        for field in resource["schema"]["fields"]
    }
    assert fields["homes", "number"]["constraints"]["pattern"] == r"^H\d{4}$"
    assert fields["homes", "region"]["constraints"]["enum"] == ["north", "south", "west"]
    assert fields["visits", "code"]["type"] == "integer"
    homes = pd.read_csv(tmp_path / "out/homes.csv")
    assert homes["number"].str.fullmatch(r"H\d{4}").all()
    assert Package.load(tmp_path / "out/datapackage.json").root.drawn_keys == ("region",)


FORMS = [
    ({"type": "string"}, ["1", "2"]),
    ({"type": "integer"}, [1, 2]),
    ({"type": "integer", "constraints": {"minimum": -5}}, [-5, -4]),
    ({"type": "string", "constraints": {"pattern": "[A-Z]{3}"}}, ["AAB", "AAC"]),
    ({"type": "string", "constraints": {"pattern": "(a|b)\\d"}}, ["1", "2"]),
    (
        {"type": "string", "format": "uuid"},
        [f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2)],
    ),
    ({"type": "string", "synthdp": {"kind": "id", "pattern": "H-{:03d}"}}, ["H-001", "H-002"]),
    ({"type": "date", "constraints": {"minimum": "2024-02-29"}}, ["2024-02-29", "2024-03-01"]),
    ({}, ["1", "2"]),
]


@pytest.mark.parametrize(("declared", "written"), FORMS)
def test_fresh_keys_have_the_form_that_is_declared(declared, written):
    schema = {"fields": [{"name": "id", **declared}, field("x", "u", "v")], "primaryKey": "id"}
    table = Package.from_dict({"resources": [{"name": "a", "schema": schema}]}).root
    numbers = np.array([1, 2])
    assert table.key_forms["id"].written(numbers, text=True).tolist() == [
        str(key) for key in written
    ]
    values = table.key_forms["id"].written(numbers, text=False)
    kept = (
        [str(value.date()) for value in values]
        if declared.get("type") == "date"
        else values.tolist()
    )
    assert kept == written


def test_keys_are_never_drawn_whole_unless_no_parent_has_one_twice():
    content = regional()
    del content["resources"][1]["synthdp"]["increasing"]
    with pytest.raises(
        SchemaError, match=r"'days': all of its key 'day' is drawn.*\"unique\": \[\"day\"\]"
    ):
        Package.from_dict(content)
    root = content["resources"][0]["schema"]["fields"]
    root[1] = field("number", "a", "b")
    content["resources"][1]["synthdp"] = {"max_children": 4}
    table = Package.from_dict(content).root
    assert table.drawn_keys == (), "of levels alone the key is fresh, as it was"
