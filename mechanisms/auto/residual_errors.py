"""What looks at a model's errors say about its residuals, part by part: what is seen, and what is
too fine for it.
"""

from collections.abc import Mapping
from math import sqrt

from synthdp.core.cliques import Clique
from synthdp.mechanisms.auto.dependence import squared_strengths
from synthdp.mechanisms.auto.resolutions import Question, Resolutions

_MIN_OWN = 1e-3
"""Of the squared error of a pair, what its own residual is taken to be at least."""
_MIN_WIDER = 1e-2
"""Of the squared error of a triple, what its own residual must be to be worth a thought."""


def first_errors(
    looks: Mapping[Question, float],
    stddev: float,
    columns: Mapping[Question, float],
    resolutions: Resolutions,
    *,
    total: float,
) -> tuple[dict[Question, float], dict[Clique, float]]:
    """Squared errors of all parts of residuals of one and two columns, after a look at pairs
    against independence.

    Parameters
    ----------
    looks
        Noisy L1 errors of pairs, each at one resolution, in records.
    stddev
        Of their noise.
    columns
        The squared errors of what is known of columns, by part.
    resolutions
        What the parts are.
    total
        Number of records.

    Returns ------- Squared errors by part, and for each pair the square of its dependence, without
    what chance makes of it.
    """
    known = [
        sum(columns.get(part, 0.0) for part in resolutions.parts_of(looked))
        + resolutions.by_chance(*looked, total)
        for looked in looks
    ]
    found = squared_strengths(list(looks.values()), stddev, known, total=total)
    strengths = {
        looked.clique: square / resolutions.seen(*looked)
        for looked, square in zip(looks, found.tolist(), strict=True)
    }
    errors = dict(columns)
    for pair, square in strengths.items():
        errors |= expected_parts(pair, square, resolutions, total=total)
    return errors, strengths


def expected_parts(
    clique: Clique, square: float, resolutions: Resolutions, *, total: float
) -> dict[Question, float]:
    """The squares of the parts of a residual: of dependence, most is seen at few levels; of chance,
    little is.
    """
    shown = (
        square * resolutions.seen(clique, number) + resolutions.by_chance(clique, number, total)
        for number in resolutions.of(clique)
    )
    return resolutions.split(clique, shown)


def later_errors(
    looks: Mapping[Question, float],
    stddev: float,
    left: Mapping[Question, float],
    resolutions: Resolutions,
    *,
    doubt: float,
) -> dict[Question, float]:
    """Squared errors of all parts of residuals, after a look at pairs and wider marginals against a
    model.

    Parameters
    ----------
    looks
        Noisy L1 errors of the model, of pairs first, each at one resolution, in records. Other
        pairs are believed to be what was expected, and wider marginals to be what their pairs say.
    stddev
        Of their noise.
    left
        The squared error that the model is expected to have on each part, by what was measured.
    resolutions
        What the parts are.
    doubt
        Standard deviation of what is expected, as a part of it: what a look says is weighed against
        that.
    """
    errors = {part: value for part, value in left.items() if len(part.clique) <= 2}
    for looked, noisy in looks.items():
        clique, inside = looked.clique, resolutions.parts_of(looked)
        expected = sqrt(sum(left.get(part, 0.0) for part in inside))
        before = 1.0 / max((doubt * expected) ** 2, 1e-12)
        weight = 1.0 / stddev**2
        error = max((weight * noisy + before * expected) / (weight + before), 0.0)
        own = error**2 - sum(errors.get(part, 0.0) for part in inside if part.clique != clique)
        if len(clique) > 2 and own <= _MIN_WIDER * error**2:
            continue
        parts = {
            number: left.get(Question(clique, number), 0.0) for number in resolutions.of(clique)
        }
        seen = sum(value for number, value in parts.items() if number <= looked.resolution)
        own = max(own, _MIN_OWN * error**2)
        for number, value in parts.items():
            errors[Question(clique, number)] = (
                value * own / seen if number <= looked.resolution and seen > 0 else value
            )
        if seen == 0:
            errors[looked] = own
    return errors
