"""Whether the kernel draws what its events say: scale and independence of noise, probabilities of a
selection.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.special import expit

from synthdp.audit.frozen import FrozenRandomness
from synthdp.core.domain import Domain
from synthdp.data.codes.coded_table import CodedTable
from synthdp.data.records.coded_source import CodedSource
from synthdp.privacy.events import CountsEvent, SelectionEvent
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error
from synthdp.privacy.unit import Adjacency

N_CELLS = 4096
"""Their spread is that of the noise to 1.1 %, and no correlation between them exceeds a tenth."""

N_SELECTIONS = 400
"""The share of a candidate of 0.73 is then 0.73 +- 0.022."""

_RHOS = (Fraction(1, 8), Fraction(1, 10**9))
"""Noise of scale 2, and of more than 8,192, which is drawn in another way."""

_TOLERANCE = 0.1
"""Of the scale of noise, of correlations and of probabilities; frozen bits leave nothing to chance.
"""


def draw_excess() -> Iterator[str]:
    """In what the kernel's draws differ from what its events say; the bits are always the same."""
    for rho in _RHOS:
        table = _table((N_CELLS,))
        noise = table.measure(("x0",), rho=rho).values
        (event,) = table.ledger.events
        assert isinstance(event, CountsEvent)
        ratio = float(noise.std()) / float(event.sigma_squared) ** 0.5
        if abs(ratio - 1) > _TOLERANCE:
            yield f"the noise of a marginal has {ratio:.2f} times the scale that its event says"
        if noise.std() == 0 or largest_correlation(noise) > _TOLERANCE:
            yield "cells of a marginal share their noise"
    table = _table((2, 2))
    score = MarginalL1Error({("x0",): np.array([0.0, 3.0]), ("x1",): np.array([0.0, 1.0])})
    chosen = [
        table.select([("x0",), ("x1",)], score=score, rho=Fraction(1, 8))
        for _ in range(N_SELECTIONS)
    ]
    event = table.ledger.events[-1]
    assert isinstance(event, SelectionEvent)
    expected = float(expit(float(event.epsilon / event.sensitivity)))  # the scores differ by 2
    if abs(np.mean([clique == ("x0",) for clique in chosen]) - expected) > _TOLERANCE:
        yield "a selection is not the exponential mechanism that its event says"


def largest_correlation(noise: np.ndarray) -> float:
    """Largest correlation, in size, of numbers with the same numbers some places further on, around
    the end.
    """
    spectrum = np.abs(np.fft.rfft(noise - noise.mean())) ** 2
    correlations = np.fft.irfft(spectrum, noise.size)
    return float(np.abs(correlations[1:]).max() / correlations[0])


def _table(shape: tuple[int, ...]) -> PrivateTable:
    """A table without rows, and with a budget for all questions of this file."""
    domain = Domain(tuple(f"x{i}" for i in range(len(shape))), shape)
    rows = CodedSource(CodedTable(domain, tuple(np.empty(0, dtype=np.int64) for _ in shape)))
    ledger = PrivacyLedger(epsilon=1e6, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    return PrivateTable(rows, ledger, randomness=FrozenRandomness(0))
