"""MST on columns whose pairs are too large to count: it leaves them out rather than stop after
paying.
"""

import numpy as np
import pytest

from synthdp.core import Domain, Workload
from synthdp.data import CodedSource, CodedTable
from synthdp.inference import GraphicalModelEngine
from synthdp.mechanisms import MST, Task
from synthdp.privacy import Adjacency, PrivacyLedger, PrivateTable


@pytest.mark.parametrize(("sizes", "n_pairs"), [((12_000, 12_000, 2), 2), ((12_000, 12_000), 0)])
def test_pairs_too_large_to_count_are_left_out_and_the_budget_is_spent(sizes, n_pairs):
    domain = Domain(tuple("abc"[: len(sizes)]), sizes)
    columns = tuple(np.arange(30, dtype=np.uint16) % size for size in sizes)
    ledger = PrivacyLedger(epsilon=1.0, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    table = PrivateTable(CodedSource(CodedTable(domain, columns)), ledger)
    workload = Workload.all_k_way(domain, 1)
    MST().release(table, Task(workload=workload, engine=GraphicalModelEngine()))
    pairs = [measurement.clique for measurement in table.released if len(measurement.clique) == 2]
    assert len(pairs) == n_pairs
    assert ("a", "b") not in pairs
    assert ledger.remaining < ledger.budget / 100
