"""What a verification asks."""

from collections.abc import Sequence
from typing import NamedTuple


class Asked(NamedTuple):
    """What is asked of a real table, and what that may cost; see `Synthesis.verify`."""

    questions: str | Sequence[str]
    epsilon: float
    delta: float
    seed: int = 0
    unit: str | None = None
    max_rows_per_unit: int | None = None
