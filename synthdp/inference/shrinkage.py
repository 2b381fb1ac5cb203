"""Empirical Bayes: noisy tables, drawn to what smaller tables say, the more the noisier they are.

A table's prior is what one would expect without having measured it: its attributes are
independent, but for smaller measured cliques inside of it. How far true tables are from that is
estimated from the noisy ones: what their deviations exceed the noise by [Efron & Morris 1975].
All of it is post-processing of released values.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain
from synthdp.core.measurement import Coarsening, LinearMeasurement
from synthdp.inference.arrays import Array

_MIN_SHARE = 1e-3
"""Spread evenly over the levels: noise may hide a level, so that none has prior probability 0."""
_MIN_SPREAD = 1e-4
"""Variance of the prior relative to the noise's: a table is never said to be its prior for certain.
"""
_MIN_ROOM = 1e-9
"""Share of the total below which what a prior lets a table vary is rounding error."""
_CAUTION = 2.0
"""In standard errors. Too wide a prior gives up some of the gain; too narrow a one overrules the
measurements.
"""
_PRIOR_LOSS = 0.01
"""Most that a region nobody measured may add to the loss, beside a half that each measured cell's
noise adds.
"""
_RAKING_TOLERANCE, _MAX_RAKING = 1e-3, 10
"""A prior need not be known more closely than to a thousandth; smaller tables are noisy and need
not agree.
"""


def one_way_shares(
    domain: Domain, measurements: Sequence[LinearMeasurement], *, total: float
) -> dict[str, Array]:
    """A rough distribution of each attribute, above 0 everywhere: the mean of all that measurements
    say.

    Parameters
    ----------
    domain
        All attributes; those that nobody measured are taken to be uniform.
    measurements
        Noisy counts, axes in the order of the domain.
    total
        Number of records, above 0.
    """
    shares = {}
    for name, size in zip(domain.attributes, domain.shape, strict=True):
        # Columns of wide measurements count as well: summed down, with the noise of the sum.
        means = one_way_counts(name, size, measurements, unknown=total / size)
        # Clipping negative counts at 0 alone would raise the sum; the projection takes off from all
        # what the negative ones lack.
        shares[name] = (on_simplex(means / total) + _MIN_SHARE / size) / (1.0 + _MIN_SHARE)
    return shares


def one_way_counts(
    name: str, size: int, measurements: Sequence[LinearMeasurement], *, unknown: float
) -> Array:
    """Counts of an attribute's levels: the mean of all measurements that show them, by their
    precision.

    Parameters
    ----------
    name, size
        The attribute and its number of levels.
    measurements
        Noisy counts, none of them coarsened.
    unknown
        What a level counts where no measurement shows the attribute.
    """
    counts = np.zeros(size)
    precision = np.zeros(size)
    for measurement in measurements:
        if name in measurement.clique:
            summed = tuple(axis for axis, other in enumerate(measurement.clique) if other != name)
            # Variances of the cells that fall together add up.
            weight = 1.0 / measurement.variance.sum(axis=summed)
            counts += weight * measurement.values.sum(axis=summed)
            precision += weight
    return np.asarray(np.divide(counts, precision, out=np.full(size, unknown), where=precision > 0))


def on_simplex(values: Array) -> Array:
    """The distribution closest to some numbers, in squared distance [Duchi et al. 2008].

    >>> import numpy as np
    >>> on_simplex(np.array([0.8, 0.4, -0.5]))
    array([0.7, 0.3, 0. ])
    """
    # The threshold that is taken off all is found by one sort: it is the last one that is still
    # below the value at its place.
    falling = np.sort(values)[::-1]
    thresholds = (np.cumsum(falling) - 1.0) / np.arange(1, values.size + 1)
    return np.asarray(
        np.maximum(values - thresholds[np.count_nonzero(falling > thresholds) - 1], 0.0)
    )


def expected_shares(
    region: Clique,
    possible: NDArray[np.bool_],
    shares: Mapping[str, Array],
    smaller: Mapping[Clique, Array],
) -> Array:
    """The distribution of a region that one-way shares, and smaller tables inside of it, suggest.

    Parameters
    ----------
    region
        Attributes, one an axis of the result.
    possible
        Which cells may be above 0.
    shares
        The distribution of each attribute.
    smaller
        Estimated counts of cliques, their attributes in the same order; those outside of the region
        are ignored.
    """
    product = np.ones(())
    for name in region:
        product = np.multiply.outer(product, shares[name])
    product = np.where(possible, product, 0.0)
    inside = maximal_cliques(
        clique for clique in smaller if len(clique) > 1 and set(clique) < set(region)
    )
    wanted = {}
    for clique in inside:
        counts = smaller[clique]
        # A smaller table's cell of 0 may be noise, and raking would make all cells above it
        # impossible for good.
        counts = np.maximum(counts, _MIN_SHARE * max(float(counts.sum()), 1.0) / counts.size)
        wanted[tuple(region.index(name) for name in clique)] = counts / counts.sum()
    return raked(
        product / product.sum(), wanted, tolerance=_RAKING_TOLERANCE, max_rounds=_MAX_RAKING
    )


def unmeasured_variance(prior: Array, total: float) -> Array:
    """Variance of an unmeasured table around its prior: so large that it hardly adds to the loss.

    The chi-squared distance stands in for relative entropy.

    Parameters
    ----------
    prior
        Expected counts.
    total
        Number of records.
    """
    # So large that it steers what nobody measured, and gives way to all that somebody did.
    return np.asarray(0.5 * total / _PRIOR_LOSS * prior)


class Deviation(NamedTuple):
    """How far true tables are from a prior, as noisy ones tell: variances are ``factor`` times the
    prior.
    """

    factor: float
    """What deviations exceed the noise by, over what the prior lets a table vary; at least 0."""
    error: float
    """Its standard error if there is nothing but noise."""
    freedom: int
    """Degrees of freedom of the deviations that leave one-way marginals alone; 0 tells nothing."""

    def cautious(self, caution: float) -> float:
        """The factor raised by some standard errors."""
        return self.factor + caution * self.error


def deviation(counts: Array, variance: Array, prior: Array) -> Deviation:
    """How far true counts are from a prior.

    Parameters
    ----------
    counts, variance
        Noisy counts and the variance of the noise.
    prior
        Expected counts; 0 marks impossible cells.
    """
    possible = prior > 0
    noise = np.where(possible, variance, 0.0)
    apart = np.where(possible, counts - prior, 0.0)
    total = float(prior.sum())
    mean = float(apart.mean())
    # Centred along each axis: what columns are off by, which are known better from elsewhere, is no
    # sign of dependence.
    own = apart - mean
    taken = np.ones_like(prior)
    freedom = prior.size - 1
    for axis, size in enumerate(prior.shape):
        others = tuple(other for other in range(prior.ndim) if other != axis)
        own -= apart.mean(axis=others, keepdims=True) - mean
        share = prior.sum(axis=others, keepdims=True) / total
        taken += np.divide(1.0, share, out=np.ones_like(share), where=share > 0) - 1.0
        freedom -= size - 1
    if freedom <= 0:
        return Deviation(0.0, 0.0, 0)
    # What the noise adds to the squared deviations, and how much that varies.
    expected, error = (
        float(noise.mean()) * freedom,
        # The variance of a sum of squared normals: twice the squares of their variances.
        float(np.sqrt(2.0 * freedom * np.square(noise).mean())),
    )
    # Under such a prior, one-way marginals given, a cell varies by the factor times this.
    # A multinomial cell given its one-way marginals cannot vary by all of its prior: large cells
    # have little room.
    room = float(np.maximum(prior - np.square(prior) / total * taken, 0.0).sum())
    room = max(room, _MIN_ROOM * total)
    # Moments, not likelihood: one pass, no iteration, and unbiased but for the cut at 0.
    return Deviation(max(float(np.square(own).sum()) - expected, 0.0) / room, error / room, freedom)


def posterior(counts: Array, variance: Array, prior: Array, factor: float) -> tuple[Array, Array]:
    """Posterior mean and variance of true counts that deviate from a prior with variance ``factor *
    prior``.

    Parameters
    ----------
    counts, variance
        Noisy counts and the variance of the noise.
    prior
        Expected counts; 0 marks impossible cells, whose posterior is 0 and certain.
    factor
        At least 0; see `deviation`.
    """
    possible = prior > 0
    noise = np.where(possible, variance, 0.0)
    # A factor of 0 would make the posterior the prior whatever was measured.
    spread = np.maximum(factor * prior, _MIN_SPREAD * noise)
    # Cell by cell: cells with large priors vary more, so they are believed more.
    weight = np.divide(spread, noise + spread, out=np.zeros_like(prior), where=possible)
    return prior + weight * np.where(possible, counts - prior, 0.0), weight * noise


def shrunk(counts: Array, variance: Array, prior: Array) -> tuple[Array, Array]:
    """Posterior mean and variance of true counts, given noisy ones and the prior's mean.

    True counts are taken to deviate from the prior with variances in proportion to it. The factor
    is estimated from deviations that leave one-way marginals alone (one-way tables have none, and
    stay as they are), and then raised by two standard errors. Parameters as in `deviation`.
    """
    spread = deviation(counts, variance, prior)
    # One-way tables, and tables with a side of one level: nothing can be learnt of dependence from
    # them.
    if not spread.freedom:
        possible = prior > 0
        return np.where(possible, counts, 0.0), np.where(possible, variance, 0.0)
    # Two standard errors up: a prior that is too narrow overrules what was measured, one too wide
    # only gives up a part of the gain.
    return posterior(counts, variance, prior, spread.cautious(_CAUTION))


_NOTHING = 1e-290
"""Less than this is nothing: to scale it up would take a factor that no float is."""


def raked(
    start: Array, wanted: Mapping[tuple[int, ...], Array], *, tolerance: float, max_rounds: int
) -> Array:
    """Iterative proportional fitting: the table closest to ``start`` (in relative entropy) with
    given marginals.

    Parameters
    ----------
    start
        Table that sums to 1.
    wanted
        For some axes, ascending, the marginal that the table should have there.
    tolerance
        Stop when each marginal is off by less than this in total variation.
    max_rounds
        Stop after this many rounds in any case: marginals that no table has have no solution. Where
        they contradict each other so far that no cell is left, the start is the answer.
    """
    table = start
    for _ in range(max_rounds):
        worst = 0.0
        for axes, target in wanted.items():
            summed = tuple(axis for axis in range(table.ndim) if axis not in axes)
            present = table.sum(axis=summed, keepdims=True)
            goal = target.reshape(present.shape)
            worst = max(worst, 0.5 * float(np.abs(present - goal).sum()))
            # Where nothing is present nothing can be scaled up: those cells are ruled out by the
            # start, or by what other marginals left there, from which no factor leads back.
            scales = np.divide(goal, present, out=np.zeros_like(goal), where=present > _NOTHING)
            table = table * scales
        # Measured before each scaling, so a round that finds all within tolerance has changed next
        # to nothing.
        if worst <= tolerance:
            break
    left = float(table.sum())
    return np.asarray(table / left) if left > 0 else start


def shares_of_groups(
    clique: Clique,
    coarsening: Coarsening,
    counts: Array,
    prior: Array,
    wanted: Mapping[tuple[int, ...], Array],
) -> Array:
    """The share that each cell has of its group: the prior's, brought to agree with smaller tables.

    Parameters
    ----------
    clique
        The attributes of the prior, in the order of its axes.
    coarsening
        Which levels are merged.
    counts
        Of the groups; where they are below a thousandth of the prior's, that stands for them.
    prior
        Expected counts of the cells; 0 marks impossible ones.
    wanted
        For some axes, ascending, the distribution there; if empty, the shares are the prior's.
    """
    merged = coarsening.apply(clique, prior)
    counts = np.maximum(counts, _MIN_SHARE * merged)
    for _ in range(_MAX_RAKING if wanted else 0):
        scaled = prior * coarsening.spread(clique, _ratio(counts, merged))
        prior = raked(scaled / scaled.sum(), wanted, tolerance=_RAKING_TOLERANCE, max_rounds=1)
        merged = coarsening.apply(clique, prior)
    return _ratio(prior, coarsening.spread(clique, merged))


def _ratio(above: Array, below: Array) -> Array:
    return np.asarray(np.divide(above, below, out=np.zeros_like(below), where=below > 0))
