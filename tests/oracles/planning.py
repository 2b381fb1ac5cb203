"""Oracles for planning: sums over all subsets, written from the definitions."""

from itertools import combinations
from math import pi, prod, sqrt

import numpy as np

from synthdp.mechanisms import ExpectedLoss, ResolvedClique


class Whole:
    """What columns of given sizes can be seen at if nothing is merged: one resolution."""

    def __init__(self, sizes):
        self.sizes = [sizes]

    def __len__(self):
        return 1

    def of(self, _clique):
        return [0]

    def finest(self, _clique, _resolution):
        return 0

    def parts_of(self, resolved):
        return [ResolvedClique(part, 0) for part in parts_of(resolved.clique)]

    def split(self, clique, shown):
        (everything,) = shown
        return {ResolvedClique(clique, 0): everything}

    def cells(self, clique, _resolution):
        return prod(self.sizes[0][name] for name in clique)

    def dimensions(self, clique, _resolution):
        return prod(self.sizes[0][name] - 1 for name in clique)

    def by_chance(self, _clique, _resolution, _total):
        return 0.0

    def shown_share(self, _clique, _resolution):
        return 1.0


def whole(errors):
    """Errors of residuals as those of their only parts."""
    return {ResolvedClique(clique, 0): error for clique, error in errors.items()}


def by_clique(found):
    """The inverse of `whole`, or of a batch."""
    return {clique: value for (clique, _), value in found.items()}


def loss_of(sizes, workload, errors, *, l2_squared):
    """The expected loss where nothing is merged."""
    return ExpectedLoss(Whole(sizes), workload, whole(errors), l2_squared=l2_squared)


def parts_of(clique):
    return [part for k in range(1, len(clique) + 1) for part in combinations(clique, k)]


def precision_of(loss, sizes, measured):
    """For each residual of a loss the sum of rho times its size over theirs, of measured cliques
    that hold it.
    """
    precision = np.zeros(len(loss.parts))
    for position, (part, _) in enumerate(loss.parts):
        for held, rho in measured.items():
            if set(part) <= set(held):
                precision[position] += rho / prod(sizes[name] for name in held if name not in part)
    return precision


def residual_noise(sizes, part, measured, *, l2_squared):
    """Expected L1 noise on a residual of the average, by precision, of all measured cliques that
    hold it.
    """
    precision = 0.0
    for held, rho in measured.items():
        if set(part) <= set(held):
            variance = (
                l2_squared / (2 * rho) * prod(sizes[name] for name in held if name not in part)
            )
            precision += 1.0 / variance
    if precision == 0:
        return np.inf
    variance = prod(1 - 1 / sizes[name] for name in part) / precision
    return prod(sizes[name] for name in part) * sqrt(2 / pi * variance)


def expected_error(sizes, workload, errors, measured, *, l2_squared):
    """The weighted sum, over marginals, of the L1 errors that residuals are left with."""

    def left(part):
        error, noise = (
            sqrt(errors.get(part, 0.0)),
            residual_noise(sizes, part, measured, l2_squared=l2_squared),
        )
        if error == 0 or np.isinf(noise):
            return error
        return error * noise / sqrt(error**2 + noise**2)

    return sum(
        weight * sqrt(sum(left(part) ** 2 for part in parts_of(c)))
        for c, weight in workload.items()
    )
