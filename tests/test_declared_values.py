"""Any value in place of any other in what people declare: it means something, or is refused in one
line, and nothing else happens.
"""

from copy import deepcopy

import pytest
from helpers.families import description

from synthdp.core import Domain, SynthdpError, Workload
from synthdp.linked import Package
from synthdp.release import read_about
from synthdp.report import parse_queries
from synthdp.schema import OpenSchema, Schema

SCHEMA = {
    "fields": [
        {"name": "id", "type": "string", "synthdp": {"kind": "id", "pattern": "P{:06d}"}},
        {
            "name": "sex",
            "type": "string",
            "constraints": {"enum": ["F", "M", "X"], "required": True},
            "synthdp": {"other": "X"},
        },
        {
            "name": "age",
            "type": "integer",
            "title": "Age",
            "constraints": {"minimum": 0, "maximum": 90},
            "synthdp": {"bins": 10, "heaping": {"5": 0.2}},
        },
        {
            "name": "income",
            "type": "number",
            "decimalChar": ",",
            "groupChar": ".",
            "constraints": {"minimum": 0, "maximum": 9e4},
            "synthdp": {
                "edges": [0, 10, 1e3, 9e4],
                "decimals": 1,
                "shape": {"starts": [0, 10, 20], "weights": [1, 2, 3]},
            },
        },
        {
            "name": "day",
            "type": "date",
            "format": "%d/%m/%Y",
            "constraints": {"minimum": "01/01/2020", "maximum": "31/12/2021"},
            "synthdp": {"parts": ["weekday", "month"]},
        },
        {"name": "smokes", "type": "boolean", "trueValues": ["y"], "falseValues": ["n"]},
        {"name": "home", "type": "geopoint", "synthdp": {"bbox": [13, 52, 14, 53], "bins": [2, 2]}},
    ],
    "missingValues": ["", "NA"],
    "primaryKey": "id",
    "dialect": {"delimiter": ";"},
    "synthdp": {
        "constraints": [
            {"forbid": {"sex": ["M"], "age": {"minimum": 81}}},
            {"allow": [{"sex": ["F"]}, {"sex": ["M", "X"]}]},
            {"check": "age <= income"},
            {"determines": ["sex", "smokes"], "map": {"F": True, "M": False, "X": True}},
        ]
    },
}
OPEN = {
    "fields": [
        {"name": "a", "type": "integer", "synthdp": {"derive": True, "bins": 8}},
        {
            "name": "b",
            "type": "string",
            "synthdp": {"derive": ["levels"], "max_levels": 9, "other": "else"},
        },
        {"name": "e", "type": "email"},
    ],
    "synthdp": {"ignore": ["n"]},
}
KINDS = {
    "a": "integer",
    "b": {"type": "categorical", "constraints": {"required": True}},
    "n": "ignore",
    "synthdp": {"dialect": {"delimiter": ";"}, "constraints": []},
}
ABOUT = {
    "name": "Births",
    "curators": [{"name": "Office", "type": "Government"}],
    "sources": [{"title": "Report", "year": 2020}],
    "publication_date": "2026-11-22",
    "registry_authors": ["A"],
    "release_type": "One release",
}
QUERIES = [
    {"columns": ["sex", "age"]},
    {"where": {"sex": ["F"], "age": {"minimum": 18}}, "name": "adults", "columns": ["smokes"]},
]
DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))

DECLARED = {
    "schema": (SCHEMA, Schema.from_dict),
    "open schema": (OPEN, OpenSchema.from_dict),
    "kinds": (KINDS, OpenSchema.from_kinds),
    "k-way workload": (
        {"k": 2, "target": "a", "max_cells": 100},
        lambda content: Workload.from_dict(DOMAIN, content),
    ),
    "listed workload": (
        {"marginals": [{"columns": ["a", "b"], "weight": 2}, {"columns": ["c"]}]},
        lambda content: Workload.from_dict(DOMAIN, content),
    ),
    "package": (description(), Package.from_dict),
    "what a curator says": (ABOUT, lambda content: read_about({"name": "x"} | content)),
    "queries": (QUERIES, lambda content: parse_queries(content, Schema.from_dict(SCHEMA))),
}
VALUES = (
    *(None, True, False, 0, -1, 1, 3.5, float("nan"), float("inf"), 10**30, 10**400),
    *("", "x", "a\nb", "\ud800", "\0", "sex", "age", "2020-01-01"),
    *([], [None], [[]], ["x"], [1, 2], [0, 1], [{"forbid": {}}]),
    *({}, {"a": 1}, {"x": {}}, {"": []}),
)


def places(content, above=()):
    """The keys and positions that lead to each value in JSON values."""
    inside = content.items() if isinstance(content, dict) else enumerate(content)
    for step, value in inside:
        yield (*above, step)
        if isinstance(value, dict | list):
            yield from places(value, (*above, step))


def changed(content, place, *value):
    """JSON values with another value at a place, or without what is there."""
    content = deepcopy(content)
    inner = content
    for step in place[:-1]:
        inner = inner[step]
    if value:
        inner[place[-1]] = value[0]
    else:
        del inner[place[-1]]
    return content


@pytest.mark.parametrize(("declared", "read"), DECLARED.values(), ids=DECLARED)
def test_any_value_means_something_or_is_refused_in_one_line(declared, read):
    read(deepcopy(declared))
    refusals = []
    for number, place in enumerate(places(declared)):
        turn = [VALUES[(3 * number + k) % len(VALUES)] for k in range(3)]
        for content in (changed(declared, place), *(changed(declared, place, v) for v in turn)):
            try:
                read(content)
            except SynthdpError as refusal:
                refusals.append(str(refusal))
    assert refusals
    assert [refusal for refusal in refusals if len(refusal.splitlines()) != 1] == []


SLIPS = {
    "a bound of two lines": (("fields", 3, "constraints", "minimum"), "a\nb"),
    "a corner beyond floats": (("fields", 6, "synthdp", "bbox", 0), 10**400),
    "a list for a column": (("synthdp", "constraints", 3, "determines", 0), ["sex"]),
}


@pytest.mark.parametrize(("place", "value"), SLIPS.values(), ids=SLIPS)
def test_what_once_ended_in_an_internal_error_is_refused(place, value):
    with pytest.raises(SynthdpError) as refusal:
        Schema.from_dict(changed(SCHEMA, place, value))
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize(
    "place",
    [
        ("synthdp", "root"),
        ("resources", 1, "schema", "foreignKeys", 0, "reference", "resource"),
    ],
)
def test_names_of_tables_are_texts(place):
    with pytest.raises(SynthdpError, match=r"is \['homes'\]; give a text"):
        Package.from_dict(changed(description(), place, ["homes"]))
