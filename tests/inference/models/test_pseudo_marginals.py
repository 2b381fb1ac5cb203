"""Tables of regions that agree where they overlap and need not be those of any rows."""

import numpy as np
import pytest

from synthdp.core import Domain
from synthdp.inference import FitStatus, PseudoMarginalModel

EQUAL, UNEQUAL = np.eye(2) / 2, (1 - np.eye(2)) / 2
FRUSTRATED = {("a", "b"): EQUAL, ("b", "c"): EQUAL, ("a", "c"): UNEQUAL}
"""No rows have these three tables."""


@pytest.mark.parametrize(
    "clique", [("a", "one", "c"), ("one", "c", "a"), ("one", "a", "other", "c")]
)
def test_attributes_of_one_level_change_no_table_of_a_region(clique):
    """They were taken for a clique beyond all regions, and its table for an estimate: measured
    tables came out 13 records off, in fits that were called optimal.
    """
    model = PseudoMarginalModel(
        domain=Domain(("one", "a", "b", "c", "other"), (1, 2, 2, 2, 1)),
        tables=FRUSTRATED | {("one",): np.ones(1), ("other",): np.ones(1)},
        messages={},
        constraints=(),
        total=60.0,
        status=FitStatus(ended="optimal", n_iterations=1, loss=0.0),
    )
    table = model.marginal(clique)
    assert table.values.shape == model.domain.project(clique).shape
    assert np.array_equal(np.squeeze(table.values), 60 * UNEQUAL)
    assert np.array_equal(model.marginal(("other", "one")).values, [[60.0]])
