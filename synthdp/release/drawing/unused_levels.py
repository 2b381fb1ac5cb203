"""Levels without records: what a model puts there, which is noise, goes to the other levels given
the rest.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.core.imports import import_named
from synthdp.inference.arrays import Codes
from synthdp.inference.model import Model

Unused = Mapping[str, Collection[int]]
"""The codes without records of some attributes."""

COMPLETE_WHERE = "synthdp.inference.complete_where:complete_where"
"""Loaded where records have such codes."""


def learnt_parts(certificate: Mapping[str, Any]) -> dict[str, Collection[str]]:
    """What was learnt of each column, as a certificate says."""
    domain = certificate.get("domain")
    return dict(domain.get("derived", {})) if isinstance(domain, Mapping) else {}


def redrawn(model: Model, codes: Codes, unused: Unused, *, seed: int) -> Codes:
    """Records without unused levels: there an attribute is drawn again, given all others of its
    record.

    Parameters
    ----------
    model
        Draws them.
    codes
        Of all attributes, in the order of the domain; they are not changed.
    unused
        What is drawn again, and from what not.
    seed
        Makes the draw repeatable.
    """
    attributes = model.domain.attributes
    columns = list(codes)
    for number, name in enumerate(unused):
        place = model.domain.index(name)
        wanted = used_levels(model.domain[name], unused[name])
        rows = np.flatnonzero(~wanted[columns[place]])
        if not rows.size:
            continue
        if len(attributes) == 1:
            drawn = model.sample_where({name: wanted}, rows.size, seed=seed + number)
        else:
            rest = {other: columns[i][rows] for i, other in enumerate(attributes) if i != place}
            complete_where = import_named(COMPLETE_WHERE)
            drawn = complete_where(model, rest, {name: wanted}, seed=seed + number)
        columns[place] = columns[place].copy()
        columns[place][rows] = drawn[place]
    return tuple(columns)


def used_levels(n_levels: int, unused: Collection[int]) -> NDArray[np.bool_]:
    """Which levels are drawn; shape ``(n_levels,)``."""
    return np.isin(np.arange(n_levels), np.array([*unused], dtype=np.int64), invert=True)


def without_unused(
    values: NDArray[np.float64], names: Sequence[str], unused: Unused
) -> NDArray[np.float64]:
    """A marginal in which unused levels have nothing: the others have it in proportion, or evenly
    if they are empty.

    >>> counts = np.array([[30.0, 10.0, 4.0], [0.0, 5.0, 5.0]])
    >>> without_unused(counts, ["town", "sex"], {"sex": (2,)})
    array([[33., 11.,  0.],
           [ 0., 10.,  0.]])
    """
    for axis, name in enumerate(names):
        if name not in unused:
            continue
        counts = np.moveaxis(values, axis, -1)
        kept = used_levels(counts.shape[-1], unused[name])
        moved = counts[..., ~kept].sum(axis=-1, keepdims=True)
        sums = (counts * kept).sum(axis=-1, keepdims=True)
        shares = np.divide(
            counts * kept,
            sums,
            out=np.broadcast_to(kept / kept.sum(), counts.shape).copy(),
            where=sums > 0,
        )
        values = np.moveaxis((counts + moved * shares) * kept, -1, axis)
    return values


def narrowed_to_used(
    wanted: Mapping[str, NDArray[np.float64]], unused: Unused
) -> dict[str, NDArray[np.float64]]:
    """What is wanted of each level, without unused ones; raises `ParameterError` if nothing is left
    of a condition.
    """
    left = {}
    for name, shares in wanted.items():
        left[name] = np.where(used_levels(len(shares), unused.get(name, ())), shares, 0.0)
        if not left[name].any():
            problem = "asks for values that were not found, which have no records but noise"
            raise ParameterError(f"where: the condition on {name!r} {problem}; ask for others")
    return left
