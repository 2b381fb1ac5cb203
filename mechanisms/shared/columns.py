"""What most mechanisms begin with: all columns measured, and which wider marginals may follow."""

from collections.abc import Sequence
from fractions import Fraction

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.workload import Workload
from synthdp.inference.engine import Engine
from synthdp.privacy.private_table import PrivateTable


def measure_columns(table: PrivateTable, engine: Engine, *, rho: Fraction) -> None:
    """Measure all one-way marginals that the engine does not know, with equal shares of ``rho``."""
    columns = engine.unknown((name,) for name in table.domain.attributes)
    for column in columns:
        # An exact fraction: the shares sum to what they are shares of.
        table.measure(column, rho=rho / len(columns))


def measurable_subsets(
    workload: Workload, domain: Domain, engine: Engine, *, max_cells: int
) -> Sequence[Clique]:
    """Subsets of the workload's marginals of at most ``max_cells`` cells, and all single columns,
    without those that the engine knows.

    A subset with a column of one level says what the one without it says, which is another of them.
    """
    candidates = [
        clique
        for clique in engine.unknown(workload.downward_closure())
        if len(clique) == 1 or domain.size(clique) <= max_cells
    ]
    varying = [clique for clique in candidates if domain.varying(clique) == clique]
    return varying or candidates
