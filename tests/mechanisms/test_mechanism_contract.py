"""What every mechanism must do, whatever its idea: run over all of them."""

import ast
import dataclasses
import inspect
from fractions import Fraction

import numpy as np
import pytest
from helpers.private_tables import private_table
from helpers.quick_engines import quick_engine
from helpers.seldom import often

from synthdp.core import LinearMeasurement, ParameterError, PrivacyError, Workload
from synthdp.inference import DirectEngine, GraphicalModelEngine
from synthdp.mechanisms import MST, Task, merged_rare_levels
from synthdp.privacy import Accounting, Adjacency
from synthdp.release import ENGINES, MECHANISMS, mechanism_named

SHAPES = {
    "one": (4,),
    "two": (3, 2),
    "three": (2, 5, 3),
    "single levels": (1, 3, 1, 2),
    "only one level": (1,),
}


@pytest.fixture(params=sorted(MECHANISMS))
def mechanism(request):
    return mechanism_named(request.param)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("n_rows", often(0, 3000, seldom=(1, 10)))
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_spends_its_budget_and_gives_a_model(mechanism, shape, n_rows, adjacency):
    table = private_table(shape, n_rows, adjacency=adjacency)
    model = mechanism.release(
        table,
        Task(workload=Workload.default(table.domain), engine=GraphicalModelEngine()),
    )
    ledger = table.ledger
    assert ledger.spent == sum((event.rho for event in ledger.events), Fraction(0))
    assert Fraction(99, 100) * ledger.budget <= ledger.spent <= ledger.budget
    assert model.domain == table.domain
    columns = model.sample(25, seed=0)
    assert [column.shape for column in columns] == [(25,)] * len(shape)
    assert all(column.max() < size for column, size in zip(columns, shape, strict=True))


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_works_with_every_engine(mechanism, engine):
    table = private_table((3, 4, 2), 500)
    model = mechanism.release(
        table, Task(workload=Workload.default(table.domain), engine=quick_engine(engine))
    )
    assert model.marginal(("x0", "x2")).values.shape == (3, 2)


def test_engines_agree_on_what_a_mechanism_measured(mechanism):
    table = private_table((3, 4, 2), 2000)
    mechanism.release(
        table,
        Task(workload=Workload.default(table.domain), engine=GraphicalModelEngine()),
    )
    if any(measurement.coarsening for measurement in table.released):
        pytest.skip("the noise merged levels this time")
    fits = [
        engine.estimate(table.domain, table.released)
        for engine in (GraphicalModelEngine(), DirectEngine())
    ]
    left, right = (fit.marginal(("x0", "x1", "x2")).values for fit in fits)
    assert np.abs(left - right).sum() < 0.02 * fits[0].total


def test_noise_shrinks_with_the_budget(mechanism):
    errors = []
    for epsilon in (0.01, 1000.0):
        table = private_table((4, 3), 5000, epsilon=epsilon)
        model = mechanism.release(
            table,
            Task(workload=Workload.default(table.domain), engine=GraphicalModelEngine()),
        )
        fresh = private_table((4, 3), 5000, epsilon=1e6)
        truth = fresh.measure(("x0",), rho=1e5).values
        errors.append(np.abs(model.marginal(("x0",)).values - truth).sum())
    assert errors[1] < 50 < errors[0] or errors[1] < errors[0] / 5


def test_is_a_frozen_keyword_only_dataclass_with_its_paper(mechanism):
    assert dataclasses.is_dataclass(mechanism)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.name = "other"
    parameters = inspect.signature(type(mechanism)).parameters.values()
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    assert mechanism.reference


def test_does_not_touch_records_outside_the_kernel(mechanism):
    """No mechanism names a private attribute or anything that holds records."""
    tree = ast.parse(inspect.getsource(inspect.getmodule(type(mechanism))))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "table"
        ):
            assert node.attr in {"domain", "ledger", "measure", "select", "scores", "released"}
        if isinstance(node, ast.ImportFrom):
            assert not str(node.module).startswith("synthdp.data")


def test_progress_does_not_depend_on_records(mechanism):
    """Stages and steps of measuring are the same for an empty table and a full one.

    Adaptive mechanisms choose their next steps by what was released, and say what share of the
    budget is spent: their steps may differ, their stages may not.
    """

    def told(n_rows):
        steps = []
        table = private_table((2, 3, 4), n_rows)
        mechanism.release(
            table,
            Task(
                workload=Workload.default(table.domain),
                engine=GraphicalModelEngine(),
                report=lambda *step: steps.append(step),
            ),
        )
        told = [step for step in steps if step[0] != "fitting"]
        return {stage for stage, _, most in told if most == 100} | {
            step for step in told if step[2] != 100
        }

    assert told(0) == told(2000)


@pytest.mark.parametrize("cliques", [[("x1",)], [("x2", "x0")], [("x0", "x1", "x2")]])
def test_works_for_a_workload_of_one_clique(mechanism, cliques):
    table = private_table((3, 4, 2), 500)
    workload = Workload.from_cliques(table.domain, cliques)
    model = mechanism.release(table, Task(workload=workload, engine=GraphicalModelEngine()))
    assert Fraction(99, 100) * table.ledger.budget <= table.ledger.spent <= table.ledger.budget
    assert model.marginal(("x0", "x1", "x2")).values.shape == (3, 4, 2)


def test_gaussian_mechanisms_work_under_gaussian_accounting(mechanism):
    table = private_table((3, 4, 2, 2), 500, accounting=Accounting.GDP)
    workload = Workload.default(table.domain)
    if mechanism.is_gaussian:
        mechanism.release(table, Task(workload=workload, engine=GraphicalModelEngine()))
        assert Fraction(99, 100) * table.ledger.budget <= table.ledger.spent <= table.ledger.budget
    else:
        with pytest.raises(PrivacyError, match="gdp"):
            mechanism.release(table, Task(workload=workload, engine=GraphicalModelEngine()))


# --- mst ---------------------------------------------------------------------------------------


def test_mst_finds_a_planted_tree_and_keeps_its_dependences():
    generator = np.random.default_rng(1)
    a = generator.integers(0, 4, 20_000)
    b = (a + (generator.random(20_000) < 0.1)) % 4
    c = generator.integers(0, 3, 20_000)
    d = (c + (generator.random(20_000) < 0.1)) % 3
    rows = (a, c, b, d)
    table = private_table((4, 3, 4, 3), 0, rows=rows)
    model = MST().release(
        table,
        Task(workload=Workload.default(table.domain), engine=GraphicalModelEngine()),
    )
    measured = {frozenset(m.clique) for m in table.released if len(m.clique) == 2}
    assert {frozenset({"x0", "x2"}), frozenset({"x1", "x3"})} <= measured
    assert len(measured) == 3
    joint = np.zeros((4, 4))
    np.add.at(joint, (a, b), 1)
    assert np.abs(model.marginal(("x0", "x2")).values - joint).sum() < 0.05 * len(a)


def test_mst_selects_a_spanning_tree_even_without_any_dependence():
    for seed in range(5):
        table = private_table((2,) * 7, 100, seed=seed)
        MST().release(
            table,
            Task(workload=Workload.default(table.domain), engine=GraphicalModelEngine()),
        )
        pairs = [m.clique for m in table.released if len(m.clique) == 2]
        component = {name: {name} for name in table.domain.attributes}
        for a, b in pairs:
            assert component[a] is not component[b]
            component[a] |= component[b]
            for name in component[b]:
                component[name] = component[a]
        assert len(pairs) == 6


def test_mst_merges_rare_levels_and_decodes_them_in_proportion_to_what_was_measured():
    generator = np.random.default_rng(0)
    shares = np.array([0.5, 0.3, 0.1999] + [0.0001 / 37] * 37)
    rows = (generator.choice(40, 30_000, p=shares), generator.integers(0, 2, 30_000))
    table = private_table((40, 2), 0, rows=rows)
    model = MST().release(
        table,
        Task(workload=Workload.default(table.domain), engine=GraphicalModelEngine()),
    )
    pair = next(m for m in table.released if len(m.clique) == 2)
    assert pair.values.shape[0] < 40
    one_way = next(m for m in table.released if m.clique == ("x0",))
    groups = pair.coarsening.groups["x0"]
    merged = groups == groups.max()
    fitted, noisy = model.marginal(("x0",)).values[merged], np.maximum(one_way.values[merged], 0)
    np.testing.assert_allclose(fitted / fitted.sum(), noisy / noisy.sum(), atol=1e-9)


def test_merged_rare_levels_leaves_a_single_rare_level_alone():
    one_way = [LinearMeasurement(("a",), np.array([100.0, 1.0, 90.0]), 5.0)]
    assert merged_rare_levels(one_way, 3.0).groups == {}
    one_way = [LinearMeasurement(("a",), np.array([100.0, 1.0, 90.0, -3.0]), 5.0)]
    assert merged_rare_levels(one_way, 3.0).groups["a"].tolist() == [0, 2, 1, 2]
    one_way = [LinearMeasurement(("a",), np.array([1.0, -3.0]), 5.0)]
    assert merged_rare_levels(one_way, 3.0).groups["a"].tolist() == [0, 0]


@pytest.mark.parametrize("name", ["gaussian", "mwem"])
def test_marginals_too_large_to_measure_are_refused_before_anything_is_paid_for(name):
    table = private_table((200, 200, 200, 200), 10)
    workload = Workload.from_cliques(table.domain, [table.domain.attributes])
    with pytest.raises(ParameterError, match="1600000000 cells"):
        mechanism_named(name).release(table, Task(workload=workload, engine=GraphicalModelEngine()))
    assert table.ledger.spent == 0


REFUSED = {
    "clique-tree": [
        {"max_cells": 0},
        {"one_way_share": 0.0},
        {"one_way_share": float("nan")},
        {"selection_share": -0.1},
        {"one_way_share": 0.6, "selection_share": 0.4},
    ],
    "privmrf": [
        {"one_way_share": 0.0},
        {"graph_share": float("nan")},
        {"scoring_share": 0.9},
        {"theta": 0.0},
        {"refined_per_column": float("inf")},
        {"size_penalty": -0.1},
        {"rounds": 0},
        {"max_attributes": 0},
        {"max_scored": 0},
        {"max_cells": 0},
        {"max_clique_cells": 0},
    ],
    "mwem": [
        {"rounds": 0},
        {"selection_share": 0.0},
        {"selection_share": 1.0},
        {"total_share": float("nan")},
    ],
    "privbayes": [
        {"degree": 0},
        {"max_cells": 0},
        {"max_candidates": 0},
        {"theta": 0.0},
        {"theta": float("nan")},
        {"one_way_share": 0.0},
        {"selection_share": 1.0},
    ],
    "auto": [
        {"one_way_share": 0.0},
        {"one_way_share": 0.95, "score_share": 0.025},
        {"score_share": 0.5},
        {"score_share": float("nan")},
        {"first_share": 0.0},
        {"first_share": 1.5},
        {"max_noise_share": 0.0},
        {"max_noise_share": float("nan")},
        {"relative_model_error": -1.0},
        {"relative_model_error": float("nan")},
        {"max_cells": 0},
        {"max_candidates": 0},
    ],
    "mst": [
        {"one_way_share": 0.0},
        {"one_way_share": float("nan")},
        {"selection_share": -0.1},
        {"one_way_share": 0.6, "selection_share": 0.4},
        {"rare_threshold": -1.0},
        {"rare_threshold": float("nan")},
    ],
    "mwem-pgm": [
        {"rounds": 0},
        {"selection_share": 0.0},
        {"selection_share": 1.0},
        {"total_share": float("nan")},
    ],
}
"""Parameters out of range, by mechanism."""


@pytest.mark.parametrize(
    ("name", "arguments"),
    [(name, each) for name, several in REFUSED.items() for each in several],
    ids=str,
)
def test_parameters_out_of_range_are_refused(name, arguments):
    with pytest.raises(ParameterError, match=f"{name}: "):
        type(mechanism_named(name))(**arguments)
