"""Bounds on the error of AIM's model, free by its noisy answers [2201.12677, sec. 5]."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.workload import Workload
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.allocation import L1_OF_NOISE, noise_of

CONFIDENCE = 0.95
"""Of each bound; the usual level of a published interval."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Choice:
    """One round's selection: what it was made from, and what it chose."""

    estimates: Mapping[Clique, NDArray[np.float64]]
    """For each candidate the counts that the model had then."""
    weights: Mapping[Clique, float]
    """For each candidate its use for the workload."""
    sigma: float
    """Scale of the measurement's noise, in records."""
    epsilon: float
    """Parameter of the exponential mechanism."""
    clique: Clique = ()
    """What was chosen."""

    def penalty(self, clique: Clique) -> float:
        """Expected L1 error of a measurement, in records."""
        return noise_of(self.sigma, self.estimates[clique].size)


def error_bounds(
    model: Model,
    workload: Workload,
    measurements: Sequence[LinearMeasurement],
    last: Choice,
    sensitivity: int,
) -> list[dict[str, object]]:
    """For each marginal of the workload a bound on the model's L1 error that holds with probability
    0.95.

    Each bound holds by itself, not all of them together. Noise is taken for Gaussian.

    - Supported (inside a measured clique): the distance of the model from the average of all
      measurements of the marginal, plus what the average's noise comes to:
      ``sigma (n sqrt(2 / pi) + t sqrt n)`` with probability ``1 - exp(-t^2 / 2)``, because the L1
      norm is a Lipschitz function of the noise.
    - Unsupported: the last selection passed the marginal over, so that by its scores it was not
      much worse than the one chosen, which was measured; and the model has changed since.

    Parameters
    ----------
    model
        The final model.
    workload
        The marginals to bound.
    measurements
        All measurements, that of what the last selection chose among them.
    last
        The last selection.
    sensitivity
        Of an L1 error of weight 1.

    Returns
    -------
    list of dict
        ``columns``, ``l1_records`` (the bound; None where there is none), ``supported``.
    """
    bounds: list[dict[str, object]] = []
    # The last selection bounds what all it passed over can err by; one number serves all
    # unsupported marginals.
    # What is published is answered, too, and stands before all that was paid for.
    chosen = next(each for each in reversed(measurements) if each.clique == last.clique)
    offer = _offer(last, chosen, sensitivity)
    for clique, fitted in zip(workload.cliques, model.marginals(workload.cliques), strict=True):
        average = _average(clique, measurements)
        bound: float | None = None
        if average is not None:
            values, sigma = average
            # The L1 norm of n numbers is sqrt(n)-Lipschitz, so it exceeds its mean by t sqrt(n)
            # with probability exp(-t^2 / 2) at most.
            spread = sqrt(2 * log(1 / (1 - CONFIDENCE)) * values.size)
            bound = np.abs(fitted.values - values).sum() + sigma * (
                L1_OF_NOISE * values.size + spread
            )
        elif clique in last.estimates:
            # The score was of the model as it was then; what has changed since may all be to the
            # worse.
            change = np.abs(fitted.values - last.estimates[clique]).sum()
            bound = offer / last.weights[clique] + last.penalty(clique) + change
        # Up: a bound that is rounded down is none.
        rounded = None if bound is None else float(np.ceil(bound))
        bounds.append(
            {"columns": list(clique), "l1_records": rounded, "supported": average is not None}
        )
    return bounds


def _offer(last: Choice, measured: LinearMeasurement, sensitivity: int) -> float:
    """What no candidate's true score exceeds, with the confidence split evenly between selection
    and measurement.
    """
    # Half of the chance of being wrong for the selection, half for the measurement.
    tail = log(2 / (1 - CONFIDENCE))
    n_cells = measured.values.size
    sigma = float(np.max(measured.stddev))
    error = np.abs(measured.values - last.estimates[last.clique]).sum() + sigma * sqrt(
        2 * tail * n_cells
    )
    score = last.weights[last.clique] * (error - last.penalty(last.clique))
    largest = max(last.weights.values()) * sensitivity
    # The utility bound of the exponential mechanism [McSherry & Talwar 2007].
    return float(score + 2 * largest / last.epsilon * (log(len(last.estimates)) + tail))


def _average(
    clique: Clique, measurements: Sequence[LinearMeasurement]
) -> tuple[NDArray[np.float64], float] | None:
    """Inverse-variance average of all measurements of a marginal and the scale of its noise, if it
    was measured.
    """
    total, weights = 0.0, 0.0
    for measurement in measurements:
        if set(clique) <= set(measurement.clique):
            summed = tuple(
                axis for axis, name in enumerate(measurement.clique) if name not in clique
            )
            values = measurement.values.sum(axis=summed)
            kept = [name for name in measurement.clique if name in clique]
            weight = 1 / (
                float(np.max(measurement.stddev)) ** 2 * measurement.values.size / values.size
            )
            total = total + weight * np.transpose(values, [kept.index(name) for name in clique])
            weights += weight
    return (np.asarray(total / weights), sqrt(1 / weights)) if weights else None
