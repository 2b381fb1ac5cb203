"""The graph of a release: what it holds, against brute force over all cells of a small domain."""

import subprocess
import sys
from itertools import combinations
from math import log, sqrt

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from helpers.paths import DATA
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import synthdp
from synthdp.core import Coarsening, Domain, LinearMeasurement
from synthdp.release import dependence

DOMAIN = Domain(("a", "b", "c", "d", "e"), (2, 3, 2, 4, 2))
CIRCLE = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]


def measured(cliques, *, seed=0):
    joint = 1000 * np.random.default_rng(seed).dirichlet(np.full(DOMAIN.size(), 0.2)).reshape(
        DOMAIN.shape
    )
    found = []
    for stddev, clique in enumerate(cliques, start=1):
        lost = tuple(axis for axis, name in enumerate(DOMAIN.attributes) if name not in clique)
        kept = [name for name in DOMAIN.attributes if name in clique]
        values = np.transpose(joint.sum(axis=lost), [kept.index(name) for name in clique])
        found.append(LinearMeasurement(clique, values, float(stddev)))
    return found


def by_hand(joint, first, second):
    """Mutual information and Cramér's V of two axes of a joint table, cell by cell."""
    pair = np.zeros((joint.shape[first], joint.shape[second]))
    for cell in np.ndindex(*joint.shape):
        pair[cell[first], cell[second]] += joint[cell] / joint.sum()
    rows, columns = (
        [pair[i].sum() for i in range(len(pair))],
        [pair[:, j].sum() for j in range(pair.shape[1])],
    )
    information = squared = 0.0
    for i, j in np.ndindex(*pair.shape):
        expected = rows[i] * columns[j]
        information += pair[i, j] * log(pair[i, j] / expected) if pair[i, j] > 0 else 0.0
        squared += (pair[i, j] - expected) ** 2 / expected if expected > 0 else 0.0
    occurring = min(sum(share > 0 for share in shares) for shares in (rows, columns))
    return information, sqrt(squared / (occurring - 1))


@pytest.mark.parametrize(
    "engine", ["graphical-model", "direct", "local-consistency", "gum", "relaxed-tabular"]
)
def test_edges_are_as_strong_as_the_joint_table_says(engine):
    synthesis = synthdp.from_measurements(
        DOMAIN, measured([*CIRCLE, ("a", "b", "c"), ("e",)]), engine=engine
    )
    graph = synthesis.graph()
    joint = synthesis.model.marginal(DOMAIN.attributes).values
    assert graph.graph["n_rows"] == synthesis.model.total
    assert set(graph.edges) >= {("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "c")}
    for first, second, edge in graph.edges(data=True):
        information, strength = by_hand(
            joint, *(DOMAIN.attributes.index(name) for name in (first, second))
        )
        if engine != "local-consistency":  # its tables are no distribution's
            assert edge["mutual_information"] == pytest.approx(information, abs=1e-9)
            assert edge["cramers_v"] == pytest.approx(strength, abs=1e-9)
        counts = synthesis.model.marginal((first, second)).values
        assert (edge["mutual_information"], edge["cramers_v"]) == pytest.approx(
            by_hand(counts, 0, 1), abs=1e-9
        )


def test_edges_tell_what_was_measured_and_what_the_model_adds():
    cliques = [*CIRCLE, ("c", "b", "a"), ("e",), (), ("e",)]
    graph = synthdp.from_measurements(DOMAIN, measured(cliques), engine="graphical-model").graph()
    assert dict(graph.nodes(data="n_levels")) == dict(
        zip(DOMAIN.attributes, DOMAIN.shape, strict=True)
    )
    assert [graph.nodes[name]["stddevs"] for name in ("a", "e")] == [[], [6.0, 8.0]]
    assert (graph.edges["b", "a"]["cliques"], graph.edges["a", "b"]["stddevs"]) == (
        [("a", "b"), ("c", "b", "a")],
        [1, 5],
    )
    assert graph.edges["a", "c"]["cliques"] == [("c", "b", "a")]
    assert nx.is_chordal(graph)  # a junction tree's cliques
    assert set(map(frozenset, nx.connected_components(graph))) == {
        frozenset("abcd"),
        frozenset("e"),
    }
    graph = synthdp.from_measurements(DOMAIN, measured(CIRCLE), engine="graphical-model").graph()
    (added,) = [pair for pair in graph.edges if not graph.edges[pair]["cliques"]]
    assert set(added) in ({"a", "c"}, {"b", "d"})
    assert graph.edges[added]["stddevs"] == []
    assert graph.edges[added]["cramers_v"] > 0


def test_a_stddev_for_each_cell_is_told_by_its_root_mean_square():
    values = np.array([[10.0, 20.0], [30.0, 40.0]])
    noise = np.array([[1.0, 1.0], [1.0, 5.0]])
    graph = synthdp.from_measurements(
        Domain(("x", "y"), (2, 2)), [LinearMeasurement(("x", "y"), values, noise)]
    ).graph()
    assert graph.edges["x", "y"]["stddevs"] == [pytest.approx(sqrt(7))]


def test_merged_levels_and_models_without_tables_have_graphs():
    merged = Coarsening({"b": np.array([0, 1, 1])})
    values = np.array([[30.0, 10.0], [5.0, 55.0]])
    measurement = LinearMeasurement(("a", "b"), values, 1.0, merged)
    schema = synthdp.from_measurements(DOMAIN, measured(CIRCLE[1:])).schema
    kept = {"measurements": [measurement, *measured(CIRCLE[1:])], "certificate": {}}
    graph = synthdp.Synthesis(schema=schema, model=None, **kept).graph()
    assert graph.edges["a", "b"]["cliques"] == [("a", "b")]
    assert graph.edges["a", "b"]["cramers_v"] > 0.1
    assert graph.nodes["b"]["n_levels"] == 3


def test_the_sample_has_a_graph_that_saving_keeps(tmp_path):
    people = pd.read_csv(DATA / "census.csv", dtype=str, keep_default_na=False, nrows=2000)
    synthesis = synthdp.synthesize(
        people, DATA / "census.schema.json", epsilon=1, delta=1e-9, mechanism="mst"
    )
    graph = synthesis.graph()
    synthesis.save(tmp_path / "census.synthdp")
    assert nx.utils.graphs_equal(synthdp.load(tmp_path / "census.synthdp").graph(), graph)
    together = {
        frozenset(pair) for m in synthesis.measurements for pair in combinations(m.clique, 2)
    }
    assert together <= set(map(frozenset, graph.edges))
    assert {column for _, column in graph.nodes(data="column")} == set(people.columns)
    strongest = nx.maximum_spanning_tree(graph, weight="mutual_information")
    assert nx.is_forest(strongest)


@given(
    arrays.arrays(
        np.float64,
        st.tuples(*[st.integers(1, 4)] * 2),
        elements=st.sampled_from([0.0, 0.5, 1.0, 7.0, 1e6]),
    )
)
def test_dependence_is_symmetric_within_bounds_and_nought_where_there_is_none(counts):
    information, strength = dependence(counts)
    assert dependence(counts.T) == pytest.approx((information, strength), abs=1e-9)
    assert dependence(3.0 * counts) == pytest.approx((information, strength), abs=1e-9)
    assert 0.0 <= strength <= 1.0
    assert 0.0 <= information <= log(min(counts.shape)) + 1e-9
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    assert dependence(np.outer(rows, columns)) == pytest.approx((0.0, 0.0), abs=1e-6)
    if counts.any():
        assert dependence(np.diag(rows[rows > 0]))[1] == pytest.approx(
            1.0 if (rows > 0).sum() > 1 else 0.0
        )


def test_a_graph_asks_for_the_library_that_makes_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    counts = [LinearMeasurement(("a",), np.array([3.0, 4.0]), 1.0)]
    synthesis = synthdp.from_measurements(Domain(("a",), (2,)), counts)
    with pytest.raises(synthdp.MissingExtraError, match=r"synthdp\[graph\]"):
        synthesis.graph()


@pytest.mark.parametrize("heavy", ["networkx", "scipy"])
def test_what_is_heavy_is_loaded_only_when_it_is_used(heavy):
    """networkx for a graph, scipy where records are moved; neither by the default mechanism's engine."""
    script = (
        "import sys, synthdp.release.release, synthdp.cli.commands.run, synthdp.inference.engines.auto\n"
        f"sys.exit({heavy!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-P", "-c", script], check=False).returncode == 0
