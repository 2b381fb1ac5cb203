"""Why nothing is possible: which constraints rule out what is asked for."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array
from synthdp.inference.graphical.marginal_oracle import MarginalOracle
from synthdp.inference.trees.junction_tree import JunctionTree

Possible = Mapping[Clique, NDArray[np.bool_]]
"""For constrained cliques, axes in the order of the domain, which cells are allowed."""


def blame(domain: Domain, possible: Possible, wanted: Mapping[str, NDArray[np.bool_]]) -> str:
    """The constraints that together rule out all rows whose levels are wanted, none of them
    needlessly, in words.

    Parameters
    ----------
    domain
        All attributes.
    possible
        What constraints allow, which is no wanted row.
    wanted
        For some attributes the wanted levels, shape ``(n_levels,)``.
    """
    blamed = _minimal(domain, possible, wanted)
    in_order = sorted(blamed, key=lambda clique: [domain.index(name) for name in clique])
    named = " and ".join(f"on {clique}" for clique in in_order)
    return f"the constraints {named} together" if len(blamed) > 1 else f"the constraint {named}"


def _minimal(
    domain: Domain, possible: Possible, wanted: Mapping[str, NDArray[np.bool_]]
) -> Possible:
    """Constraints that rule out all wanted rows, of which none can be left out."""
    # Mostly one constraint is to blame, and a message with one name is worth most.
    for clique, allowed in possible.items():
        if not _any_row(domain, {clique: allowed}, wanted):
            return {clique: allowed}
    # One after the other is left out if the rest still contradict: what remains is minimal, though
    # not the smallest there is.
    kept = dict(possible)
    for clique in possible:
        fewer = {other: allowed for other, allowed in kept.items() if other != clique}
        if not _any_row(domain, fewer, wanted):
            kept = fewer
    return kept


def log_masks(possible: Possible) -> dict[Clique, Array]:
    """Logarithms of potentials that allow what is possible: 0 or -inf."""
    return {clique: np.where(allowed, 0.0, -np.inf) for clique, allowed in possible.items()}


def added(potentials: Mapping[Clique, Array], masks: Mapping[Clique, Array]) -> dict[Clique, Array]:
    """Logarithms of potentials with masks added, which have cliques of their own where there are no
    potentials.
    """
    sums = dict(potentials)
    for clique, mask in masks.items():
        sums[clique] = potentials.get(clique, 0.0) + mask
    return sums


def possible_of(log_potentials: Mapping[Clique, Array]) -> dict[Clique, NDArray[np.bool_]]:
    """What potentials that rule out cells allow."""
    possible = {}
    for clique, table in log_potentials.items():
        # Fitted potentials without impossible cells rule out nothing, and would only enlarge the
        # tree.
        if np.isneginf(table).any():
            possible[clique] = table > -np.inf
    return possible


def _any_row(domain: Domain, possible: Possible, wanted: Mapping[str, NDArray[np.bool_]]) -> bool:
    """Whether constraints allow a row whose levels are wanted."""
    constrained = {name for clique in possible for name in clique}
    involved = domain.project(domain.canonical(constrained))
    asked: dict[Clique, NDArray[np.bool_]] = {}
    for name, levels in wanted.items():
        if name in constrained:
            asked[(name,)] = levels
    masks = added(log_masks(possible), log_masks(asked))
    oracle = MarginalOracle(JunctionTree.covering(involved, masks), list(masks))
    # The largest sum of masks is 0 if some row keeps to all of them: a max-product pass, with no
    # number that could underflow.
    return oracle.largest(list(masks.values())) > -np.inf
