"""Workloads of surveys: what depends on the weight matters, too."""

from synthdp.core.workload import Workload

_SHARE = 0.5
"""Weight of all pairs with the column of weights together, as a share of the workload's."""


def with_weight(workload: Workload, columns: tuple[str, ...], weight: str) -> Workload:
    """A workload in which each pair with the column of weights matters, too: a weighted count of a
    column is as right as that pair.
    """
    pairs = [tuple(n for n in columns if n in (name, weight)) for name in columns if name != weight]
    if not pairs:
        return workload
    weights = dict(workload.weights)
    each = _SHARE * sum(weights.values()) / len(pairs)
    for pair in pairs:
        weights[pair] = weights.get(pair, 0.0) + each
    return Workload(weights, workload.are_named)
