"""Weighted least squares over the local polytope, by a semismooth Newton method on its dual.

Wanted are non-negative tables ``mu``, one a region, that agree on all joints and add up to the
total, and minimise ``1/2 sum ((mu - target) / stddev)^2``. Lagrange multipliers ("messages", one a
cell of a joint and region that meets there, summing to 0 over the regions) make it separable:

    mu = max(0, target + variance * field),    field = the sum of a region's messages,

and the dual ``1/2 sum mu^2 / variance - total * message of the total`` is convex and piecewise
quadratic in the messages; its gradient is what the joints disagree by. Newton's method on it,
with conjugate gradients for the linear systems and a line search, ends on the right piece after
a few dozen steps, with consistency to rounding error [Zhao, Sun & Toh 2010; Qi & Sun 1993].
Memory is a few numbers a cell of the regions, whatever the treewidth.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.inference.arithmetic import Array, Axes
from synthdp.inference.region_graph import RegionGraph

_ARMIJO = 1e-4
_MOST_HALVINGS = 40
_ROUNDING = 1e-14
# How closely a Newton system is solved, and how alive cells at 0 are: the more so, the nearer the end.
_MOST_CAUTION, _LEAST_CAUTION = 0.1, 1e-5
_RIDGE, _LEAST_RIDGE = 1e-2, 1e-7


class _Port(NamedTuple):
    """Where a region meets a joint: the slice of its message, the message's shape in the region, axes to sum."""

    start: int
    end: int
    shape: tuple[int, ...]
    summed: Axes


@final
class LocalPolytope:
    """The consistency conditions of a region graph as a linear map between messages and region cells.

    Parameters
    ----------
    graph
        The regions, whose tables are laid end to end in flat vectors of cells, and the joints,
        whose messages are laid end to end likewise.
    """

    def __init__(self, graph: RegionGraph) -> None:
        self.shapes = [graph.domain.project(region).shape for region in graph.regions]
        self._bounds = np.concatenate([[0], np.cumsum([prod(shape) for shape in self.shapes])]).astype(int)
        self._ports: list[list[_Port]] = [[] for _ in self.shapes]
        self.keys: list[tuple[Clique, Clique]] = []
        joint_cells: list[NDArray[np.int64]] = []
        start, first_cell = 0, 0
        for joint in graph.joints:
            size = graph.domain.size(joint.clique)
            for position in joint.regions:
                region = graph.regions[position]
                self._ports[position].append(_port(graph, joint.clique, region, start))
                self.keys.append((joint.clique, region))
                joint_cells.append(np.arange(first_cell, first_cell + size))
                start += size
                # The total is known, so that its messages, one a connected part, are free: they share no cell.
                first_cell += 0 if joint.clique else size
            first_cell += size if joint.clique else 0
        self._joint_cells = np.concatenate(joint_cells)
        self._n_joint_cells = first_cell
        self.n_messages = start
        self._message_sizes = [graph.domain.size(joint) for joint, _ in self.keys]
        self.totals = slice(start - len(graph.joints[-1].regions), start)

    @property
    def n_cells(self) -> int:
        """Number of cells of all regions together."""
        return int(self._bounds[-1])

    def tables(self, cells: Array) -> list[Array]:
        """The table of each region; views of the flat vector."""
        bounds = zip(self._bounds[:-1], self._bounds[1:], self.shapes, strict=True)
        return [cells[start:end].reshape(shape) for start, end, shape in bounds]

    def field(self, messages: Array) -> Array:
        """For each cell the sum of the messages to its region, shape ``(n_cells,)``."""
        out = np.empty(self.n_cells)
        for table, ports in zip(self.tables(out), self._ports, strict=True):
            if not ports:
                table.fill(0.0)
                continue
            received = [messages[port.start : port.end].reshape(port.shape) for port in ports]
            table[...] = received[0]
            for message in received[1:]:
                np.add(table, message, out=table)
        return out

    def sums(self, cells: Array) -> Array:
        """For each message the region's marginal there, shape ``(n_messages,)``."""
        out = np.empty(self.n_messages)
        for table, ports in zip(self.tables(cells), self._ports, strict=True):
            for port in ports:
                out[port.start : port.end] = np.add.reduce(table, axis=port.summed).ravel()
        return out

    def balanced(self, messages: Array, curvature: Array | None = None) -> Array:
        """The balanced messages closest to ``messages / curvature``, in the metric of the curvature.

        Balanced are messages that sum to 0 over the regions of each joint cell; those of the
        total are free.
        """
        weights = np.ones_like(messages) if curvature is None else 1.0 / curvature
        sums = np.bincount(self._joint_cells, weights=messages * weights, minlength=self._n_joint_cells)
        means = sums / np.bincount(self._joint_cells, weights=weights, minlength=self._n_joint_cells)
        means[self._joint_cells[self.totals]] = 0.0
        return np.asarray((messages - means[self._joint_cells]) * weights)

    def split(self, messages: Array) -> dict[tuple[Clique, Clique], Array]:
        """The message of each (joint, region), as copies, to start a later fit from."""
        ports = {}
        start = 0
        for key, size in zip(self.keys, self._message_sizes, strict=True):
            ports[key] = messages[start : start + size].copy()
            start += size
        return ports

    def join(self, messages: Mapping[tuple[Clique, Clique], Array]) -> Array:
        """The inverse of `split`; messages that are not given are 0."""
        sizes = zip(self.keys, self._message_sizes, strict=True)
        return np.concatenate([messages.get(key, np.zeros(size)) for key, size in sizes])


def _port(graph: RegionGraph, joint: Clique, region: Clique, start: int) -> _Port:
    return _Port(
        start=start,
        end=start + graph.domain.size(joint),
        shape=tuple(graph.domain[name] if name in joint else 1 for name in region),
        summed=tuple(axis for axis, name in enumerate(region) if name not in joint),
    )


class Solution(NamedTuple):
    """Region tables end to end, the messages, Newton steps taken, and whether the tables are consistent."""

    cells: Array
    messages: Array
    n_iterations: int
    converged: bool


@final
@dataclass(frozen=True, kw_only=True)
class DualNewton:
    """Finds the point of a local polytope that is closest to a target.

    Parameters
    ----------
    tolerance
        Stop when all disagreements at the joints add up to less than this share of the total.
    max_iterations
        Stop after this many Newton steps in any case; the solution then says that it is not consistent.
    max_inner
        Most conjugate-gradient steps for one Newton step.
    """

    tolerance: float = 1e-9
    max_iterations: int = 100
    max_inner: int = 200

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
        dual = _Dual(polytope, target, variance, total, start)
        n_iterations, moved = 0, True
        while dual.gap > self.tolerance and n_iterations < self.max_iterations and moved:
            moved = dual.advance(self.max_inner)
            n_iterations += 1
            if progress is not None:
                progress(n_iterations, self.max_iterations)
        return Solution(dual.cells, dual.messages, n_iterations, dual.gap <= self.tolerance)


class _Dual:
    """The dual problem at the current messages."""

    def __init__(self, polytope: LocalPolytope, target: Array, variance: Array, total: float, start: Array) -> None:
        self._polytope = polytope
        self._target = np.where(variance > 0, target, 0.0)
        self._variance = variance
        self._precision = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
        self._total = total
        self._move(polytope.balanced(start))

    def _evaluate(self, messages: Array) -> tuple[Array, float]:
        """The tables that belong to some messages, and the dual's value."""
        cells = self._target + self._variance * self._polytope.field(messages)
        np.maximum(cells, 0.0, out=cells)
        cells *= self._precision > 0
        value = 0.5 * float(np.dot(cells * self._precision, cells))
        return cells, value - self._total * float(messages[self._polytope.totals].sum())

    def _move(self, messages: Array) -> None:
        self.messages = messages
        self.cells, self._value = self._evaluate(messages)
        gradient = self._polytope.sums(self.cells)
        gradient[self._polytope.totals] -= self._total
        self._gradient = self._polytope.balanced(gradient)
        self.gap = float(np.abs(self._gradient).sum()) / self._total

    def advance(self, max_inner: int) -> bool:
        """One Newton step with a line search; False if it does not lower the dual."""
        caution = min(_MOST_CAUTION, self.gap)
        # Cells at 0 keep a little curvature: a joint cell may have no others, and may need them back.
        ridge = max(_RIDGE * caution, _LEAST_RIDGE)
        curvature = self._variance * np.where(self.cells > 0, 1.0, ridge)
        accuracy = max(caution, _LEAST_CAUTION)
        direction = _newton_direction(self._polytope, curvature, self._gradient, accuracy, max_inner)
        slope = float(np.dot(self._gradient, direction))
        step = 1.0
        for _ in range(_MOST_HALVINGS):
            # Balancing again keeps rounding error from adding up outside of the space of balanced messages.
            candidate = self._polytope.balanced(self.messages + step * direction)
            _, value = self._evaluate(candidate)
            if value <= self._value + _ARMIJO * step * slope + _ROUNDING * abs(self._value):
                self._move(candidate)
                return True
            step *= 0.5
        return False


def _newton_direction(polytope: LocalPolytope, curvature: Array, gradient: Array, accuracy: float, most: int) -> Array:
    """Conjugate gradients for ``sums(curvature * field(direction)) = -gradient`` on balanced messages.

    They are preconditioned by the blocks of each joint cell, which are a diagonal plus the balance.
    """
    diagonal = polytope.sums(curvature)
    # A message into impossible cells only has nothing to move.
    diagonal[diagonal <= 0] = float(diagonal.max(initial=1.0))
    solution = np.zeros_like(gradient)
    residual = -gradient
    shaped = polytope.balanced(residual, diagonal)
    direction = shaped
    first = product = float(np.dot(residual, shaped))
    for _ in range(most):
        image = polytope.balanced(polytope.sums(curvature * polytope.field(direction)))
        bend = float(np.dot(direction, image))
        if bend <= 0 or product <= accuracy**2 * first:
            break
        solution += product / bend * direction
        residual -= product / bend * image
        shaped = polytope.balanced(residual, diagonal)
        previous, product = product, float(np.dot(residual, shaped))
        direction = shaped + product / previous * direction
    return solution
