"""Completing partial records under constraints, for engines whose models keep to them only nearly."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.inference.arrays import Array, Codes, IntArray, compact
from synthdp.inference.graphical.possible_rows import check_possible
from synthdp.inference.model import check_given
from synthdp.inference.rows.constraint_repair import repaired
from synthdp.inference.rows.matching_rows import AgreeingRows

Given = Mapping[str, NDArray[np.integer]]


def complete_possibly(
    draw: Callable[[Given], Mapping[str, NDArray[np.integer]]],
    given: Given,
    *,
    domain: Domain,
    constraints: Sequence[Constraint],
    one_way: Callable[[str], Array],
    generator: np.random.Generator,
) -> Codes:
    """Partial records with the rest drawn, again and again where it is impossible; see `repaired`.

    Parameters
    ----------
    draw
        Completes some records: codes of at least the attributes that are not given.
    given
        Codes of the given attributes, each of shape ``(n_rows,)``, which are kept.
    domain, constraints, one_way, generator
        See `repaired`.

    Raises
    ------
    ParameterError
        If ``given`` has no columns or does not fit the domain, or a record contradicts the constraints.
    """
    check_given(domain, given)

    def drawn(rows: IntArray) -> Codes:
        part = {name: codes[rows] for name, codes in given.items()}
        whole = {**draw(part), **part}
        return tuple(compact(whole[name], size) for name, size in zip(domain.attributes, domain.shape, strict=True))

    return repaired(
        drawn(np.arange(len(next(iter(given.values()))))),
        constraints=constraints,
        domain=domain,
        one_way=one_way,
        redraw=drawn,
        generator=generator,
        given=tuple(given),
    )


def complete_from_rows(
    columns: Sequence[NDArray[np.integer]],
    weights: Array,
    given: Given,
    *,
    domain: Domain,
    constraints: Sequence[Constraint],
    one_way: Callable[[str], Array],
    seed: int | None,
) -> Codes:
    """Partial records completed by rows of a weighted table that agree with them, or nearly; see `AgreeingRows`."""
    generator = np.random.default_rng(seed)

    def draw(part: Given) -> Mapping[str, NDArray[np.integer]]:
        n_records = len(next(iter(part.values())))
        positions = AgreeingRows(domain, columns, weights, part).drawn(np.arange(n_records), generator)
        return {name: column[positions] for name, column in zip(domain.attributes, columns, strict=True)}

    return complete_possibly(draw, given, domain=domain, constraints=constraints, one_way=one_way, generator=generator)


def weights_inside(
    domain: Domain, columns: Sequence[NDArray[np.integer]], weights: Array, wanted: Mapping[str, Array]
) -> Array:
    """The weights of rows times how much their levels are wanted; they add up to 1.

    Raises
    ------
    ParameterError
        If no row of any weight lies in the slice.
    """
    inside = weights.copy()
    for name, scale in wanted.items():
        inside *= scale[columns[domain.index(name)]]
    if not inside.any():
        raise ParameterError("where: no row of the model lies in the slice; widen it, or use engine='graphical-model'")
    inside /= inside.max()
    return np.asarray(inside / inside.sum())


def slice_constraints(
    domain: Domain, constraints: Sequence[Constraint], wanted: Mapping[str, Array]
) -> list[Constraint]:
    """The constraints, and that the levels are wanted.

    Raises
    ------
    ParameterError
        If no possible row is wanted.
    """
    joined = [*constraints, *(Constraint((name,), scale > 0) for name, scale in wanted.items())]
    try:
        check_possible(domain, joined)
    except ParameterError:
        raise ParameterError("where: the constraints leave no row in the slice; widen it") from None
    return joined
