"""Which cells of regions constraints allow, where regions pass on to each other what is impossible."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.inference.regions.region_graph import RegionGraph

_MAX_CELLS = 1 << 24
"""Cells of a pair's table that is composed of two others: 64 MB on the way."""


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
    allowed_by_clique = [*possible.items(), *_composed_pairs(graph.domain, possible).items()]
    for region in graph.regions:
        mask = np.ones(graph.domain.project(region).shape, dtype=np.bool_)
        for clique, allowed in allowed_by_clique:
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


def _composed_pairs(
    domain: Domain, possible: Mapping[Clique, NDArray[np.bool_]]
) -> dict[Clique, NDArray[np.bool_]]:
    """What constraints allow of pairs by way of a third attribute, that rules out some cells.

    If a town has one district and a district one region, a town has one region: no constraint is
    on that pair, and a region of these two need not meet one that holds the district.
    """
    pairs: dict[Clique, NDArray[np.bool_]] = {}
    for clique, allowed in possible.items():
        for pair in combinations(clique, 2):
            pairs[pair] = _table(allowed, clique, pair) & pairs.get(pair, True)
    composed: dict[Clique, NDArray[np.bool_]] = {}
    names = domain.canonical({name for pair in pairs for name in pair})
    # Each middle attribute once, as in the algorithm of Floyd and Warshall: every way from one
    # attribute to another is composed of shorter ones.
    for middle in names:
        others = [name for name in names if domain.canonical({name, middle}) in pairs]
        for pair in combinations(others, 2):
            if domain.size(pair) > _MAX_CELLS:
                continue
            left, right = (_from(pairs, domain, name, middle) for name in pair)
            # As numbers: products of truth values are not compiled.
            ways = left.astype(np.float32) @ right.astype(np.float32).T > 0.0
            if not ways.all():
                pairs[pair] = composed[pair] = ways & pairs.get(pair, True)
    return composed


def _from(
    pairs: Mapping[Clique, NDArray[np.bool_]], domain: Domain, name: str, other: str
) -> NDArray[np.bool_]:
    """The table of a pair whose first axis is a given one of its attributes."""
    pair = domain.canonical({name, other})
    return pairs[pair] if pair[0] == name else pairs[pair].T


def _table(allowed: NDArray[np.bool_], clique: Clique, pair: Clique) -> NDArray[np.bool_]:
    """Which cells of a pair have an allowed one above them."""
    return np.asarray(
        allowed.any(axis=tuple(axis for axis, name in enumerate(clique) if name not in pair))
    )
