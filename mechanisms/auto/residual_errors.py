"""What noisy scores say of a model's errors: the squared error of each part of each residual.

Scores are of whole marginals at one resolution; a plan needs to know where the error lies, in the
columns, in the pairs or in wider marginals, and at which resolution it would be seen.
"""

from collections.abc import Mapping
from math import sqrt

from synthdp.core.cliques import Clique
from synthdp.mechanisms.auto.dependence import squared_strengths
from synthdp.mechanisms.auto.resolutions import Resolutions, ResolvedClique

_MIN_OWN = 1e-3
"""Least squared error of the residual of a clique, as a share of the clique's squared error: an
error of 0 would say that measuring it is worth nothing, whatever the noise.
"""
_MIN_WIDER = 1e-2
"""Share of a wider marginal's squared error below which its own residual is left out of the plan:
its pairs explain the rest, and most triples are such.
"""


def first_errors(
    scores: Mapping[ResolvedClique, float],
    stddev: float,
    columns: Mapping[ResolvedClique, float],
    resolutions: Resolutions,
    *,
    total: float,
) -> tuple[dict[ResolvedClique, float], dict[Clique, float]]:
    """Squared errors of independence, by part of the residuals of one and two columns, from scores
    of pairs.

    Parameters
    ----------
    scores
        Noisy L1 errors of pairs, each at one resolution, in records.
    stddev
        Of their noise.
    columns
        Squared errors of the measured columns, by part.
    resolutions
        What the parts are.
    total
        Number of records.

    Returns
    -------
    tuple
        Squared errors by part, and for each pair the square of its dependence, without what chance
        makes of it.
    """
    explained = [
        sum(columns.get(part, 0.0) for part in resolutions.parts_of(scored))
        + resolutions.by_chance(*scored, total)
        for scored in scores
    ]
    squares = squared_strengths(list(scores.values()), stddev, explained, total=total)
    strengths = {
        scored.clique: square / resolutions.shown_share(*scored)
        for scored, square in zip(scores, squares.tolist(), strict=True)
    }
    errors = dict(columns)
    for pair, square in strengths.items():
        errors |= expected_parts(pair, square, resolutions, total=total)
    return errors, strengths


def expected_parts(
    clique: Clique, square: float, resolutions: Resolutions, *, total: float
) -> dict[ResolvedClique, float]:
    """Expected squared errors of the parts of a residual of a given squared dependence.

    Few levels show most of a dependence, and little of what chance makes of a marginal.
    """
    shown = (
        square * resolutions.shown_share(clique, number)
        + resolutions.by_chance(clique, number, total)
        for number in resolutions.of(clique)
    )
    return resolutions.split(clique, shown)


def later_errors(
    scores: Mapping[ResolvedClique, float],
    stddev: float,
    expected: Mapping[ResolvedClique, float],
    resolutions: Resolutions,
    *,
    relative_model_error: float,
) -> dict[ResolvedClique, float]:
    """Squared errors of a model, by part of all residuals, from scores of pairs and wider marginals.

    Parameters
    ----------
    scores
        Noisy L1 errors of the model, of pairs first, each at one resolution, in records. Other
        pairs are believed to be what was expected, and wider marginals to be what their pairs say.
    stddev
        Of their noise.
    expected
        The squared error that the model is expected to have on each part, by what was measured.
    resolutions
        What the parts are.
    relative_model_error
        Standard deviation of the expected error, as a share of it.
    """
    errors = {part: value for part, value in expected.items() if len(part.clique) <= 2}
    score_weight = 1.0 / stddev**2
    for scored, noisy in scores.items():
        clique = scored.clique
        inside = resolutions.parts_of(scored)
        # Inverse-variance average of the score and of what the plan expects.
        prior = sqrt(sum(expected.get(part, 0.0) for part in inside))
        prior_weight = 1.0 / max((relative_model_error * prior) ** 2, 1e-12)
        error = (score_weight * noisy + prior_weight * prior) / (score_weight + prior_weight)
        error = max(error, 0.0)
        # Residuals are orthogonal: what smaller cliques explain is taken off the square.
        own = error**2 - sum(errors.get(part, 0.0) for part in inside if part.clique != clique)
        if len(clique) > 2 and own <= _MIN_WIDER * error**2:
            continue
        own = max(own, _MIN_OWN * error**2)
        parts = {
            number: expected.get(ResolvedClique(clique, number), 0.0)
            for number in resolutions.of(clique)
        }
        shown = sum(value for number, value in parts.items() if number <= scored.resolution)
        for number, value in parts.items():
            is_shown = number <= scored.resolution and shown > 0
            errors[ResolvedClique(clique, number)] = value * own / shown if is_shown else value
        if shown == 0:
            errors[scored] = own
    return errors
