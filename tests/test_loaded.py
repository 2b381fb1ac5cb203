"""What is named is loaded when it is used, and not before."""

import json
import subprocess
import sys

import pytest

LEVELS = {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"], "required": True}}
AGES = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
SINCE = {"name": "since", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
DAY = {
    "name": "day",
    "type": "date",
    "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-09"},
}
ID = {"name": "id", "type": "id"}
CHECK = {"synthdp": {"constraints": [{"check": "since <= age"}]}}
FORBID = {"synthdp": {"constraints": [{"forbid": {"sex": ["f"], "age": {"maximum": 4}}}]}}

SCHEMAS = {
    "texts": {"fields": [LEVELS]},
    "numbers": {"fields": [LEVELS, AGES]},
    "rules of levels": {"fields": [LEVELS, AGES | {"synthdp": {"bins": 10}}], **FORBID},
    "dates": {"fields": [LEVELS, DAY]},
    "ids": {"fields": [LEVELS, ID]},
    "checks": {"fields": [LEVELS, AGES, SINCE], **CHECK},
}
NEEDED_BY = {
    "synthdp.schema.columns.numeric": ("numbers", "rules of levels", "checks"),
    "synthdp.schema.columns.dates": ("dates",),
    "synthdp.schema.made_up.id_column": ("ids",),
    "synthdp.schema.made_up.fake_column": (),
    "synthdp.schema.rules.search": ("checks",),
    "synthdp.schema.rules.simplex": ("checks",),
    "synthdp.schema.rules.drawing": ("checks",),
    "synthdp.learning.unused_levels": (),
    "synthdp.data.records.derived_column": (),
    "synthdp.schema.rules.expressions": ("checks",),
    "synthdp.schema.made_up.generated_column": ("ids",),
    "synthdp.schema.made_up.empty_cells": ("ids",),
    "synthdp.schema.words.dtypes": (),
    "synthdp.data.frames.spans": (),
    "synthdp.inference.complete_where": (),
    "synthdp.data.engines.engine_frame": (),
    "synthdp.data.files.csv_file": (),
    "synthdp.data.files.parquet_file": (),
    "synthdp.data.files.excel_file": (),
}
"""Modules, and the schemas that need them."""

RELEASE = """
import json, sys
import pandas as pd
from synthdp import synthesize
schema = json.loads(sys.argv[1])
values = {"sex": "f", "age": "7", "since": "3", "day": "2020-01-02"}
names = [field["name"] for field in schema["fields"] if field["type"] != "id"]
frame = pd.DataFrame({name: [values[name]] * 500 for name in names})
made = synthesize(frame, schema, epsilon=1.0, delta=1e-6, mechanism="independent")
assert len(made.sample(20, seed=1)) == 20
print(json.dumps([name for name in sys.modules if name.startswith("synthdp.")]))
"""


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_release_of_a_frame_loads_what_its_schema_has(schema):
    command = [sys.executable, "-P", "-W", "ignore", "-c", RELEASE, json.dumps(SCHEMAS[schema])]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(json.loads(told.stdout))
    assert {"synthdp.release.release", "synthdp.schema.schema"} <= loaded
    expected = {module for module, schemas in NEEDED_BY.items() if schema in schemas}
    assert loaded & NEEDED_BY.keys() == expected
