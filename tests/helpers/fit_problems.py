"""What the tests of pseudo-marginals, of updated records and of mixtures share."""

from itertools import combinations

import numpy as np
import pytest
from oracles.inference import noisy

from synthdp.core import Constraint, Domain
from synthdp.inference import (
    FitStatus,
    GraphicalModelEngine,
    LocalConsistencyEngine,
    MirrorDescent,
    MixtureModel,
    RecordUpdateEngine,
)

ENGINES = [LocalConsistencyEngine, RecordUpdateEngine]
TIGHT = GraphicalModelEngine(driver=MirrorDescent(tolerance=1e-8, window=30))
DOMAIN = Domain(("a", "b", "one", "c", "d"), (3, 2, 1, 4, 2))
PROBLEMS = {
    "tree": [("a", "b"), ("b", "c")],
    "cycle": [("a", "b"), ("b", "c"), ("c", "a")],
    "all pairs": list(combinations(DOMAIN.attributes, 2)),
    "axes in another order": [("c", "a"), ("d", "c")],
    "disconnected": [("a", "b"), ("c", "d")],
    "nested": [("a",), ("b", "a"), ("a", "b", "c"), ("c",)],
    "overlapping three-ways": [("a", "b", "c"), ("d", "b", "c"), ("a", "c", "d"), ("b",)],
    "repeats": [("a", "b"), ("b", "a"), ("a", "b"), ("c",)],
    "empty clique": [(), ("a", "b"), ()],
    "only the empty clique": [()],
    "one level": [("one",), ("a", "one", "b")],
}

SMALL_PROBLEMS = {
    name: cliques
    for name, cliques in PROBLEMS.items()
    if name not in ("all pairs", "overlapping three-ways")
} | {"unmeasured": [("b", "c")]}
"""Those for engines that work on the whole table, and one that leaves attributes unmeasured."""

FINE_COARSE = Constraint.determines("c", "a", [2, 0, 0, 1], 3)
FORBIDDEN = Constraint(("d", "b"), np.array([[True, False], [True, True]]))
ONE_WAY = Constraint(("c",), np.array([True, True, False, True]))


def counts(domain, columns, clique):
    shape = domain.project(clique).shape
    cells = np.ravel_multi_index([columns[domain.index(name)] for name in clique], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def check_local_consistency(model):
    """Any two regions have the same marginal on what they share, and each the same total."""
    tables = {region: model.marginal(region) for region in model.cliques}
    for table in tables.values():
        assert (table.values >= 0).all()
        assert table.total() == pytest.approx(model.total, rel=1e-8)
    for left, right in combinations(tables, 2):
        shared = tuple(name for name in left if name in right)
        difference = tables[left].project(shared).values - tables[right].project(shared).values
        assert np.abs(difference).max() <= 1e-8 * model.total


def measured(joint, cliques, *, seed=0, stddev=10.0):
    rng = np.random.default_rng(seed)
    return noisy(rng, joint, DOMAIN, cliques, stddev * rng.uniform(0.5, 3.0, len(cliques)))


def mixture_of(domain, levels, weights, *, total=1.0, constraints=()):
    """A mixture as a fit leaves it that had nothing to do."""
    status = FitStatus(ended="optimal", n_iterations=0, loss=0.0)
    return MixtureModel(
        domain=domain,
        levels=levels,
        weights=weights,
        total=total,
        status=status,
        constraints=constraints,
    )
