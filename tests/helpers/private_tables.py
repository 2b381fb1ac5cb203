"""Private tables of random records."""

import numpy as np

from synthdp.core.domain import Domain
from synthdp.data.records.codec import CodedTable
from synthdp.data.records.coded_source import CodedSource
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.unit import Adjacency


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
