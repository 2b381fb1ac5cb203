"""What all models save alike, as plain JSON values and arrays."""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.inference.arrays import Array


def constraints_to_state(
    constraints: Sequence[Constraint],
) -> tuple[list[list[str]], dict[str, Array]]:
    """The constrained cliques, and what is allowed as arrays by name."""
    arrays = {
        f"allowed-{i}": constraint.allowed.astype(np.float64)
        for i, constraint in enumerate(constraints)
    }
    return [list(constraint.clique) for constraint in constraints], arrays


def constraints_from_state(
    state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain
) -> list[Constraint]:
    """Rebuild the saved ``state["constraints"]``; models saved before they were kept have none.

    Raises `ParameterError` if one does not fit the domain.
    """
    cliques = cast("list[list[str]]", state.get("constraints", []))
    # Earlier files of pseudo-marginals have another name for these arrays.
    prefix = "constraint" if "constraint-0" in arrays else "allowed"
    constraints = [
        Constraint(tuple(clique), arrays[f"{prefix}-{i}"] > 0) for i, clique in enumerate(cliques)
    ]
    for constraint in constraints:
        constraint.check_fits(domain)
    return constraints


def tables_from_state(
    domain: Domain, cliques: Sequence[Clique], arrays: Mapping[str, Array], name: str
) -> dict[Clique, Array]:
    """The saved tables of some cliques; raises `ParameterError` unless each has the shape of its
    own.
    """
    tables = {clique: arrays[f"{name}-{i}"] for i, clique in enumerate(cliques)}
    for clique, table in tables.items():
        if table.shape != domain.project(clique).shape:
            raise ParameterError(
                f"{name} of {clique}: it has shape {table.shape}; give one of the clique's"
            )
    return tables
