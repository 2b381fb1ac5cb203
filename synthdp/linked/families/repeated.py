"""A column beside that of the row before, as far as levels repeat.

Most pairs of many levels have next to no records, and noise would hide them. How many rows repeat
their sibling's level is a number each, so it is measured; how the others pair is guessed.
"""

import numpy as np

from synthdp.core.measurement import FloatArray, LinearMeasurement, total_and_noise
from synthdp.inference.shrinkage import raked
from synthdp.linked.package.qualified import OTHER
from synthdp.linked.package.view import LinkedView
from synthdp.release.synthesis import Synthesis

_REPEATED, _CHANGED = 0.1, 1.0
"""How far off each is taken to be, as a share of itself: what repeats is known but for noise, what
does not may have any other level.
"""

_LEAST = 0.25
"""The same, as a share of what each cell would have if all were alike: cells without rows, too.
There are taken to be no fewer rows than noise may hide.
"""

_TOLERANCE, _MAX_ROUNDS = 1e-6, 50


def repeated_pairs(view: LinkedView, part: Synthesis) -> list[LinearMeasurement]:
    """What the release of a view says of each column of many levels beside its sibling's, if it was
    asked how many rows repeat that.

    Rows that repeat no level are taken to have any other one, whatever their sibling has: how these
    hang together is said by what was measured of the pair itself.
    """
    measured = {name for each in part.measurements for name in each.clique}
    pairs = []
    for name, own in ((name, own) for name, own in view.repeats.items() if name in measured):
        by_sibling, by_own = (
            np.maximum(part.model.marginal((each, name)).values, 0.0) for each in (OTHER + own, own)
        )
        diagonal = np.diag((by_sibling[:, 1] + by_own[:, 1]) / 2)
        changed = _changed(by_sibling[:, 0], by_own[:, 0])
        counts = diagonal + changed
        _, hidden = total_and_noise(part.measurements)
        least = _LEAST * max(float(counts.sum()), hidden) / counts.size
        stddev = least + _REPEATED * diagonal + _CHANGED * changed
        pairs.append(LinearMeasurement((OTHER + own, own), counts, stddev))
    return pairs


def _changed(from_levels: FloatArray, to_levels: FloatArray) -> FloatArray:
    """Rows that have another level than their sibling, as independent of it as that lets them be;
    shape ``(size, size)``.
    """
    rows = np.outer(from_levels, to_levels)
    np.fill_diagonal(rows, 0.0)
    if not rows.any():
        return rows
    ways: dict[tuple[int, ...], FloatArray] = {
        (axis,): levels / levels.sum() for axis, levels in enumerate((from_levels, to_levels))
    }
    shares = raked(rows / rows.sum(), ways, tolerance=_TOLERANCE, max_rounds=_MAX_ROUNDS)
    return np.asarray(shares * from_levels.sum())
