"""Rows that refer to no row of the root, kept with a placeholder: what that is, and that a key with all
that hangs on it moves nothing by more than it is charged for.
"""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from helpers.families import KEY, description, field, link
from helpers.seldom import examples
from helpers.small_packages import (
    SHAPES,
    key_texts,
    largest_move,
    root_keys,
    rows_of,
    small_description,
    small_tables,
    without_root,
)

import synthdp
from synthdp.core import SchemaError
from synthdp.linked import Package, views_of

N_TABLES = 15
BELOW = [shape for shape in SHAPES if shape != "alone"]


def small_package(seed, shape):
    """A package, and the same with placeholders for some tables below the root."""
    rng = np.random.default_rng(seed)
    plain = small_description(rng, shape)
    kept = deepcopy(plain)
    below = [each for each in kept["resources"] if SHAPES[shape][each["name"]] == "a"]
    for resource in below[: 1 + int(rng.integers(len(below)))]:
        resource["synthdp"]["orphans"] = True
    return Package.from_dict(plain), Package.from_dict(kept)


def with_placeholders(found, tables):
    """The tables with a root of nothing but its key for each that only rows below have."""
    root, keys = found.root, root_keys(found, tables)
    rows = [tables[root.name]]
    for table in found.tables:
        if table.has_orphans:
            for key in dict.fromkeys(key_texts(tables[table.name], table.parent_key)):
                if key is not None and key not in keys:
                    keys |= {key}
                    # Its columns are missing, those of the key too, which only link it.
                    rows.append(pd.DataFrame({name: [None] for name in root.fields}))
                    for name, part in zip(root.key, key, strict=True):
                        rows[-1][name] = [part]
    return {**tables, root.name: pd.concat(rows, ignore_index=True)}


def counts_of(found, tables):
    sources = rows_of(found, tables, hash_key=KEY, n_at_once=None).counted(views_of(found))
    whole = {}
    for label, source in sources.items():
        (counts,) = source.counts_of([source.domain.attributes])
        whole[label] = counts, source.max_rows
    return whole


@pytest.mark.parametrize("shape", [shape for shape in BELOW if shape != "keyed"])
def test_orphans_are_what_they_were_with_roots_of_which_nothing_is_known(shape):
    n_kept = 0
    for seed in range(examples(N_TABLES)):
        plain, found = small_package(seed, shape)
        tables = small_tables(np.random.default_rng(seed), found)
        alone, wanted = counts_of(plain, tables), counts_of(plain, with_placeholders(found, tables))
        for label, (counts, _) in counts_of(found, tables).items():
            assert np.array_equal(counts, wanted[label][0]), (label, seed)
            n_kept += counts.sum() > alone[label][0].sum()
    assert n_kept > examples(N_TABLES) // 3, "there are some"


@pytest.mark.parametrize("shape", BELOW)
def test_a_key_with_all_that_hangs_on_it_moves_no_count_by_more_than_is_charged(shape):
    """Also one that only orphans have: it goes, and nothing else changes."""
    worst = 0.0
    for seed in range(examples(N_TABLES)):
        _, found = small_package(seed, shape)
        tables = small_tables(np.random.default_rng(seed), found)
        completed, whole = with_placeholders(found, tables), counts_of(found, tables)
        for key in sorted(root_keys(found, completed)):
            fewer = without_root(found, completed, key)
            # Placeholders are made anew, of the rows that are left.
            left = set(key_texts(fewer["a"], found.root.key))
            own = [text in left for text in key_texts(tables["a"], found.root.key)]
            fewer["a"] = tables["a"][np.array(own, np.bool_)].reset_index(drop=True)
            worst = max(worst, largest_move(whole, counts_of(found, fewer)))
    assert 0 < worst <= 1


def test_rows_without_a_key_and_keys_that_a_dtype_names_make_no_placeholder():
    content = description()
    content["resources"][3]["synthdp"]["orphans"] = True
    tables = {
        "homes": pd.DataFrame({"home": [1], "place": "town"}),
        "people": pd.DataFrame({"home": [7], "number": 1, "sex": "F", "job": "no"}),
        "visits": pd.DataFrame({"home": [7], "number": 1, "why": "ill", "when": "1"}),
        "pets": pd.DataFrame(
            {
                "owner": pd.Categorical(["8", "8", None, "1"], categories=["1", "8", "9"]),
                "kind": "cat",
            }
        ),
    }
    found = Package.from_dict(content)
    families = {
        label: counts.sum() / most for label, (counts, most) in counts_of(found, tables).items()
    }
    assert families["homes"] == 2, (
        "home 8 has pets and no row; 9 is nobody's; people keep no orphans"
    )
    assert (families["pets"], families["later pets"], families["people"]) == (2, 1, 0)


def test_drawn_orphans_have_roots_and_the_certificate_says_whose_they_are():
    rng = np.random.default_rng(0)
    content = description()
    content["resources"][3]["synthdp"]["orphans"] = True
    homes = pd.DataFrame({"home": range(200), "place": rng.choice(["town", "land"], 200)})
    pets = pd.DataFrame({"owner": np.repeat(range(100, 500), 2), "kind": "dog"})
    people = pd.DataFrame({"home": range(200), "number": 1, "sex": "F", "job": "no"})
    visits = pd.DataFrame({"home": range(200), "number": 1, "why": "ill", "when": "1"})
    tables = {"homes": homes, "people": people, "visits": visits, "pets": pets}
    synthesis = synthdp.synthesize(tables, content, epsilon=50, delta=1e-6, mechanism="independent")
    drawn = synthesis.sample(seed=0)
    assert 480 < len(drawn["homes"]) < 520
    assert 760 < len(drawn["pets"]) < 840
    assert set(drawn["pets"]["owner"]) <= set(drawn["homes"]["home"])
    assert drawn["homes"]["place"].notna().all()
    assert (
        "but those of 'pets', of which each key is one" in synthesis.certificate["unit_of_privacy"]
    )
    assert sum(synthdp.evaluate(tables, drawn, content).broken_links.values()) == 0


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (0, "it is the root"),
        (2, "'visits': synthdp.orphans is true, and it hangs on 'people', which is not the root"),
    ],
)
def test_orphans_of_which_nobody_can_tell_whose_they_are_are_refused(table, said):
    content = description()
    content["resources"][table].setdefault("synthdp", {})["orphans"] = True
    with pytest.raises(SchemaError, match=said):
        Package.from_dict(content)


def test_keys_of_several_columns_have_placeholders_too():
    key = [{"name": "town"}, {"name": "no"}]
    homes = {"fields": [*key, field("x", "u", "v")], "primaryKey": ["town", "no"]}
    pets = {
        "fields": [*key, field("x", "u", "v")],
        "foreignKeys": [link(["town", "no"], "homes", ["town", "no"])],
    }
    below = {"max_children": 2, "orphans": True}
    found = Package.from_dict(
        {
            "resources": [
                {"name": "homes", "schema": homes},
                {"name": "pets", "schema": pets, "synthdp": below},
            ]
        }
    )
    tables = {
        "homes": pd.DataFrame({"town": ["a"], "no": "1", "x": "u"}),
        "pets": pd.DataFrame(
            {"town": ["a", "a", "a1", "a", None], "no": ["1", "11", "1", "11", "1"], "x": "v"}
        ),
    }
    counts = counts_of(found, tables)
    assert {label: n.sum() / most for label, (n, most) in counts.items()} == {
        "homes": 3,
        "pets": 3,
        "later pets": 1,
    }
