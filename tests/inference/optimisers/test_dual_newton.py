"""Newton's method on the dual, where conjugate gradients solve its systems."""

from itertools import combinations

import numpy as np
import pytest

from synthdp.core import Domain
from synthdp.inference import DualNewton, LocalPolytope, RegionGraph


@pytest.mark.parametrize("seed", range(4))
def test_tables_that_agree_to_rounding_are_not_lost_again(seed):
    """Pairs in circles: some conditions follow from others, so that rounding errors ask for endless
    steps.
    """
    domain = Domain(tuple(f"x{i}" for i in range(24)), (4,) * 24)
    graph = RegionGraph.covering(domain, list(combinations(domain.attributes, 2)))
    polytope = LocalPolytope(graph)
    assert polytope.n_messages > 2000  # systems of fewer may be solved by elimination
    generator = np.random.default_rng(seed)
    sizes = [domain.size(region) for region in graph.regions]
    target = np.concatenate([1000 / size + generator.normal(0, 10, size) for size in sizes])
    variance = 100 * np.exp(generator.normal(size=sum(sizes)))
    start = np.zeros(polytope.n_messages)
    solution = DualNewton(tolerance=1e-11).project(
        polytope, target, variance, total=1000.0, start=start
    )
    assert solution.gap < 1e-11
