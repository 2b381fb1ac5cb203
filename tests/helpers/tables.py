"""A small table behind a ledger, for the tests of the private table."""

import numpy as np
import pytest
from hypothesis import strategies as st
from oracles.privacy import ArraySource, UntouchableSource

from synthdp.core import Coarsening, Domain
from synthdp.privacy import Accounting, Adjacency, MarginalL1Error, PrivacyLedger, PrivateTable

DOMAIN = Domain(("a", "b", "c"), (3, 2, 4))
CLIQUES = [("a",), ("b",), ("a", "c"), ("c", "a"), ("a", "b", "c"), ()]
MERGING = Coarsening({"c": np.array([1, 0, 1, 0]), "a": np.array([0, 1, 0])})
ROWS = [(0, 1, 2), (2, 0, 3), (0, 1, 2), (1, 1, 0)]
BOTH = pytest.mark.parametrize("adjacency", Adjacency)
EITHER = pytest.mark.parametrize("accounting", Accounting)

rows_of = st.tuples(*(st.integers(0, size - 1) for size in DOMAIN.shape))
tables = st.lists(rows_of, max_size=12)


def ledger(adjacency=Adjacency.ADD_REMOVE, epsilon=1000.0, accounting=Accounting.ZCDP):
    return PrivacyLedger(epsilon=epsilon, delta=1e-9, adjacency=adjacency, accounting=accounting)


def private(
    rows=ROWS,
    adjacency=Adjacency.ADD_REMOVE,
    randomness=None,
    domain=DOMAIN,
    epsilon=1000.0,
    accounting=Accounting.ZCDP,
):
    return PrivateTable(
        ArraySource(domain, rows), ledger(adjacency, epsilon, accounting), randomness=randomness
    )


def untouchable(adjacency=Adjacency.ADD_REMOVE, accounting=Accounting.ZCDP):
    return PrivateTable(UntouchableSource(DOMAIN), ledger(adjacency, accounting=accounting))


def exact(clique, rows=ROWS, coarsening=None):
    counts = ArraySource(DOMAIN, rows).counts(clique)
    return coarsening.apply(clique, counts) if coarsening else counts


def zero_score(cliques=CLIQUES, coarsening=None):
    domain = coarsening.domain(DOMAIN) if coarsening else DOMAIN
    return MarginalL1Error({c: np.zeros(domain.project(c).shape) for c in cliques}, coarsening)


estimates_of = st.lists(st.floats(-50, 50), min_size=24, max_size=24)
