"""Packages whose columns are said as kinds files say them."""

import json

import pytest
from helpers.paths import ROOT

from synthdp.core import SchemaError
from synthdp.linked import Package, kinds_in, with_kinds

FAMILIES = ROOT / "data/families/datapackage.json"


def test_a_table_is_the_same_after_its_kinds_were_read_and_written():
    for resource in json.loads(FAMILIES.read_text())["resources"]:
        assert with_kinds(resource, kinds_in(resource)) == resource


def test_of_columns_that_rules_name_nothing_is_learnt_that_can_be_done_without():
    fields = [
        {"name": "id", "type": None},
        {"name": "sex", "type": None},
        {"name": "x", "type": None},
    ]
    table = {"name": "people", "path": "p.csv", "schema": {"fields": fields, "primaryKey": "id"}}
    levels = {"type": "categorical", "constraints": {"enum": ["f", "m"]}}
    rule = {"forbid": {"people.sex": ["m"], "people.x": ["1"]}}
    rules = {"synthdp": {"constraints": [rule]}}
    kinds = {"id": None, "sex": levels, "x": levels}
    settled = Package.from_dict(rules | {"resources": [with_kinds(table, kinds, rules=[rule])]})
    assert not settled.is_open
    assert Package.from_dict({"resources": [with_kinds(table, kinds)]}).is_open
    opened = with_kinds(table, kinds | {"x": "categorical"}, rules=[rule])
    with pytest.raises(SchemaError, match="whose domain is derived"):
        Package.from_dict(rules | {"resources": [opened]})


def test_columns_of_which_bounds_on_rows_speak_stay_as_they_are_declared():
    fields = [{"name": "id", "type": None}, {"name": "ward", "type": None}]
    limit = {"where": {"ward": ["A"]}, "at_most": 1}
    table = {"name": "stays", "path": "s.csv", "schema": {"fields": fields, "primaryKey": "id"}}
    levels = {"type": "categorical", "constraints": {"enum": ["A", "B"]}}
    kinds = {"id": None, "ward": levels}
    assert "synthdp" in with_kinds(table, kinds)["schema"]["fields"][1]
    for bound in ({"limits": [limit]}, {"unique": ["ward"]}, {"increasing": ["ward"]}):
        bounded = with_kinds(table | {"synthdp": bound}, kinds)
        assert bounded["schema"]["fields"][1] == {"name": "ward"} | levels | {"type": "string"}
        again = with_kinds(bounded | {"synthdp": {}}, kinds_in(bounded))
        assert again["schema"] == bounded["schema"]
