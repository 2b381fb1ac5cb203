"""Engines by name, small where their own size would make tests wait for precision that they do not
ask for.
"""

import pytest

from synthdp.inference import (
    AdaptiveDescent,
    GenerativeNetworkEngine,
    MixtureEngine,
    RelaxedTabularEngine,
)
from synthdp.release import engine_named

CUT_SHORT = pytest.mark.filterwarnings("ignore::synthdp.core.errors.FitWarning")
"""For tests of fits that are cut short to save time, and say so."""

_QUICK = {
    "mixture-of-products": MixtureEngine(
        n_components=40, driver=AdaptiveDescent(learning_rate=0.3, max_iterations=400)
    ),
    "relaxed-tabular": RelaxedTabularEngine(n_components=60),
    "generative-network": GenerativeNetworkEngine(n_components=40, hidden=(32,)),
}


def quick_engine(name):
    return _QUICK.get(name) or engine_named(name)


def each_of(engines):
    """A fixture called ``engine``: one of these at a time."""
    return pytest.fixture(params=engines, ids=lambda engine: engine.name)(
        lambda request: request.param
    )
