"""Columns of public tables: functions of the key, in rules and in counts, and never a reason to
fail without a word.
"""

import json
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from helpers.families import description, link
from helpers.homes import home

from synthdp.core import ParameterError, SchemaError
from synthdp.linked import Joined, Package, regrouped, views_of

module = home(Joined)

TOWNS = pd.DataFrame(
    {"code": ["A", "B", "C"], "side": ["east", "west", "east"], "people": [10, 900, None]}
)


def described(rules=(), **of_towns):
    content = deepcopy(description())
    homes = content["resources"][0]["schema"]
    homes["fields"].append({"name": "town", "type": "string", "constraints": {"required": True}})
    homes["foreignKeys"] = [link("town", "towns", "code")]
    people = {
        "name": "people",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 1000},
        "synthdp": {"bins": 2},
    }
    fields = {"fields": [{"name": "code"}, {"name": "side", "type": "string"}, people]}
    content["resources"].append(
        {"name": "towns", "schema": fields, "synthdp": {"public": True}, **of_towns}
    )
    content["synthdp"]["constraints"] = list(rules)
    return content


def package(rules=(), towns=TOWNS, **of_towns):
    return Package.from_dict(described(rules, **of_towns), lambda _: towns)


def test_they_are_functions_of_the_key():
    joined = package().joined
    assert {name: each.source for name, each in joined.items()} == {
        "towns.side": "homes.town",
        "towns.people": "homes.town",
    }
    # in the order of the sides: A, C, B
    assert joined["towns.side"].column.labels[joined["towns.side"].codes].tolist() == [
        "east",
        "east",
        "west",
    ]
    assert joined["towns.people"].codes.tolist() == [0, 2, 1]  # that of C is missing
    assert [each.renames for each in joined.values()] == [False, True]


def test_a_package_is_the_same_without_the_public_table():
    content = json.loads(json.dumps(package().content))
    again = Package.from_dict(content).joined
    for name, each in package().joined.items():
        assert again[name].codes.tolist() == each.codes.tolist()
        assert again[name].column == each.column


CAT = {"pets.kind": ["cat"]}


@pytest.mark.parametrize(
    ("conditions", "meant"),
    [
        ({"towns.side": ["east"]}, {"homes.town": ["A", "C"]}),
        ({"towns.people": {"minimum": 500}}, {"homes.town": ["B"]}),
        ({"towns.people": [None], "towns.side": ["east"]}, {"homes.town": ["C"]}),
        ({"towns.side": ["east"], "homes.town": ["A", "B"]}, {"homes.town": ["A"]}),
        ({"homes.place": ["land"]}, {"homes.place": ["land"]}),
    ],
)
def test_rules_on_them_are_rules_on_the_key(conditions, meant):
    rule = {"forbid": {**conditions, **CAT}}
    found = package([rule])
    assert found.rules == ({"forbid": {**meant, **CAT}},)
    assert views_of(found)["pets"].schema is not None
    assert found.content["synthdp"]["constraints"] == [rule]


def test_every_entry_of_what_is_allowed_is_one_on_the_key():
    sides = [
        {"towns.side": [side], "homes.place": [place]}
        for side, place in (("west", "land"), ("east", "town"))
    ]
    (rule,) = package([{"allow": sides}]).rules
    assert rule["allow"] == [
        {"homes.place": ["land"], "homes.town": ["B"]},
        {"homes.place": ["town"], "homes.town": ["A", "C"]},
    ]


def test_what_stands_before_a_name_stays_there():
    content = described([{"forbid": {"other towns.side": ["east"], "towns.side": ["west"]}}])
    homes, pets = content["resources"][0]["schema"], content["resources"][3]["schema"]
    pets["fields"].append(homes["fields"].pop())
    pets["foreignKeys"].append(homes.pop("foreignKeys")[0])
    (rule,) = Package.from_dict(content, lambda _: TOWNS).rules
    assert rule == {"forbid": {"other pets.town": ["A", "C"], "pets.town": ["B"]}}


def test_two_columns_that_refer_to_one_table_are_told_apart():
    content = described()
    content["resources"][3]["schema"]["fields"].append({"name": "born", "type": "string"})
    content["resources"][3]["schema"]["foreignKeys"].append(link("born", "towns", "code"))
    joined = Package.from_dict(content, lambda _: TOWNS).joined
    assert "towns.side of homes.town" in joined
    born = joined["towns.side of pets.born"]
    assert born.source == "pets.born"
    assert born.column.labels[born.codes].isna().tolist() == [
        False,
        False,
        False,
        True,
    ]  # who was born nowhere


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rules": [{"check": "`towns.people` < 3"}]}, "column of a public table; such"),
        (
            {"rules": [{"determines": ["homes.town", "towns.side"], "map": {}}]},
            "column of a public table; such",
        ),
        (
            {"rules": [{"forbid": {"towns.side": ["north"], **CAT}}]},
            "a rule on 'towns.side': .*north",
        ),
        (
            {"rules": [{"forbid": {"towns.side": ["east"], "homes.town": ["B"], **CAT}}]},
            "leave no level",
        ),
        (
            {"rules": [{"forbid": {"towns.hills": ["many"], **CAT}}]},
            "'towns', which is no protected table",
        ),
        (
            {"towns": TOWNS.assign(code=["A", "B", "B"])},
            "'code', to which other tables refer, has several rows",
        ),
        ({"towns": TOWNS.drop(columns="side")}, "'towns': it has no column 'side'"),
        ({"data": [["A"]]}, "give a list of rows"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(change, said):
    with pytest.raises(SchemaError, match=said) as refused:
        views_of(package(**change))
    assert "\n" not in str(refused.value)


def test_tables_that_are_not_at_hand_or_too_large_are_not_joined(monkeypatch):
    content = described()
    content["resources"][0]["schema"]["fields"][-1]["constraints"]["enum"] = ["A", "B"]

    def nowhere(_):
        raise ParameterError("not given")

    for found in (Package.from_dict(content), Package.from_dict(content, nowhere)):
        assert found.joined == {}
        assert found.root.schema["town"].size == 2
    monkeypatch.setattr(module, "MAX_CELLS", 8)
    large = package()
    assert large.joined == {}
    assert "data" not in large.content["resources"][-1]
    assert large.root.schema["town"].size == 3


def test_counts_are_those_of_the_joined_rows():
    joined = package().joined
    rng = np.random.default_rng(0)
    towns, sexes = rng.integers(0, 3, 500), rng.integers(0, 2, 500)
    counts = np.zeros((2, 3))
    np.add.at(counts, (sexes, towns), 1)
    sides = joined["towns.side"].codes[towns]
    expected = np.zeros((2, 3, 2))
    np.add.at(expected, (sides, towns, sexes), 1)
    sex = package()["people"].schema["sex"]
    columns = {
        "towns.side": joined["towns.side"].column,
        "homes.town": package().root.schema["town"],
        "people.sex": sex,
    }
    found = regrouped(
        counts, ["people.sex", "homes.town"], columns, {"towns.side": joined["towns.side"]}
    )
    assert np.array_equal(found, expected)


def with_regions(*, circle=False):
    """Towns that lie on a side of the country, which is a public table, too."""
    content = described()
    towns = content["resources"][-1]["schema"]
    towns["foreignKeys"] = [link("side", "sides", "name")]
    sides = {"fields": [{"name": "name"}, {"name": "sea", "type": "string"}, {"name": "capital"}]}
    if circle:
        sides["foreignKeys"] = [link("capital", "towns", "code")]
    content["resources"].append({"name": "sides", "schema": sides, "synthdp": {"public": True}})
    return content


SIDES = pd.DataFrame({"name": ["east", "north"], "sea": ["cold", "icy"], "capital": ["A", "B"]})


@pytest.mark.parametrize("circle", [False, True])
def test_public_tables_that_refer_to_others_are_followed(circle):
    found = Package.from_dict(with_regions(circle=circle), {"towns": TOWNS, "sides": SIDES}.get)
    sea = found.joined["sides.sea"]
    assert sea.source == "homes.town"
    labels = found.root.schema["town"].labels.tolist()
    said = dict(zip(labels, sea.column.labels[sea.codes].tolist(), strict=True))
    assert said["A"] == said["C"] == "cold"
    assert pd.isna(said["B"]), "no side is called west"
    assert {"sides.capital", "towns.side"} < found.joined.keys()
    again = Package.from_dict(json.loads(json.dumps(found.content))).joined
    assert {name: each.codes.tolist() for name, each in again.items()} == {
        name: each.codes.tolist() for name, each in found.joined.items()
    }


def test_a_way_over_a_public_table_is_named_where_there_are_several():
    content = with_regions()
    content["resources"][3]["schema"]["fields"].append({"name": "born", "type": "string"})
    content["resources"][3]["schema"]["foreignKeys"].append(link("born", "towns", "code"))
    found = Package.from_dict(content, {"towns": TOWNS, "sides": SIDES}.get)
    assert found.joined["sides.sea of towns.side of pets.born"].source == "pets.born"
    rule = {"forbid": {"sides.sea of towns.side of homes.town": ["cold"], "pets.kind": ["cat"]}}
    content["synthdp"]["constraints"] = [rule]
    (kept,) = Package.from_dict(content, {"towns": TOWNS, "sides": SIDES}.get).rules
    assert kept == {"forbid": {"homes.town": ["A", "C"], "pets.kind": ["cat"]}}


def test_a_far_public_table_with_a_key_of_two_rows_is_refused():
    sides = pd.concat([SIDES, SIDES])[["name", "sea", "capital"]].assign(sea=["a", "b", "c", "d"])
    with pytest.raises(SchemaError, match=r"'sides': its key 'name'.*has several rows"):
        Package.from_dict(with_regions(), {"towns": TOWNS, "sides": sides}.get)


def test_keys_stand_by_what_their_table_says_of_them_but_where_they_order_rows():
    towns = pd.DataFrame(
        {
            "code": ["A", "B", "C", "D"],
            "side": ["w", "e", "w", "e"],
            "people": ["9", "70", "10", None],
        }
    )
    assert package(towns=towns).root.schema["town"].labels.tolist() == ["B", "D", "A", "C"]
    content = described()
    people = content["resources"][1]
    people["schema"]["fields"].append(
        {"name": "from", "type": "string", "constraints": {"required": True}}
    )
    people["schema"]["foreignKeys"].append(link("from", "towns", "code"))
    people["synthdp"]["order"] = "from"
    found = Package.from_dict(content, lambda _: towns)
    assert found["people"].schema["from"].labels.tolist() == ["A", "B", "C", "D"]
