"""The layered engine: marginals made consistent layer by layer, columns and pairs first, then what
is wider.

Fitting all overlapping tables at once, as local consistency does, takes long where there are many
of three and more attributes, and most of what it settles there is noise. Here only the tables of
one and two attributes are fitted together. Wider ones follow, smaller before larger: each is drawn
to what the smaller ones inside of it suggest (`log_ratios`), by the noise of all that was measured
about it, and then scaled to agree with them (iterative proportional fitting). The cost grows with
the number of cells.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import prod
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError
from synthdp.core.measurement import LinearMeasurement, estimate_total
from synthdp.inference.arrays import Array
from synthdp.inference.column_priors import column_counts
from synthdp.inference.engine import Engine, FitProblem, concluded
from synthdp.inference.engines.local_consistency import earlier_messages
from synthdp.inference.log_ratios import posterior_means
from synthdp.inference.model import Ending, FitStatus
from synthdp.inference.models.pseudo_marginals import PseudoMarginalModel
from synthdp.inference.noisy_tables import LinearEstimate, NoisyTables
from synthdp.inference.optimisers.dual_newton import DualNewton, Solution
from synthdp.inference.pair_priors import gaussian_prior
from synthdp.inference.possible_cells import possible_cells
from synthdp.inference.rank_dependence import levels_in_order, with_rank_dependence
from synthdp.inference.regions.local_polytope import LocalPolytope
from synthdp.inference.regions.region_graph import RegionGraph
from synthdp.inference.regions.region_masks import possible_masks
from synthdp.inference.shrinkage import (
    Deviation,
    deviation,
    expected_shares,
    one_way_shares,
    posterior,
    raked,
    shares_of_groups,
    unmeasured_variance,
)

_MAX_WHOLE = 6
"""Attributes of a clique whose subsets all have tables, 64 of them; of larger ones those of up to
three.
"""
_RAISED_BY = 1.0
"""Standard errors that a table's own scale is raised by; two cost up to 2 % on Titanic and Adult.
"""
_MIN_FREEDOM, _POOLED_FREEDOM = 8, 4
"""Below 8 degrees of freedom a table says little of its own scale: its layer's counts as much as 4
of them.
"""
_MIN_CHANGES = 4
"""What smaller tables leave open of one, in degrees of freedom, from which on its cells say how far
they stray: those of two by two levels all say the same (NLTCS: 2 to 4 % further off).
"""
_MAX_WEIGHT = 50
"""Degrees of freedom that one table counts as at most in the scale of its layer."""
_MIN_SHARE = 1e-3
"""Of its prior: no possible cell starts below that when a table is scaled to smaller ones."""
_AGREED = 1e-6
"""Columns and pairs that disagree by less, as a share of all records, agree, wherever rounding
stopped Newton.
"""
_TOLERANCE, _MAX_ROUNDS = 1e-4, 15
"""Tables that no distribution has never agree; five rounds or fifteen made no difference in what
was drawn.
"""

MeanVariance = tuple[Array, Array]
"""Expected count of each cell, and its variance."""


@final
@dataclass(frozen=True, kw_only=True)
class LayeredConsistencyEngine(Engine):
    """Pseudo-marginals that agree on columns and pairs, and nearly so on wider tables, shrunk by
    empirical Bayes.

    Tables are those of the measured cliques, of constraints, of all that they have in common, and
    of all their pairs. Wider ones agree as far as a distribution with their pairs (and triples, …)
    exists.
    """

    name: ClassVar[str] = "layered-consistency"
    takes_merged: ClassVar[bool] = True
    newton: DualNewton = field(default_factory=DualNewton)
    """What fits the tables of one and two attributes, and its stopping rule."""
    max_cells: int = 50_000_000
    """Refuse sets of tables with more cells than this; a fit needs about 100 bytes a cell."""

    def fit(self, problem: FitProblem) -> PseudoMarginalModel:
        """Fit the model."""
        domain = problem.domain
        measurements = problem.measurements
        possible = possible_cells(domain, problem.constraints)
        # Every subset of a measured clique gets a table of its own, as the layers are built from
        # small to wide.
        cliques = parts_of(
            domain,
            [*(domain.canonical(measurement.clique) for measurement in measurements), *possible],
        )
        n_cells = sum(map(domain.size, cliques))
        if n_cells > self.max_cells:
            raise ModelTooLargeError(
                f"{self.name}: the tables have {n_cells} cells, at most {self.max_cells} are allowed; "
                "measure fewer or smaller cliques, use fewer bins, or raise max_cells"
            )
        total = estimate_total(measurements)
        layers = _Layers(domain, measurements, cliques, _masks(domain, cliques, possible), total)
        # Columns and pairs only: there the Newton method is exact and quick. With wider tables in
        # it hundreds of overlapping regions took minutes.
        graph = RegionGraph.covering(domain, [clique for clique in cliques if len(clique) <= 2])
        polytope = LocalPolytope(graph)
        # Messages belong to joints, not to measurements: those of an earlier fit do where the joint
        # is the same.
        start = polytope.join(earlier_messages(domain, problem.warm_start))
        target, variance = layers.small_targets(graph)
        solve = partial(
            self.newton.project, polytope, target, variance, total=total, progress=problem.progress
        )
        solution = solve(start=start)
        if (
            # Otherwise the fit would be as bad as the start.
            solution.gap > _AGREED and start.any()
        ):  # an earlier fit's messages may be a bad place to start from
            solution = solve(start=np.zeros_like(start))
        layers.settle(graph, polytope, solution)
        layers.add_wider()
        # The model draws from the widest tables, and from pairs where nothing wider holds them;
        # what lies between is inside of others.
        kept = {*maximal_cliques(cliques), *(clique for clique in cliques if len(clique) == 2)}
        shares = {
            clique: table / total for clique, table in layers.tables.items() if clique in kept
        }
        # Of columns and pairs, that is; wider tables are scaled to them and have no optimum of
        # their own.
        ended: Ending = "optimal" if solution.gap <= _AGREED else solution.ended
        loss = _loss(domain, measurements, layers.tables)
        status = FitStatus(ended=ended, n_iterations=solution.n_iterations, loss=loss)
        messages = polytope.split(solution.messages)
        return PseudoMarginalModel.fitted(
            problem, shares, messages, total=total, status=concluded(self.name, status)
        )


def parts_of(domain: Domain, cliques: Iterable[Clique]) -> list[Clique]:
    """The cliques that get a table, small ones first: given ones, single attributes, and what they
    share.

    >>> parts_of(Domain(("a", "b", "c"), (2, 2, 2)), [("a", "c")])
    [('a',), ('b',), ('c',), ('a', 'c')]
    """
    parts: dict[Clique, None] = dict.fromkeys((name,) for name in domain.attributes)
    given = [clique for clique in dict.fromkeys(cliques) if clique]
    wide = [frozenset(clique) for clique in given if len(clique) > _MAX_WHOLE]
    for clique in given:
        # 2^6 subsets are 64 tables; of a clique of twelve there would be four thousand.
        sizes = range(1, len(clique) + 1) if len(clique) <= _MAX_WHOLE else (2, 3, len(clique))
        parts |= dict.fromkeys(part for size in sizes for part in combinations(clique, size))
    # Wide cliques that overlap must agree on what they share, and there is no table of it among
    # their small subsets.
    for members, other in combinations(wide, 2):
        shared = domain.canonical(members & other)
        parts |= dict.fromkeys([shared] if shared else [])
    return sorted(parts, key=len)


def _masks(
    domain: Domain, cliques: Sequence[Clique], possible: Mapping[Clique, NDArray[np.bool_]]
) -> dict[Clique, NDArray[np.bool_]]:
    """For each clique the cells that constraints allow."""
    if not possible:
        return {clique: np.ones(domain.project(clique).shape, dtype=np.bool_) for clique in cliques}
    graph = RegionGraph.covering(domain, maximal_cliques(cliques))
    whole = dict(zip(graph.regions, possible_masks(graph, possible), strict=True))
    masks = {}
    for clique in cliques:
        # A cell is possible if the larger table has a possible cell above it: masks are made once,
        # for maximal cliques, and summed down.
        home = next(region for region in whole if set(clique) <= set(region))
        masks[clique] = np.any(
            whole[home], axis=tuple(axis for axis, name in enumerate(home) if name not in clique)
        )
    return masks


class _Layers:
    """Tables of all cliques, in counts, made layer by layer: each starts from a prior that the
    smaller tables inside of it suggest.
    """

    def __init__(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement],
        cliques: Sequence[Clique],
        masks: Mapping[Clique, NDArray[np.bool_]],
        total: float,
    ) -> None:
        self.tables: dict[Clique, Array] = {}
        self._domain = domain
        self._cliques = cliques
        self._masks = masks
        self._total = total
        # Shares of levels cannot be read off counts of merged ones.
        plain = [measurement for measurement in measurements if not measurement.groups]
        self._shares = one_way_shares(domain, plain, total=total)
        self._noisy = NoisyTables(domain, measurements, cliques, total=total, max_whole=_MAX_WHOLE)
        self._columns = {
            clique[0]: column
            for clique in cliques
            if len(clique) == 1
            if (column := self._whole_column(clique)) is not None
        }
        for name, (counts, _) in self._columns.items():
            self._shares[name] = self._positive(counts)

    def small_targets(self, graph: RegionGraph) -> tuple[Array, Array]:
        """Wanted counts and variances of the tables of one and two attributes, end to end in the
        graph's order.
        """
        pairs = [clique for clique in graph.regions if len(clique) == 2]
        posteriors = self._posteriors({clique: self._prior_of_pair(clique) for clique in pairs})
        for clique in graph.regions:
            if len(clique) == 1:
                prior = np.where(self._masks[clique], self._shares[clique[0]] * self._total, 0.0)
                posteriors[clique] = self._column(clique, prior)
        targets = []
        variances = []
        for clique in graph.regions:
            counts, variance = posteriors[clique]
            targets.append(counts.ravel())
            variances.append(np.where(self._masks[clique], variance, 0.0).ravel())
        return np.concatenate(targets), np.concatenate(variances)

    def settle(self, graph: RegionGraph, polytope: LocalPolytope, solution: Solution) -> None:
        """Take over the tables of one and two attributes."""
        # From here on columns and pairs are final: wider layers take them as they are.
        self.tables |= dict(zip(graph.regions, polytope.tables(solution.cells), strict=True))
        self._shares = {
            name: self._positive(self.tables[name,]) for name in self._domain.attributes
        }

    def _whole_column(self, clique: Clique) -> MeanVariance | None:
        """Counts and variances of an attribute by what was measured over all its levels, drawn to
        what is expected of them; None if nothing was.
        """
        (name,) = clique
        whole = self._noisy.estimates(clique).get(len(self._noisy) - 1)
        if whole is None or name in whole.coarsening.groups:
            return None
        possible = np.flatnonzero(self._masks[clique])
        has_order = name in self._domain.ordered
        ordered = levels_in_order(self._domain, name) if has_order else np.arange(0)
        counts = np.zeros(whole.counts.size)
        counts[possible] = column_counts(
            whole.counts[possible],
            whole.variance[possible],
            self._total,
            np.flatnonzero(np.isin(possible, ordered)),
        )
        return counts, whole.variance

    def _positive(self, counts: Array) -> Array:
        shares = counts / self._total + _MIN_SHARE / counts.size
        return np.asarray(shares / shares.sum())

    def add_wider(self) -> None:
        """Make the tables of three attributes and more, one layer after another."""
        for size in sorted({len(clique) for clique in self._cliques if len(clique) > 2}):
            layer = [clique for clique in self._cliques if len(clique) == size]
            priors = {clique: self._prior(clique) for clique in layer}
            for clique, (counts, _) in self._posteriors(priors).items():
                start = np.where(
                    # Negative posterior counts would stay negative under scaling, and zeros stay
                    # zero.
                    self._masks[clique],
                    np.maximum(counts, _MIN_SHARE * priors[clique]),
                    0.0,
                )
                smaller = self._smaller_shares(clique)
                shares = raked(
                    start / start.sum(), smaller, tolerance=_TOLERANCE, max_rounds=_MAX_ROUNDS
                )
                self.tables[clique] = self._total * shares

    def _column(self, clique: Clique, prior: Array) -> MeanVariance:
        """Posterior counts and variances of one attribute.

        The estimate over all levels replaces the prior; each over merged levels is then combined
        with it as a linear observation of sums of cells (a Kalman update).
        """
        mean = prior
        variance = unmeasured_variance(prior, self._total)
        # All levels first, which replaces the prior; what was measured over merged ones only
        # corrects it.
        for estimate in reversed(self._noisy.estimates(clique).values()):
            coarsening = estimate.coarsening
            if clique[0] not in coarsening.groups:
                mean, variance = self._columns[clique[0]]
                continue
            group_variance = coarsening.apply(clique, variance)
            gain = np.divide(
                1.0,
                group_variance + estimate.variance,
                out=np.zeros_like(group_variance),
                where=group_variance > 0,
            )
            change = gain * (estimate.counts - coarsening.apply(clique, mean))
            mean = mean + variance * coarsening.spread(clique, change)
            # The diagonal of the updated covariance; what levels of a group now have in common is
            # dropped.
            variance = variance * (1.0 - variance * coarsening.spread(clique, gain))
        return mean, variance

    def _posteriors(self, priors: Mapping[Clique, Array]) -> dict[Clique, MeanVariance]:
        """Posterior counts and variances of cliques of one size: by coarse resolutions first, then
        by finer ones, by all levels last.
        """
        posteriors = {
            clique: (prior, unmeasured_variance(prior, self._total))
            for clique, prior in priors.items()
        }
        estimates = {clique: self._noisy.estimates(clique) for clique in priors}
        # From coarse to fine: a few groups say reliably what many levels say in noise, and each
        # posterior is the prior of the next resolution.
        for number in range(len(self._noisy)):
            some = {clique: each[number] for clique, each in estimates.items() if number in each}
            start = {
                clique: np.maximum(posteriors[clique][0], _MIN_SHARE * priors[clique])
                for clique in some
            }
            posteriors |= self._sharpened(start, some)
        return posteriors

    def _sharpened(
        self, priors: Mapping[Clique, Array], estimates: Mapping[Clique, LinearEstimate]
    ) -> dict[Clique, MeanVariance]:
        """Posteriors by estimates at one resolution; the scales of their priors are estimated
        together, for one table alone often says too little of its own.
        """
        merged = {c: each.coarsening.apply(c, priors[c]) for c, each in estimates.items()}
        scales = {
            c: deviation(each.counts, each.variance, merged[c]) for c, each in estimates.items()
        }
        # One table of a million cells must not decide what is believed of all others in its layer.
        weights = [min(scale.freedom, _MAX_WEIGHT) for scale in scales.values()]
        pooled = 0.0
        if any(weights):
            factors = [scale.factor for scale in scales.values()]
            # Tables of one layer are alike in how far they are from their priors, more than a small
            # one can say of itself.
            pooled = float(np.average(factors, weights=weights))
        noisy = {
            # What no smaller table knows has this share of a cell's noise, and the rest is settled.
            clique: variance * prod(1.0 - 1.0 / size for size in counts.shape if size > 1)
            if scales[clique].freedom
            else variance
            for clique, (counts, variance, _) in estimates.items()
        }
        means = _means_by_factors(
            {c: each.counts for c, each in estimates.items() if scales[c].freedom}, noisy, merged
        )
        posteriors = {}
        for clique, (counts, _, coarsening) in estimates.items():
            variance = noisy[clique]
            if scales[clique].freedom:
                # How far tables that overlap may move a cell: factors tell of small cells that they
                # hardly may, and large ones would move for all.
                counts, variance = posterior(  # noqa: PLW2901
                    counts, variance, merged[clique], _factor(scales[clique], pooled)
                )
            counts = means.get(clique, counts)  # noqa: PLW2901
            # A pair's prior without constraints is a product: what scales groups leaves the shares
            # inside of them.
            # Then shares inside of groups need no scaling to smaller tables, which would take most
            # of the time.
            settled = not coarsening.groups or (len(clique) == 2 and self._masks[clique].all())
            smaller = {} if settled else self._smaller_shares(clique)
            share = shares_of_groups(clique, coarsening, counts, priors[clique], smaller)
            posteriors[clique] = (
                share * coarsening.spread(clique, counts),
                share * coarsening.spread(clique, variance),
            )
        return posteriors

    def _smaller_shares(self, clique: Clique) -> dict[tuple[int, ...], Array]:
        """By axes the distributions that the largest tables inside of a clique have, of a pair its
        columns' ones.
        """
        if len(clique) == 2:
            return {(axis,): self._shares[name] for axis, name in enumerate(clique)}
        inside = {part: self.tables[part] for part in self._inside(clique)}
        return {
            tuple(map(clique.index, part)): table / table.sum() for part, table in inside.items()
        }

    def _prior(self, clique: Clique) -> Array:
        smaller = (
            {part: self.tables[part] for part in self._inside(clique)} if len(clique) > 2 else {}
        )
        return self._total * expected_shares(clique, self._masks[clique], self._shares, smaller)

    def _prior_of_pair(self, pair: Clique) -> Array:
        """Attributes with an order may go with each other, all others are independent."""
        independent = self._prior(pair)
        if not self._masks[pair].all():
            return independent
        estimates = [*self._noisy.estimates(pair).values()]
        expected = gaussian_prior(self._domain, pair, independent, estimates)
        return with_rank_dependence(self._domain, pair, expected, estimates)

    def _inside(self, clique: Clique) -> list[Clique]:
        """The largest cliques inside of one that have tables."""
        parts = [clique[:i] + clique[i + 1 :] for i in range(len(clique))]
        # Mostly so; searching all tables for those inside is for cliques wider than six.
        if all(part in self.tables for part in parts):
            return parts
        return maximal_cliques(part for part in self.tables if set(part) < set(clique))


def _means_by_factors(
    counts: Mapping[Clique, Array],
    variances: Mapping[Clique, Array],
    expected: Mapping[Clique, Array],
) -> dict[Clique, Array]:
    """Posterior means of those tables whose cells say how far they stray from what is expected."""
    many = [
        clique
        for clique, table in counts.items()
        if prod(size - 1 for size in table.shape if size > 1) >= _MIN_CHANGES
    ]
    means = posterior_means(
        *([each[clique] for clique in many] for each in (counts, variances, expected))
    )
    return dict(zip(many, means, strict=True))


def _factor(scale: Deviation, pooled: float) -> float:
    if scale.freedom >= _MIN_FREEDOM:
        # One standard error up, as two cost up to 2 % on Titanic and Adult.
        return scale.cautious(_RAISED_BY)
    return (scale.freedom * scale.factor + _POOLED_FREEDOM * pooled) / (
        scale.freedom + _POOLED_FREEDOM
    )


def _loss(
    domain: Domain, measurements: Sequence[LinearMeasurement], tables: Mapping[Clique, Array]
) -> float:
    """Half the squared distance of tables to measurements, in units of their noise."""
    loss = 0.0
    for measurement in measurements:
        clique = domain.canonical(measurement.clique)
        table = tables[clique] if clique else tables[domain.attributes[:1]].sum()
        table = np.transpose(table, [clique.index(name) for name in measurement.clique])
        if measurement.coarsening:
            table = measurement.coarsening.apply(measurement.clique, table)
        loss += 0.5 * float(np.sum(np.square(table - measurement.values) / measurement.variance))
    return loss
