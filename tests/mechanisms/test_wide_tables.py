"""Tables of many columns, and of columns with one level: nothing may fail once the budget is being
spent.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from helpers.private_tables import private_table
from helpers.quick_engines import CUT_SHORT, quick_engine

import synthdp
from synthdp.core import (
    CautionWarning,
    Constraint,
    Domain,
    LinearMeasurement,
    ParameterError,
    Workload,
)
from synthdp.data import CodedSource, CodedTable, cover
from synthdp.inference import GraphicalModelEngine
from synthdp.mechanisms import Task, best_linear_estimates
from synthdp.release import ENGINES, MECHANISMS, mechanism_named

pytestmark = CUT_SHORT


def wide_workload(domain):
    """Pairs along the table: as many as columns, for the time of mechanisms goes with the number of
    marginals.
    """
    names = domain.attributes
    return Workload.from_cliques(domain, pairwise(names) if len(names) > 1 else [names])


def of_few_rounds(name):
    """A mechanism that takes four rounds where it takes rounds: each is as the others."""
    mechanism = mechanism_named(name)
    return replace(mechanism, rounds=4) if hasattr(mechanism, "rounds") else mechanism


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_every_mechanism_takes_any_number_of_columns_of_one_level(mechanism):
    """Few of them, no row and one are in the contract tests."""
    shape = (1,) * 33 + (2, 3) + (1,) * 33
    table = private_table(shape, 200)
    workload = wide_workload(table.domain)
    model = of_few_rounds(mechanism).release(
        table, Task(workload=workload, engine=GraphicalModelEngine())
    )
    assert Fraction(99, 100) * table.ledger.budget <= table.ledger.spent <= table.ledger.budget
    columns = model.sample(7, seed=0)
    assert all(
        column.shape == (7,) and column.max() < size
        for column, size in zip(columns, shape, strict=True)
    )
    assert model.marginal(table.domain.attributes[8:39]).values.size == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape", [(1,) * 300, (2,) * 300, (1, 2) * 150], ids=["one level", "two levels", "either"]
)
@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_every_mechanism_takes_300_columns(mechanism, shape):
    table = private_table(shape, 200)
    workload = wide_workload(table.domain)
    model = of_few_rounds(mechanism).release(
        table, Task(workload=workload, engine=GraphicalModelEngine())
    )
    assert table.ledger.spent <= table.ledger.budget
    assert len(model.sample(7, seed=0)) == 300


def measured(domain, cliques):
    return [
        LinearMeasurement(clique, np.full(domain.project(clique).shape, 9.0), 2.0)
        for clique in cliques
    ]


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_every_engine_takes_any_number_of_columns_of_one_level(engine):
    """Also where cliques of them hang together, and where a constraint names them."""
    names = [f"x{i}" for i in range(70)]
    domain = Domain((*names, "a", "b"), (*(1,) * 70, 2, 3))
    cliques = list(pairwise(names))
    cliques += [("a", name) for name in names] + [("x1", "a", "x0", "b")]
    constraints = [
        Constraint(("x3", "a", "b"), np.array([[[True, False, True], [True, True, True]]])),
        Constraint(("x4", "x5"), np.array([[True]])),
    ]
    model = quick_engine(engine).estimate(
        domain, measured(domain, cliques), constraints=constraints
    )
    columns = model.sample(11, seed=1)
    assert all(not column.any() for column in columns[:70])
    assert constraints[0].holds(domain, columns).all()
    assert model.marginal(("x0", "b", "x1", "a")).values.shape == (1, 3, 1, 2)


def test_what_is_measured_together_with_a_single_level_is_measured_all_the_same():
    domain = Domain(("one", "a"), (1, 2))
    together = LinearMeasurement(("one", "a"), np.array([[30.0, 10.0]]), np.array([[1.0, 2.0]]))
    alone = LinearMeasurement(("a",), np.array([30.0, 10.0]), np.array([1.0, 2.0]))
    fits = [GraphicalModelEngine().estimate(domain, [each]) for each in (together, alone)]
    np.testing.assert_array_equal(*(fit.marginal(("a",)).values for fit in fits))
    (estimate,) = best_linear_estimates(
        domain, [LinearMeasurement(("one", "a"), np.array([[30.0, 10.0]]), 1.0)], [("a", "one")]
    )
    assert (estimate.clique, estimate.values.tolist(), estimate.stddev) == (
        ("a", "one"),
        [[30.0], [10.0]],
        1.0,
    )


def test_counts_of_columns_of_one_level_are_those_of_rows():
    shape = (1,) * 70 + (2, 3)
    domain = Domain(tuple(f"x{i}" for i in range(72)), shape)
    rows = tuple(np.arange(5) % size for size in shape)
    source = CodedSource(CodedTable(domain, rows))
    cliques = [
        ("x0", "x71"),
        ("x71", "x1", "x70"),
        ("x2",),
        (),
        *((f"x{i}", f"x{i + 1}") for i in range(69)),
    ]
    counts = list(source.counts_of(cliques))
    assert [each.tolist() for each in counts[:4]] == [
        [[2, 2, 1]],
        [[[1, 1]], [[1, 1]], [[1, 0]]],
        [5],
        5,
    ]
    assert all(each.tolist() == [[5]] for each in counts[4:])
    assert source.counts(("x71", "x5")).tolist() == [[2], [2], [1]]
    assert all(len(axes) <= 2 for axes, _ in cover([(0,), (1, 0)], (2, 2)))


def test_a_marginal_of_more_columns_than_arrays_have_axes_is_refused_before_anything_is_paid():
    domain = Domain(tuple(f"x{i}" for i in range(40)), (1,) * 40)
    with pytest.raises(ParameterError, match="a marginal has 40 columns; name at most 31"):
        Workload.from_cliques(domain, [domain.attributes])


def test_columns_that_are_learnt_to_have_one_level_are_released():
    """All values differ, so that each column is learnt to be of one level, ``other``."""
    table = pd.DataFrame({f"c{i}": [f"v{i}-{row}" for row in range(60)] for i in range(66)})
    derived = {"derive": ["levels"], "other": "other"}
    schema = {"fields": [{"name": name, "type": "string", "synthdp": derived} for name in table]}
    said = "columns 'c0', 'c1', 'c2' and 63 more: no level has enough"
    with pytest.warns(CautionWarning, match=said) as told:
        found = synthdp.synthesize(table, schema, epsilon=1.0, delta=1e-6, mechanism="mst")
    assert len(told) < 6
    assert found.sample(3, seed=0).shape == (3, 66)
