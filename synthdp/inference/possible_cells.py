"""Cells of marginals that public constraints leave possible."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain


def possible_cells(
    domain: Domain, constraints: Sequence[Constraint]
) -> dict[Clique, NDArray[np.bool_]]:
    """For each constrained clique, axes in the order of the domain, what all constraints on it
    allow.

    Attributes of one level are left out: whatever is allowed of the others is with them.

    Raises
    ------
    ParameterError
        If a constraint does not fit the domain.
    """
    tables: dict[Clique, NDArray[np.bool_]] = {}
    for constraint in constraints:
        constraint.check_fits(domain)
        squeezed = constraint.squeezed()
        if squeezed is None:
            continue
        canonical = squeezed.canonical(domain)
        earlier = tables.get(canonical.clique, True)
        tables[canonical.clique] = canonical.allowed & earlier
    return tables
