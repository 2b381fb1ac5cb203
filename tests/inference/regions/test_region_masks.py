"""What constraints leave possible in regions: against all rows, and what only a third attribute
tells.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Constraint, Domain, LinearMeasurement
from synthdp.inference import (
    LayeredConsistencyEngine,
    LocalConsistencyEngine,
    RegionGraph,
    possible_masks,
)
from synthdp.inference.possible_cells import possible_cells

DOMAIN = Domain(("street", "region", "town", "sex"), (8, 2, 4, 2))
CHAIN = [
    Constraint.determines("street", "town", [0, 0, 1, 1, 2, 2, 3, 3], 4),
    Constraint.determines("town", "region", [0, 0, 1, 1], 2),
]


def rows_of(domain, constraints):
    """All possible rows, one a column."""
    cells = np.indices(domain.shape).reshape(len(domain), -1)
    kept = np.ones(cells.shape[1], dtype=bool)
    for constraint in constraints:
        kept &= constraint.holds(domain, cells)
    return cells[:, kept]


def exact_mask(domain, region, rows):
    """Which cells of a region some possible row is in."""
    mask = np.zeros(domain.project(region).shape, dtype=bool)
    mask[tuple(rows[domain.index(name)] for name in region)] = True
    return mask


def test_a_region_without_the_attribute_between_two_rules_knows_what_both_say() -> None:
    graph = RegionGraph.covering(DOMAIN, [("street", "region"), ("region", "sex")])
    masks = possible_masks(graph, possible_cells(DOMAIN, CHAIN))
    rows = rows_of(DOMAIN, CHAIN)
    for region, mask in zip(graph.regions, masks, strict=True):
        np.testing.assert_array_equal(mask, exact_mask(DOMAIN, region, rows))
    assert masks[0].sum() == 8


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 1 << 30))
def test_no_possible_row_is_ruled_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = Domain(("a", "b", "c", "d"), (3, 2, 3, 2))
    row = rng.integers(domain.shape)
    constraints = []
    for _ in range(4):
        clique = tuple(rng.permutation(domain.attributes)[: rng.integers(2, 4)].tolist())
        allowed = rng.random([domain[name] for name in clique]) < 0.5
        allowed[tuple(row[domain.index(name)] for name in clique)] = True
        constraints.append(Constraint(clique, allowed))
    rows = rows_of(domain, constraints)
    regions = [("a", "b"), ("a", "d"), ("b", "c", "d"), ("a", "c")]
    graph = RegionGraph.covering(domain, regions)
    masks = possible_masks(graph, possible_cells(domain, constraints))
    for region, mask in zip(graph.regions, masks, strict=True):
        assert not (exact_mask(domain, region, rows) & ~mask).any()


@pytest.mark.parametrize("engine", [LayeredConsistencyEngine(), LocalConsistencyEngine()])
def test_tables_hold_nothing_that_two_rules_exclude_together(engine) -> None:
    rng = np.random.default_rng(0)
    measured = [
        LinearMeasurement(clique, rng.normal(100.0, 50.0, [DOMAIN[n] for n in clique]), 50.0)
        for clique in [("street", "region"), ("region", "sex"), ("town", "sex")]
    ]
    model = engine.estimate(DOMAIN, measured, constraints=CHAIN)
    table = model.marginal(("street", "region")).values
    assert table.sum() > 0
    assert (table[~exact_mask(DOMAIN, ("street", "region"), rows_of(DOMAIN, CHAIN))] == 0).all()
