r"""PrivTree [Zhang16]: cells that are narrow where records are dense, with exact noise on integers.

Nodes are half-open intervals ``[start, stop)`` of a public integer grid. Node v has depth d(v) (0
for the root) and c(v) records; with ``s = scale`` and the threshold t,

    b(v) = max(t - decay, c(v) - d(v) decay),      v splits at its middle iff  b(v) + X > t,

where the X are independent and discrete Laplace, ``P(X = x) = q^|x| (1 - q) / (1 + q)`` with
``q = exp(-1/s)``. Nodes of width 1 are public leaves. Only the
shape of the tree is released, no count.

Theorem. For tables that differ in one record, present or absent, the tree is epsilon-DP with

    epsilon = (1/s) (2 e^g - 1) / (e^g - 1) = (1/s) (1 + 1 / (1 - e^-g)),      g = decay / s.

Proof. Write ``j = b(v) - t``, an integer. v splits with probability ``S(j) = P(X >= 1 - j)``, that
is

    S(j) = q^(1 - j) / (1 + q)  for j <= 0,      S(j) = 1 - q^j / (1 + q)  for j >= 0,

and stays a leaf with probability ``1 - S(j) = P(X >= j) = S(1 - j)`` by symmetry.

1. One step up. ``loss(j) = ln(S(j + 1) / S(j))`` is 1/s for j <= 0. For j >= 1,
   ``S(j + 1) / S(j) = 1 + (1 - q) q^j / (1 + q - q^j)``, where ``q^j <= q`` makes the denominator
   at least 1; with ``ln(1 + y) <= y`` and ``1 - q <= 1/s``, ``loss(j) <= q^j / s``. Hence, always,
   ``0 <= loss(j) <= min(1, q^j) / s =: L(j)``, which does not increase with j. For a leaf, ``ln((1
   - S(j)) / (1 - S(j + 1))) = loss(-j)``, which lies between 0 and 1/s.
2. Who is affected. Let D' be D and one record more, and T a tree. Only the nodes of T that contain
   the record differ: a path v_0, v_1, .. of nodes that split and then one leaf. Everything else,
   and every public leaf, cancels from ``P(T | D') / P(T | D)``. b(v) rises by at most 1; so

       ln P(T | D') / P(T | D)  =  sum of loss(j_i) over affected splits  -  loss at the leaf.

3. Fewer records. ``ln P(T | D) / P(T | D')`` is at most the leaf's loss, hence at most 1/s <
   epsilon.
4. More records. Let ``x_i = c(v_i) - i decay - t`` in D. If ``x_i < -decay``, b is at its floor in
   both tables and the node costs nothing. Otherwise ``j_i = x_i``. Counts do not grow along the
   path, so ``x_i - x_(i+1) >= decay``: read from the deepest affected split upwards, the j are at
   least ``-decay, 0, decay, 2 decay, ..``. As L does not increase, the sum is at most ``L(-decay) +
   L(0) + L(decay) + .. = (1/s) (1 + 1 + q^decay + q^(2 decay) + ..)``, a geometric series, as
   ``q^decay = e^-g``. It does not depend on the depth.  []

Several records. k records, in whatever cells, come one after the other: ``k epsilon`` (group
privacy). Scale and decay both k times as large give the same bound as for one record: nothing
tighter is needed, although k records may touch k paths. Replacing a record removes one
and adds one, so it counts as two: epsilon doubles.

As zCDP. By 2 to 4 the log ratio of one record lies between -1/s and epsilon, whichever of the
tables has it: the tree is (epsilon + 1/s)-bounded-range [DR19], which costs ``(epsilon + 1/s)^2 /
8`` [CR21]. Ranges add up like epsilon where several records come or go.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.privacy.events import Event, exact_rho
from synthdp.privacy.noise.exact import exp_bounds
from synthdp.privacy.noise.laplace import discrete_laplace
from synthdp.privacy.noise.randomness import Randomness
from synthdp.privacy.values.records import ROW, record_facts

IntArray = NDArray[np.int64]
CountsBelow = Callable[[IntArray], IntArray]

MAX_SCALE = 1 << 40
"""Most that scale, decay and threshold may be, in records: 64 levels of it fit into int64."""

_LN_2 = Fraction(6931471805599453, 10**16)
"""Any decay is as private; this one, from the paper, is rounded to an integer anyway."""

_GRID_BITS = 80
"""Epsilon is rounded up to a multiple of 2^-80, so that costs add up to short fractions."""


def split_tree(
    counts_below: CountsBelow,
    low: int,
    high: int,
    *,
    scale: int,
    decay: int,
    threshold: int = 0,
    randomness: Randomness,
) -> tuple[IntArray, int]:
    """Release the leaves of a private tree over the grid ``low .. high - 1`` [Zhang16].

    The caller has paid for it: `PrivTreeEvent`. What is asked of ``counts_below``, and how often,
    depends on the released tree alone.

    Parameters
    ----------
    counts_below
        Exact number of records below each of some increasing points, shape ``(n_points,)``; it is
        called once for each level. Each record lies on one point of the grid.
    low, high
        First point of the grid, and one past the last; both public, both in int64.
    scale, decay
        Scale of the noise and bias for each level, in records: `PrivTreeEvent.costing`.
    threshold
        Biased count above which a node splits, in records; 0 in the paper. It costs nothing.
    randomness
        Random bits.

    Returns
    -------
    starts, stop
        First points of the leaves, int64, increasing, shape ``(n_leaves,)``, and where the last
        leaf stops.

    Raises
    ------
    ParameterError
        If the grid is empty or a parameter out of range.

    >>> from synthdp.privacy.noise.randomness import SystemRandomness
    >>> values = np.arange(4).repeat(1_000)
    >>> split_tree(
    ...     lambda points: np.searchsorted(values, points),
    ...     0,
    ...     4,
    ...     scale=3,
    ...     decay=2,
    ...     randomness=SystemRandomness(),
    ... )
    (array([0, 1, 2, 3]), 4)
    """
    _check_parameters(scale, decay, threshold)
    if not -(2**63) <= low < high < 2**63:
        raise ParameterError(f"the grid is {low} .. {high - 1}; give low < high, both in 64 bits")
    starts = np.array([low], dtype=np.int64)
    stops = np.array([high], dtype=np.int64)
    leaves: list[IntArray] = []
    depth = 0
    while starts.size:
        # The middle, rounded down, without a sum or a width that could overflow.
        # The bits that both have, and half of those that one has.
        middles = (starts & stops) + ((starts ^ stops) >> 1)
        # A node of one point is a leaf by public knowledge; it is never asked about, and costs
        # nothing.
        may_split = middles > starts
        leaves.append(starts[~may_split])
        starts = starts[may_split]
        middles = middles[may_split]
        stops = stops[may_split]
        splits = _splits(
            _counts(counts_below, starts, stops), depth, scale, decay, threshold, randomness
        )
        # Only the tree's shape is kept: counts go with their level.
        leaves.append(starts[~splits])
        starts = starts[splits]
        middles = middles[splits]
        stops = stops[splits]
        # Level by level, so that the source is asked once for each, whatever the number of nodes.
        starts = np.concatenate([starts, middles])
        stops = np.concatenate([middles, stops])
        depth += 1
    return np.sort(np.concatenate(leaves)), int(high)


def _counts(counts_below: CountsBelow, starts: IntArray, stops: IntArray) -> IntArray:
    """Records in each of a level's nodes, shape ``(n_nodes,)``."""
    # A node stops where the next one starts, so that each point is asked for once.
    points = np.unique(np.concatenate([starts, stops]))
    if not points.size:
        return np.empty(0, dtype=np.int64)
    below = np.asarray(counts_below(points), dtype=np.int64)
    counts: IntArray = (
        # One question for all nodes of a level: counts below a point are counts of cells by
        # difference.
        below[np.searchsorted(points, stops)] - below[np.searchsorted(points, starts)]
    )
    return counts


def _splits(
    counts: IntArray, depth: int, scale: int, decay: int, threshold: int, randomness: Randomness
) -> NDArray[np.bool_]:
    """Which of the nodes at ``depth`` split, shape ``(n_nodes,)``."""
    # The floor is what bounds the loss of deep empty nodes; see the proof, 4.
    biased = np.maximum(threshold - decay, counts - depth * decay)
    # Compared without adding noise to a count: no count, however large, can overflow.
    answer: NDArray[np.bool_] = _laplace(scale, counts.size, randomness) > threshold - biased
    return answer


def _laplace(scale: int, size: int, randomness: Randomness) -> IntArray:
    """Independent discrete Laplace noise, shape ``(size,)``."""
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < size:
        # Twice as many as are missing, for about half of the candidates are rejected.
        more = discrete_laplace(scale, 2 * (size - drawn.size), randomness)
        drawn = np.concatenate([drawn, more])[:size]
    return drawn


def _check_parameters(scale: int, decay: int, threshold: int = 0) -> None:
    for name, value, least in (
        ("scale", scale, 1),
        ("decay", decay, 1),
        ("threshold", threshold, 0),
    ):
        if not least <= value <= MAX_SCALE:
            raise ParameterError(f"{name} is {value}; give an integer from {least} to 2^40")


def privtree_epsilon(scale: int, decay: int) -> Fraction:
    """Epsilon of one tree for one record, present or absent: the theorem's, rounded up to a
    multiple of 2^-80.

    Raises
    ------
    ParameterError
        If scale or decay is not from 1 to 2^40.

    >>> round(float(privtree_epsilon(100, 69)), 4)  # 3 / scale where decay = scale ln 2
    0.0301
    """
    _check_parameters(scale, decay)
    bits = _GRID_BITS + 48
    _, upper = exp_bounds(Fraction(decay, scale), bits)
    # With the upper bound of q^decay the geometric series is largest: rounded up throughout.
    epsilon = (1 + Fraction(1 << bits, (1 << bits) - upper)) / scale
    return Fraction(-((-epsilon.numerator << _GRID_BITS) // epsilon.denominator), 1 << _GRID_BITS)


def _decay(scale: int) -> int:
    """The integer next to ``scale ln 2``, for which an empty node splits about every fourth time
    [Zhang16].
    """
    return max(1, round(scale * _LN_2))


def _least_scale(fits: Callable[[int], bool]) -> int | None:
    """The least scale that fits, as every larger one then does too; None if there is none."""
    scale = 1 + bisect_left(range(1, MAX_SCALE + 1), True, key=fits)
    return scale if scale <= MAX_SCALE else None


@final
@dataclass(frozen=True, kw_only=True)
class PrivTreeEvent(Event):
    """The leaves of one tree over the values of ``column`` [Zhang16].

    ``sensitivity`` is the number of records that may come or go between neighbours: 1 for a record
    that is present or absent, 2 for one that is replaced, k for a person with up to k records.
    Costs ``(epsilon + sensitivity / scale)**2 / 8``, being of that bounded range [CR21].
    """

    column: str
    scale: int
    decay: int
    sensitivity: int
    record: str = ROW

    @classmethod
    def costing(
        cls, rho: Fraction, *, column: str, sensitivity: int, record: str = ROW
    ) -> "PrivTreeEvent":
        """The event with the least noise that costs at most ``rho``.

        Raises
        ------
        ParameterError
            If rho is not above 0, or too small for a scale of at most 2^40, or sensitivity below 1.
        """
        if sensitivity < 1:
            raise ParameterError(f"sensitivity is {sensitivity}; give an integer of at least 1")
        budget = exact_rho(rho)

        def event(scale: int) -> PrivTreeEvent:
            return cls(
                column=column,
                scale=scale,
                decay=_decay(scale),
                sensitivity=sensitivity,
                record=record,
            )

        scale = _least_scale(lambda scale: event(scale).rho <= budget)
        if scale is None:
            raise ParameterError(f"rho is {float(rho)}; that is too little for a tree")
        return event(scale)

    @property
    def epsilon(self) -> Fraction:
        """Cost in pure DP."""
        return self.sensitivity * privtree_epsilon(self.scale, self.decay)

    @property
    def rho(self) -> Fraction:
        """Cost in zCDP."""
        return (self.epsilon + Fraction(self.sensitivity, self.scale)) ** 2 / 8

    def to_dict(self) -> dict[str, object]:
        """The event for a certificate."""
        return {
            "event": "tree",
            "mechanism": "PrivTree, discrete Laplace",
            "column": self.column,
            "epsilon": float(self.epsilon),
            "scale": self.scale,
            "decay": self.decay,
            "sensitivity": self.sensitivity,
            **record_facts(self.record),
            "rho": float(self.rho),
        }
