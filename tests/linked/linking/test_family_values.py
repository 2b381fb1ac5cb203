"""What is learnt of linked tables: each root is one record, whatever hangs on it, and of no other
root anything changes. Of levels a root counts for several, less for each, and so of some cells.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from helpers import small_packages
from helpers.families import KEY, field
from helpers.seldom import examples

from synthdp.core import Grid
from synthdp.data import RowGroups, UnitValues
from synthdp.linked import FamilyRows, Package
from synthdp.privacy import MOST_ROWS, value_weights

SHAPE_NAMES = list(small_packages.SHAPES)
N_PACKAGES, N_TABLES = 5, 40
VALUES = ("1", "2", "7", "-3.25", "u", "", None, "1e300", 5, 0.5)
CELLS = np.array([-10, 0, 1, 2, 5, 8], np.int64)


def opened_description(rng, shape):
    """A small package whose columns are open: x a number, by which rows may be ordered, and y a
    text.
    """
    content = small_packages.small_description(rng, shape)
    for resource in content["resources"]:
        schema = resource["schema"]
        has_column = any(each["name"] == "x" for each in schema["fields"])
        schema["fields"] = [each for each in schema["fields"] if each["name"] != "x"]
        if has_column:
            derive = {"synthdp": {"derive": True}}
            required = {"constraints": {"required": True}}
            schema["fields"] += [
                {"name": "x", "type": "number", **required, **derive},
                {"name": "y", "type": "string", **derive},
                field("z", "u", "v"),
            ]
    return content


@cache
def opened_package(shape, number):
    rng = np.random.default_rng([SHAPE_NAMES.index(shape), number])
    return Package.from_dict(opened_description(rng, shape))


def values_of(found, tables, hash_key=KEY, n_at_once=None):
    """Exact counts of the open columns, as the kernel is given them."""
    return small_packages.rows_of(found, tables, hash_key=hash_key, n_at_once=n_at_once).values


def answers(found, values):
    """The exact answer to each question that learning asks, by question: counts by cell, in
    records.
    """
    asked = {}
    for table in found.tables:
        for column in () if table.declared is None else table.declared.open_columns:
            name = f"{table.name}.{column.name}"
            if column.type == "string":
                questions = {"missing": (Grid(column=name), np.empty(0, np.int64))}
            else:
                kinds = ("values", "decimals", "exponents", "steps", "reading")
                questions = {of: (Grid(column=name, of=of), CELLS) for of in kinds}
            weight = value_weights(values.most_values(Grid(column=name)))[0]
            for of, question in questions.items():
                asked[name, of] = dict(enumerate(values.histogram(*question).tolist()))
                shares = values.shared_histogram(*question)
                assert shares.dtype == np.int64
                asked[name, "shared " + of] = in_records(dict(enumerate(shares)), weight)
            frequencies = values.frequencies(Grid(column=name))
            counts = listed(frequencies) | {"missing": frequencies.missing()}
            asked[name, "frequent"] = in_records(counts, weight)
    return asked


def in_records(counts, weight):
    """Counts in parts of the weight of one record."""
    return {value: Fraction(int(count), weight) for value, count in counts.items()}


def listed(frequencies):
    counts = [count for block in frequencies.counts() for count in block.tolist()]
    return dict(zip(frequencies.values(np.arange(len(counts))), counts, strict=True))


def some_tables(seed, found):
    rng = np.random.default_rng(seed)
    keys = ("1", "2") if seed % 3 == 0 else small_packages.UGLY_KEYS
    tables = small_packages.small_tables(
        rng, found, keys, most=14 if seed % 3 == 0 else 8, values=VALUES
    )
    for name, table in tables.items():
        if "z" in table:
            z = rng.choice(["u", "v"], len(table))
            tables[name] = table.assign(z=pd.Series(z, dtype=object))
    return tables


def largest_moves(shape):
    """How far the answers move, at most, if a root is taken away: squares of all cells of one
    question.
    """
    worst, least = Counter(), 0
    for seed in range(examples(N_TABLES)):
        found = opened_package(shape, seed % N_PACKAGES)
        tables = some_tables(seed, found)
        reading = {"hash_key": f"{seed:016}", "n_at_once": seed % 4 or None}
        whole = answers(found, values_of(found, tables, **reading))
        for key in sorted(small_packages.root_keys(found, tables)):
            fewer = small_packages.without_root(found, tables, key)
            for question, cells in answers(found, values_of(found, fewer, **reading)).items():
                before = whole[question]
                moved = [before.get(cell, 0) - cells.get(cell, 0) for cell in {*before, *cells}]
                worst[question[1]] = max(worst[question[1]], sum(each**2 for each in moved))
                least = min(least, *moved)
    return worst, least


@pytest.mark.parametrize("shape", small_packages.SHAPES)
def test_a_root_moves_each_answer_by_one_at_most_whatever_the_keys_are(shape):
    worst, least = largest_moves(shape)
    assert set(worst.values()) == {1}, worst
    assert least == 0, "no count grows where a root goes"


def _one_value(rows, one):
    """Counts of which each row is a record."""
    names = [column.name for column in rows.table.declared.open_columns]
    groups = RowGroups(np.arange(rows.n_rows), np.ones(1, np.int64))
    return UnitValues(one=one, some=one, groups=groups, n_values=dict.fromkeys(names, 1))


def _weighted(rows, owners, weights):
    """Counts in which the rows of one owner share its weight."""
    return UnitValues(
        one=rows._held.of_rows(np.unique(rows.roots, return_index=True)[1]).source,
        some=rows._held.source,
        groups=RowGroups(owners, weights),
        n_values={"x": MOST_ROWS, "y": MOST_ROWS},
    )


def _all_rows(rows, _):
    return None if rows._held is None else _one_value(rows, rows._held.source)


def _one_of_each_parent(rows, _):
    if rows._held is None:
        return None
    firsts = np.unique(rows.parents, return_index=True)[1]
    return _one_value(rows, rows._held.of_rows(firsts).source)


def _weights_by_parent(rows, _):
    """Each parent shares a weight among its rows' values, not each root."""
    if rows._held is None:
        return None
    return _weighted(rows, rows.parents, np.array(value_weights(MOST_ROWS)))


def _weights_of_single_values(rows, _):
    """A root counts for each of its values as if it had no other one."""
    if rows._held is None:
        return None
    return _weighted(rows, rows.roots, np.full(MOST_ROWS, value_weights(MOST_ROWS)[0]))


def _one_by_the_number_of_its_root(rows, _):
    """Roots are numbered in turn, so that one more changes which rows of others are taken."""
    if rows._held is None:
        return None
    turns = [np.flatnonzero(rows.roots == root) for root in np.unique(rows.roots)]
    chosen = [own[root % len(own)] for root, own in enumerate(turns)]
    return _one_value(rows, rows._held.of_rows(np.array(chosen, np.intp)).source)


@pytest.mark.parametrize(
    "choice",
    [
        _all_rows,
        _one_of_each_parent,
        _one_by_the_number_of_its_root,
        _weights_by_parent,
        _weights_of_single_values,
    ],
)
def test_other_choices_of_rows_would_be_found(choice):
    with patch.object(FamilyRows, "values_by_root", choice):
        worst, _ = largest_moves("tree")
    assert max(worst.values()) > 1


def _whole_rows(groups, cells, n_cells):
    """Each row of a root counts a whole unit of weight."""
    return np.bincount(cells[cells >= 0], minlength=n_cells) * groups._weights[0]


def _parts_of_one(groups, cells, n_cells):
    """A root has the root of its part of each cell, which squares to its part."""
    counts = np.zeros(n_cells)
    for group in np.unique(groups._groups):
        own = np.bincount(cells[(groups._groups == group) & (cells >= 0)], minlength=n_cells)
        counts += np.sqrt(own / max(own.max(), 1)) * groups._weights[0]
    return counts.astype(np.int64)


@pytest.mark.parametrize("shares", [_whole_rows, _parts_of_one])
def test_other_shares_of_cells_would_be_found(shares):
    with patch.object(RowGroups, "shares", shares):
        worst, _ = largest_moves("tree")
    assert max(worst.values()) > 1
    assert {of for of, most in worst.items() if most > 1} <= {of for of in worst if "shared" in of}


def test_a_column_that_a_tree_divides_counts_whole_records():
    content = opened_description(np.random.default_rng(1), "pair")
    content["resources"][1]["synthdp"]["max_children"] = 3
    for resource in content["resources"]:
        for each in resource["schema"]["fields"]:
            if each["name"] == "x":
                each["synthdp"] = {"derive": True, "binning": "privtree"}
    found = Package.from_dict(content)
    values, name = values_of(found, some_tables(4, found)), found.tables[1].name
    grid = Grid(column=f"{name}.x")
    assert values.most_values(grid) == 1
    assert values.shared_histogram(grid, CELLS).tolist() == values.histogram(grid, CELLS).tolist()
    assert values.most_values(Grid(column=f"{name}.y")) == 3


@pytest.mark.parametrize("shape", small_packages.SHAPES)
def test_how_many_values_a_root_may_have_follows_from_what_is_declared(shape):
    for number in range(N_PACKAGES):
        found, most = opened_package(shape, number), {}
        full = values_of(found, some_tables(number, found))
        empty = values_of(found, {t.name: pd.DataFrame(columns=[*t.fields]) for t in found.tables})
        for table in found.tables:
            most[table.name] = most.get(table.parent, 1) * (
                table.max_children if table.parent else 1
            )
            for column in () if table.declared is None else table.declared.open_columns:
                grid = Grid(column=f"{table.name}.{column.name}")
                expected = min(most[table.name], MOST_ROWS)
                assert full.most_values(grid) == empty.most_values(grid) == expected


def test_columns_of_texts_have_several_values_whatever_else_is_open():
    content = opened_description(np.random.default_rng(1), "pair")
    for resource in content["resources"]:
        resource.get("synthdp", {}).pop("order", None)
        fields = {each["name"]: each for each in resource["schema"]["fields"]}
        if "x" in fields:
            fields["y"]["constraints"] = fields["x"].pop("constraints")  # no missing texts
    content["resources"][1]["synthdp"]["max_children"] = 3
    found = Package.from_dict(content)
    values, name = values_of(found, some_tables(4, found)), found.tables[1].name
    assert values.most_values(Grid(column=f"{name}.x")) == 3
    assert values.most_values(Grid(column=f"{name}.y")) == 3


def values_of_children(n_children, texts, hash_key=KEY):
    """Exact counts of one root with so many children, of each of which y is a text."""
    content = opened_description(np.random.default_rng(1), "pair")
    content["resources"][1]["synthdp"]["max_children"] = n_children
    found = Package.from_dict(content)
    root, child = found.tables
    tables = {
        root.name: pd.DataFrame({name: ["1"] for name in root.fields}),
        child.name: pd.DataFrame(
            {
                name: ["1"] * n_children
                if name in child.parent_key
                else [*map(str, range(n_children))]
                for name in child.fields
            }
        ).assign(y=pd.Series(texts, dtype=object)),
    }
    return values_of(found, tables, hash_key=hash_key), Grid(column=f"{child.name}.y")


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        (["a", "a", "a"], {"a": 1024}),
        (["a", "b", "a"], {"a": 724, "b": 724}),
        (["a", " b", "c"], {"a": 591, "b": 591, "c": 591}),
        ([None, "b", ""], {None: 724, "b": 724}),
        ([None, None, None], {None: 1024}),
        (["\ud800", "b", "b"], {"b": 1024}),
        ([b"no level", "b", "c"], {"b": 724, "c": 724}),
    ],
    ids=str,
)
def test_a_root_shares_its_weight_among_its_different_values(texts, counts):
    values, grid = values_of_children(3, texts)
    assert values.most_values(grid) == 3
    frequencies = values.frequencies(grid)
    assert listed(frequencies) == {text: n for text, n in counts.items() if text is not None}
    assert frequencies.missing() == counts.get(None, 0)


def test_of_a_root_with_many_rows_a_sample_counts():
    n_children, taken = 3 * MOST_ROWS, Counter()
    for key in range(200):
        values, grid = values_of_children(n_children, [*map(str, range(n_children))], f"{key:016}")
        assert values.most_values(grid) == MOST_ROWS
        counts = listed(values.frequencies(grid))
        assert {*counts.values()} == {value_weights(MOST_ROWS)[-1]}
        assert len(counts) == MOST_ROWS
        taken.update([*counts])
    assert len(taken) == n_children
    assert all(abs(n - 200 / 3) < 6 * np.sqrt(200 * 2 / 9) for n in taken.values())


def test_a_root_is_counted_with_each_of_its_rows_equally_often():
    found = Package.from_dict(opened_description(np.random.default_rng(1), "pair"))
    root, child = found.tables
    n_rows = child.max_children
    names = [*child.parent_key]
    tables = {
        root.name: pd.DataFrame({name: ["1"] for name in root.fields}),
        child.name: pd.DataFrame(
            {
                name: (["1"] * n_rows if name in names else [*map(str, range(n_rows))])
                for name in child.fields
            }
        ),
    }
    taken = Counter()
    n_keys = 600
    for key in range(n_keys):
        values = values_of(found, tables, hash_key=f"{key:016}")
        points = np.arange(n_rows)
        cells = values.histogram(Grid(column=f"{child.name}.x"), points)
        taken.update(dict(zip(points.tolist(), cells[2:].tolist(), strict=True)))
    assert taken.total() == n_keys
    assert n_rows > 1
    assert all(abs(n - n_keys / n_rows) < 6 * np.sqrt(n_keys) for n in taken.values())


def test_keys_that_are_read_alike_are_of_one_root_and_others_are_not():
    """Two roots with one name among those that are drawn from would have one row together."""
    found = opened_package("pair", 0)
    root = found.root
    keys = [
        *small_packages.KEYS,
        b"1",
        " a",
        "a b",
        "\u00e9",
        "e\u0301x",
        "1|2",
        "nan",
        "None",
        "\ud800",
    ]
    table = dict.fromkeys(root.fields, keys)
    tables = {
        each.name: pd.DataFrame(columns=list(each.fields), dtype=object) for each in found.tables
    }
    tables[root.name] = pd.DataFrame(
        {**table, **({"x": 1, "y": "y", "z": "u"} if "x" in root.fields else {})}
    )
    child = found.tables[1]
    rows = {name: keys if name in child.parent_key else ["7"] * len(keys) for name in child.fields}
    tables[child.name] = pd.DataFrame(rows)
    values = values_of(found, tables)
    cells = values.histogram(Grid(column=f"{child.name}.x"), CELLS)
    assert cells.sum() == len(keys)
