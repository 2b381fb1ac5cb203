"""Blocks: attributes of a record that move together, and the values that they may take."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.inference.arrays import IntArray

_MAX_VALUES = 2048
"""Combinations of a block: records are judged by all of them. Attributes of a larger one move one
by one.
"""


class Block(NamedTuple):
    """Attributes that constraints tie together, and the combinations of values that they may take,
    one a row.
    """

    names: Clique
    values: IntArray


def blocks_of(possible: Mapping[Clique, NDArray[np.bool_]]) -> list[Block]:
    """The attributes of each constraint of several."""
    blocks = [Block(clique, np.argwhere(allowed)) for clique, allowed in possible.items()]
    return [block for block in blocks if len(block.names) > 1 and len(block.values) <= _MAX_VALUES]
