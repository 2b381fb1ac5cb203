"""Whether known marginals can hold at once, with each other and with public constraints."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import sparse

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError, ParameterError
from synthdp.core.known_marginal import KnownMarginal
from synthdp.inference.arrays import Array, IntArray
from synthdp.inference.known.implied_rules import implied_rules
from synthdp.inference.known.order import order_of
from synthdp.inference.known.partitions import (
    JointTypes,
    alike,
    components,
    implied,
    is_refinement,
    joined,
    merged_axes,
)

MAX_TYPES = 200_000
"""Combinations of groups in one linear programme: with so many it takes seconds."""

_MAX_DIFFERENCE = 1e-6
"""Shares that differ by more contradict each other: published ones have at least six digits."""

_NOT_LOOKED_AT = (
    "published totals: whether rules on {} leave room for them was not checked, over more than "
    f"{MAX_TYPES:,} combinations; rows may miss them"
)
_ONE_BY_ONE = (
    "published totals: rules that hang together by columns that are not published were checked "
    "one by one, as together they have too many combinations; rows may miss them"
)


class KnownPart(NamedTuple):
    """Known marginals that hang together, and what else their records keep to."""

    known: list[KnownMarginal]
    rules: list[Constraint]
    """On attributes of these; what the marginals say by themselves is left out."""


class KnownParts(NamedTuple):
    """All known marginals in parts that do not depend on each other."""

    parts: list[KnownPart]
    left_out: list[Constraint]
    """Rules that would make too large a part: they are not looked at beside these marginals."""


def check_known(
    domain: Domain, known: Sequence[KnownMarginal], constraints: Sequence[Constraint] = ()
) -> list[str]:
    """Ask whether some table has all known marginals and keeps to the constraints.

    Constraints count with all that they say of the known attributes together, whatever the others
    are (`implied_rules`).

    Returns
    -------
    list of str
        What was not looked at, as cautions: rules that hang together with too many combinations.

    Raises
    ------
    ParameterError
        If none does; it names the marginals, and an attribute that they share.
    ModelTooLargeError
        If marginals go in a circle over too many cells to tell.
    """
    for marginal in known:
        marginal.check_fits(domain)
    for one, other in combinations(known, 2):
        _check_pair(one, other)
    implied_here = implied_rules(domain, constraints, known_attributes(known))
    for marginal in known:
        for constraint in (*constraints, *implied_here.constraints):
            _check_constraint(marginal, constraint)
    known_here = known_parts(domain, known, implied_here.constraints)
    for part in known_here.parts:
        _check_part(domain, part)
    unseen = [_NOT_LOOKED_AT.format(_named(each.clique)) for each in known_here.left_out]
    return unseen if implied_here.are_complete else [*unseen, _ONE_BY_ONE]


def known_attributes(known: Sequence[KnownMarginal]) -> list[str]:
    """All attributes of known marginals, each once."""
    return list(dict.fromkeys(name for marginal in known for name in marginal.clique))


def known_parts(
    domain: Domain, known: Sequence[KnownMarginal], rules: Sequence[Constraint]
) -> KnownParts:
    """Known marginals that hang together by attributes and rules, and these rules.

    Parameters
    ----------
    domain, known
        All attributes, and what is known.
    rules
        On attributes that are known, as `implied_rules` finds them.
    """
    # Those that marginals say by themselves need not be looked at.
    open_rules = [rule for rule in rules if not any(_says(marginal, rule) for marginal in known)]
    kept: list[Constraint] = []
    left_out: list[Constraint] = []
    # Small ones first: of large ones the fewest are left out then.
    for rule in sorted(open_rules, key=lambda each: domain.size(each.clique)):
        parts = _parts(known, [*kept, rule])
        (part,) = [each for each in parts if any(one is rule for one in each.rules)]
        if JointTypes(domain, part.known, part.rules).n_types <= MAX_TYPES:
            kept.append(rule)
        else:
            left_out.append(rule)
    return KnownParts(_parts(known, kept), left_out)


def _parts(known: Sequence[KnownMarginal], rules: Sequence[Constraint]) -> list[KnownPart]:
    """Marginals and rules that hang together by attributes."""
    cliques = [*(marginal.clique for marginal in known), *(rule.clique for rule in rules)]
    parts = []
    for members in components(cliques):
        marginals = [known[i] for i in members if i < len(known)]
        of_part = [rules[i - len(known)] for i in members if i >= len(known)]
        parts.append(KnownPart(marginals, of_part))
    return parts


def _says(marginal: KnownMarginal, rule: Constraint) -> bool:
    """Whether a marginal without records that a rule forbids says all that the rule does."""
    if not set(rule.clique) <= set(marginal.clique):
        return False
    # Its groups must lie within those of levels that the rule treats alike.
    return all(is_refinement(marginal.groups(name), alike(rule, name)) for name in rule.clique)


def _named(clique: Sequence[str]) -> str:
    return ", ".join(map(repr, clique))


def incidence(types: JointTypes, kept: IntArray) -> sparse.csr_matrix:
    """Which of some types fall into which cells of all known marginals, one row a cell."""
    blocks = []
    for marginal in types.known:
        cells = types.cells(marginal)[kept]
        ones = (np.ones(cells.size), (cells, np.arange(cells.size)))
        blocks.append(sparse.csr_matrix(ones, shape=(marginal.values.size, cells.size)))
    return sparse.vstack(blocks, format="csr")


def _check_pair(one: KnownMarginal, other: KnownMarginal) -> None:
    if one.total is not None and other.total is not None and one.total != other.total:
        raise ParameterError(
            f"{one.name} and {other.name} contradict each other: their counts sum to {one.total} "
            f"and {other.total}; give counts of the same records, or shares"
        )
    shared = [name for name in one.clique if name in other.clique]
    if not shared:
        return
    partitions = {name: joined(one.groups(name), other.groups(name)) for name in shared}
    difference = np.abs(implied(one, partitions) - implied(other, partitions)).max()
    allowed = _MAX_DIFFERENCE
    if one.is_count and other.is_count:
        allowed = 0.5 / one.values.sum()  # counts are whole: they agree, or differ by one
    if difference > allowed:
        raise ParameterError(
            f"{one.name} and {other.name} contradict each other in {_named(shared)}: "
            f"a share differs by {difference:.2g}; correct one, or leave it out"
        )


def _check_constraint(marginal: KnownMarginal, constraint: Constraint) -> None:
    """Refuse records in cells in which a constraint allows no combination."""
    shared = [name for name in marginal.clique if name in constraint.clique]
    if not shared:
        return
    outside = tuple(i for i, name in enumerate(constraint.clique) if name not in shared)
    inside = [name for name in constraint.clique if name in shared]
    order = [inside.index(name) for name in shared]
    allowed_with_some = constraint.allowed.any(axis=outside)
    allowed: Array = np.transpose(allowed_with_some, order).astype(np.float64)
    possible = merged_axes(allowed, [marginal.groups(name) for name in shared]) > 0
    if (marginal.summed(shared)[~possible] > 0).any():
        raise ParameterError(
            f"{marginal.name} has records that a rule on {_named(constraint.clique)} "
            "forbids; correct one of the two"
        )


def _check_part(domain: Domain, part: KnownPart) -> None:
    """Refuse marginals that agree two by two, but are those of no table."""
    if not part.rules and order_of(domain, part.known) is not None:
        return  # as in a junction tree, agreeing two by two is enough
    names = ", ".join(marginal.name for marginal in part.known)
    types = JointTypes(domain, part.known, part.rules)
    if types.n_types > MAX_TYPES:
        raise ModelTooLargeError(
            f"{names} hang together over {types.n_types} combinations, at most {MAX_TYPES} are "
            "allowed; give fewer of them, or over coarser levels"
        )
    from scipy.optimize import linprog

    kept = np.flatnonzero(types.possible())
    matrix = incidence(types, kept)
    wanted = np.concatenate([marginal.shares.ravel() for marginal in part.known])
    # Scaled, so that the solver's tolerance is small beside each cell; of each cell a little may
    # be missing, as published shares are rounded.
    n_cells = wanted.size
    identity = sparse.identity(n_cells, format="csr")
    # The least total by which cells are missed: by too little (identity), or too much (-identity).
    costs = np.concatenate([np.zeros(kept.size), np.ones(2 * n_cells)])
    programme = linprog(
        costs,
        A_eq=sparse.hstack([matrix, identity, -identity], format="csr"),
        b_eq=wanted * n_cells,
        bounds=(0, None),
        method="highs",
    )
    if programme.status != 0 or programme.fun > n_cells * n_cells * _MAX_DIFFERENCE:
        beside = " and the rules" if part.rules else ""
        raise ParameterError(
            f"{names}{beside} contradict each other: no table has them all; correct or leave out one"
        )
