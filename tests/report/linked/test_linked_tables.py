"""Linked tables held against true ones: nothing where they are the same, and broken links where
there are some.
"""

import json

import numpy as np
import pytest
from helpers.families import description, package, random_tables
from helpers.homes import home

import synthdp
from synthdp.core import ParameterError
from synthdp.report import KINDS, LinkedMarginals

linked_marginals = home(LinkedMarginals)


@pytest.fixture(scope="module")
def tables():
    return random_tables(200)


def test_the_same_tables_differ_in_nothing(tables):
    found = synthdp.evaluate(tables, tables, package())
    assert found.distances["tvd"].max() == 0
    assert list(found.summary.index) == list(KINDS)
    assert sum(found.broken_links.values()) == 0
    assert "NOT PRIVATE" in found._repr_html_()


def test_children_that_are_dealt_anew_differ_in_what_hangs_together_only(tables):
    rng = np.random.default_rng(0)
    people = tables["people"]
    order = rng.permutation(len(people))
    mixed = people.assign(sex=people["sex"].to_numpy()[order], job=people["job"].to_numpy()[order])
    means = synthdp.evaluate(tables, {**tables, "people": mixed}, package()).summary["mean"]
    assert means["own pairs"] < 0.05
    assert means["pairs across tables"] > 0.05
    assert means["siblings"] > 0.05


def test_broken_links_are_counted(tables):
    lost = tables["pets"].assign(owner=["nobody"] * 3 + tables["pets"]["owner"].tolist()[3:])
    twice = tables["homes"].assign(home=[1, *tables["homes"]["home"].tolist()[1:]])
    assert synthdp.evaluate(tables, {**tables, "pets": lost}, package()).broken_links["pets"] == 3
    assert (
        synthdp.evaluate(tables, {**tables, "homes": twice}, package()).broken_links["homes"] == 1
    )


def test_errors_stand_beside_those_of_families_drawn_at_random(tables):
    found = synthdp.evaluate(tables, random_tables(200, seed=1), package())
    means = found.summary
    assert (means["mean"] < 3 * means["sampling"]).all()
    assert (means["sampling"] < 3 * means["mean"]).all()
    fewer = synthdp.evaluate(tables, random_tables(20, seed=1), package()).summary
    assert (fewer["sampling"] > 1.5 * means["sampling"]).all()


def test_a_marginal_is_shown_cell_by_cell(tables):
    found = synthdp.evaluate(tables, random_tables(30, seed=2), package())
    row = found.distances[found.distances["kind"] == "siblings"].iloc[0]
    cells = found.drill(row["kind"], row["table"], row["columns"])
    assert cells["difference"].abs().sum() / 2 == pytest.approx(row["tvd"])
    assert cells[["real share", "synthetic share"]].sum().tolist() == pytest.approx([1, 1])
    with pytest.raises(ParameterError, match="see distances"):
        found.drill("siblings", "homes", row["columns"])


def test_tables_are_read_from_packages(tables, tmp_path):
    for folder, found in (("true", tables), ("made", random_tables(50, seed=3))):
        (tmp_path / folder).mkdir()
        for name, table in found.items():
            table.to_csv(tmp_path / folder / f"{name}.csv", index=False)
        (tmp_path / folder / "datapackage.json").write_text(json.dumps(description()))
    paths = [tmp_path / folder / "datapackage.json" for folder in ("true", "made")]
    by_path, by_frame = (
        synthdp.evaluate(*paths),
        synthdp.evaluate(tables, random_tables(50, seed=3), package()),
    )
    assert by_path.distances.equals(by_frame.distances)
    assert by_path.facts == by_frame.facts
    lacking = description()
    lacking["resources"] = lacking["resources"][:-1]
    paths[1].write_text(json.dumps(lacking))
    with pytest.raises(ParameterError, match="has no table 'pets'"):
        synthdp.evaluate(*paths)


def test_nothing_is_compared_with_nothing(tables):
    with pytest.raises(ParameterError, match="synthetic tables: 'homes' has no rows"):
        synthdp.evaluate(
            tables, {name: table.iloc[:0] for name, table in tables.items()}, package()
        )
    with pytest.raises(ParameterError, match="package is missing"):
        synthdp.evaluate(tables, tables)
    with pytest.raises(ParameterError, match="no guarantee"):
        synthdp.evaluate(tables, tables, package(), certificate={"epsilon": 1})


def test_a_table_that_has_lost_all_rows_is_far_from_the_true_one(tables):
    found = synthdp.evaluate(tables, {**tables, "pets": tables["pets"].iloc[:0]}, package())
    lost = found.distances[(found.distances["table"] == "pets")]
    assert lost["tvd"].eq(1).all()


def test_columns_of_public_tables_are_columns_above(tables):
    content = description()
    content["resources"][3]["schema"]["foreignKeys"].append(
        {"fields": "kind", "reference": {"resource": "kinds", "fields": "kind"}}
    )
    content["resources"][2]["schema"]["foreignKeys"].append(
        {"fields": "when", "reference": {"resource": "times", "fields": "when"}}
    )
    for name, rows in (
        ("kinds", [{"kind": "cat", "legs": 4}, {"kind": "dog", "legs": 2}]),
        (
            "times",
            [
                {"when": "1", "early": "yes"},
                {"when": "2", "early": "yes"},
                {"when": "3", "early": "no"},
            ],
        ),
    ):
        fields = {"fields": [{"name": key} for key in rows[0]]}
        content["resources"].append(
            {"name": name, "schema": fields, "data": rows, "synthdp": {"public": True}}
        )
    found = synthdp.evaluate(tables, random_tables(50, seed=1), content)
    across = found.distances[found.distances["kind"] == "pairs across tables"]["columns"].tolist()
    assert [pair for pair in across if "times" in pair[0]] == [("times.early", "visits.why")]
    assert not any("kinds" in pair[0] for pair in across)  # it only renames
    cells = found.drill("pairs across tables", "visits", ("times.early", "visits.why"))
    early = tables["visits"].merge(tables["people"], on=["home", "number"])["when"].isin(["1", "2"])
    assert cells.groupby("times.early")["real share"].sum()["yes"] == pytest.approx(
        early.mean(), abs=0.1
    )


def test_pairs_of_siblings_are_all_of_them_or_many_at_random(tables, monkeypatch):
    found = synthdp.evaluate(tables, tables, package())
    people = found.marginals["people"][0]
    counts = people.counts("siblings", ("people.sex", "people.job"))
    used = people.rows.codes
    expected = np.zeros_like(counts)
    for one in range(people.rows.n_rows):
        for other in range(people.rows.n_rows):
            if one != other and people.rows.parents[one] == people.rows.parents[other]:
                expected[used["people.sex"][one], used["people.job"][other]] += 1
    assert np.array_equal(counts, expected)
    monkeypatch.setattr(linked_marginals, "MAX_PAIRS", 200)
    some = synthdp.evaluate(tables, tables, package()).marginals["people"][0]
    drawn = some.counts("siblings", ("people.sex", "people.job"))
    assert drawn.sum() == 200
    assert np.abs(drawn / 200 - expected / expected.sum()).max() < 0.15
