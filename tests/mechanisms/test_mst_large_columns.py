"""MST on columns whose pairs are too large to count: it leaves them out rather than stop after
paying.
"""

import numpy as np
import pytest

from synthdp.core.domain import Domain
from synthdp.core.reporting import silent
from synthdp.core.workload import Workload
from synthdp.data.records.codec import CodedTable
from synthdp.data.records.coded_source import CodedSource
from synthdp.inference.engines.graphical_model import GraphicalModelEstimator
from synthdp.mechanisms.mst import MST
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.unit import Adjacency


@pytest.mark.parametrize(("sizes", "n_pairs"), [((12_000, 12_000, 2), 2), ((12_000, 12_000), 0)])
def test_pairs_too_large_to_count_are_left_out_and_the_budget_is_spent(sizes, n_pairs):
    domain = Domain(tuple("abc"[: len(sizes)]), sizes)
    columns = tuple(np.arange(30, dtype=np.uint16) % size for size in sizes)
    ledger = PrivacyLedger(epsilon=1.0, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    table = PrivateTable(CodedSource(CodedTable(domain, columns)), ledger)
    workload = Workload.all_k_way(domain, 1)
    MST().release(table, workload=workload, engine=GraphicalModelEstimator(), report=silent)
    pairs = [measurement.clique for measurement in table.released if len(measurement.clique) == 2]
    assert len(pairs) == n_pairs
    assert ("a", "b") not in pairs
    assert ledger.remaining < ledger.budget / 100
