"""An earlier release about an overlapping population, as noisy knowledge of a distribution that
drifts.

What it measured is fitted beside what is measured now, with its own noise and, on top, that of the
drift since: of columns by how far they are from this table's, which is measured anyway; of pairs by
scores that are paid for. All else here is post-processing of released values.

The drift of a marginal is what it moved beyond its columns (the drift of residuals, see
`expected_loss`). So each earlier marginal is first moved to where columns are now: by as much as
its model moves when it is scaled to them.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import pi, prod, sqrt
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.measurement import Coarsening, LinearMeasurement, estimate_total
from synthdp.inference.model import Model
from synthdp.inference.shrinkage import on_simplex, raked
from synthdp.mechanisms.auto.candidates import Candidates
from synthdp.mechanisms.auto.carrying import (
    Earlier,
    averaged_marginal,
    carried_tables,
    earlier_parts,
    is_useful,
)
from synthdp.mechanisms.auto.expected_loss import ExpectedLoss
from synthdp.mechanisms.auto.residual_errors import expected_parts
from synthdp.mechanisms.auto.resolutions import Groups, Resolutions, ResolvedClique
from synthdp.mechanisms.auto.survey import Dependences, SquaredErrors, Survey
from synthdp.mechanisms.auto.turnover import (
    Observed,
    expected_turnovers,
    pooled_observations,
    turnovers_alike,
)

FloatArray = NDArray[np.float64]

_MIN_SHARE = 1e-3
"""Of a table, spread evenly over its cells: where columns have moved to, no cell is impossible."""
_TOLERANCE, _MAX_ROUNDS = 1e-4, 10
"""Of iterative proportional fitting."""
_EXACT = 1e-6
"""Variance of a column, as a share of what is carried of it, below which it is published."""
_MOVED = 0.5
"""Squared drift of all pairs, as a share of their squared dependences, above which nothing of the
earlier release is used: scores of independence then say more of what depends on what.
"""
_COLUMNS_MOVED = 0.07
"""Mean total variation distance of columns above which the same holds, and pairs are not even
scored: of records of which so many changed in each column, pairs have lost a third of what they
depend and more.
"""
_MOST_NAMED = 10
"""Pairs that the certificate names, those that moved most."""


@final
class EarlierRelease(NamedTuple):
    """What an earlier release says: released values only."""

    measurements: Sequence[LinearMeasurement]
    """What it measured and what it carried itself, over the columns of the domain."""
    model: Model
    """The model that it fitted to them."""


class _Column(NamedTuple):
    """A column by this release and by the earlier one, scaled to this number of records."""

    earlier: FloatArray
    earlier_variance: float
    """Of its noise and its drift."""
    now: FloatArray
    now_variance: float
    both: FloatArray
    """The two weighed against each other, with the drift on the earlier one's side."""
    variance: float
    moved: float
    """Expected total variation distance between the two, by the drift and not by what is seen: that
    is noise where the earlier release was noisy.
    """


@final
class Drifting:
    """What an earlier release is still worth for one table.

    Parameters
    ----------
    domain
        The columns, those of the earlier release.
    earlier
        What it says.
    """

    def __init__(self, domain: Domain, earlier: EarlierRelease) -> None:
        self._domain = domain
        self._model = earlier.model
        self._measured = pooled(domain, earlier.measurements)
        self._scale = 1.0
        self._total = 1.0
        self._columns: dict[str, _Column] = {}
        self._known_shares: dict[Clique, FloatArray] = {}
        self._counted: dict[tuple[Clique, int | None], _Counts | None] = {}
        self._kept: Sequence[LinearMeasurement] = ()
        self._pair_scores: _PairScores | None = None
        self._moved_pairs: list[dict[str, object]] = []
        self._pair_drift: float | None = None
        """Squared drift of all pairs, as a share of their squared dependences; None unscored."""
        self.carried: tuple[LinearMeasurement, ...] = ()
        """What it measured, moved to this table's columns and number of records, with the drift in
        its noise; empty until drift is known.
        """
        self.wider: SquaredErrors = {}
        """Squared errors that are expected of wider marginals that it measured."""
        self.findings: dict[str, object] = {}
        """How far the table moved, by released values; plain JSON values."""

    @property
    def groups(self) -> Groups:
        """The ways in which it merged the levels of each column, the most usual ones first."""
        counted: dict[str, dict[bytes, list[NDArray[np.int64]]]] = {}
        for measurement in self._measured:
            for name, groups in measurement.groups.items():
                counted.setdefault(name, {}).setdefault(groups.tobytes(), []).append(groups)
        groups_of: dict[str, Sequence[NDArray[np.int64]]] = {}
        for name, ways in counted.items():
            by_use = sorted(ways.values(), key=len, reverse=True)
            groups_of[name] = [same[0] for same in by_use]
        return groups_of

    def compare_columns(self, released: Sequence[LinearMeasurement]) -> None:
        """Compare this table's columns, which are measured, with the earlier release's."""
        self._total = estimate_total(released)
        self._scale = self._total / estimate_total(self._measured)
        compared = {}
        for name in self._domain.attributes:
            estimates = self._two_estimates(name, released)
            if estimates is not None:
                compared[name] = estimates
        # Drift of a level varies in proportion to its records, as if a share of them were replaced.
        observed = {}
        for name, (before, now) in compared.items():
            noise = before.variance + now.variance
            freedom = before.counts.size
            square = float(np.square(now.counts - before.counts).sum())
            records = max(float(before.counts.sum()), 1.0)
            # A sum of squared noises has a mean of freedom * noise, and a variance of twice that
            # times noise.
            excess = (square - freedom * noise) / records
            observed[name] = Observed(excess, sqrt(2.0 * freedom) * noise / records)
        drifts = turnovers_alike(observed)
        for name, (before, now) in compared.items():
            drift = drifts[name]
            self._columns[name] = _weighed(before, now, drift, total=self._total)

    @property
    def has_moved(self) -> bool:
        """Whether so much moved that nothing of the earlier release is used but the levels: by the
        scores of pairs, and before there are any by the columns.
        """
        if self._pair_drift is not None:
            return self._pair_drift > _MOVED
        moved = [column.moved for column in self._columns.values()]
        return bool(moved) and float(np.mean(moved)) > _COLUMNS_MOVED

    def _distances(self) -> dict[str, float]:
        """The total variation distance that each column moved."""
        return {
            name: float(np.abs(column.both - column.earlier).sum()) / (2.0 * self._total)
            for name, column in self._columns.items()
        }

    def carry(self, released: Sequence[LinearMeasurement]) -> tuple[LinearMeasurement, ...]:
        """What the earlier release still says, moved to where this table's columns are by all that
        is released by now.
        """
        self.compare_columns(released)
        if self._pair_scores is not None and not self.has_moved:
            # What was measured since says more of the drift than scores could.
            self._estimate_drift(released)
        elif self._pair_scores is None:
            # Of pairs no drift is known; columns are compared whatever noise hides, and those that
            # moved weigh next to nothing. Where noise hides how many records the earlier release
            # had, theirs is beyond all bounds once they are scaled: engines take no such column.
            columns = [
                LinearMeasurement((name,), column.earlier, sqrt(column.earlier_variance))
                for name, column in self._columns.items()
            ]
            self._kept = [each for each in columns if is_useful(each, total=self._total)]
        beyond = self._beyond_columns()
        self.carried = tuple(self._moved_to_now(each, beyond) for each in self._kept)
        self.findings = {
            "columns": {name: _rounded(each) for name, each in self._distances().items()},
            "pairs": self._moved_pairs,
            "carried": len(self.carried),
        }
        return self.carried

    def score_drift(self, survey: Survey, candidates: Candidates, rho: Fraction) -> Dependences:
        """Score for ``rho`` how far all pairs are from what the earlier release says of them, and
        carry what it measured with that drift.

        Returns the errors of what is known now, and how much pairs may depend.
        """
        resolutions = survey.resolutions
        strengths = self._strengths(candidates.pairs)
        columns = survey.column_errors(
            {(name,): column.variance for name, column in self._columns.items()}
        )
        # A total says nothing about columns.
        resolved = [(m, _resolution(resolutions, m)) for m in self._measured if m.clique]
        planned = [
            (ResolvedClique(m.clique, number), m) for m, number in resolved if number is not None
        ]
        wide: dict[Clique, None] = {}
        for each, _ in planned:
            cliques = [part.clique for part in resolutions.parts_of(each)]
            wide |= dict.fromkeys(clique for clique in cliques if len(clique) > 2)
        unmeasured = {**columns, **self._unmeasured(survey, strengths, list(wide))}
        loss = survey.loss(unmeasured, candidates.weights_by(strengths))
        noise = self._noise_by_part(loss, planned, unmeasured)
        known = {
            part: columns[part]
            if part in columns
            else _weighed_error(unmeasured[part], noise[part])
            for part in loss.parts
        }

        # What a score shows beyond chance and the errors of what is known is drift.
        scores, stddev = survey.score_pairs(partial(self._moved, total=True), rho)
        scored = {}
        for each, score in scores.items():
            by_chance = resolutions.by_chance(*each, self._total)
            explained = sum(known.get(part, 0.0) for part in resolutions.parts_of(each))
            scored[each] = _observed(by_chance, score, explained, stddev)
        self._pair_scores = _PairScores(
            resolutions, scored, earlier_parts(resolved, resolutions, self._scale)
        )
        drift = self._estimate_drift(())
        self._pair_drift = sum(drift.by_pair.values()) / max(sum(strengths.values()), 1e-300)
        if self.has_moved:
            self._kept = ()
        # What depended before still does, or has moved to where nothing was: which way it moved
        # nobody knows.
        strengths = {pair: max(square, drift.by_pair[pair]) for pair, square in strengths.items()}
        unmeasured = {**columns, **self._unmeasured(survey, strengths, list(wide))}
        errors = {
            part: columns[part]
            if part in columns
            else _weighed_error(unmeasured[part], noise[part] + drift.of(part))
            for part in loss.parts
        }
        # Wider marginals are no part of the first plan before they are scored, as in `auto`.
        if not self.has_moved:
            self.wider = {part: error for part, error in errors.items() if len(part.clique) > 2}
        narrow = {part: error for part, error in errors.items() if len(part.clique) <= 2}
        return Dependences(narrow, strengths)

    def _estimate_drift(self, released: Sequence[LinearMeasurement]) -> "_Drift":
        """Estimate the drift of all pairs by their scores and by what was measured of them both
        times, and carry what is still worth it.
        """
        assert self._pair_scores is not None
        resolutions, scored, earlier = self._pair_scores
        observed = {}
        for each, score in scored.items():
            seen = self._seen_difference(each, released)
            observed[each.clique] = score if seen is None else pooled_observations([score, seen])
        expected = expected_turnovers(observed)
        drift = _Drift(
            resolutions,
            {each: expected[each.clique] * max(self._by_chance(each), 1e-9) for each in scored},
            total=self._total,
        )
        self._kept = carried_tables(earlier, drift.of, resolutions, total=self._total)
        moved = sorted(drift.by_pair.items(), key=lambda item: -item[1])[:_MOST_NAMED]
        self._moved_pairs = [
            {"columns": list(pair), "distance": _rounded(sqrt(square) / (2.0 * self._total))}
            for pair, square in moved
        ]
        return drift

    def _by_chance(self, each: ResolvedClique) -> float:
        assert self._pair_scores is not None
        return self._pair_scores.resolutions.by_chance(*each, self._total)

    def _seen_difference(
        self, scored: ResolvedClique, released: Sequence[LinearMeasurement]
    ) -> Observed | None:
        """The turnover of a pair by what was measured of it now and before; None without both."""
        assert self._pair_scores is not None
        if not released:
            return None
        coarsening = self._pair_scores.resolutions.coarsenings[scored.resolution]
        pair = scored.clique
        groups = {} if coarsening is None else coarsening.groups
        own = {name: groups[name] for name in pair if name in groups}
        before = self._before(pair, own, scored.resolution)
        now = _marginal_counts(pair, own, released)
        if before is None or now is None:
            return None
        shares = self._shares_of(pair)
        wanted = {name: column.both for name, column in self._columns.items()}
        moved = self._total * (_scaled(shares, pair, wanted) - shares)
        if own:
            merging = Coarsening(own)
            moved = merging.apply(pair, moved)
            shares = merging.apply(pair, shares)
        difference = now.counts - self._scale * before.counts - moved
        # Of the residual alone: columns are where they are.
        residual = difference - difference.mean(axis=0) - difference.mean(axis=1, keepdims=True)
        residual += difference.mean()
        variance = now.variance + self._scale**2 * before.variance
        freedom = float(np.prod([size - 1 for size in difference.shape]))
        if freedom == 0.0:
            return None
        square = float(np.square(residual).sum())
        value = square - freedom * variance
        stddev = sqrt(2.0 * freedom * variance**2 + 4.0 * variance * max(value, 0.0))
        roots = float(np.sqrt(np.maximum(shares, 0.0)).sum())
        # From a squared L2 norm to a squared L1 norm, as in `_drift_variance`.
        unit = 2.0 / pi * roots**2 / max(self._by_chance(scored), 1e-9)
        return Observed(unit * value, unit * stddev)

    def _before(
        self, clique: Clique, groups: Mapping[str, NDArray[np.int64]], resolution: int | None
    ) -> "_Counts | None":
        """What was measured earlier of a marginal, with the groups of a resolution; it is asked for
        at each fit and does not change.
        """
        key = clique, resolution
        if key not in self._counted:
            self._counted[key] = _marginal_counts(clique, groups, self._measured)
        return self._counted[key]

    def _two_estimates(
        self, name: str, released: Sequence[LinearMeasurement]
    ) -> "tuple[_Counts, _Counts] | None":
        before = self._before((name,), {}, None)
        now = _column_counts(name, released)
        if before is None or now is None:
            return None
        scaled = _Counts(before.counts * self._scale, before.variance * self._scale**2)
        return scaled, now

    def _moved(self, cliques: Sequence[Clique], *, total: bool) -> Iterator[FloatArray]:
        """What the earlier model says of some marginals, scaled to where columns are now; with
        ``total`` in records of this table.
        """
        wanted = {name: column.both for name, column in self._columns.items()}
        for clique, factor in zip(cliques, self._model.marginals(list(cliques)), strict=True):
            yield _scaled(factor.values, clique, wanted) * (self._total if total else 1.0)

    def _strengths(self, pairs: Sequence[Clique]) -> dict[Clique, float]:
        """The squared L1 distance of pairs from independence, by the earlier model moved to where
        columns are now.
        """
        strengths = {}
        for pair, shares in zip(pairs, self._moved(pairs, total=False), strict=True):
            apart = shares - np.multiply.outer(shares.sum(axis=1), shares.sum(axis=0))
            strengths[pair] = float(np.square(np.abs(apart).sum() * self._total))
        return strengths

    def _unmeasured(
        self, survey: Survey, strengths: Mapping[Clique, float], wide: Sequence[Clique]
    ) -> dict[ResolvedClique, float]:
        """The squared errors of pairs and some wider marginals of which nothing was measured."""
        parts = dict(survey.guess_wider(wide, strengths))
        for pair, square in strengths.items():
            parts |= expected_parts(pair, square, survey.resolutions, total=self._total)
        return parts

    def _noise_by_part(
        self,
        loss: ExpectedLoss,
        planned: Sequence[tuple[ResolvedClique, LinearMeasurement]],
        unmeasured: SquaredErrors,
    ) -> dict[ResolvedClique, float]:
        """The squared error that earlier noise makes of each part; infinite of those that were not
        measured.
        """
        # A variance v is what a budget of Delta^2 / (2 v) buys.
        if not planned:
            return dict.fromkeys(loss.parts, np.inf)
        rhos = [
            loss.l2_squared / (2.0 * self._scale**2 * float(m.variance.mean())) for _, m in planned
        ]
        left = loss.left_by_part(loss.precision_of([each for each, _ in planned], rhos))
        noise = {}
        for part, after in left.items():
            gained = 1.0 / after - 1.0 / unmeasured[part] if after > 0 else np.inf
            noise[part] = 1.0 / gained if gained > 0 else np.inf
        return noise

    def _beyond_columns(self) -> dict[str, FloatArray]:
        """By how many records of each level the columns of carried marginals go beyond what both
        releases say together.

        An engine weighs them, by the noise that they are carried with, against this table's own
        columns, which are in what both say already: this takes that back.
        """
        beyond = {}
        for name, column in self._columns.items():
            carried = _column_counts(name, self._kept)
            # Of a column that is known exactly nothing pulls away from what is known.
            if carried is not None and column.now_variance > _EXACT * carried.variance:
                ratio = carried.variance / column.now_variance
                beyond[name] = ratio * (column.both - column.now)
        return beyond

    def _moved_to_now(
        self, measurement: LinearMeasurement, beyond: Mapping[str, FloatArray]
    ) -> LinearMeasurement:
        """A measurement moved by as much as the earlier model of it moves when it is scaled to
        where columns are now, and its columns a little beyond.
        """
        clique = measurement.clique
        before = self._shares_of(clique)
        wanted = {name: column.both for name, column in self._columns.items()}
        now = _scaled(before, clique, wanted)
        shift = self._total * (now - before)
        for axis, name in enumerate(clique):
            if name in beyond:
                # Of a column alone, so that how it depends on others stays as it is.
                others = now.sum(axis=axis, keepdims=True)
                along = [-1 if i == axis else 1 for i in range(now.ndim)]
                shift = shift + beyond[name].reshape(along) * others
        shift = _coarse(measurement, shift)
        return LinearMeasurement(
            clique, measurement.values + shift, measurement.stddev, measurement.coarsening
        )

    def _shares_of(self, clique: Clique) -> FloatArray:
        """The earlier model's distribution of a marginal."""
        if clique not in self._known_shares:
            (factor,) = self._model.marginals([clique])
            values = np.maximum(factor.values, 0.0)
            self._known_shares[clique] = values / max(float(values.sum()), 1e-300)
        return self._known_shares[clique]


class _Counts(NamedTuple):
    counts: FloatArray
    variance: float


class _PairScores(NamedTuple):
    """What was scored of the drift of pairs, and what its estimates are made of."""

    resolutions: Resolutions
    scored: Mapping[ResolvedClique, Observed]
    earlier: Sequence[Earlier]
    """The earlier measurements, with the parts that each estimates."""


@final
class _Drift:
    """How far pairs moved, and what that lets one expect of wider marginals and other resolutions.

    Parameters
    ----------
    resolutions
        What marginals are seen at.
    squares
        For each pair, at one resolution, the squared L1 distance that it moved beyond its columns.
    total
        Number of records.
    """

    def __init__(
        self, resolutions: Resolutions, squares: Mapping[ResolvedClique, float], *, total: float
    ) -> None:
        self.resolutions = resolutions
        self._total = total
        self._pairs = {each.clique: (each.resolution, square) for each, square in squares.items()}
        # As a share of the records that were replaced, if that is all that happened.
        self._turnover = {
            each.clique: square / max(resolutions.by_chance(*each, total), 1e-9)
            for each, square in squares.items()
        }
        self._common = float(np.mean(list(self._turnover.values()))) if self._turnover else 0.0

    @property
    def by_pair(self) -> dict[Clique, float]:
        """The squared distance of each pair, as it was scored."""
        return {pair: square for pair, (_, square) in self._pairs.items()}

    def shown(self, clique: Clique, number: int) -> float:
        """The squared distance that a residual moved, as far as a resolution shows it."""
        if len(clique) < 2:
            return 0.0
        if clique in self._pairs:
            scored, square = self._pairs[clique]
            seen = self.resolutions.shown_share(clique, scored)
            # An earlier release that merged all levels of a column showed nothing.
            ratio = self.resolutions.shown_share(clique, number) / seen if seen > 0 else 0.0
            if number > scored:
                # Beyond what was scored: as if all of it were records that were replaced.
                ratio = max(
                    ratio,
                    self.resolutions.by_chance(clique, number, self._total)
                    / max(self.resolutions.by_chance(clique, scored, self._total), 1e-9),
                )
            return square * ratio
        inside = [self._turnover.get(pair, self._common) for pair in combinations(clique, 2)]
        return float(np.mean(inside)) * self.resolutions.by_chance(clique, number, self._total)

    def of(self, part: ResolvedClique) -> float:
        """What a part of a residual moved: what it shows beyond the next coarser resolution."""
        coarser = [each for each in self.resolutions.of(part.clique) if each < part.resolution]
        before = self.shown(part.clique, coarser[-1]) if coarser else 0.0
        return max(self.shown(*part) - before, 0.0)


def pooled(domain: Domain, measurements: Sequence[LinearMeasurement]) -> list[LinearMeasurement]:
    """One measurement for each clique and merging, axes in the order of the domain: repeats are
    averaged by their precision.
    """
    sums: dict[tuple[Clique, tuple[bytes, ...]], list[LinearMeasurement]] = {}
    for measurement in measurements:
        clique = domain.canonical(measurement.clique)
        merged = measurement.groups
        key = (clique, tuple(merged[n].tobytes() if n in merged else b"" for n in clique))
        sums.setdefault(key, []).append(measurement)
    averaged = []
    for (clique, _), same in sums.items():
        precisions = [1.0 / float(each.variance.mean()) for each in same]
        groups = same[0].groups
        averaged.append(
            LinearMeasurement(
                clique,
                averaged_marginal(clique, zip(same, precisions, strict=True)),
                sqrt(1.0 / sum(precisions)),
                Coarsening(groups) if groups else None,
            )
        )
    return averaged


def _resolution(resolutions: Resolutions, measurement: LinearMeasurement) -> int | None:
    """The number of the resolution that a measurement is of; None if it merged levels in another
    way.
    """
    merged = measurement.groups
    for number in resolutions.of(measurement.clique):
        coarsening = resolutions.coarsenings[number]
        groups = coarsening.groups if coarsening else {}
        own = {name: groups[name] for name in measurement.clique if name in groups}
        if own.keys() == merged.keys() and all(
            np.array_equal(own[name], merged[name]) for name in own
        ):
            return number
    return None


def _column_counts(name: str, measurements: Sequence[LinearMeasurement]) -> _Counts | None:
    """A column by all measurements that tell its levels apart; None if there is none."""
    return _marginal_counts((name,), {}, measurements)


def _marginal_counts(
    clique: Clique,
    groups: Mapping[str, NDArray[np.int64]],
    measurements: Sequence[LinearMeasurement],
) -> _Counts | None:
    """A marginal by all measurements that tell these groups of its levels apart; None if there is
    none.
    """
    tables = []
    for measurement in measurements:
        if not set(clique) <= set(measurement.clique):
            continue
        merged = {name: each for name, each in measurement.groups.items() if name in clique}
        if merged.keys() != groups.keys() or any(
            not np.array_equal(merged[name], groups[name]) for name in groups
        ):
            continue
        # A cell of the marginal is the sum of so many cells, each with its own noise.
        others = set(measurement.clique).difference(clique)
        n_summed = prod(measurement.values.shape[measurement.clique.index(n)] for n in others)
        tables.append((measurement, 1.0 / (n_summed * float(measurement.variance.mean()))))
    if not tables:
        return None
    precision = sum(weight for _, weight in tables)
    return _Counts(averaged_marginal(clique, tables), 1.0 / precision)


def _observed(by_chance: float, score: float, explained: float, stddev: float) -> Observed:
    """A pair's turnover by its noisy score, whose square noise and what is known add to."""
    by_chance = max(by_chance, 1e-9)
    value = score**2 - stddev**2 - explained
    error = sqrt(2.0 * stddev**4 + 4.0 * stddev**2 * max(score**2 - stddev**2, explained))
    return Observed(value / by_chance, error / by_chance)


def _weighed(before: _Counts, now: _Counts, drift: float, *, total: float) -> _Column:
    """A column by two estimates of it, the earlier one with drift in proportion to its counts."""
    spread = before.variance + drift * np.maximum(before.counts, 0.0)
    # Noise and drift are independent of each other, so that their variances add up, and the best
    # unbiased estimate weighs the two releases by inverse variance.
    precision = 1.0 / spread + 1.0 / now.variance
    both = (before.counts / spread + now.counts / now.variance) / precision
    return _Column(
        earlier=before.counts,
        earlier_variance=float(np.mean(spread)),
        now=now.counts,
        now_variance=now.variance,
        both=total * on_simplex(both / total),
        variance=float(np.mean(1.0 / precision)),
        moved=float(np.sqrt(drift * np.maximum(before.counts, 0.0)).sum()) / (2.0 * total),
    )


def _scaled(values: FloatArray, clique: Clique, wanted: Mapping[str, FloatArray]) -> FloatArray:
    """A table as shares, scaled to given counts of its columns (iterative proportional fitting)."""
    shares = np.maximum(values, 0.0)
    shares = (1.0 - _MIN_SHARE) * shares / max(float(shares.sum()), 1e-300) + (
        _MIN_SHARE / shares.size
    )
    columns: dict[tuple[int, ...], FloatArray] = {}
    for axis, name in enumerate(clique):
        if name in wanted:
            counts = np.maximum(wanted[name], 0.0)
            columns[axis,] = counts / max(float(counts.sum()), 1e-300)
    return raked(shares, columns, tolerance=_TOLERANCE, max_rounds=_MAX_ROUNDS)


def _coarse(measurement: LinearMeasurement, values: FloatArray) -> FloatArray:
    """A table over the levels that a measurement tells apart."""
    if measurement.coarsening is None:
        return values
    return measurement.coarsening.apply(measurement.clique, values)


def _weighed_error(unmeasured: float, noise: float) -> float:
    """The squared error of weighing what is expected anyway against a noisy measurement."""
    if not np.isfinite(noise):
        return unmeasured
    return unmeasured * noise / max(unmeasured + noise, 1e-300)


def _rounded(distance: float) -> float:
    return float(f"{distance:.3g}")
