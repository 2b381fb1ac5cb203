"""How well a synthetic table is expected to do: the plan of mechanism auto, made for a table that
is imagined.

Everything here follows from the schema and from numbers that the user gives; all of it is public.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.workload import MAX_DEFAULT_CELLS, MIN_USE, Workload
from synthdp.mechanisms.auto.auto import Auto
from synthdp.mechanisms.auto.batch_plan import BatchPlan
from synthdp.mechanisms.auto.expected_loss import ExpectedLoss
from synthdp.mechanisms.auto.residual_errors import column_errors, expected_parts
from synthdp.mechanisms.auto.resolutions import Resolutions, ResolvedClique
from synthdp.mechanisms.shared.allocation import measurement_shares
from synthdp.mechanisms.shared.noisy_errors import error_stddev
from synthdp.privacy.unit import PrivacyUnit
from synthdp.schema.open_schema import OpenSchema

DEPENDENCE = 0.14
"""L1 distance of a pair of columns from independence, in shares of the rows: what auto expects
before it looks.
"""

MAX_COLUMNS = 25
"""Of more columns a plan is made for so many, evenly spaced, with their part of the budget: the
whole takes long.
"""

MOST_SIGNAL = 1e7
"""Of rows over the noise on a count, where errors are below 0.1 %: a plan for more takes small
shares for nothing.
"""

GUESSED_LEVELS, GUESSED_BINS = 10, 24
"""Of a column whose levels or bins are to be learnt, unless it may have fewer: on Adult, names and
kinds only, 32,561 records and epsilon 1 and 10, 7 and 10 levels were found in the mean, and 21 and
26 bins.
"""

ABOUT_OPEN = (
    f"columns to be learnt are taken to have {GUESSED_LEVELS} levels, or {GUESSED_BINS} bins"
)


@final
@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """What is to be expected of a synthetic table."""

    columns: float
    """Mean share of rows that are in the wrong level of one column (total variation distance), 0
    to 1.
    """
    by_column: dict[str, float]
    """The same of each column that was planned, by name; see `MAX_COLUMNS`."""
    pairs: float | None
    """The same of two columns together; None if there is one column."""
    only_columns: bool
    """Whether noise would hide how columns depend on each other, so that only columns are
    measured.
    """


def expected_accuracy(domain: Domain, *, rho: Fraction, rows: int, unit: PrivacyUnit) -> Accuracy:
    """The errors that mechanism auto plans for, on a table about which nothing is known but its
    domain.

    Levels are as frequent as Zipf's law says, the k-th 1/k as often as the first; each pair of
    columns depends as much as auto expects before it looks, and pairs matter alike.

    Parameters
    ----------
    domain, rho
        Numbers of levels, and the budget of the model.
    rows
        A guess of the number of records, at least 1.
    unit
        What is protected as one.
    """
    # With more budget than that errors are below anything that is shown.
    rho = min(rho, Fraction(unit.marginal_l2_squared * (MOST_SIGNAL / rows) ** 2 / 2))
    n_pairs = len(_pairs(domain))
    score_rho = rho * Fraction(Auto.score_share)
    sees = (
        n_pairs > 0
        and error_stddev(n_pairs, rho=score_rho, unit=unit) <= Auto.max_noise_share * rows
    )
    first = rho * Fraction(Auto.one_way_share) if sees else rho
    # Every so many columns, evenly, so that a table whose wide columns stand together is not
    # misjudged.
    planned = domain.project(domain.attributes[:: ceil(len(domain) / MAX_COLUMNS)])
    pairs = _pairs(planned)
    resolutions = Resolutions(planned, {name: _zipf(planned[name]) for name in planned.attributes})
    errors = _errors_of_columns(domain, resolutions, first, rows, unit)
    for pair in pairs:
        errors |= expected_parts(pair, (DEPENDENCE * rows) ** 2, resolutions, total=rows)
    if sees and pairs:
        # The planned pairs get the part of the budget that they are of all pairs.
        part = (rho - first - 2 * score_rho) * Fraction(len(pairs), n_pairs)
        errors |= _left(planned, resolutions, pairs, errors, part, unit)
    squares: dict[Clique, float] = {}
    for (clique, _), square in errors.items():
        squares[clique] = squares.get(clique, 0.0) + square
    columns = {name: squares[name,] for name in planned.attributes}
    whole = [squares[pair] + squares[pair[:1]] + squares[pair[1:]] for pair in pairs]
    return Accuracy(
        columns=_misplaced(list(columns.values()), rows),
        by_column={name: _misplaced([square], rows) for name, square in columns.items()},
        pairs=_misplaced(whole, rows) if pairs else None,
        only_columns=not sees,
    )


def _pairs(domain: Domain) -> list[Clique]:
    """The pairs of columns that mechanisms look at."""
    return [
        pair
        for pair in combinations(domain.attributes, 2)
        if domain.size(pair) <= MAX_DEFAULT_CELLS
    ]


def _zipf(n_levels: int) -> NDArray[np.float64]:
    """Shares of the rows by Zipf's law."""
    shares = 1.0 / np.arange(1, n_levels + 1)
    return np.asarray(shares / shares.sum())


def _errors_of_columns(
    domain: Domain, resolutions: Resolutions, rho: Fraction, rows: int, unit: PrivacyUnit
) -> dict[ResolvedClique, float]:
    """Squared errors of the parts of columns that were measured, as `Survey` has them."""
    uses = Workload.default(domain).relative_weights((name,) for name in domain.attributes)
    variances = {
        clique: float(unit.sigma_squared(rho * share))
        for clique, share in measurement_shares(domain, uses).items()
        if clique[0] in resolutions.sizes[-1]
    }
    return column_errors(variances, resolutions, total=float(rows))


def _left(
    domain: Domain,
    resolutions: Resolutions,
    pairs: Sequence[Clique],
    errors: Mapping[ResolvedClique, float],
    rho: Fraction,
    unit: PrivacyUnit,
) -> dict[ResolvedClique, float]:
    """Squared errors that are left after the best batch of measurements for a budget."""
    wanted = dict.fromkeys(((name,) for name in domain.attributes), MIN_USE) | dict.fromkeys(
        pairs, 1.0
    )
    loss = ExpectedLoss(resolutions, wanted, errors, l2_squared=unit.marginal_l2_squared)
    plan = BatchPlan(domain, loss)
    plan.split(rho)
    return plan.left()


def _misplaced(squares: Sequence[float], rows: int) -> float:
    """The mean total variation distance of marginals with these squared L1 errors, in records."""
    return float(np.mean([min(0.5 * sqrt(square) / rows, 1.0) for square in squares]))


def expected_domain(schema: OpenSchema) -> Domain:
    """The domain that a table is taken to have, where levels or bins are still to be learnt."""
    sizes = dict(zip(schema.largest_domain.attributes, schema.largest_domain.shape, strict=True))
    for column in schema.open_columns:
        most = GUESSED_LEVELS if "levels" in column.open_parts else GUESSED_BINS
        if {"levels", "bins"} & column.open_parts:
            sizes[column.name] = min(sizes[column.name], most)
    return Domain.from_sizes(sizes)
