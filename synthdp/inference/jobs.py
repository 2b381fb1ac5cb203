"""Parts of a piece of work, done by one thread or by several at a time."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from synthdp.core.errors import ParameterError

Piece = TypeVar("Piece")
Done = TypeVar("Done")

ALL_CORES = -1


def thread_count(n_jobs: int) -> int:
    """Threads for a number of jobs, at least 1; -1 stands for as many as there are cores.

    Raises
    ------
    ParameterError
        If it is neither.
    """
    is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not is_whole or (n_jobs < 1 and n_jobs != ALL_CORES):
        raise ParameterError(
            f"n_jobs is {n_jobs!r}; give a whole number from 1, or -1 for all cores"
        )
    return int(n_jobs) if n_jobs != ALL_CORES else os.cpu_count() or 1


def each(work: Callable[[Piece], Done], parts: Iterable[Piece], *, n_jobs: int) -> list[Done]:
    """What becomes of each part, in order; the parts must not depend on each other."""
    parts = list(parts)
    n_threads = min(thread_count(n_jobs), len(parts))
    if n_threads <= 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, parts))
