"""Unread values of a column, filled alike in all marginals that have it.

Where being unread depends on another column, one-way counts alone would fill such places as what
was read lies, and a marginal with that other column otherwise: fits of both would be of neither. So
the marginal in which the rest of the cell says most of the unread values tells how they lie, if it
stands clear of its noise, and all others are bent to that: theirs keep what they say of the rest.
Post-processing of what was released.
"""

from collections.abc import Sequence

import numpy as np

from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.learning.filling import CLEAR, Cells, Filling, common_shares

N_ROUNDS = 50
"""Rounds of proportional fitting: two sums are brought together, which takes a few."""


def refilled(
    filling: Filling, asked: Sequence[LinearMeasurement | None], filled: Sequence[LinearMeasurement]
) -> list[LinearMeasurement]:
    """The filled answers, given all of them.

    Parameters
    ----------
    filling
        Filled each by itself.
    asked, filled
        The answers over the placed domain, None of one without places; and as they were filled.
    """
    placed = [each for each in asked if each is not None]
    wanted = {
        name: levels
        for name in filling.shares
        if (levels := _unread_levels(filling, name, placed)) is not None
    }
    if not wanted:
        return list(filled)

    def bent(name: str, given: LinearMeasurement, cells: Cells) -> FloatArray:
        shares = cells.shares
        if name not in wanted:
            return shares
        groups = given.groups.get(name)
        levels = wanted[name]
        if groups is not None:
            merged = np.bincount(groups[:-1], weights=levels, minlength=shares.shape[-1])
            levels = merged.astype(np.float64)
        return _bent(shares, cells.unread, levels)

    return [
        one if each is None or wanted.keys().isdisjoint(each.clique) else filling.filled(each, bent)
        for each, one in zip(asked, filled, strict=True)
    ]


def _unread_levels(
    filling: Filling, name: str, placed: Sequence[LinearMeasurement]
) -> FloatArray | None:
    """Shares of a column's levels among its unread values; None if no marginal says that they lie
    otherwise than what was read.
    """
    estimates: list[tuple[float, FloatArray]] = []
    whole: list[FloatArray] = []

    def look(of: str, given: LinearMeasurement, cells: Cells) -> FloatArray:
        if of == name and name not in given.groups:
            stddev = float(np.max(given.stddev))
            whole.append(common_shares(cells.read, stddev))
            estimates.extend(_estimates(cells, whole[-1], stddev))
        return cells.shares

    for each in placed:
        if name in each.clique:
            filling.filled(each, look)
    if not estimates:
        return None
    # The measurement that says it most surely; an average would count the same records several
    # times.
    _, deviation = max(estimates, key=lambda pair: pair[0])
    levels = np.maximum(whole[0] + deviation, 0.0)
    result: FloatArray = levels / levels.sum()
    return result


def _estimates(cells: Cells, common: FloatArray, stddev: float) -> list[tuple[float, FloatArray]]:
    """By how much unread values lie otherwise than all: at least, and by levels; nothing if noise
    or chance may have made it.
    """
    n_unread = float(cells.unread.sum())
    if n_unread <= CLEAR * stddev * np.sqrt(cells.unread.size):
        return []
    parts = (cells.unread / n_unread).reshape(-1, 1)
    n_read = np.maximum(cells.read.sum(axis=-1), stddev).reshape(-1, 1)
    deviations = (cells.shares - common).reshape(-1, len(common))
    sums = (parts * deviations).sum(axis=0)
    # of how many are unread beside the rest, and of how the read ones lie there: by noise, and by
    # chance, as which records there are is a sample
    unread = np.maximum(cells.unread, 0.0).reshape(-1, 1)
    of_unread = np.square(deviations / n_unread) * (stddev**2 + unread)
    shares = cells.shares.reshape(-1, len(common))
    spread = 1.0 - np.square(shares).sum(axis=1, keepdims=True)
    # The rows that are read are a sample, too: their shares vary by chance, noise or not.
    of_read = np.square(parts / n_read) * (len(common) * stddev**2 + n_read * spread)
    doubt = np.sqrt(of_unread.sum() + of_read[deviations.any(axis=1)].sum())
    # Three standard deviations short of what it seems: only what is left of it is believed.
    least = float(np.sqrt(np.square(sums).sum()) - CLEAR * doubt)
    return [(least, sums)] if least > 0 else []


def _bent(shares: FloatArray, unread: FloatArray, levels: FloatArray) -> FloatArray:
    """Shares given the rest by which unread values have these levels in all.

    >>> shares = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> _bent(shares, np.array([[300.0], [100.0]]), np.array([0.5, 0.5])).round(2).tolist()
    [[0.66, 0.34], [0.02, 0.98]]
    """
    weights = np.maximum(unread, 0.0)
    if not weights.any():
        return shares
    weights = weights / weights.sum()
    axes = tuple(range(shares.ndim - 1))
    # Iterative proportional fitting with one condition; a few rounds bring it within any noise.
    for _ in range(N_ROUNDS):
        bent = (weights * shares).sum(axis=axes)
        shares = shares * np.divide(levels, bent, out=np.ones_like(levels), where=bent > 0)
        norm = shares.sum(axis=-1, keepdims=True)
        shares = np.divide(shares, norm, out=np.full_like(shares, 1.0) * levels, where=norm > 0)
    return shares
