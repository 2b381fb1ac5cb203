"""Making drawn rows keep to public constraints, for engines whose models do so only nearly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array, Column, IntArray
from synthdp.inference.graphical.possible_rows import possible_rows

_MAX_REDRAWS = 20
"""A row whose chance to be possible is a half is redrawn in vain once in a million times."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class RowRules:
    """What the rows of a model keep to, and what its impossible ones are drawn from."""

    domain: Domain
    """All attributes."""
    constraints: Sequence[Constraint]
    """What is possible."""
    one_way: Callable[[str], Array]
    """Weights of an attribute's levels, asked for only if needed."""

    def repaired(
        self,
        columns: Sequence[Column],
        *,
        redraw: Callable[[IntArray], Sequence[Column]],
        generator: np.random.Generator,
        given: Sequence[str] = (),
    ) -> tuple[Column, ...]:
        """The same rows, but for impossible ones, which are drawn again; see `repaired`."""
        return repaired(
            columns,
            constraints=self.constraints,
            domain=self.domain,
            one_way=self.one_way,
            redraw=redraw,
            generator=generator,
            given=given,
        )


def repaired(
    columns: Sequence[Column],
    *,
    constraints: Sequence[Constraint],
    domain: Domain,
    one_way: Callable[[str], Array],
    redraw: Callable[[IntArray], Sequence[Column]],
    generator: np.random.Generator,
    given: Sequence[str] = (),
) -> tuple[Column, ...]:
    """The same rows, but for impossible ones, which are drawn again until all are possible.

    An impossible row is redrawn a bounded number of times. If it still is impossible, its
    attributes that constraints speak of are drawn from the product of the model's one-way
    marginals, given that all constraints hold: exactly, over a junction tree of the constraints.

    Parameters
    ----------
    columns
        Codes of each attribute, each of shape ``(n_rows,)``; they are not changed.
    constraints
        What is possible.
    domain
        The attributes of the columns.
    one_way
        Weights of an attribute's levels, asked for only if needed.
    redraw
        New codes of each attribute for the rows at given positions.
    generator
        Source of (seeded, not private) randomness.
    given
        Attributes whose codes are kept (``redraw`` must keep them, too).

    Raises
    ------
    ParameterError
        If a row had to be repaired and no row at all is possible, or none with its given codes.
    ModelTooLargeError
        If the junction tree of the constraints is too large to be of use.
    """
    # Redrawing comes first, as it keeps the model's own distribution, given that a row is possible.
    fixed = tuple(column.copy() for column in columns)
    for _ in range(_MAX_REDRAWS):
        rows = _impossible_rows(fixed, constraints, domain)
        if rows.size == 0:
            return fixed
        for column, values in zip(fixed, redraw(rows), strict=True):
            column[rows] = values
    rows = _impossible_rows(fixed, constraints, domain)
    if rows.size:
        # Whoever is left has a hopeless chance in the model. Exact, for a bounded number of tries
        # must not end in rows that break the rules; by one-way marginals, which every model has.
        fallback = possible_rows(domain, constraints, one_way)
        seed = int(generator.integers(1 << 62))
        kept_codes = {
            name: fixed[domain.index(name)][rows]
            for name in fallback.domain.attributes
            if name in given
        }
        if kept_codes:
            drawn = fallback.complete(kept_codes, seed=seed)
        else:
            drawn = fallback.sample(rows.size, seed=seed)
        for name, values in zip(fallback.domain.attributes, drawn, strict=True):
            fixed[domain.index(name)][rows] = values
    return fixed


def _impossible_rows(
    columns: Sequence[Column], constraints: Sequence[Constraint], domain: Domain
) -> IntArray:
    possible = np.ones(len(columns[0]), dtype=np.bool_)
    for constraint in constraints:
        # All of them, for a row that was drawn anew for one may break another.
        possible &= constraint.holds(domain, columns)
    return np.flatnonzero(~possible)
