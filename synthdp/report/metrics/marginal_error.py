"""Workload error: how far the marginals of a synthetic table are from the real ones.

These functions look at the real records without noise. They are for research and for benchmarks
on public tables; publishing what they return about a sensitive table is not covered by any
guarantee.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.errors import ParameterError

CountsOf: TypeAlias = Callable[[Clique], NDArray[Any]]
"""Counts (or expected counts) of the cells of a clique's marginal, axes in the order of the clique.
"""


def total_variation(left: NDArray[Any], right: NDArray[Any]) -> float:
    """Total variation distance between two tables of counts, each divided by its own sum.

    Parameters
    ----------
    left, right
        Non-negative arrays of one shape. An empty table is as far from others as can be.

    >>> total_variation(np.array([3, 1]), np.array([1, 1]))
    0.25
    """
    # By shares, not counts: a synthetic table may have any number of rows.
    sums = float(left.sum()), float(right.sum())
    if min(sums) <= 0:
        return float(max(sums) > 0)
    return 0.5 * float(np.abs(left / sums[0] - right / sums[1]).sum())


def workload_error(truth: CountsOf, synthetic: CountsOf, workload: Iterable[Clique]) -> float:
    """Mean total variation distance over a workload of marginals, between 0 and 1.

    The AIM paper reports twice this number.

    Raises
    ------
    ParameterError
        If the workload is empty.
    """
    errors = [total_variation(truth(clique), synthetic(clique)) for clique in workload]
    if not errors:
        raise ParameterError("workload: it is empty; give at least one clique")
    return float(np.mean(errors))
