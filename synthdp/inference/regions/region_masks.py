"""Which cells of regions constraints allow, where regions pass on to each other what is impossible."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.errors import ParameterError
from synthdp.inference.regions.region_graph import RegionGraph


def possible_masks(
    graph: RegionGraph, possible: Mapping[Clique, NDArray[np.bool_]]
) -> list[NDArray[np.bool_]]:
    """For each region the cells that constraints allow, in it and in regions that it meets.

    Raises
    ------
    ParameterError
        If constraints contradict each other so far that a region has no possible cell.
    """
    masks = []
    for region in graph.regions:
        mask = np.ones(graph.domain.project(region).shape, dtype=np.bool_)
        for clique, allowed in possible.items():
            if set(clique) <= set(region):
                mask &= allowed.reshape(
                    [graph.domain[name] if name in clique else 1 for name in region]
                )
        masks.append(mask)
    changed = bool(possible)
    # A cell that one region rules out is ruled out in all that share it, which may rule out more:
    # on to a fixed point. Masks only shrink, so it ends.
    while changed:
        changed = False
        for joint in graph.joints:
            supports = [_support(masks[i], graph.regions[i], joint.clique) for i in joint.regions]
            shared = np.logical_and.reduce([np.ravel(support) for support in supports])
            # Locally nothing is left. That something is left locally does not yet say that a row
            # is.
            if not shared.any():
                raise ParameterError(
                    "constraints: together they leave no possible row; loosen them"
                )
            for i, support in zip(joint.regions, supports, strict=True):
                if shared.sum() < support.sum():
                    masks[i] &= shared.reshape(support.shape)
                    changed = True
    return masks


def _support(mask: NDArray[np.bool_], region: Clique, clique: Clique) -> NDArray[np.bool_]:
    """Which cells of a part of a region are possible, shaped to broadcast to the region."""
    summed = tuple(axis for axis, name in enumerate(region) if name not in clique)
    return np.asarray(mask.any(axis=summed, keepdims=True))
