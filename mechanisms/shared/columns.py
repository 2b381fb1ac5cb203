"""What most mechanisms begin with: all columns measured, and which wider marginals may follow."""

from collections.abc import Sequence
from fractions import Fraction

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.workload import Workload
from synthdp.privacy.private_table import PrivateTable


def measure_columns(table: PrivateTable, *, rho: Fraction) -> None:
    """Measure all one-way marginals, with equal shares of ``rho``."""
    # An exact fraction: the shares sum to what they are shares of.
    rho_each = rho / len(table.domain)
    for name in table.domain.attributes:
        table.measure((name,), rho=rho_each)


def measurable_subsets(workload: Workload, domain: Domain, *, max_cells: int) -> Sequence[Clique]:
    """Subsets of the workload's marginals of at most ``max_cells`` cells, and all single columns."""
    return [
        clique
        for clique in workload.downward_closure()
        if len(clique) == 1 or domain.size(clique) <= max_cells
    ]
