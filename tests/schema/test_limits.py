"""Schemas that ask for more than anybody can use are refused before it is taken."""

import pytest
from helpers.homes import home

from synthdp.core import SchemaError
from synthdp.schema import (
    MAX_FORMAT,
    MAX_RULE_CELLS,
    NumberColumn,
    OpenSchema,
    Schema,
    even_edges,
    within_levels,
)

keys = home(within_levels)


@pytest.fixture
def few(monkeypatch):
    """A limit that is reached sooner: 2,500 levels in all."""
    monkeypatch.setattr(keys, "MAX_ALL_LEVELS", 2500)


READERS = (Schema.from_dict, OpenSchema.from_dict)


def numbers(n, bins, **more):
    bounds = {"minimum": 0, "maximum": 10**9, "required": True}
    own = {"bins": bins} | more
    return [
        {"name": f"c{i}", "type": "integer", "constraints": bounds, "synthdp": own}
        for i in range(n)
    ]


@pytest.mark.usefixtures("few")
def test_levels_of_all_columns_together_have_a_limit():
    made = []

    def columns(sizes):
        for i, size in enumerate(sizes):
            made.append(size)
            yield NumberColumn(name=f"c{i}", minimum=0, maximum=1, bins=size, required=True)

    assert len(within_levels(columns([800] * 3))) == 3
    made.clear()
    with pytest.raises(
        SchemaError, match=r"'c2': with it there are more than 2,500 levels in all; use fewer bins"
    ):
        within_levels(columns([1000] * 9))
    assert made == [1000] * 3  # and the rest is never made


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("read", READERS)
def test_both_readers_keep_to_it(read):
    with pytest.raises(SchemaError, match="levels in all"):
        read({"fields": numbers(9, 1000)})
    with pytest.raises(SchemaError, match="levels in all"):
        read({f"c{i}": 1000 for i in range(9)})


@pytest.mark.usefixtures("few")
def test_open_columns_count_as_they_would_be_closed():
    fields = [
        {"name": f"c{i}", "type": "integer", "synthdp": {"derive": ["bounds"], "bins": 1000}}
        for i in range(9)
    ]
    with pytest.raises(SchemaError, match="levels in all"):
        OpenSchema.from_dict({"fields": fields})


def test_rules_list_so_many_combinations_and_no_more():
    fields = numbers(3, 2**8)
    cut = {"c0": {"minimum": 0}, "c1": {"minimum": 0}, "c2": {"minimum": 0}}
    assert MAX_RULE_CELLS == 2 * (2**8) ** 3
    pair = {"forbid": {"c1": [1], "c0": [1]}}
    two = {"fields": fields, "synthdp": {"constraints": [{"allow": [cut]}] * 2}}
    assert len(Schema.from_dict(two).rules) == 2
    with pytest.raises(
        SchemaError, match=r"'c0', 'c1', rules list more than 33,554,432 combinations; name fewer"
    ):
        Schema.from_dict(two | {"synthdp": {"constraints": [*[{"allow": [cut]}] * 2, pair]}})
    many = {
        "fields": numbers(9, 100),
        "synthdp": {"constraints": [{"forbid": {f"c{i}": [1] for i in range(9)}}]},
    }
    with pytest.raises(SchemaError, match="combinations"):
        Schema.from_dict(many)


def test_rules_that_determine_count_as_well():
    rules = [{"determines": ["c0", "c1"], "map": {}}]
    with pytest.raises(SchemaError, match="combinations"):
        Schema.from_dict({"fields": numbers(2, 10**6), "synthdp": {"constraints": rules}})


@pytest.mark.parametrize("derive", [{}, {"synthdp": {"derive": True}}])
def test_formats_of_dates_are_as_long_as_people_write_them(derive):
    bounds = {} if derive else {"constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}}
    field = {"name": "day", "type": "date"} | bounds | derive
    longest = "%Y-%m-%d".ljust(MAX_FORMAT, "x")
    assert OpenSchema.from_dict({"fields": [field | {"format": longest}]}).names == ("day",)
    with pytest.raises(
        SchemaError, match="'day': the format has 201 characters; write one of up to 200"
    ):
        OpenSchema.from_dict({"fields": [field | {"format": longest + "x"}]})


def test_edges_are_the_floats_nearest_to_the_fractions():
    assert even_edges(0.0, 1.0, 10) == tuple(i / 10 for i in range(11))
    assert even_edges(-0.1, 0.2, 3) == (-0.1, 0.0, 0.1, 0.2)
    assert even_edges(-1e300, 1e300, 4)[2:4] == (0.0, 5e299)
