"""Whether every number of an answer has noise of its own: by its random words, and by its
statistics.
"""

import numpy as np
from oracles.privacy import Replay

N_BYTES = 4096
"""More than one answer of these tests takes."""

N_ANSWERS = 400
"""Correlations of independent cells are then 0 +- 0.05; half of 1 is ten times that, once in 1e23
answers.
"""


def cells_moved_alone(ask, seed=0):
    """Cells of an answer that some random word moves while all others stay, and how many cells
    there are.

    ``ask`` takes a source of random bits and gives the noisy numbers as an array.
    """
    stream = np.random.default_rng(seed).bytes(N_BYTES)
    bits = Replay(stream)
    before = ask(bits)
    alone = set()
    for start in range(0, bits.n_used, 2):
        flipped = bytes(byte ^ 0xFF for byte in stream[start : start + 2])
        after = ask(Replay(stream[:start] + flipped + stream[start + 2 :]))
        moved = np.flatnonzero(after != before)
        alone |= set(moved.tolist()) if moved.size == 1 else set()
    return alone, before.size


def largest_correlation(ask):
    """Largest correlation, in size, of the noise of any two cells over many answers; ``ask`` gives
    one answer.
    """
    answers = np.array([ask() for _ in range(N_ANSWERS)])
    between = np.corrcoef(answers, rowvar=False)
    return np.abs(between - np.eye(len(between))).max()
