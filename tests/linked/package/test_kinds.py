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
