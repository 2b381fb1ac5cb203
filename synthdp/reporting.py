"""Telling somebody how far a long run is: the one callback that all floors take."""

from collections.abc import Callable
from typing import TypeAlias

Report: TypeAlias = Callable[[str, int, int], None]
"""Called with (what is going on, steps done, steps at most); never depends on records."""


def silent(_stage: str, _done: int, _most: int) -> None:
    """Report progress to nobody."""
