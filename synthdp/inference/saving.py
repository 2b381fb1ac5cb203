"""What all models save alike, as plain JSON values and arrays."""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from synthdp.constraint import Constraint
from synthdp.inference.arrays import Array


def constraints_to_state(constraints: Sequence[Constraint]) -> tuple[list[list[str]], dict[str, Array]]:
    """The constrained cliques, and what is allowed as arrays by name."""
    arrays = {f"allowed-{i}": constraint.allowed.astype(np.float64) for i, constraint in enumerate(constraints)}
    return [list(constraint.clique) for constraint in constraints], arrays


def constraints_from_state(state: Mapping[str, object], arrays: Mapping[str, Array]) -> list[Constraint]:
    """Rebuild the saved ``state["constraints"]``; models saved before they were kept have none."""
    cliques = cast("list[list[str]]", state.get("constraints", []))
    # Earlier files of pseudo-marginals have another name for these arrays.
    prefix = "constraint" if "constraint-0" in arrays else "allowed"
    return [Constraint(tuple(clique), arrays[f"{prefix}-{i}"] > 0) for i, clique in enumerate(cliques)]
