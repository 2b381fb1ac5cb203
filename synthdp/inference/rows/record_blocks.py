"""Blocks: the attributes of a record that move together, and the values that they may take."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.arrays import IntArray

_MAX_VALUES = 2048
"""Combinations of a block: records are judged by all of them. Attributes of a larger one move one
by one.
"""


class Block(NamedTuple):
    """Attributes that move together, the values they may take (one a row), and the number of each
    combination.
    """

    names: Clique
    values: IntArray
    number: IntArray


def blocks_of(domain: Domain, possible: Mapping[Clique, NDArray[np.bool_]]) -> list[Block]:
    """Each attribute on its own, and those that constraints tie together."""
    blocks = []
    for name, size in zip(domain.attributes, domain.shape, strict=True):
        if size > 1:
            levels = np.arange(size)
            blocks.append(Block((name,), levels[:, None], levels))
    for clique, allowed in possible.items():
        values = np.argwhere(allowed)
        if len(clique) > 1 and len(values) <= _MAX_VALUES:
            number = np.zeros(allowed.size, dtype=np.int64)
            number[np.flatnonzero(allowed)] = np.arange(len(values))
            blocks.append(Block(clique, values, number))
    return blocks
