"""Levels without records: what a model puts there, which is noise, goes to the other levels given
the rest.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.inference.arrays import Codes
from synthdp.inference.complete_where import complete_where
from synthdp.inference.model import Model

Unused = Mapping[str, int]
"""The code without records of some attributes."""


def learnt_levels(certificate: Mapping[str, Any]) -> list[str]:
    """The columns whose levels were learnt, as a certificate says."""
    domain = certificate.get("domain")
    learnt = domain.get("derived", {}) if isinstance(domain, Mapping) else {}
    return [name for name, parts in learnt.items() if "levels" in parts]


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
    attributes, columns = model.domain.attributes, list(codes)
    for number, (name, code) in enumerate(unused.items()):
        place = model.domain.index(name)
        rows = np.flatnonzero(columns[place] == code)
        if not rows.size:
            continue
        wanted = np.arange(model.domain[name]) != code
        if len(attributes) == 1:
            drawn = model.sample_where({name: wanted}, rows.size, seed=seed + number)
        else:
            rest = {other: columns[i][rows] for i, other in enumerate(attributes) if i != place}
            drawn = complete_where(model, rest, {name: wanted}, seed=seed + number)
        columns[place] = columns[place].copy()
        columns[place][rows] = drawn[place]
    return tuple(columns)


def without_unused(
    values: NDArray[np.float64], names: Sequence[str], unused: Unused
) -> NDArray[np.float64]:
    """A marginal in which unused levels have nothing: the others have it in proportion, or evenly
    if they are empty.

    >>> without_unused(np.array([[30.0, 10.0, 4.0], [0.0, 5.0, 5.0]]), ["town", "sex"], {"sex": 2})
    array([[33., 11.,  0.],
           [ 0., 10.,  0.]])
    """
    for axis, name in enumerate(names):
        if name not in unused:
            continue
        counts = np.moveaxis(values, axis, -1)
        moved = counts[..., unused[name], None]
        kept = np.arange(counts.shape[-1]) != unused[name]
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
        left[name] = np.where(np.arange(len(shares)) == unused.get(name, -1), 0.0, shares)
        if not left[name].any():
            problem = (
                "asks for the level of values that were not found, which has no records but noise"
            )
            raise ParameterError(f"where: the condition on {name!r} {problem}; name another level")
    return left
