"""What constraints leave of some attributes, whatever the others are: these are eliminated."""

from collections.abc import Sequence
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
    others = merging.keys() - set(attributes)
    are_complete = True
    while others:
        joined = {name: _joined_clique(tables, name) for name in others}
        name = min(joined, key=lambda each: (prod(sizes[n] for n in joined[each]), each))
        others.remove(name)
        here = [table for table in tables if name in table[0]]
        rest = [table for table in tables if name not in table[0]]
        clique = joined[name]
        if prod(sizes[each] for each in clique) <= _MAX_CELLS and len(clique) <= _MAX_AXES:
            here = [(clique, _together(here, clique, sizes))]
        elif len(here) > 1:
            are_complete = False
        tables = [*rest, *(_without(table, name) for table in here)]
    rules: list[Constraint] = []
    for clique, allowed in tables:
        # Of rules that leave no row at all there is nothing to say here: `check_possible` does.
        if allowed.all() or not allowed.any():
            continue
        if domain.size(clique) > _MAX_CELLS:
            are_complete = False
            continue
        rules.append(Constraint(clique, allowed[np.ix_(*(merging[name] for name in clique))]))
    return ImpliedRules(rules, are_complete)


def _merging(domain: Domain, constraints: Sequence[Constraint]) -> dict[str, Partition]:
    """Of each attribute the levels that some constraint tells apart."""
    names = domain.canonical({name for each in constraints for name in each.clique})
    return {
        name: refined([alike(each, name) for each in constraints if name in each.clique])
        for name in names
    }


def _merged(constraint: Constraint, merging: dict[str, Partition]) -> Allowed:
    allowed = constraint.allowed
    for axis, name in enumerate(constraint.clique):
        firsts = np.unique(merging[name], return_index=True)[1]
        allowed = np.take(allowed, firsts, axis=axis)
    return allowed


def _joined_clique(tables: Sequence[tuple[Clique, Allowed]], name: str) -> Clique:
    """All attributes of the tables that have one."""
    return tuple(dict.fromkeys(each for clique, _ in tables if name in clique for each in clique))


def _together(
    tables: Sequence[tuple[Clique, Allowed]], clique: Clique, sizes: dict[str, int]
) -> Allowed:
    """What all tables allow."""
    allowed: Allowed = np.ones([sizes[name] for name in clique], dtype=np.bool_)
    for own, table in tables:
        order = [own.index(name) for name in clique if name in own]
        shape = [sizes[name] if name in own else 1 for name in clique]
        allowed &= np.transpose(table, order).reshape(shape)
    return allowed


def _without(table: tuple[Clique, Allowed], name: str) -> tuple[Clique, Allowed]:
    clique, allowed = table
    axis = clique.index(name)
    return (*clique[:axis], *clique[axis + 1 :]), np.asarray(allowed.any(axis=axis))
