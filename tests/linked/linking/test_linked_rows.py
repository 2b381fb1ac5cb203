"""Linked rows: what one family can change in any count, whatever the other families are."""

import pickle
from dataclasses import replace
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from helpers.families import (
    COLUMNS,
    KEY,
    description,
    family,
    field,
    link,
    package,
    random_family,
    random_tables,
    sources_of,
    tables_of,
)

from synthdp.core import ParameterError, PrivacyError
from synthdp.linked import LinkedRows, LinkedTableReader, LinkedView, Package, views_of

PETS = ("pets", "later pets")
"""The views of a table that nothing hangs on."""


def moved(found, one, other, views=None):
    """For each view by how much one family moves any marginal of up to three columns (L1), beside
    what is declared.
    """
    most = {}
    for label, source in sources_of(found, one, views).items():
        beside = sources_of(found, other, views)[label]
        names = source.domain.attributes
        cliques = [(), *(c for k in (1, 2, 3) for c in combinations(names, min(k, len(names))))]
        pairs = zip(source.counts_of(cliques), beside.counts_of(cliques), strict=True)
        most[label] = max(int(np.abs(a - b).sum()) for a, b in pairs), source.max_rows
    return most


def excess(found, families, canary, views=None):
    one, other = tables_of(families), tables_of([*families, canary])
    found_moves = moved(found, one, other, views)
    return {label: both for label, both in found_moves.items() if both[0] > both[1]}


def test_a_family_moves_no_count_by_more_than_is_declared():
    rng = np.random.default_rng(1)
    for _ in range(4):
        families = [random_family(rng, home) for home in range(6)]
        assert not excess(package(), families, random_family(rng, 99, most=9))


@pytest.mark.parametrize("size", [1.0, 1.4, 2.0, 2.6, 40.0])
def test_no_family_moves_more_where_rows_are_levelled(size):
    rng = np.random.default_rng(2)
    families = [random_family(rng, home) for home in range(6)]
    views = {label: view.levelled(size) for label, view in views_of(package()).items()}
    assert not excess(package(), families, random_family(rng, 99, most=9), views)


def test_a_family_of_equal_rows_moves_counts_by_all_that_is_declared():
    full = family(99, [("F", "yes", [("ill", "1")] * 2)] * 3, ["cat"] * 2)
    found = moved(package(), tables_of([]), tables_of([full]))
    assert {label: by for label, (by, _) in found.items()} == {
        label: grid for label, (_, grid) in found.items()
    }


def test_a_family_beyond_every_bound_moves_no_more():
    large = family(99, [("F", "yes", [("ill", "1")] * 9)] * 9, ["cat"] * 9)
    assert not excess(package(), [family(1, [("M", "no", [])])], large)


LARGE = family(99, [("F", "yes", [("ill", "1")] * 9)] * 9, ["cat"] * 9)
WHOLE = property(lambda self: (self.grid,) * len(self.sizes))
"""Every row counts as if it were the only one of its family."""


@pytest.mark.parametrize("is_later", [False, True])
def test_rows_that_count_as_if_they_were_the_only_ones_are_caught(is_later):
    right = LinkedView.weights.func
    wrong = property(lambda view: WHOLE.fget(view) if view.is_later is is_later else right(view))
    with patch.object(LinkedView, "weights", wrong):
        found = excess(package(), [family(1, [("M", "no", [])])], LARGE)
    assert found
    assert {label.startswith("later") for label in found} == {is_later}


def test_children_that_are_charged_as_their_parent_is_are_caught():
    with (
        patch.object(LinkedView, "grid", 1),
        patch.object(LinkedView, "weights", property(lambda view: (1,) * len(view.sizes))),
    ):
        found = excess(package(), [family(1, [("M", "no", [])])], LARGE)
    assert {"visits", "later people", "later visits"} <= found.keys()


def test_a_bound_that_is_not_enforced_is_caught():
    found = package()
    wide = {
        table.name: LinkedTableReader(replace(table, max_children=100), hash_key=KEY)
        for table in found.tables
    }
    for name, reader in wide.items():
        reader.add(tables_of([LARGE])[name])
    with pytest.raises(ParameterError, match="outside"):
        LinkedRows(found.tables, wide, "home", hash_key=KEY).counted(views_of(found))


def rows_by_home(tables, names=("people", "visits", "pets")):
    """What is kept of each home, by its key."""
    found, readers = package(), {}
    families = {}
    for table in found.tables:
        readers[table.name] = LinkedTableReader(table, hash_key=KEY)
        readers[table.name].add(tables[table.name])
        families[table.name] = readers[table.name].family_rows(families.get(table.parent))
    homes = [str(name) for name in families["homes"]._names]
    kept = {home: [] for home in homes}
    for name in names:
        rows = families[name]
        codes = np.column_stack([rows.codes[column] for column in rows.table.attributes])
        for root, row in zip(rows.roots, codes.tolist(), strict=True):
            kept[homes[root]].append((name, *row))
    return kept


def test_what_is_kept_of_a_family_is_the_same_whoever_else_is_there_and_in_whatever_order():
    rng = np.random.default_rng(3)
    families = [random_family(rng, home, most=9) for home in range(8)]
    alone = {
        home: kept for each in families for home, kept in rows_by_home(tables_of([each])).items()
    }
    together = rows_by_home(tables_of(families))
    backwards = rows_by_home(tables_of(families[::-1]))
    assert alone == together == backwards
    assert sum(map(len, together.values())) > 20


def test_ordered_rows_are_the_first_ones_and_others_a_sample():
    visits = [("ill", "3"), ("check", "1"), ("ill", "2")]
    kept = rows_by_home(tables_of([family(1, [("F", "yes", visits)])]), ["visits"])
    assert kept["1"] == [("visits", 0, 0), ("visits", 1, 1)]
    pets = rows_by_home(
        tables_of([family(home, [], ["cat", "dog", "dog"]) for home in range(40)]), ["pets"]
    )
    assert {tuple(rows) for rows in pets.values()} == {
        (("pets", 0), ("pets", 1)),
        (("pets", 1), ("pets", 1)),
    }


def test_rows_without_parent_or_key_are_left_out():
    tables = tables_of([family(1, [("F", "yes", [("ill", "1")])], ["cat"])])
    lost = tables_of([family(2, [("M", "no", [("ill", "1")])], ["dog"])])
    for name in ("people", "visits", "pets"):
        tables[name] = pd.concat([tables[name], lost[name]])
    tables["homes"] = pd.concat(
        [tables["homes"], pd.DataFrame({"home": [None, ""], "place": ["town", "town"]})]
    )
    assert {home: len(rows) for home, rows in rows_by_home(tables).items()} == {"1": 3}


def test_rows_without_parent_take_no_place_of_others():
    """Orphans belong to no root, so that nothing protects or should need to protect what they are."""
    content = description()
    content["resources"][1]["schema"]["primaryKey"] = "number"
    content["resources"][2]["schema"]["foreignKeys"] = [link("number", "people", "number")]
    content["resources"][2]["schema"]["synthdp"] = {"ignore": ["home"]}
    found, tables = (
        Package.from_dict(content),
        tables_of([family(1, [("F", "yes", [("ill", "1")])])]),
    )
    counted = []
    for orphans in (0, 50):
        lost = pd.DataFrame([(9, 1, "M", "no")] * orphans, columns=COLUMNS["people"], dtype=object)
        sources = sources_of(found, {**tables, "people": pd.concat([lost, tables["people"]])})
        counted.append(
            {
                label: [n.tolist() for n in s.counts_of([s.domain.attributes])]
                for label, s in sources.items()
            }
        )
    assert counted[0] == counted[1]
    assert np.sum(counted[0]["visits"]) > 0


@pytest.mark.parametrize("crowd", ["copies", "without a key"])
def test_rows_that_count_once_or_never_crowd_no_others_out(crowd):
    """A table without an order is sampled: of its rows that count, not of all."""
    tables = tables_of([family(1, [("F", "yes", []), ("M", "no", []), ("M", "yes", [])])])
    people = tables["people"]
    more = pd.concat([people.iloc[:1]] * 60)
    if crowd == "without a key":
        more["number"] = None
    tables["people"] = pd.concat([more, people])
    kept = rows_by_home(tables, ["people"])
    assert sorted(kept["1"]) == sorted(rows_by_home({**tables, "people": people}, ["people"])["1"])
    assert len(kept["1"]) == 3


def test_rows_of_one_root_key_are_one_root():
    twice = family(1, [("F", "yes", [])])
    tables = tables_of([twice, family(1, [], place="land"), family(2, [])])
    assert {home: len(rows) for home, rows in rows_by_home(tables).items()} == {"1": 1, "2": 0}


def test_keys_of_any_type_link_rows():
    for key in (7, "7", " 7 ", 7.0, "H-1", pd.Timestamp("2024-01-01"), b"7", "\u00e4"):
        assert (
            len(rows_by_home(tables_of([family(key, [("F", "yes", [("ill", "1")])], ["cat"])])))
            == 1
        )
        (rows,) = rows_by_home(
            tables_of([family(key, [("F", "yes", [("ill", "1")])], ["cat"])])
        ).values()
        assert [row[0] for row in rows] == ["people", "visits", "pets"]


def test_keys_of_several_columns_are_told_apart_wherever_one_ends():
    one, other = family("1", [("F", "yes", [])]), family("11", [("M", "no", [])])
    tables = tables_of([one, other])
    tables["people"]["number"] = ["11", "1"]
    tables["visits"] = pd.DataFrame(
        [("11", "1", "ill", "1")], columns=COLUMNS["visits"], dtype=object
    )
    assert [len(rows) for rows in rows_by_home(tables).values()] == [1, 2]


def test_keys_of_rows_that_nothing_hangs_on_are_not_looked_at():
    """Such a key may be anybody's: a row must neither go, nor a run be refused, for what another
    family has.
    """
    content = description()
    content["resources"][3]["schema"]["fields"].insert(0, {"name": "tag"})
    content["resources"][3]["schema"]["primaryKey"] = "tag"
    tables = tables_of([family(1, [], ["cat", "dog"]), family(2, [], ["dog", "dog"])])
    counted = {}
    for tags in (["a", "b", "c", "d"], ["a", "a", "a", None]):
        tables["pets"]["tag"] = tags
        sources = sources_of(Package.from_dict(content), tables)
        counted[str(tags)] = [
            next(iter(sources[label].counts_of([("pets.kind",)]))).tolist() for label in PETS
        ]
    one, other = counted.values()
    assert one == other
    assert np.sum(one) == sum(sources[label].max_rows for label in PETS) * 2


def test_nothing_of_the_rows_is_shown_or_copied():
    sources = sources_of(package(), random_tables(5))
    for source in sources.values():
        assert repr(source) == "<WeightedSource>"
        with pytest.raises(PrivacyError, match="not copied"):
            pickle.dumps(source)


def chain(depth, most):
    """Tables below each other, of each of which so many rows hang on one row of the table above."""
    resources, tables = [], {}
    for level in range(depth):
        above = [{"name": "above"}] if level else []
        schema = {"fields": [{"name": "id"}, *above, field("kind", "a", "b")], "primaryKey": "id"}
        own = {}
        if level:
            schema["foreignKeys"] = [link("above", f"t{level - 1}", "id")]
            own = {"synthdp": {"max_children": most}}
        resources.append({"name": f"t{level}", "schema": schema, **own})
        rows = pd.DataFrame(
            {"id": [f"{level}-{n}" for n in range(most if level else 1)], "kind": "a"}
        )
        tables[f"t{level}"] = rows.assign(above=f"{level - 1}-0") if level else rows
    return Package.from_dict({"resources": resources}), tables


def test_products_beyond_all_integers_weigh_nothing_and_never_wrap_around():
    """Of 512 rows at each of eight levels 512 ** 7 is a negative number of 64 bits, and 512 ** 8 is
    0.
    """
    found, tables = chain(10, 512)
    sources = sources_of(found, tables)
    weights = {label: int(next(iter(source.counts_of([()])))) for label, source in sources.items()}
    assert weights["t2"] == 2**14 // 512  # the one row in 512 that has rows below it
    assert weights["later t9"] == 0
    assert all(0 <= weight <= sources[label].max_rows for label, weight in weights.items())


def test_rows_of_equal_weight_are_one_class_and_others_keep_theirs():
    found = LinkedView(chain(3, 200)[0], chain(3, 200)[0]["t2"])
    every = np.arange(1, 201)
    assert [found.weights[place] for place in found.class_of(every)] == (
        found.grid // every
    ).tolist()
    assert len(set(found.weights)) == len(found.weights) < 200
