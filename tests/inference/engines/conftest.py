"""The joint table that noisy marginals of `helpers.fit_problems` are measured on."""

import numpy as np
import pytest
from helpers.fit_problems import DOMAIN


@pytest.fixture
def joint():
    return 1000 * np.random.default_rng(11).dirichlet(np.full(DOMAIN.size(), 0.5)).reshape(
        DOMAIN.shape
    )
