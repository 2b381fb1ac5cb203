"""Linked tables held against true ones: nothing where they are the same, and broken links where there are some."""

import numpy as np
import pytest
from helpers.families import package, random_tables

import synthdp
from synthdp.evaluation.linked_tables import KINDS


@pytest.fixture(scope="module")
def tables():
    return random_tables(200)


def test_the_same_tables_differ_in_nothing(tables):
    found = synthdp.evaluate_tables(tables, tables, package())
    assert found.distances["tvd"].max() == 0
    assert list(found.summary().index) == list(KINDS)
    assert sum(found.broken_links.values()) == 0
    assert "NOT PRIVATE" in found._repr_html_()


def test_children_that_are_dealt_anew_differ_in_what_hangs_together_only(tables):
    rng = np.random.default_rng(0)
    people = tables["people"]
    order = rng.permutation(len(people))
    mixed = people.assign(sex=people["sex"].to_numpy()[order], job=people["job"].to_numpy()[order])
    means = synthdp.evaluate_tables(tables, {**tables, "people": mixed}, package()).summary()["mean"]
    assert means["own pairs"] < 0.05
    assert means["pairs across tables"] > 0.05
    assert means["siblings"] > 0.05


def test_broken_links_are_counted(tables):
    lost = tables["pets"].assign(owner=["nobody"] * 3 + tables["pets"]["owner"].tolist()[3:])
    twice = tables["homes"].assign(home=[1, *tables["homes"]["home"].tolist()[1:]])
    assert synthdp.evaluate_tables(tables, {**tables, "pets": lost}, package()).broken_links["pets"] == 3
    assert synthdp.evaluate_tables(tables, {**tables, "homes": twice}, package()).broken_links["homes"] == 1
