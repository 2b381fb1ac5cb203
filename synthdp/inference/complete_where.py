"""Completing partial records inside a slice: with any model, by drawing again and, where that is hopeless, exactly."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from synthdp.inference.arrays import Codes, IntArray, compact
from synthdp.inference.model import Model, Wanted, check_given, check_slice
from synthdp.inference.requests import seeded

MAX_ROUNDS = 32
"""Records are completed so often, those outside the slice again, before the slices of what is known are drawn from."""


def complete_where(
    model: Model, given: Mapping[str, NDArray[np.integer]], wanted: Mapping[str, Wanted], *, seed: int | None = None
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
        If ``given`` or ``wanted`` does not fit the domain, or a record contradicts the slice or the constraints.
    """
    check_given(model.domain, given)
    weights = check_slice(model.domain, wanted)
    generator = seeded(seed)
    left: IntArray = np.arange(len(next(iter(given.values()))))
    columns = tuple(np.zeros(left.size, np.min_scalar_type(size - 1)) for size in model.domain.shape)

    def keep(rows: IntArray, drawn: Codes) -> None:
        for column, codes in zip(columns, drawn, strict=True):
            column[rows] = codes

    for _ in range(MAX_ROUNDS):
        if not left.size:
            break
        drawn = model.complete({name: codes[left] for name, codes in given.items()}, seed=_seed(generator))
        chance = np.ones(left.size)
        for name, scale in weights.items():
            chance *= scale[drawn[model.domain.index(name)]]
        inside = generator.random(left.size) < chance
        keep(left[inside], tuple(codes[inside] for codes in drawn))
        left = left[~inside]
    for rows in _alike(given, left):
        known = {name: np.arange(model.domain[name]) == codes[rows[0]] for name, codes in given.items()}
        keep(rows, model.sample_where({**weights, **known}, rows.size, seed=_seed(generator)))
    kept = {**dict(zip(model.domain.attributes, columns, strict=True)), **given}
    return tuple(
        compact(kept[name], size) for name, size in zip(model.domain.attributes, model.domain.shape, strict=True)
    )


def _seed(generator: np.random.Generator) -> int:
    return int(generator.integers(1 << 62))


def _alike(given: Mapping[str, NDArray[np.integer]], rows: IntArray) -> Iterator[IntArray]:
    """Some rows in groups of the same given codes."""
    if rows.size:
        _, groups = np.unique(np.column_stack([codes[rows] for codes in given.values()]), axis=0, return_inverse=True)
        order = np.argsort(groups.ravel(), kind="stable")
        yield from np.split(rows[order], np.cumsum(np.bincount(groups.ravel()))[:-1])
