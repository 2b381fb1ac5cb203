"""Linked rows of small packages of every shape, with any keys, against brute force: what is
counted, and of whom.
"""

from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest
from helpers.families import KEY, field, link
from helpers.homes import home
from helpers.seldom import examples, often
from helpers.small_packages import (
    KEYS,
    SHAPES,
    key_texts,
    only_hanging,
    root_keys,
    rows_of,
    small_description,
    small_tables,
    without_root,
)
from oracles.families import counted

from synthdp.linked import LinkedView, Package, views_of

SHAPE_NAMES = list(SHAPES)
N_PACKAGES, N_TABLES = 5, 75
"""Of each shape, and tables in all of a thorough run."""


@cache
def small_package(shape, number):
    """One of a few packages of a shape, and its views."""
    rng = np.random.default_rng([SHAPE_NAMES.index(shape), number])
    found = Package.from_dict(small_description(rng, shape))
    return found, views_of(found)


def sources_of(found, views, tables, *, hash_key=KEY, n_at_once=None):
    """Counts of each view; the rows of a table are read so many at once, or all."""
    return rows_of(found, tables, hash_key=hash_key, n_at_once=n_at_once).counted(views)


def some_tables(seed, found):
    """Tables of any keys, or of so few that most rows hang on a root."""
    rng = np.random.default_rng(seed)
    return (
        small_tables(rng, found, keys=("1", "2"), most=14)
        if seed % 3 == 0
        else small_tables(rng, found)
    )


def whole_counts(source):
    """Counts by all attributes of a view: no marginal of theirs can change by more (L1, so L2)."""
    (counts,) = source.counts_of([source.domain.attributes])
    return counts


def cells_of(source):
    """Counts that are not 0, by what is in the cell."""
    counts, found = whole_counts(source), {}
    for place in np.argwhere(counts):
        cell = zip(source.domain.attributes, place.tolist(), strict=True)
        found[frozenset((name, _value(name, code)) for name, code in cell)] = int(
            counts[tuple(place)]
        )
    return found


def _value(name, code):
    if name.startswith(("number of ", "repeated ")):
        return str(code)
    return str(code + 1) if name.startswith("place among ") else "uv"[code]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_root_moves_any_count_by_more_than_is_charged_whatever_the_keys_are(shape):
    """Every root of every package is taken away, for many keys of the hash: of the others' families
    nothing changes, so no count grows, and all that goes is at most what a family is charged for.
    """
    n_moved = 0
    for seed in range(examples(N_TABLES)):
        found, views = small_package(shape, seed % N_PACKAGES)
        tables = some_tables(seed, found)
        reading = {"hash_key": f"{seed:016}", "n_at_once": seed % 4 or None}
        whole = sources_of(found, views, tables, **reading)
        for key in sorted(root_keys(found, tables)):
            fewer = without_root(found, tables, key)
            for label, source in sources_of(found, views, fewer, **reading).items():
                moved = whole_counts(whole[label]) - whole_counts(source)
                assert moved.min() >= 0, (label, seed, key)
                assert moved.sum() <= source.max_rows == views[label].grid, (label, seed, key)
                n_moved += bool(moved.any())
    assert n_moved > examples(N_TABLES) // 2, "the packages are not all of orphans"


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_counted_is_what_brute_force_counts(shape):
    for seed in range(examples(N_TABLES)):
        found, views = small_package(shape, seed % N_PACKAGES)
        tables = some_tables(seed, found)
        tables = within_bounds(found, with_single_roots(found, tables))
        wanted = counted(found, tables)
        for label, source in sources_of(found, views, tables).items():
            view = views[label]
            cells, grid = wanted.get((view.name, view.is_later), ({}, source.max_rows))
            assert (cells_of(source), source.max_rows) == (dict(cells), grid), (label, seed)


@pytest.mark.parametrize(
    "shape", often("pair", "tree", "keyed", seldom=sorted({*SHAPES} - {"pair", "tree", "keyed"}))
)
def test_parts_of_the_way_are_functions_of_a_family(shape, monkeypatch):
    """Where parents may have more rows than positions are kept apart, these are parts of the way."""
    _check_with(shape, monkeypatch, "MAX_POSITIONS")


@pytest.mark.parametrize(
    "shape", often("pair", "tree", "keyed", seldom=sorted({*SHAPES} - {"pair", "tree", "keyed"}))
)
def test_what_repeats_is_a_function_of_a_family(shape, monkeypatch):
    """Of columns with many levels, here of all, it is counted whether a row repeats its sibling's."""
    _check_with(shape, monkeypatch, "FEWEST_LEVELS")


def _check_with(shape, monkeypatch, limit):
    """Counts and charges, where a limit of views is 2."""
    monkeypatch.setattr(home(LinkedView), limit, 2)
    small_package.cache_clear()
    try:
        test_what_is_counted_is_what_brute_force_counts(shape)
        test_no_root_moves_any_count_by_more_than_is_charged_whatever_the_keys_are(shape)
    finally:
        small_package.cache_clear()


def with_single_roots(found, tables):
    """No two roots of one key: a random key says which of them is used."""
    root = tables[found.root.name]
    is_repeated = pd.Series(key_texts(root, found.root.key), root.index, dtype=object).duplicated()
    return {**tables, found.root.name: root[~is_repeated].reset_index(drop=True)}


def within_bounds(found, tables):
    """No more rows of one reference than may be used where there is no order: a random key says
    which they are.
    """
    kept = dict(tables)
    for table in found.tables[1:]:
        if table.order is None:
            positions = Counter()
            rows = [
                positions.update([key]) or positions[key]
                for key in key_texts(tables[table.name], table.parent_key)
            ]
            kept[table.name] = tables[table.name][
                np.array(rows, int) <= table.max_children
            ].reset_index(drop=True)
    return kept


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_that_hang_on_no_root_change_nothing(shape):
    for seed in range(examples(N_TABLES // 2)):
        found, views = small_package(shape, seed % N_PACKAGES)
        tables = small_tables(np.random.default_rng([1, seed]), found)
        clean = sources_of(found, views, only_hanging(found, tables))
        for label, source in sources_of(found, views, tables).items():
            assert np.array_equal(whole_counts(source), whole_counts(clean[label])), (label, seed)


@pytest.mark.parametrize("shape", SHAPES)
def test_any_table_may_keep_no_row(shape):
    """Of an empty root, of keys that all differ, of missing ones: nothing is counted, and nothing
    raises.
    """
    for number in range(2):
        found, views = small_package(shape, number)
        tables = small_tables(np.random.default_rng(number), found, keys=KEYS)
        for table in found.tables:
            changes = [tables[table.name].iloc[:0]]
            for key in ("nobody's", None, float("nan"), object()):
                values = np.empty(len(tables[table.name]), dtype=object)
                values[:] = [key] * len(values)
                changes.append(
                    tables[table.name].assign(
                        **dict.fromkeys(table.key or table.parent_key, values)
                    )
                )
            for changed in changes:
                sources = sources_of(found, views, {**tables, table.name: changed})
                for label, source in sources.items():
                    above = [each.name for each in found.ancestors(views[label].name)]
                    is_root_lost = table.parent is None and changed[table.key[0]].isna().all()
                    if table.name in above or (is_root_lost and label == table.name):
                        assert not whole_counts(source).any(), label


def test_a_row_under_a_key_that_repeats_counts_with_every_root_that_has_it():
    """Whoever else has the key: refusing such tables, or choosing whose the rows are, would tell of
    others.
    """
    found = Package.from_dict(
        {"resources": [resource("a"), resource("b", "a"), resource("c", "b")]}
    )
    tables = {
        "a": pd.DataFrame({"a id": ["1", "2"], "x": "u"}),
        "b": pd.DataFrame({"b id": "7", "a id": ["1", "2"], "x": "u"}),
        "c": pd.DataFrame({"c id": [*"12345"], "b id": "7", "x": "v"}),
    }
    both, one = (
        {
            label: int(whole_counts(source).sum())
            for label, source in sources_of(found, views_of(found), each).items()
        }
        for each in (tables, {**tables, "b": tables["b"].iloc[:1]})
    )
    assert one["c"] == one["later c"] > 0
    assert (both["c"], both["later c"]) == (2 * one["c"], 2 * one["later c"])


def resource(name, parent=None):
    above = [] if parent is None else [{"name": f"{parent} id"}]
    schema = {
        "fields": [{"name": f"{name} id"}, *above, field("x", "u", "v")],
        "primaryKey": f"{name} id",
    }
    if parent is None:
        return {"name": name, "schema": schema}
    schema["foreignKeys"] = [link(f"{parent} id", parent, f"{parent} id")]
    return {"name": name, "schema": schema, "synthdp": {"max_children": 2}}


def test_which_row_of_a_key_comes_first_is_not_told_by_rows_of_others():
    """Keys are numbered as they come, and a row that is not used may be the first that refers to
    one.
    """
    found = Package.from_dict(
        {"resources": [resource("a"), resource("b", "a"), resource("c", "b"), resource("d", "c")]}
    )
    ordered = Package.from_dict(
        {
            "resources": [
                each
                | ({"synthdp": {"max_children": 2, "order": "x"}} if each["name"] == "c" else {})
                for each in found.content["resources"]
            ]
        }
    )
    tables = {
        "a": pd.DataFrame({"a id": ["1"], "x": "u"}),
        "b": pd.DataFrame({"b id": ["p", "q"], "a id": "1", "x": ["u", "v"]}),
        "c": pd.DataFrame({"c id": "7", "b id": ["q", "p"], "x": ["v", "u"]}),
        "d": pd.DataFrame({"d id": ["1"], "c id": "7", "x": "u"}),
    }
    lost = pd.DataFrame({"c id": [None], "b id": "p", "x": "u"})
    for package in (found, ordered):
        one, other = (
            {
                label: cells_of(source)
                for label, source in sources_of(package, views_of(package), each).items()
            }
            for each in (tables, {**tables, "c": pd.concat([lost, tables["c"]], ignore_index=True)})
        )
        assert one == other
        assert {("b.x", "v"), ("c.x", "v")} <= next(iter(one["c"])), "the first row in the file"


def test_keys_that_a_schema_calls_missing_link_no_rows():
    resources = [resource("a"), resource("b", "a"), resource("c", "b")]
    two = {
        "fields": [{"name": "a id"}, {"name": "b id"}, field("x", "u", "v")],
        "primaryKey": ["a id", "b id"],
    }
    two |= {"foreignKeys": [link("a id", "a", "a id")], "missingValues": ["", "NA"]}
    below = {
        "fields": [{"name": "a id"}, {"name": "b id"}, field("x", "u", "v")],
        "missingValues": ["", "NA"],
    }
    below["foreignKeys"] = [link(["a id", "b id"], "b", ["a id", "b id"])]
    resources[0]["schema"]["missingValues"] = ["", "NA"]
    resources[1]["schema"], resources[2]["schema"] = two, below
    found = Package.from_dict({"resources": resources})
    tables = {
        "a": pd.DataFrame({"a id": ["1", "NA"], "x": "u"}),
        "b": pd.DataFrame({"a id": ["1", "1", "NA"], "b id": ["p", "NA", "p"], "x": "u"}),
        "c": pd.DataFrame({"a id": ["1", "1", "NA"], "b id": ["p", "NA", "p"], "x": "u"}),
    }
    sources = sources_of(found, views_of(found), tables)
    families = {
        label: whole_counts(source).sum() / source.max_rows for label, source in sources.items()
    }
    assert families == {"a": 1, "b": 1, "later b": 0, "c": 1, "later c": 0}
