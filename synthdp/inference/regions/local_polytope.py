"""The local polytope of a region graph: tables of regions that agree wherever two regions overlap.

Its conditions are a linear map between messages, one a cell of a joint and region that meets there,
and cells of regions; the optimisers need that map, its transpose, and the space of messages that
sum to 0 over the regions of each joint cell.
"""

from collections.abc import Mapping
from math import prod
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.inference.arrays import Array, Axes
from synthdp.inference.regions.region_graph import RegionGraph
from synthdp.inference.summation import summed


class _Port(NamedTuple):
    """Where a region meets a joint: the slice of its message, the message's shape in the region,
    axes to sum.
    """

    start: int
    end: int
    shape: tuple[int, ...]
    summed: Axes


@final
class LocalPolytope:
    """The consistency conditions of a region graph as a linear map between messages and region
    cells.

    Parameters
    ----------
    graph
        The regions, whose tables are laid end to end in flat vectors of cells, and the joints,
        whose messages are laid end to end likewise.
    """

    def __init__(self, graph: RegionGraph) -> None:
        self.shapes = [graph.domain.project(region).shape for region in graph.regions]
        self._bounds = np.concatenate(
            [[0], np.cumsum([prod(shape) for shape in self.shapes])]
        ).astype(int)
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
                # The total is known, so that its messages, one a connected part, are free: they
                # share no cell.
                # Of the total each connected part has a condition of its own: it adds up to a known
                # number, and nothing balances it.
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
            # The first message is written and not added: no pass to fill the table with zeros.
            table[...] = received[0]
            for message in received[1:]:
                np.add(table, message, out=table)
        return out

    def sums(self, cells: Array) -> Array:
        """For each message the region's marginal there, shape ``(n_messages,)``."""
        out = np.empty(self.n_messages)
        for table, ports in zip(self.tables(cells), self._ports, strict=True):
            for port in ports:
                out[port.start : port.end] = summed(table, port.summed).ravel()
        return out

    def balanced(self, messages: Array, curvature: Array | None = None) -> Array:
        """The balanced messages closest to ``messages / curvature``, in the metric of the
        curvature.

        Balanced are messages that sum to 0 over the regions of each joint cell; those of the
        total are free.
        """
        weights = np.ones_like(messages) if curvature is None else 1.0 / curvature
        sums = np.bincount(
            self._joint_cells, weights=messages * weights, minlength=self._n_joint_cells
        )
        means = sums / np.bincount(
            self._joint_cells, weights=weights, minlength=self._n_joint_cells
        )
        # Nothing to balance there.
        means[self._joint_cells[self.totals]] = 0.0
        return np.asarray((messages - means[self._joint_cells]) * weights)

    def system(self, curvature: Array) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
        """The map from messages to ``sums(curvature * field(messages))`` as a matrix, among free
        messages.

        The first message of each joint cell is minus the sum of the others, which are free, as
        those of the total are.

        Returns
        -------
        The symmetric matrix, the positions of the free messages, and for each of them that of the
        one that follows from it; ``n_messages`` for those of the total.
        """
        whole = np.zeros((self.n_messages + 1, self.n_messages + 1))
        for table, ports in zip(self.tables(curvature), self._ports, strict=True):
            for row, port in enumerate(ports):
                for other in ports[: row + 1]:
                    _add_block(whole, table, port, other)
        _, first = np.unique(self._joint_cells, return_index=True)
        follower = first[self._joint_cells]
        # One more row and column, all zeros, stand for the partner that messages of the total do
        # not have.
        follower[self.totals] = self.n_messages
        free = np.flatnonzero(follower != np.arange(self.n_messages))
        bound = follower[free]
        # Substituting minus the sum of the others for the first message of each joint cell, on both
        # sides.
        rows = whole[free] - whole[bound]
        return rows[:, free] - rows[:, bound], free, bound

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


def _add_block(whole: Array, table: Array, port: _Port, other: _Port) -> None:
    """Add what two messages of one region have to do with each other: the region's marginal on
    both.
    """
    summed = tuple(axis for axis in port.summed if axis in other.summed)
    marginal = table.sum(axis=summed, keepdims=True)
    rows, columns = (np.arange(p.start, p.end).reshape(p.shape) for p in (port, other))
    rows, columns, marginal = np.broadcast_arrays(rows, columns, marginal)
    whole[rows, columns] += marginal
    # The block of a message with itself is on the diagonal already.
    if port is not other:
        whole[columns, rows] += marginal


def _port(graph: RegionGraph, joint: Clique, region: Clique, start: int) -> _Port:
    return _Port(
        start=start,
        end=start + graph.domain.size(joint),
        shape=tuple(graph.domain[name] if name in joint else 1 for name in region),
        summed=tuple(axis for axis, name in enumerate(region) if name not in joint),
    )
