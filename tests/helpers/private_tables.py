"""Private tables of random records."""

import numpy as np

from synthdp.core import Domain
from synthdp.data import CodedSource, CodedTable
from synthdp.privacy import Accounting, Adjacency, PrivacyLedger, PrivateTable


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
