"""Rows that have known marginals exactly: those of a model, with as few changes as that takes."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.known_marginal import KnownMarginal
from synthdp.inference.arrays import Codes, IntArray, compact
from synthdp.inference.known.consistency import incidence, known_parts
from synthdp.inference.known.exchange import Complete, Exchange, Likelihoods
from synthdp.inference.known.order import Step, order_of
from synthdp.inference.known.partitions import JointTypes, of_groups
from synthdp.inference.known.rounding import counts_of

_SECONDS = 30.0
"""What the search for changes may take where marginals go in a circle."""
_RARE = 0.1
"""How much dearer a change to a type is that no row has, beside one that all rows have."""


def repaired(
    domain: Domain,
    columns: Codes,
    known: Sequence[KnownMarginal],
    counts: Sequence[IntArray],
    constraints: Sequence[Constraint],
    rules: Sequence[Constraint],
    *,
    likelihoods: Likelihoods,
    complete: Complete,
    generator: np.random.Generator,
) -> Codes:
    """The same rows, a few of them changed, so that each known marginal has its counts.

    Marginals of a junction tree are met one after the other, each by exchanges inside of what
    earlier ones have settled. Where they go in a circle, or rules stand in the way, whole
    combinations are exchanged that least changes, found as whole numbers.

    Parameters
    ----------
    domain, columns
        All attributes, and their codes.
    known, counts
        What is known, and how many rows each of its cells is to have; they agree with each other.
    constraints, rules
        What the rows keep to, and what that says of the known attributes alone (`implied_rules`).
    likelihoods, complete, generator
        As `Exchange` takes them.
    """
    changed = [column.astype(np.int64) for column in columns]
    kept = domain.canonical(name for marginal in known for name in marginal.clique)
    exchange = Exchange(
        domain,
        changed,
        constraints=constraints,
        likelihoods=likelihoods,
        complete=complete,
        kept=kept,
        generator=generator,
    )
    wanted = {id(marginal): table for marginal, table in zip(known, counts, strict=True)}
    for part, own_rules in known_parts(domain, known, rules).parts:
        targets = [wanted[id(marginal)] for marginal in part]
        steps = order_of(domain, part)
        for step in steps or ():
            _meet(exchange, domain, part[step.position], targets[step.position], changed, step)
        if not are_met(domain, changed, part, targets):
            _meet_together(exchange, JointTypes(domain, part, own_rules), domain, targets, changed)
    return tuple(compact(column, size) for column, size in zip(changed, domain.shape, strict=True))


def are_met(
    domain: Domain,
    columns: Sequence[IntArray],
    known: Sequence[KnownMarginal],
    counts: Sequence[IntArray],
) -> bool:
    """Whether rows have some counts of known marginals."""
    return all(
        np.array_equal(counts_of(domain, marginal, columns), table)
        for marginal, table in zip(known, counts, strict=True)
    )


def _meet(
    exchange: Exchange,
    domain: Domain,
    marginal: KnownMarginal,
    target: IntArray,
    columns: Sequence[IntArray],
    step: Step,
) -> None:
    """Meet one marginal by exchanges between cells that earlier ones do not tell apart."""
    missing = (target - counts_of(domain, marginal, columns)).ravel()
    settled = np.zeros(marginal.values.shape, dtype=np.int64)
    for axis, name in enumerate(marginal.clique):
        groups = of_groups(marginal.groups(name), step.settled[name])
        shape = [-1 if other == axis else 1 for other in range(settled.ndim)]
        settled = settled * (int(step.settled[name].max()) + 1) + groups.reshape(shape)
    partitions = {name: marginal.groups(name) for name in marginal.clique}
    exchange.balance(partitions, missing, settled.ravel())


def _meet_together(
    exchange: Exchange,
    types: JointTypes,
    domain: Domain,
    targets: Sequence[IntArray],
    columns: Sequence[IntArray],
) -> None:
    """Meet marginals at once, by the fewest exchanges between combinations of their groups."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    numbers = np.zeros(len(columns[0]), dtype=np.int64)
    for name, size in zip(types.attributes, types.shape, strict=True):
        numbers = numbers * size + types.partitions[name][columns[domain.index(name)]]
    counts = np.bincount(numbers, minlength=types.n_types)
    has_rows = np.flatnonzero(counts)
    kept = np.flatnonzero(types.possible())
    arrivals = incidence(types, kept)
    departures = incidence(types, has_rows)
    residual = np.concatenate(
        [
            (target - counts_of(domain, marginal, columns)).ravel()
            for marginal, target in zip(types.known, targets, strict=True)
        ]
    )
    # Types that many rows have are likelier than those that none has.
    rarity = -np.log((counts[kept] + 0.5) / (len(numbers) + 1.0)) / np.log(len(numbers) + 2.0)
    programme = milp(
        np.concatenate([1.0 + _RARE * rarity, np.full(has_rows.size, 1e-3)]),
        constraints=LinearConstraint(
            sparse.hstack([arrivals, -departures], format="csr"), residual, residual
        ),
        bounds=Bounds(
            0.0, np.concatenate([np.full(kept.size, float(len(numbers))), counts[has_rows]])
        ),
        integrality=np.ones(kept.size + has_rows.size),
        options={"time_limit": _SECONDS, "mip_rel_gap": 0.05},
    )
    if programme.x is None:
        return
    moves = np.rint(programme.x).astype(np.int64)
    missing = np.zeros(types.n_types, dtype=np.int64)
    missing[kept] += moves[: kept.size]
    missing[has_rows] -= moves[kept.size :]
    exchange.balance(types.partitions, missing)
