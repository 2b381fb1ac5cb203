"""Scores over the domain with places for unread values, for mechanisms that select or score."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.measurement import FloatArray
from synthdp.learning.filling import Filling
from synthdp.privacy.scores import MarginalL1Error


def placed_score(filling: Filling, score: MarginalL1Error) -> MarginalL1Error:
    """The errors of estimates, with as many unread values as there are by what was measured."""
    cliques = list(score.estimates)
    places = [
        name
        for name in dict.fromkeys(name for clique in cliques for name in clique)
        if name in filling.levels
    ]
    if not places:  # the merging may still be of others, which have one
        merged = filling.with_places(score.coarsening, (), ())
        return MarginalL1Error(score.estimates, merged, score.weights, score.penalties)
    apart = places
    for clique in cliques:
        if len(filling.apart(clique, score.coarsening)) < sum(
            name in filling.levels for name in clique
        ):
            apart = []  # levels are merged for all candidates alike
    coarsening = filling.with_places(score.coarsening, places, apart)
    groups = {} if score.coarsening is None else score.coarsening.groups
    shares = {name: filling.share(name) for name in places}
    estimates = {
        clique: _placed_estimate(
            filling, clique, np.asarray(estimate, dtype=np.float64), apart, groups, shares
        )
        for clique, estimate in score.estimates.items()
    }
    return MarginalL1Error(estimates, coarsening, score.weights, score.penalties)


def _placed_estimate(
    filling: Filling,
    clique: Clique,
    estimate: FloatArray,
    apart: Sequence[str],
    groups: Mapping[str, NDArray[np.int64]],
    shares: Mapping[str, float],
) -> FloatArray:
    if not any(shares.get(name) for name in clique):
        if not apart:
            return estimate
        placed = np.zeros(
            [n + (name in filling.levels) for n, name in zip(estimate.shape, clique, strict=True)]
        )
        placed[tuple(map(slice, estimate.shape))] = estimate
        return placed
    for axis, name in enumerate(clique):
        if name not in filling.levels:
            continue
        share = shares[name]
        counts = np.moveaxis(estimate, axis, -1)
        unread = share * counts.sum(axis=-1, keepdims=True)
        if apart:
            counts = np.concatenate([(1 - share) * counts, unread], axis=-1)
        elif share:
            if name not in groups:
                nearest = filling.nearest[name]
            else:
                nearest = int(groups[name][filling.nearest[name]])
            counts = (1 - share) * counts
            counts[..., nearest] += unread[..., 0]
        estimate = np.moveaxis(counts, -1, axis)
    return estimate
