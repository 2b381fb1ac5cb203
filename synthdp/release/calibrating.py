"""Rows of a survey with weights that are calibrated: to published totals of the population, and to
the weighted counts of each column.

Weights are raked [Deming & Stephan 1940]: each in turn, the sums of weights over the cells of a
table are made right by one factor a cell, until nothing moves. It is post-processing of what was
released.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.core.known_marginal import KnownMarginal
from synthdp.core.percent import percent
from synthdp.inference.arrays import Codes
from synthdp.inference.known.fitting import raked
from synthdp.inference.known.rounding import known_cells
from synthdp.release.drawing.draw import Checked, drawn_table
from synthdp.release.drawing.following import with_densities
from synthdp.release.drawing.unused_levels import without_unused
from synthdp.release.drawing.weighting import mean_weights, weight_of
from synthdp.release.known_tables import KnownLike, known_marginals
from synthdp.schema.public_files import as_schema

if TYPE_CHECKING:
    from synthdp.release.synthesis import Synthesis

FloatArray = NDArray[np.float64]

DECIMALS = 6
"""Digits after the point of weights in texts."""

_MAX_ROUNDS = 500
"""Of factors, one table after the other."""
_TOLERANCE = 1e-10
"""Of the population: sums that move by less are right."""
_MAX_ERROR = 1e-6
"""Of the population: by how much published totals may be off at most."""


class _Target(NamedTuple):
    """Sums of weights that are wanted."""

    what: str
    cells: NDArray[np.int64]
    """For each row its cell."""
    sums: FloatArray


def calibrated_table(
    release: "Synthesis",
    n_rows: int | None,
    *,
    seed: int | None,
    text: bool,
    totals: KnownLike,
    checked: Checked,
    n_jobs: int,
) -> pd.DataFrame:
    """Rows as `Synthesis.sample` draws them, with calibrated weights; raises as that does.

    Parameters
    ----------
    release
        Its schema has a column of weights.
    n_rows, seed, text, totals, n_jobs
        As for `Synthesis.sample`.
    checked
        Called with how rows compare with published totals of the records.
    """
    model = release.model
    schema = with_densities(release.schema, model)
    name = weight_of(schema)
    known = known_marginals(totals, as_schema(schema), "totals")
    for marginal in known:
        if name in marginal.clique:
            raise ParameterError(f"{marginal.name}: it is of the weights; give totals of others")
    # Weights follow from codes: values inside of their bins are drawn, and say nothing more.
    seen: list[Codes] = []
    table = drawn_table(
        model,
        release.schema,
        n_rows,
        seed=seed,
        text=text,
        unused=release.unused,
        seen=seen.append,
        codes=release.drawn_before(n_rows, seed),
        checked=checked,
        n_jobs=n_jobs,
    )
    codes = seen[0]
    means = mean_weights(schema)
    if not len(table):
        return table
    # Each row starts with the mean weight of its bin, which is all that the release knows of it.
    weights = means[codes[schema.domain.index(name)]]
    weighted = {
        (column,): without_unused(
            model.marginal((column, name)).values, (column, name), release.unused
        )
        @ means
        for column in schema.domain.attributes
        if column != name
    }
    # A published count of the population is exact. Without one the model says how many there are,
    # by any column: all of its marginals have the same sum.
    counted = [marginal.total for marginal in known if marginal.total is not None]
    population = float(counted[0]) if counted else float(next(iter(weighted.values())).sum())
    columns = _of_columns(schema.domain.attributes, codes, weights, weighted, known, population)
    published = [
        _Target(
            marginal.name,
            known_cells(schema.domain, marginal, codes),
            population * marginal.shares.ravel(),
        )
        for marginal in known
    ]
    calibrated = _calibrated(weights, columns, published, population)
    if text:
        mark = schema.dialect.decimal_char or "."
        table[name] = [f"{weight:.{DECIMALS}f}".replace(".", mark) for weight in calibrated]
    else:
        table[name] = calibrated
    return table


def _of_columns(
    attributes: Sequence[str],
    codes: Codes,
    weights: FloatArray,
    weighted: dict[tuple[str], FloatArray],
    known: Sequence[KnownMarginal],
    population: float,
) -> list[_Target]:
    """What the release says of the weighted counts of each column, as far as rows have its levels,
    raked to what is published.
    """
    targets = []
    for (column,), counts in weighted.items():
        cells = codes[list(attributes).index(column)].astype(np.int64)
        # A level that no row has cannot get any weight; what it should have goes to the others.
        there = np.bincount(cells, weights, counts.size) > 0
        sums = np.where(there, np.maximum(counts, 0.0), 0.0)
        if not sums.any():
            continue
        sums = raked((column,), sums * (population / sums.sum()), known, population)
        targets.append(_Target(repr(column), cells, sums))
    return targets


def _calibrated(
    weights: FloatArray, columns: Sequence[_Target], totals: Sequence[_Target], population: float
) -> FloatArray:
    """Weights with the sums that are wanted of columns and of published totals.

    Noisy sums of columns may be those of no weights of these rows, or with these totals, as where
    one column tells another. Then rounds go in a circle, whose mean is between all of them, and
    totals are met last.

    Raises `ParameterError` if no weights have the totals.
    """
    targets = [*columns, *totals]
    weights, round_of = _raked(weights, targets, population)
    if len(round_of):
        weights, _ = _raked(np.mean(round_of, axis=0), totals, population)
    for target in totals:
        largest = float(_off(weights, target).max()) / population
        if largest > _MAX_ERROR:
            raise ParameterError(
                f"weighted: no weights of these rows have the sums of {target.what} and of the others: "
                f"{percent(largest)} of the population is left; draw more rows, or give coarser totals"
            )
    return weights


def _raked(
    weights: FloatArray, targets: Sequence[_Target], population: float
) -> tuple[FloatArray, list[FloatArray]]:
    """Weights made right for one target after the other until nothing moves; else also those after
    each target of the last round.
    """
    steps: list[FloatArray] = []
    for _ in range(_MAX_ROUNDS):
        steps = []
        off = 0.0
        for target in targets:
            off = max(off, float(_off(weights, target).max()) / population)
            # Iterative proportional fitting: rows of one cell are all multiplied alike, so that
            # they keep the relations to each other that other targets gave them.
            sums = np.bincount(target.cells, weights, target.sums.size)
            factors = np.divide(target.sums, sums, out=np.zeros_like(sums), where=sums > 0)
            weights = weights * factors[target.cells]
            steps.append(weights)
        if off <= _TOLERANCE:
            return weights, []
    return weights, steps


def _off(weights: FloatArray, target: _Target) -> FloatArray:
    """By how much sums of weights are off a target."""
    return np.abs(np.bincount(target.cells, weights, target.sums.size) - target.sums)
