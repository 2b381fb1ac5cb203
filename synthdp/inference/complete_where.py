"""Completing partial records inside a slice: with any model, by drawing again and, where that is
hopeless, exactly.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from synthdp.core.requests import seeded
from synthdp.inference.arrays import Codes, IntArray, compact
from synthdp.inference.model import LevelWeights, Model, check_given, check_slice

MAX_ROUNDS = 128
"""Records are completed in at most so many rounds, those outside the slice again; what is left is
drawn exactly.
"""

FEW_ROUNDS, FEW_GROUPS = 8, 64
"""After so many rounds, if so few different records are left, drawing them exactly is quicker than
more rounds.
"""

_ROUND_RECORDS = 1 << 14
"""A round completes at least so many records, those that are left several times over: it costs
little more.
"""


def complete_where(
    model: Model,
    given: Mapping[str, NDArray[np.integer]],
    wanted: Mapping[str, LevelWeights],
    *,
    seed: int | None = None,
) -> Codes:
    """Complete partial records, each by its distribution inside a slice.

    Parameters
    ----------
    model
        Draws the attributes that are not given.
    given, seed
        See `Model.complete`.
    wanted
        See `Model.sample_where`; no attribute that is given.

    Raises
    ------
    ParameterError
        If ``given`` or ``wanted`` does not fit the domain, or a record contradicts the slice or the
        constraints.
    """
    check_given(model.domain, given)
    # Rejection first: complete the records by the model, and keep what falls into the slice with
    # the chance that it is wanted with. That is exact, and quick unless the slice is rare. The few
    # kinds of records that are left are conditioned one by one.
    weights = check_slice(model.domain, wanted)
    generator = seeded(seed)
    left: IntArray = np.arange(len(next(iter(given.values()))))
    columns = tuple(
        np.zeros(left.size, np.min_scalar_type(size - 1)) for size in model.domain.shape
    )

    def keep(rows: IntArray, drawn: Codes) -> None:
        for column, codes in zip(columns, drawn, strict=True):
            column[rows] = codes

    # Fewer records are left in each round, so each is tried more often: all rounds cost about the
    # same.
    most = max(left.size, _ROUND_RECORDS)
    for number in range(MAX_ROUNDS):
        if not left.size or (number >= FEW_ROUNDS and len(_alike(given, left)) <= FEW_GROUPS):
            break
        tried = np.repeat(left, most // left.size)
        drawn = model.complete(
            {name: codes[tried] for name, codes in given.items()}, seed=_seed(generator)
        )
        chance = np.ones(tried.size)
        for name, scale in weights.items():
            chance *= scale[drawn[model.domain.index(name)]]
        inside = np.flatnonzero(generator.random(tried.size) < chance)
        # The first success of each record: which of several is taken must not depend on what they
        # are.
        met, firsts = np.unique(tried[inside], return_index=True)
        keep(met, tuple(codes[inside[firsts]] for codes in drawn))
        left = np.setdiff1d(left, met, assume_unique=True)
    # Records that are alike in what is given share one conditioned model.
    for rows in _alike(given, left):
        masks = {
            name: np.arange(model.domain[name]) == codes[rows[0]] for name, codes in given.items()
        }
        keep(rows, model.sample_where({**weights, **masks}, rows.size, seed=_seed(generator)))
    # What was given stays, whatever a model that keeps to it only nearly has drawn.
    kept = {**dict(zip(model.domain.attributes, columns, strict=True)), **given}
    return tuple(
        compact(kept[name], size)
        for name, size in zip(model.domain.attributes, model.domain.shape, strict=True)
    )


def _seed(generator: np.random.Generator) -> int:
    return int(generator.integers(1 << 62))


def _alike(given: Mapping[str, NDArray[np.integer]], rows: IntArray) -> list[IntArray]:
    """Some rows in groups of the same given codes."""
    if not rows.size:
        return []
    groups = np.zeros(rows.size, np.int64)
    # Numbers of groups stay below that of rows, so no product is too large.
    for codes in given.values():
        _, groups = np.unique(groups * (int(codes.max()) + 1) + codes[rows], return_inverse=True)
    order = np.argsort(groups, kind="stable")
    return np.split(rows[order], np.cumsum(np.bincount(groups))[:-1])
