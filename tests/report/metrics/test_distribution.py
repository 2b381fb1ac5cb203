import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthdp.core import ParameterError
from synthdp.report import kolmogorov_smirnov

samples = st.lists(st.integers(-3, 3), min_size=1, max_size=20)


@given(samples, samples)
def test_agrees_with_its_definition(left, right):
    gaps = [
        abs(np.mean([x <= t for x in left]) - np.mean([x <= t for x in right]))
        for t in range(-3, 4)
    ]
    assert kolmogorov_smirnov(left, right) == pytest.approx(max(gaps), abs=1e-12)


def test_numbers_only():
    assert kolmogorov_smirnov([1.0, np.nan], [1.0]) == 0.0
    with pytest.raises(ParameterError, match="no number"):
        kolmogorov_smirnov([np.nan], [1.0])
