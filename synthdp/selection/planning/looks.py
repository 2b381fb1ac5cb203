"""Looks: errors of a model released with noise, and what they say about its residuals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique, subsets
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error
from synthdp.privacy.unit import PrivacyUnit, gaussian_sigma_squared
from synthdp.selection.planning.dependence import squared_strengths

FloatArray = NDArray[np.float64]

_MIN_OWN = 1e-3
"""Of the squared error of a pair, what its own residual is taken to be at least."""
_MIN_WIDER = 1e-2
"""Of the squared error of a triple, what its own residual must be to be worth a thought."""


@final
@dataclass(frozen=True)
class Look:
    """Noisy errors of some candidates, in records, and the scale of their noise."""

    errors: Mapping[Clique, float]
    stddev: float


def look_at(
    table: PrivateTable, candidates: Sequence[Clique], estimates: Sequence[NDArray[np.float64]], *, rho: Fraction
) -> Look:
    """Release the L1 errors of estimates of all candidates at once, for ``rho``."""
    score = MarginalL1Error(dict(zip(candidates, estimates, strict=True)))
    stddev = noise_of_look(len(candidates), rho=rho, unit=table.ledger.unit)
    return Look(table.scores(candidates, score=score, rho=rho), stddev)


def noise_of_look(n_candidates: int, *, rho: Fraction, unit: PrivacyUnit) -> float:
    """Standard deviation, in records, of the noise on each of some errors that are released at once."""
    return sqrt(gaussian_sigma_squared(rho, n_candidates * unit.marginal_l1**2))


def first_errors(look: Look, columns: Mapping[Clique, float], *, total: float) -> dict[Clique, float]:
    """Squared errors of all residuals of one and two columns, after a look at pairs against independence.

    Parameters
    ----------
    look
        At pairs.
    columns
        For each column the squared error of what is known of it.
    total
        Number of records.
    """
    known = [sum(columns[name,] for name in pair) for pair in look.errors]
    found = squared_strengths(list(look.errors.values()), look.stddev, known, total=total)
    return {**columns, **dict(zip(look.errors, found.tolist(), strict=True))}


def later_errors(
    look: Look, left: Mapping[Clique, float], guesses: Mapping[Clique, float], *, doubt: float
) -> dict[Clique, float]:
    """Squared errors of all residuals, after a look at pairs and wider marginals against a model.

    Parameters
    ----------
    look
        Errors of the model, of pairs first.
    left
        The squared error that the model is expected to have on each residual, by what was measured.
    guesses
        The same of residuals that nothing was planned for.
    doubt
        Standard deviation of what is expected, as a part of it: what a look says is weighed against that.
    """
    errors: dict[Clique, float] = {clique: value for clique, value in left.items() if len(clique) == 1}
    for clique, noisy in look.errors.items():
        expected = sqrt(sum(left.get(part, 0.0) for part in subsets(clique)) + guesses.get(clique, 0.0))
        before = 1.0 / max((doubt * expected) ** 2, 1e-12)
        weight = 1.0 / look.stddev**2
        error = max((weight * noisy + before * expected) / (weight + before), 0.0)
        own = error**2 - sum(errors.get(part, 0.0) for part in subsets(clique) if part != clique)
        if len(clique) == 2:
            errors[clique] = max(own, _MIN_OWN * error**2)
        elif own > _MIN_WIDER * error**2:
            errors[clique] = own
    return errors
