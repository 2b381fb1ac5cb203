"""Completing partial records under constraints, for engines whose models keep to them only nearly."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.requests import seeded
from synthdp.inference.arrays import Array, Codes, IntArray, compact
from synthdp.inference.graphical.contradictions import blame
from synthdp.inference.graphical.possible_rows import check_possible
from synthdp.inference.model import check_given
from synthdp.inference.possible_cells import possible_cells
from synthdp.inference.rows.constraint_repair import RowRules
from synthdp.inference.rows.matching_rows import AgreeingRows

Given = Mapping[str, NDArray[np.integer]]


def complete_possibly(
    draw: Callable[[Given], Mapping[str, NDArray[np.integer]]],
    given: Given,
    *,
    rules: RowRules,
    generator: np.random.Generator,
) -> Codes:
    """Partial records with the rest drawn, again and again where it is impossible; see `repaired`.

    Parameters
    ----------
    draw
        Completes some records: codes of at least the attributes that are not given.
    given
        Codes of the given attributes, each of shape ``(n_rows,)``, which are kept.
    rules, generator
        See `repaired`.

    Raises
    ------
    ParameterError
        If ``given`` has no columns or does not fit the domain, or a record contradicts the
        constraints.
    """
    domain = rules.domain
    check_given(domain, given)

    def drawn(rows: IntArray) -> Codes:
        part = {name: codes[rows] for name, codes in given.items()}
        # What was given stays, whatever the model would rather have.
        whole = {**draw(part), **part}
        return tuple(
            compact(whole[name], size)
            for name, size in zip(domain.attributes, domain.shape, strict=True)
        )

    return rules.repaired(
        drawn(np.arange(len(next(iter(given.values()))))),
        redraw=drawn,
        generator=generator,
        given=tuple(given),
    )


def complete_from_rows(
    columns: Sequence[NDArray[np.integer]],
    weights: Array,
    given: Given,
    *,
    rules: RowRules,
    seed: int | None,
) -> Codes:
    """Partial records completed by rows of a weighted table that agree with them, or nearly; see
    `AgreeingRows`.
    """
    generator = seeded(seed)
    domain = rules.domain

    def draw(part: Given) -> Mapping[str, NDArray[np.integer]]:
        n_records = len(next(iter(part.values())))
        positions = AgreeingRows(domain, columns, weights, part).drawn(
            np.arange(n_records), generator
        )
        return {
            name: column[positions] for name, column in zip(domain.attributes, columns, strict=True)
        }

    return complete_possibly(draw, given, rules=rules, generator=generator)


def drawn_inside(
    draw: Callable[[int], Codes],
    wanted: Mapping[str, Array],
    n_rows: int,
    *,
    rules: RowRules,
    generator: np.random.Generator,
) -> Codes:
    """Rows of a slice, drawn again and again where they are impossible; see `repaired`.

    ``draw`` draws some number of rows of the slice, possible or not; ``wanted`` says for each
    restricted attribute how much each level is wanted, 0 to 1. Raises `ParameterError` if no
    possible row is.
    """
    of_slice = replace(
        rules,
        constraints=slice_constraints(rules.domain, rules.constraints, wanted),
        one_way=lambda name: rules.one_way(name) * wanted.get(name, 1.0),
    )
    return of_slice.repaired(
        draw(n_rows),
        redraw=lambda rows: draw(rows.size),
        generator=generator,
    )


def weights_nearest(
    domain: Domain,
    columns: Sequence[NDArray[np.integer]],
    weights: Array,
    wanted: Mapping[str, Array],
) -> tuple[Array, int]:
    """The weights of the rows that lie in a slice in most attributes, times how much their levels
    are wanted there.

    Returns
    -------
    The weights, adding up to 1, and in how many attributes these rows lie outside: 0 if any row
    lies in the slice.
    """
    # In logarithms: products of many small shares would underflow, and every row weigh nothing.
    logs = np.log(weights, out=np.full(weights.shape, -np.inf), where=weights > 0)
    outside = np.zeros(weights.shape, dtype=np.int64)
    for name, scale in wanted.items():
        here = scale[columns[domain.index(name)]]
        # A level that is not wanted at all costs no weight here: how many there are decides below.
        logs += np.log(here, out=np.zeros_like(here), where=here > 0)
        outside += here == 0
    # Rows of no weight may well be nearer, but are never drawn.
    fewest = int(outside[weights > 0].min())
    logs[outside > fewest] = -np.inf
    nearest = np.exp(logs - logs.max())
    return np.asarray(nearest / nearest.sum()), fewest


def with_wanted_levels(
    columns: Codes,
    wanted: Mapping[str, Array],
    *,
    domain: Domain,
    one_way: Callable[[str], Array],
    generator: np.random.Generator,
) -> Codes:
    """The rows with each unwanted level replaced by a wanted one, drawn by its share."""
    replaced = list(columns)
    for name, scale in wanted.items():
        position = domain.index(name)
        rows = np.flatnonzero(scale[columns[position]] == 0)
        shares = one_way(name) * scale
        # All wanted levels are ruled out by the model: then they are as likely as they are wanted.
        weights = shares if shares.any() else scale
        drawn = generator.choice(scale.size, rows.size, p=weights / weights.sum())
        # Codes may be views of the model's own rows.
        replaced[position] = columns[position].copy()
        replaced[position][rows] = drawn
    return tuple(replaced)


def slice_constraints(
    domain: Domain, constraints: Sequence[Constraint], wanted: Mapping[str, Array]
) -> list[Constraint]:
    """The constraints, and that the levels are wanted.

    Raises
    ------
    ParameterError
        If no possible row is wanted.
    """
    # A slice is a rule like any other, so that whatever repairs rows keeps them inside of it.
    joined = [*constraints, *(Constraint((name,), scale > 0) for name, scale in wanted.items())]
    try:
        check_possible(domain, joined)
    except ParameterError:
        cause = blame(
            domain,
            possible_cells(domain, constraints),
            {name: scale > 0 for name, scale in wanted.items()},
        )
        raise ParameterError(f"where: the slice contradicts {cause}; widen it") from None
    return joined
