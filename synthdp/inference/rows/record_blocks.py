"""Blocks: attributes of a record that move together, and the values that they may take."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.inference.arrays import Array, IntArray

_MAX_VALUES = 2048
"""Combinations of a block: records are judged by all of them. Attributes of a larger one move one
by one.
"""


class Block(NamedTuple):
    """Attributes that move together, and the combinations of values that they are moved to, one a
    row.
    """

    names: Clique
    values: IntArray


def blocks_of(possible: Mapping[Clique, NDArray[np.bool_]]) -> list[Block]:
    """The attributes of each constraint of several."""
    return _judged(Block(clique, np.argwhere(allowed)) for clique, allowed in possible.items())


def likely_blocks(tables: Mapping[Clique, Array]) -> list[Block]:
    """Pairs of attributes; each level of one is moved to with the level that goes with it most
    often.
    """
    blocks = []
    for pair, table in tables.items():
        is_likely = table == table.max(axis=0, keepdims=True)
        is_likely |= table == table.max(axis=1, keepdims=True)
        blocks.append(Block(pair, np.argwhere(is_likely & (table > 0.0))))
    return _judged(blocks)


def _judged(blocks: Iterable[Block]) -> list[Block]:
    """Those whose combinations are not too many to judge records by."""
    return [block for block in blocks if len(block.names) > 1 and len(block.values) <= _MAX_VALUES]
