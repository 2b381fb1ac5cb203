"""Partitions of the levels of attributes, and what known marginals imply over them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.known_marginal import KnownMarginal
from synthdp.inference.arrays import Array, IntArray

Partition = NDArray[np.int64]
"""For each level the number of its group, from 0 and without gaps."""


def refined(partitions: Sequence[Partition]) -> Partition:
    """The coarsest partition that tells apart what any of some partitions does.

    >>> refined([np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])]).tolist()
    [0, 1, 2, 2]
    """
    stacked = np.stack(partitions)
    _, groups = np.unique(stacked, axis=1, return_inverse=True)
    return np.asarray(groups).reshape(-1)


def joined(one: Partition, other: Partition) -> Partition:
    """The finest partition whose groups are unions of groups of both.

    >>> joined(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])).tolist()
    [0, 0, 0, 1]
    """
    groups = np.array(one)
    while True:
        # Each pass gives the levels of a group the least number in it, first of one and then of
        # the other, until both agree.
        before = groups
        for partition in (other, one):
            least = np.full(int(partition.max()) + 1, groups.size)
            np.minimum.at(least, partition, groups)
            groups = least[partition]
        if np.array_equal(before, groups):
            return np.unique(groups, return_inverse=True)[1].reshape(-1)


def is_refinement(fine: Partition, coarse: Partition) -> bool:
    """Whether each group of ``fine`` lies in one of ``coarse``."""
    return int(refined([fine, coarse]).max()) == int(fine.max())


def alike(constraint: Constraint, name: str) -> Partition:
    """The levels of an attribute, those together that a constraint treats alike."""
    axis = constraint.clique.index(name)
    rows = np.moveaxis(constraint.allowed, axis, 0).reshape(constraint.allowed.shape[axis], -1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def merged_axes(values: Array, partitions: Sequence[Partition]) -> Array:
    """A table with the cells of each axis summed by the groups of its partition."""
    for axis, groups in enumerate(partitions):
        if groups.size == int(groups.max()) + 1:
            order = np.argsort(groups)
            values = np.take(values, order, axis=axis)
            continue
        moved = np.moveaxis(values, axis, 0)
        summed = np.zeros((int(groups.max()) + 1, *moved.shape[1:]))
        np.add.at(summed, groups, moved)
        values = np.moveaxis(summed, 0, axis)
    return values


def of_groups(groups: Partition, coarse: Partition) -> Partition:
    """For each group of a partition the group of a coarser one that it lies in."""
    first = np.zeros(int(groups.max()) + 1, dtype=np.int64)
    first[groups] = coarse
    return first


def implied(known: KnownMarginal, partitions: Mapping[str, Partition]) -> Array:
    """Shares that a known marginal implies over coarser partitions of some of its attributes."""
    names = tuple(partitions)
    groups = [of_groups(known.groups(name), partitions[name]) for name in names]
    return merged_axes(known.summed(names), groups)


def components(cliques: Sequence[Iterable[str]]) -> list[list[int]]:
    """Positions of some cliques, those together that hang together by shared attributes."""
    parts: list[tuple[set[str], list[int]]] = []
    for position, clique in enumerate(cliques):
        names = set(clique)
        members = [position]
        apart = []
        for others, theirs in parts:
            if names & others:
                names |= others
                members = [*theirs, *members]
            else:
                apart.append((others, theirs))
        parts = [*apart, (names, members)]
    return [sorted(members) for _, members in parts]


@final
class JointTypes:
    """The combinations of groups that some known marginals and constraints can tell apart.

    Parameters
    ----------
    domain
        All attributes.
    known
        Marginals whose attributes hang together.
    constraints
        Of these, those inside of the attributes of ``known`` and of each other count.
    """

    def __init__(
        self, domain: Domain, known: Sequence[KnownMarginal], constraints: Sequence[Constraint]
    ) -> None:
        self.known = tuple(known)
        names = {name for marginal in known for name in marginal.clique}
        names |= {name for constraint in constraints for name in constraint.clique}
        self.attributes: Clique = domain.canonical(names)
        self._constraints = tuple(constraints)
        self.partitions: dict[str, Partition] = {}
        for name in self.attributes:
            groupings = [marginal.groups(name) for marginal in known if name in marginal.clique]
            groupings += [alike(each, name) for each in constraints if name in each.clique]
            self.partitions[name] = refined([np.zeros(domain[name], dtype=np.int64), *groupings])
        self.shape = tuple(int(self.partitions[name].max()) + 1 for name in self.attributes)

    @property
    def n_types(self) -> int:
        """How many combinations there are."""
        n_types = 1
        for size in self.shape:
            n_types *= size
        return n_types

    def cells(self, marginal: KnownMarginal) -> IntArray:
        """For each type the number of its cell in a known marginal, shape ``(n_types,)``."""
        cells = np.zeros(self.shape, dtype=np.int64)
        for name, size in zip(marginal.clique, marginal.values.shape, strict=True):
            axis = self.attributes.index(name)
            groups = of_groups(self.partitions[name], marginal.groups(name))
            shape = [-1 if other == axis else 1 for other in range(len(self.shape))]
            cells = cells * size + groups.reshape(shape)
        return cells.reshape(-1)

    def possible(self) -> NDArray[np.bool_]:
        """For each type whether constraints allow it, shape ``(n_types,)``."""
        allowed = np.ones(self.shape, dtype=np.bool_)
        for constraint in self._constraints:
            table = constraint.allowed
            for axis, name in enumerate(constraint.clique):
                firsts = np.unique(self.partitions[name], return_index=True)[1]
                table = np.take(table, firsts, axis=axis)
            order = [constraint.clique.index(n) for n in self.attributes if n in constraint.clique]
            shape = [
                size if name in constraint.clique else 1
                for name, size in zip(self.attributes, self.shape, strict=True)
            ]
            allowed &= np.transpose(table, order).reshape(shape)
        return allowed.reshape(-1)
