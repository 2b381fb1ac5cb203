"""What looks at a model's errors say about its residuals."""

from collections.abc import Mapping
from math import sqrt

from synthdp.cliques import Clique, subsets
from synthdp.selection.looks import Look
from synthdp.selection.planning.dependence import squared_strengths

_MIN_OWN = 1e-3
"""Of the squared error of a pair, what its own residual is taken to be at least."""
_MIN_WIDER = 1e-2
"""Of the squared error of a triple, what its own residual must be to be worth a thought."""


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
