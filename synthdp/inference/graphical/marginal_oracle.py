"""Marginals of the measured cliques as a function of their potentials, over a junction tree."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.inference.arrays import Array
from synthdp.inference.graphical.arithmetic import LinearArithmetic, UnderflowDetected
from synthdp.inference.graphical.belief_propagation import BeliefPropagation
from synthdp.inference.graphical.clique_groups import grouped
from synthdp.inference.graphical.variable_elimination import VariableElimination
from synthdp.inference.summation import summed, widened
from synthdp.inference.trees.attribute_sets import AttributeSets
from synthdp.inference.trees.junction_tree import JunctionTree


@final
class MarginalOracle:
    """Marginals of given cliques as a function of potentials on the same cliques.

    Parameters
    ----------
    tree
        A junction tree that covers the cliques.
    cliques
        Cliques in the order of the domain.

    Raises
    ------
    ParameterError
        If a clique is in none of the tree's.
    """

    def __init__(self, tree: JunctionTree, cliques: Sequence[Clique]) -> None:
        self._propagation = BeliefPropagation(tree)
        self._tree = tree
        self._cliques = tuple(cliques)
        self._holders: list[list[tuple[int, int]]] = []
        """For each attribute of several cliques these, by number, and its axis in each of them."""
        for name in tree.domain.attributes:
            holders = [
                (i, clique.index(name)) for i, clique in enumerate(cliques) if name in clique
            ]
            if len(holders) > 1:
                self._holders.append(holders)
        homes = [tree.position_of(clique) for clique in cliques]
        if None in homes:
            raise ParameterError(
                "cliques: one is in no clique of the junction tree; give a tree that covers them all"
            )
        sets = AttributeSets(tree.domain)
        self._groups: list[list[_GroupPlan]] = []
        for home, whole in enumerate(tree.cliques):
            numbers = [i for i, position in enumerate(homes) if position == home]
            # A large clique of the tree with dozens of small potentials: these are added up in
            # groups first, or each would be spread over the whole table.
            plans = []
            for group in grouped(sets, whole, [cliques[i] for i in numbers]):
                place = _inside(tree.domain, group.clique, whole)
                inside = [numbers[i] for i in group.members]
                members = [(i, _inside(tree.domain, cliques[i], group.clique)) for i in inside]
                shape = tree.domain.project(group.clique).shape
                plans.append(_GroupPlan(place, shape, members))
            self._groups.append(plans)

    @cached_property
    def _elimination(self) -> VariableElimination | None:
        """Planned once for a fit, when marginals are first asked for: beliefs need none. None where
        filling the tree's tables is quicker, such as on chains.
        """
        return VariableElimination.planned(self._tree, self._cliques)

    def beliefs(self, log_potentials: Sequence[Array]) -> list[Array]:
        """Marginal of each clique of the tree, each summing to 1."""
        return self._propagation.beliefs(self._by_home(log_potentials))

    def largest(self, log_potentials: Sequence[Array]) -> float:
        """The largest sum of potentials of any record."""
        return self._propagation.largest(self._by_home(log_potentials))

    def _by_home(self, log_potentials: Sequence[Array]) -> list[list[Array]]:
        """For each clique of the tree the potentials of its groups, ready to be spread over it."""

        def potentials(groups: Sequence[_GroupPlan]) -> list[Array]:
            return [_group_potential(group, log_potentials) for group in groups]

        return [potentials(groups) for groups in self._groups]

    def marginals(self, log_potentials: Sequence[Array]) -> list[Array]:
        """Marginal of each given clique, each summing to 1.

        Plain numbers mostly do; where they underflow, they do once the potentials are evened; and
        logarithms always do.
        """
        try:
            return self._in_plain_numbers(log_potentials)
        except UnderflowDetected:
            # Half of the time of fits of four-way cliques went to logarithms until potentials were
            # evened: of 163 such passes none was left, at the same loss.
            evened = self._evened(log_potentials)
        try:
            return self._in_plain_numbers(evened)
        except UnderflowDetected:
            # Belief propagation tries plain numbers once more, and takes logarithms if these fail:
            # slow, and always right.
            return self._of_beliefs(self.beliefs(evened))

    def _in_plain_numbers(self, log_potentials: Sequence[Array]) -> list[Array]:
        if self._elimination is not None:
            return self._elimination.marginals(log_potentials)
        by_home = self._by_home(log_potentials)
        return self._of_beliefs(self._propagation.run(by_home, LinearArithmetic()))

    def _of_beliefs(self, beliefs: Sequence[Array]) -> list[Array]:
        marginals: list[Array] = [np.empty(0)] * len(self._cliques)
        for table, groups in zip(beliefs, self._groups, strict=True):
            for group in groups:
                # From the clique's table to the group's, and from there to each member: the large
                # table is read once a group.
                sums = summed(table, group.place.summed)
                for i, place in group.members:
                    marginals[i] = summed(sums, place.summed)
        return marginals

    def _evened(self, log_potentials: Sequence[Array]) -> list[Array]:
        """Potentials of the same distribution whose largest cells are alike, level by level.

        A function of one attribute can be moved from any clique that holds it to another. While
        potentials are fitted, such functions drift apart: they cancel in the product of all cliques
        and underflow in each. So every clique gets the mean of the largest cells of all.
        """
        tables = list(log_potentials)
        for holders in self._holders:
            largest = []
            for i, axis in holders:
                others = tuple(other for other in range(tables[i].ndim) if other != axis)
                largest.append(tables[i].max(axis=others))
            mean = sum(largest) / len(largest)
            # Some clique rules a level out: that is no function to move, but inf minus inf.
            if not np.isfinite(mean).all():
                continue
            for (i, axis), largest_here in zip(holders, largest, strict=True):
                shape = [1] * tables[i].ndim
                shape[axis] = -1
                # The changes add up to 0 over the holders, so the product of all potentials is what
                # it was.
                tables[i] = tables[i] + (mean - largest_here).reshape(shape)
        return tables


class _Place(NamedTuple):
    """Where a clique lies in a larger one: the axes to sum out, and its shape with an axis of 1 for
    each of them.
    """

    summed: tuple[int, ...]
    shape: tuple[int, ...]


class _GroupPlan(NamedTuple):
    """A group of cliques: its place in the tree's clique, its shape, and the members with their
    places in it.
    """

    place: _Place
    shape: tuple[int, ...]
    members: list[tuple[int, _Place]]


def _inside(domain: Domain, clique: Clique, larger: Clique) -> _Place:
    return _Place(
        tuple(axis for axis, name in enumerate(larger) if name not in clique),
        tuple(domain[name] if name in clique else 1 for name in larger),
    )


def _group_potential(group: _GroupPlan, log_potentials: Sequence[Array]) -> Array:
    """The sum of the members' potentials."""
    # A group of one potential that fills it is a view of that.
    if len(group.members) == 1:
        number, place = group.members[0]
        if not place.summed:
            return log_potentials[number].reshape(group.place.shape)
    total = np.zeros(group.shape)
    for i, place in group.members:
        np.add(total, widened(log_potentials[i].reshape(place.shape), group.shape), out=total)
    return total.reshape(group.place.shape)
