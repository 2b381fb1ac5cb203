"""Mirror descent where scales of noise are far apart: the method of multipliers.

Mirror descent takes steps as short as the most exact measurement asks for, and the noisiest learn
next to nothing. So exact ones are followed loosely at first, as if their noise were a tenth of the
largest: ``sigma'^2 = max(sigma^2, (largest sigma / 10)^2)``. What pulls at them then, ``p = (target
- mu) / sigma'^2``, shifts their targets, ``y + (sigma'^2 - sigma^2) p``, and the fit goes on. This
  is the proximal point method on the dual [Rockafellar 1976], and ends at the optimum whatever the
  scales: there ``p = (y - mu) / sigma^2``. After each round it is known how far the loss can be
  above the least one: by half the sum of ``sigma^2 ((y - mu) / sigma^2 - p)^2``, for it bends by
  ``1 / sigma^2``.
"""

from dataclasses import replace

import numpy as np

from synthdp.inference.arrays import Array
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.model import Ending, FitStatus, Progress
from synthdp.inference.optimisers.mirror_descent import Least, Marginals, MirrorDescent
from synthdp.inference.projection import projected

_MAX_RATIO = 10.0
"""Of scales of noise that mirror descent is quick with."""
_MAX_ROUNDS = 50
"""Most took fewer than 20, on random problems with scales up to a million apart."""
_SLOW = 0.3
"""Where a round leaves more than this share of the bound, the next ones have to be closer and less
loose.
"""
_TIGHTER, _MIN_TOLERANCE, _CLOSER = 0.5, 1e-13, 0.1
"""By what factors, and the end of what floats can tell. A round costs the more the closer it is:
with 0.01 and 1/3 iterations were twice as many on small random circles, and ten times on 100
columns. Exact measurements that contradict each other, as where noise made counts of 0 negative,
are told apart by their own noise only.
"""
_PROVEN = 10.0
"""The loss is at most this many tolerances above the least, by what the multipliers say."""


def minimise(
    driver: MirrorDescent,
    marginals: Marginals,
    loss: MarginalLoss,
    theta: Array,
    *,
    total: float,
    least: Least | None = None,
    progress: Progress | None = None,
) -> tuple[Array, FitStatus]:
    """The fitted potentials and how the fit ended; parameters are those of
    `MirrorDescent.minimise`.

    ``driver`` is the optimiser of each round; its limit of iterations is one for all rounds.
    """
    # Totals are settled by the parametrisation, so how exact they are must not make the scales look
    # uneven.
    loss = loss.of_total(total)
    if not is_uneven(loss):
        return driver.minimise(marginals, loss, theta, total=total, least=least, progress=progress)
    # The projection of the noisy counts onto tables that agree, in closed form. Targets that
    # contradict each other would pull for ever, and multipliers grow without end.
    noisy = loss.flatten(
        [np.ravel(table) for table in projected(loss.measurements, total).values()]
    )
    # What the projection moved is lost for any fit; by Pythagoras it is a constant beside the rest.
    certain = loss.of_residual(loss.residual(noisy))
    variance = 1.0 / loss.weights
    # The noise that the driver believes: exact measurements are loosened to a tenth of the
    # noisiest.
    used = np.maximum(variance, variance.max() / _MAX_RATIO**2)
    pull = np.zeros(theta.size)
    before = np.inf
    tolerance = driver.tolerance
    done = 0
    ended: Ending = "stalled"
    for _ in range(_MAX_ROUNDS):
        # One limit for all rounds, so that the limit means what a user set.
        stage = replace(driver, tolerance=tolerance, max_iterations=driver.max_iterations - done)
        # The first round has no pull and fits loosened counts; each later one shifts the targets by
        # what was left open.
        target = noisy + (used - variance) * pull
        theta, status = stage.minimise(
            marginals,
            loss.towards(target, used, rest=certain),
            theta,
            total=total,
            least=least,
            progress=_after(done, progress, driver.max_iterations),
        )
        done += status.n_iterations
        counts = marginals(theta)
        reached = loss.of_residual(loss.residual(counts))
        # At the optimum this is (y - mu) / sigma^2, the true slope of the loss: rounds stop
        # changing it.
        pull = (target - counts) / used
        # Half of it is how far the loss is above the least at most: it bends by 1 / variance.
        excess = variance * np.square((noisy - counts) / variance - pull)
        bound = 0.5 * float(excess.sum())
        # The bound is a proof only as far as a round came to its end, so the round's own ending is
        # passed on.
        is_proven = bound <= _PROVEN * driver.tolerance * reached
        if is_proven or done >= driver.max_iterations:
            # The bound supposes that the round came to its end: one that stalled may be anywhere.
            ended = status.ended if is_proven else "stopped"
            break
        # A round that left much of the bound was either not close enough or too loose. Both are
        # mended, gently: tightening by 0.01 and loosening by 1/3 took twice as many iterations on
        # small circles and ten times as many on 100 columns.
        if bound > _SLOW * before:
            tolerance = max(_TIGHTER * tolerance, _MIN_TOLERANCE)
            used = np.maximum(variance, _CLOSER * used.min())
        before = bound
    return theta, FitStatus(ended=ended, n_iterations=done, loss=reached + loss.of_repeats)


def is_uneven(loss: MarginalLoss) -> bool:
    """Whether scales of noise, other than of totals, are more than ten times apart."""
    weights = [table for table in loss.split(loss.weights) if table.size > 1]
    # Weights are inverse variances; scales ten times apart are weights a hundred times apart.
    return bool(weights and max(map(np.max, weights)) > _MAX_RATIO**2 * min(map(np.min, weights)))


def _after(before: int, progress: Progress | None, most: int) -> Progress | None:
    """Progress of one round as that of all."""
    return None if progress is None else lambda done, _: progress(before + done, most)
