"""Keys that are declared such that no row can hang on another: refused by what is public, before
anything is read.
"""

import pytest
from helpers.families import field, link

from synthdp.core import SchemaError
from synthdp.linked import Package, check_matching


def package(there, own):
    homes = {
        "fields": [{"name": "home", **there}, field("place", "town", "land")],
        "primaryKey": "home",
    }
    pets = {
        "fields": [{"name": "owner", **own}, field("kind", "cat")],
        "foreignKeys": [link("owner", "homes", "home")],
    }
    resources = [
        {"name": "homes", "schema": homes},
        {"name": "pets", "schema": pets, "synthdp": {"max_children": 2}},
    ]
    return Package.from_dict({"resources": resources})


def number(**constraints):
    return {"type": "integer", "constraints": constraints}


def text(pattern):
    return {"type": "string", "constraints": {"pattern": pattern}}


def listed(*levels, type="string"):  # noqa: A002
    return {"type": type, "constraints": {"enum": [*levels]}}


WHOLE, DAY = {"type": "integer"}, {"type": "date"}


@pytest.mark.parametrize(
    ("there", "own"),
    [
        (WHOLE, text("H-[0-9]+")),
        (WHOLE, text("^[A-Z]{2}[0-9]+$")),
        (WHOLE, DAY),
        ({"type": "year"}, {"type": "datetime"}),
        (WHOLE, listed("a", "b")),
        (listed("a", "b"), listed("c", "d")),
        (listed("1", "2"), listed(3, 4, type="integer")),
        (number(minimum=1, maximum=9), number(minimum=100)),
        (DAY, {"type": "date", "format": "%d.%m.%Y"}),
    ],
)
def test_keys_that_cannot_be_the_same_are_refused_whichever_is_above(there, own):
    for one, other in ((there, own), (own, there)):
        with pytest.raises(
            SchemaError,
            match=r"table 'pets': 'owner' \(.*\) refers to 'home' of 'homes' \(.*\), and",
        ):
            check_matching(package(one, other))


@pytest.mark.parametrize(
    ("there", "own"),
    [
        (WHOLE, WHOLE),
        (WHOLE, {}),
        (WHOLE, {"type": "string"}),
        (WHOLE, {"type": "number"}),
        (WHOLE, text("[0-9]{8}")),
        (WHOLE, text("H?[0-9]+")),
        (WHOLE, text("[A-Z]*[0-9]+")),
        (WHOLE, text("H[0-9]+|[0-9]+")),
        (WHOLE, {"type": "date", "format": "%Y%m%d"}),
        (WHOLE, listed("1", "a")),
        (listed("1", "2"), listed(2, 3, type="integer")),
        (number(minimum=1, maximum=9), number(minimum=9)),
        (DAY, DAY),
        (DAY, {"type": "datetime"}),
        (DAY, text("[0-9-]+")),
    ],
)
def test_keys_that_some_row_can_share_are_not(there, own):
    for one, other in ((there, own), (own, there)):
        check_matching(package(one, other))
