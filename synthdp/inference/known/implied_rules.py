"""What constraints leave of some attributes, whatever the others are: these are eliminated."""

from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.inference.known.partitions import Partition, alike, refined

_MAX_CELLS = 1 << 22
"""Cells of constraints that are looked at together: so many are gone through in milliseconds."""
_MAX_AXES = 24
"""Attributes of such: numpy has 32 axes at most, in places."""

Allowed = NDArray[np.bool_]
RuleTable = tuple[Clique, Allowed]
"""A clique, and for each of its cells whether it is allowed, an axis for each attribute."""


class ImpliedRules(NamedTuple):
    """What constraints say of some attributes alone."""

    constraints: list[Constraint]
    """Their attributes are all of these; those that allow everything are left out."""
    are_complete: bool
    """Whether that is all that the constraints say: else some were looked at one by one."""


def implied_rules(
    domain: Domain, constraints: Sequence[Constraint], attributes: Sequence[str]
) -> ImpliedRules:
    """What constraints say of some attributes: a combination of these is ruled out if every
    combination of all others is, by all constraints together.

    Attributes are eliminated one after the other, those first that leave the smallest table. Levels
    that no constraint tells apart count as one. Where too many cells would have to be looked at
    together the constraints are projected each by itself, which rules out less.
    """
    merging = _merging(domain, constraints)
    tables = [(each.clique, _merged(each, merging)) for each in constraints]
    sizes = {name: int(groups.max()) + 1 for name, groups in merging.items()}

    def n_cells(clique: Clique) -> int:
        return prod(sizes[name] for name in clique)

    to_eliminate = merging.keys() - set(attributes)
    are_complete = True
    while to_eliminate:
        joined = {name: _joined_clique(tables, name) for name in to_eliminate}
        name = min(joined, key=lambda each: (n_cells(joined[each]), each))
        clique = joined[name]
        to_eliminate.remove(name)
        with_it = [table for table in tables if name in table[0]]
        without_it = [table for table in tables if name not in table[0]]
        if n_cells(clique) <= _MAX_CELLS and len(clique) <= _MAX_AXES:
            with_it = [(clique, _joined(with_it, clique, sizes))]
        elif len(with_it) > 1:
            # Two that allow a combination each may do so for different values of what goes.
            are_complete = False
        tables = [*without_it, *(_projected(table, name) for table in with_it)]

    rules: list[Constraint] = []
    for clique, allowed in tables:
        # Of rules that leave no row at all there is nothing to say here: `check_possible` does.
        if allowed.all() or not allowed.any():
            continue
        if domain.size(clique) > _MAX_CELLS:
            are_complete = False
            continue
        # Back from merged levels to all: a level is allowed what its group is.
        groups = np.ix_(*(merging[name] for name in clique))
        rules.append(Constraint(clique, allowed[groups]))
    return ImpliedRules(rules, are_complete)


def _merging(domain: Domain, constraints: Sequence[Constraint]) -> dict[str, Partition]:
    """Of each attribute the levels that some constraint tells apart."""
    constrained = {name for each in constraints for name in each.clique}
    merging = {}
    for name in domain.canonical(constrained):
        partitions = [alike(each, name) for each in constraints if name in each.clique]
        merging[name] = refined(partitions)
    return merging


def _merged(constraint: Constraint, merging: dict[str, Partition]) -> Allowed:
    """What a constraint allows of merged levels: what it allows of the first one of each group."""
    allowed = constraint.allowed
    for axis, name in enumerate(constraint.clique):
        _, firsts = np.unique(merging[name], return_index=True)
        allowed = np.take(allowed, firsts, axis=axis)
    return allowed


def _joined_clique(tables: Sequence[RuleTable], name: str) -> Clique:
    """All attributes of the tables that have one."""
    cliques = [clique for clique, _ in tables if name in clique]
    return tuple(dict.fromkeys(chain.from_iterable(cliques)))


def _joined(tables: Sequence[RuleTable], clique: Clique, sizes: dict[str, int]) -> Allowed:
    """What all tables together allow of a clique that holds their attributes."""
    allowed: Allowed = np.ones([sizes[name] for name in clique], dtype=np.bool_)
    for own, table in tables:
        # Axes in the order of the clique, of length 1 for attributes that the table does not have.
        order = [own.index(name) for name in clique if name in own]
        shape = [sizes[name] if name in own else 1 for name in clique]
        allowed &= np.transpose(table, order).reshape(shape)
    return allowed


def _projected(table: RuleTable, name: str) -> RuleTable:
    """What a table allows of the other attributes: what it allows with some level of this one."""
    clique, allowed = table
    axis = clique.index(name)
    others = (*clique[:axis], *clique[axis + 1 :])
    return others, np.asarray(allowed.any(axis=axis))
