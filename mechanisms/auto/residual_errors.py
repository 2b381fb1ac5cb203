"""What noisy scores say of a model's errors: the squared error of each part of each residual.

Scores are of whole marginals at one resolution; a plan needs to know where the error lies, in the
columns, in the pairs or in wider marginals, and at which resolution it would be seen.
"""

from collections.abc import Mapping
from math import sqrt

from synthdp.core.cliques import Clique
from synthdp.mechanisms.auto.dependence import squared_strengths
from synthdp.mechanisms.auto.resolutions import Resolutions, ResolvedClique
from synthdp.mechanisms.shared.allocation import L1_OF_NOISE

_MIN_OWN = 1e-3
"""Least squared error of the residual of a clique, as a share of the clique's squared error: an
error of 0 would say that measuring it is worth nothing, whatever the noise.
"""
_MIN_WIDER = 1e-2
"""Share of a wider marginal's squared error below which its own residual is left out of the plan:
its pairs explain the rest, and most triples are such.
"""


def column_errors(
    variances: Mapping[Clique, float], resolutions: Resolutions, *, total: float
) -> dict[ResolvedClique, float]:
    """Squared errors of measured columns, by part; none is more than all records.

    Parameters
    ----------
    variances
        Of the count of a level, by column.
    resolutions
        What the parts are.
    total
        Number of records.
    """
    errors: dict[ResolvedClique, float] = {}
    for clique, variance in variances.items():
        n_cells = resolutions.cells(clique, len(resolutions) - 1)
        square = L1_OF_NOISE**2 * n_cells * variance
        by_resolution = (
            # Noise of a column with many levels and few records can be more than all records; the
            # model, which has no negative counts, errs by less.
            min(square * resolutions.dimensions(clique, resolution), total**2)
            for resolution in resolutions.of(clique)
        )
        errors |= resolutions.split(clique, by_resolution)
    return errors


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
    # What a score holds beside dependence: the noise of the columns, by which independence was
    # predicted, and what chance makes of so few records in so many cells.
    explained = [
        sum(columns.get(part, 0.0) for part in resolutions.parts_of(scored))
        + resolutions.by_chance(*scored, total)
        for scored in scores
    ]
    # A coarse table shows a part of a dependence; the whole of it is what other resolutions are
    # expected to show theirs of.
    shown = [resolutions.shown_share(*scored) for scored in scores]
    squares = squared_strengths(list(scores.values()), stddev, explained, total=total, shown=shown)
    strengths = {
        scored.clique: square for scored, square in zip(scores, squares.tolist(), strict=True)
    }
    errors = dict(columns)
    for pair, square in strengths.items():
        # The plan is of what a model errs by, and a model of independence errs by chance, too:
        # those parts are real, though mostly too fine to be worth their noise.
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
    """Squared errors of a model, by part of all residuals, from scores of pairs and wider
    marginals.

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
    # One score has the same noise as another, as each question had its part of the budget.
    score_weight = 1.0 / stddev**2
    for scored, noisy in scores.items():
        clique = scored.clique
        inside = resolutions.parts_of(scored)
        # Inverse-variance average of the score and of what the plan expects.
        prior = sqrt(sum(expected.get(part, 0.0) for part in inside))
        # Of an error that the plan expects to be nothing the prior would have an infinite weight,
        # and no score could contradict it.
        prior_weight = 1.0 / max((relative_model_error * prior) ** 2, 1e-12)
        error = (score_weight * noisy + prior_weight * prior) / (score_weight + prior_weight)
        # Noisy scores are negative at times.
        error = max(error, 0.0)
        # Residuals are orthogonal: what smaller cliques explain is taken off the square.
        own = error**2 - sum(errors.get(part, 0.0) for part in inside if part.clique != clique)
        # Most triples err by no more than their pairs do; planning for all of them would slow the
        # search, and find nothing.
        if len(clique) > 2 and own <= _MIN_WIDER * error**2:
            continue
        # Where smaller cliques were believed to err by more than this one does, the difference is
        # negative. It is noise of the scores, not a residual of no error.
        own = max(own, _MIN_OWN * error**2)
        parts = {
            number: expected.get(ResolvedClique(clique, number), 0.0)
            for number in resolutions.of(clique)
        }
        # The score tells of the parts up to its resolution, and nothing of finer ones: these stay
        # as the plan left them.
        shown = sum(value for number, value in parts.items() if number <= scored.resolution)
        for number, value in parts.items():
            is_shown = number <= scored.resolution and shown > 0
            errors[ResolvedClique(clique, number)] = value * own / shown if is_shown else value
        # Nothing was expected there, so there is no proportion to go by: all of it goes to the
        # resolution that was scored.
        if shown == 0:
            errors[scored] = own
    return errors
