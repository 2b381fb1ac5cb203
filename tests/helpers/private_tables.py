"""Private tables of random records."""

from dataclasses import dataclass

import numpy as np

from synthdp.core import Domain
from synthdp.data import CodedSource, CodedTable
from synthdp.privacy import Accounting, Adjacency, Event, PrivacyLedger, PrivateTable


@dataclass(frozen=True, kw_only=True)
class Costs(Event):
    """An event that costs whatever a test wants."""

    cost: object

    @property
    def rho(self):
        return self.cost

    @property
    def is_gaussian(self):
        return True

    def to_dict(self):
        return {}


def private_table(
    shape,
    n_rows,
    *,
    epsilon=1.0,
    adjacency=Adjacency.ADD_REMOVE,
    seed=0,
    rows=None,
    accounting=Accounting.ZCDP,
):
    generator = np.random.default_rng(seed)
    domain = Domain(tuple(f"x{i}" for i in range(len(shape))), shape)
    columns = rows or tuple(generator.integers(0, size, n_rows) for size in shape)
    ledger = PrivacyLedger(epsilon=epsilon, delta=1e-6, adjacency=adjacency, accounting=accounting)
    return PrivateTable(CodedSource(CodedTable(domain, columns)), ledger)
