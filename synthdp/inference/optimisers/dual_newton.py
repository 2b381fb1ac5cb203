"""Weighted least squares over the local polytope, by a semismooth Newton method on its dual.

The problem: non-negative tables ``mu``, one a region, that agree on all joints, add up to the
total, and minimise ``1/2 sum ((mu - target) / stddev)^2``. Lagrange multipliers ("messages", one a
cell of a joint and region that meets there, summing to 0 over the regions) make it separable:

    mu = max(0, target + variance * field),    field = the sum of a region's messages,

and the dual ``1/2 sum mu^2 / variance - total * message of the total`` is convex and piecewise
quadratic in the messages; its gradient is what the joints disagree by. Newton's method on it,
with conjugate gradients for the linear systems and a line search, ends on the right piece after
a few dozen steps, with consistency to rounding error [Zhao, Sun & Toh 2010; Qi & Sun 1993].
Memory is a few numbers a cell of the regions, whatever the treewidth.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from synthdp.inference.arrays import Array
from synthdp.inference.model import Ending
from synthdp.inference.regions.local_polytope import LocalPolytope

_ARMIJO = 1e-4
"""Share of the decrease that the slope promises which a step must reach [Nocedal & Wright 2006,
sec. 3.1].
"""
_MAX_HALVINGS = 40
"""A step of 2^-40 of Newton's, 1e-12, changes nothing beyond the tolerance."""
_ROUNDING = 1e-14
"""An increase by less than this share of the dual is the rounding error of its sum, and no reason
to halve.
"""
_MAX_CAUTION, _MIN_CAUTION = 0.1, 1e-5
"""Relative accuracy of the linear systems: that of the solution so far (inexact Newton), within
these bounds.
"""
_LOST = 0.1
"""Share of the gradient that conjugate gradients may leave over; a line search makes up for it."""
_QUICKLY_SOLVED, _MAX_SOLVED = 700, 2000
"""Messages up to which linear systems are solved by elimination: in hundredths of a second, and in
a second.

Between the two, conjugate gradients are quicker, and elimination is for where they get lost.
"""
_UNSEEN, _MIN_TOLERANCE = 1e-2, 1e-13
"""Share of the noise of all cells that disagreements may be, and the share of the total that
rounding is above.
"""
_REDUNDANT = 1e-14
"""Added to the diagonal of the scaled system, which may be singular: a few last digits."""
_RIDGE, _MIN_RIDGE = 1e-2, 1e-7
"""Curvature of cells at 0, relative to others: in proportion to the accuracy, and never so small
that it is lost.
"""
_FLAT = 1e-13
"""Curvature along a direction, as a share of what its messages have one by one, that is rounding
error.
"""


class Solution(NamedTuple):
    """Region tables end to end, the messages, Newton steps taken, and how it ended; "optimal"
    tables are consistent.

    ``gap`` is what disagrees at all joints together, as a share of the total.
    """

    cells: Array
    messages: Array
    n_iterations: int
    ended: Ending
    gap: float


@final
@dataclass(frozen=True, kw_only=True)
class DualNewton:
    """Finds the point of a local polytope that is closest to a target."""

    tolerance: float = 1e-9
    """Stop when all disagreements at the joints add up to less than this share of the total, or
    of what the noise would leave if that is less.
    """
    max_iterations: int = 100
    """Stop after this many Newton steps in any case; the solution then says that it is not
    consistent.
    """
    max_inner: int = 200
    """Most conjugate-gradient steps for one Newton step."""

    def project(
        self,
        polytope: LocalPolytope,
        target: Array,
        variance: Array,
        *,
        total: float,
        start: Array,
        progress: Callable[[int, int], None] | None = None,
    ) -> Solution:
        """The closest point.

        Parameters
        ----------
        polytope
            The regions and what they must agree on.
        target, variance
            Wanted value and inverse weight of each cell, shape ``(n_cells,)``; a variance of 0
            marks an impossible cell.
        total
            What each region must add up to, above 0.
        start
            Messages to start from, shape ``(n_messages,)``.
        progress
            Called with (iterations done, iterations at most).
        """
        # In units of a typical stddev, so that rounding error has a known size.
        # Solutions scale with it, and messages with its inverse, hence the two factors at the end.
        unit = float(np.sqrt(np.median(variance[variance > 0])))
        dual = _Dual(polytope, target / unit, variance / unit**2, total / unit, start * unit)
        # What disagrees costs half its square over the least variance, and must not show beside the
        # loss of all cells.
        noise = float(np.sqrt(np.min(variance[variance > 0]) * variance.size)) / total
        # With exact measurements 1e-9 of the total may be more than their noise, and the fit would
        # be called optimal while it is not.
        tolerance = max(min(self.tolerance, _UNSEEN * noise), _MIN_TOLERANCE)
        n_iterations, moved = 0, True
        # On trees 1 to 16 steps, where mirror descent takes 200 to 450: the pieces of the piecewise
        # quadratic are found in a few, and on the right piece one step is exact.
        while dual.gap > tolerance and n_iterations < self.max_iterations and moved:
            moved = dual.advance(self.max_inner)
            n_iterations += 1
            if progress is not None:
                progress(n_iterations, self.max_iterations)
        ended: Ending = "optimal" if dual.gap <= tolerance else "stopped" if moved else "stalled"
        return Solution(dual.cells * unit, dual.messages / unit, n_iterations, ended, dual.gap)


class _Dual:
    """The dual problem at the current messages."""

    def __init__(
        self, polytope: LocalPolytope, target: Array, variance: Array, total: float, start: Array
    ) -> None:
        self._polytope = polytope
        # Impossible cells have variance 0 and stay at 0 whatever the messages say.
        self._target = np.where(variance > 0, target, 0.0)
        self._variance = variance
        self._precision = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
        self._total = total
        # Messages of one joint cell sum to 0 over its regions: what all regions get alike cancels,
        # and would make the system singular.
        self._move(polytope.balanced(start))

    def _evaluate(self, messages: Array) -> tuple[Array, float]:
        """The tables that belong to some messages, and the dual's value."""
        cells = self._target + self._variance * self._polytope.field(messages)
        # The primal solution of given messages in closed form; clipping is what makes the dual
        # piecewise, and Newton's method semismooth.
        np.maximum(cells, 0.0, out=cells)
        cells *= self._precision > 0
        value = 0.5 * float(np.dot(cells * self._precision, cells))
        return cells, value - self._total * float(messages[self._polytope.totals].sum())

    def _move(self, messages: Array) -> None:
        self.messages = messages
        self.cells, self._value = self._evaluate(messages)
        # The gradient of the dual is what the tables disagree by, so the stopping rule needs
        # nothing else.
        gradient = self._polytope.sums(self.cells)
        gradient[self._polytope.totals] -= self._total
        self._gradient = self._polytope.balanced(gradient)
        self.gap = float(np.abs(self._gradient).sum()) / self._total

    def advance(self, max_inner: int) -> bool:
        """One Newton step with a line search; False if it does not lower the dual."""
        # Inexact Newton: a system is solved to the accuracy of the point, so that early steps cost
        # little and late ones converge faster than linearly.
        caution = min(_MAX_CAUTION, self.gap)
        # An element of the generalised Hessian: the variance where a cell is above 0, nothing at 0.
        # Cells at 0 keep a little curvature: a joint cell may have no others, and may need them
        # back.
        ridge = max(_RIDGE * caution, _MIN_RIDGE)
        curvature = self._variance * np.where(self.cells > 0, 1.0, ridge)
        accuracy = max(caution, _MIN_CAUTION)
        direction = self._direction(curvature, accuracy, max_inner)
        slope = float(np.dot(self._gradient, direction))
        step = 1.0
        for _ in range(_MAX_HALVINGS):
            # Balancing again keeps rounding error from adding up outside of the space of balanced
            # messages.
            candidate = self._polytope.balanced(self.messages + step * direction)
            _, value = self._evaluate(candidate)
            # The full step comes first. It may not do where it crosses into another piece, on which
            # other cells are at 0.
            if value <= self._value + _ARMIJO * step * slope + _ROUNDING * abs(self._value):
                self._move(candidate)
                return True
            step *= 0.5
        return False

    def _direction(self, curvature: Array, accuracy: float, max_inner: int) -> Array:
        """Newton's direction, by the quicker way that finds it."""
        # Both ways give the same direction. Below 700 messages elimination takes hundredths of a
        # second; above 2,000 its cube is too much, however lost conjugate gradients get.
        if self._polytope.n_messages > _QUICKLY_SOLVED:
            direction, left = _searched_direction(
                self._polytope, curvature, self._gradient, accuracy, max_inner
            )
            # A tenth of the gradient left over still is a direction of descent.
            if left <= _LOST or self._polytope.n_messages > _MAX_SOLVED:
                return direction
        return _solved_direction(self._polytope, curvature, self._gradient)


def _solved_direction(polytope: LocalPolytope, curvature: Array, gradient: Array) -> Array:
    """The solution of ``sums(curvature * field(direction)) = -gradient`` among balanced messages,
    by elimination.

    It is exact where scales of noise are so far apart that conjugate gradients get lost.
    """
    matrix, free, bound = polytope.system(curvature)
    scale = np.sqrt(np.diag(matrix))
    # A message into impossible cells only has nothing to move.
    scale = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    # To a unit diagonal, so that the addition below is relative.
    matrix *= scale[:, None] * scale
    # Conditions may follow from each other where cliques go in circles.
    matrix[np.diag_indices_from(matrix)] += np.where(scale > 0, _REDUNDANT, 1.0)
    padded = np.append(gradient, 0.0)
    # One message of each joint cell is bound to be minus the sum of the others; padding gives those
    # without a partner a 0.
    moves = scale * np.linalg.solve(matrix, scale * (padded[bound] - padded[free]))
    direction = np.zeros(polytope.n_messages + 1)
    direction[free] = moves
    np.subtract.at(direction, bound, moves)
    return direction[:-1]


def _searched_direction(
    polytope: LocalPolytope, curvature: Array, gradient: Array, accuracy: float, most: int
) -> tuple[Array, float]:
    """The same by conjugate gradients, and which share of the gradient is left over.

    They are preconditioned by the blocks of each joint cell, which are a diagonal plus the balance.
    """
    # The block of a joint cell is a diagonal matrix projected on balanced messages, whose inverse
    # is known: `balanced` with weights applies it.
    diagonal = polytope.sums(curvature)
    # A message into impossible cells only has nothing to move.
    diagonal[diagonal <= 0] = float(diagonal.max(initial=1.0))
    solution = np.zeros_like(gradient)
    residual = -gradient
    shaped = polytope.balanced(residual, diagonal)
    direction = shaped
    first = product = float(np.dot(residual, shaped))
    for _ in range(most):
        # The Hessian is never written down: two passes over the cells of the regions.
        image = polytope.balanced(polytope.sums(curvature * polytope.field(direction)))
        bend = float(np.dot(direction, image))
        # What agrees to rounding leaves directions that move no cell: a step along one would have
        # no end.
        if (
            bend <= _FLAT * float(np.dot(direction * diagonal, direction))
            or product <= accuracy**2 * first
        ):
            break
        solution += product / bend * direction
        residual -= product / bend * image
        shaped = polytope.balanced(residual, diagonal)
        previous = product
        product = float(np.dot(residual, shaped))
        direction = shaped + product / previous * direction
    return solution, float(np.sqrt(max(product, 0.0) / first)) if first > 0 else 0.0
