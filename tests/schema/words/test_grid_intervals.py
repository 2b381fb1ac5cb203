import numpy as np
import pytest
from scipy.special import chdtrc

from synthdp.schema import MAX_SCALED, below


class Extreme:
    """A generator whose floats are all the greatest that one gives."""

    def random(self, size):
        return np.full(size, 1 - 2.0**-53)


def test_whole_numbers_below_their_limits_are_equally_likely():
    limits, rng = np.array([1, 2, 7, 1000]), np.random.default_rng(0)
    for which, limit in enumerate(limits.tolist()):
        numbers = below(limits, np.full(70_000, which), rng)
        assert (numbers.min(), numbers.max()) == (0, limit - 1)
        counts, expected = np.bincount(numbers), 70_000 / limit
        assert limit == 1 or chdtrc(limit - 1, ((counts - expected) ** 2 / expected).sum()) > 1e-10


@pytest.mark.parametrize("limit", [1, 3, 2**20 + 1, MAX_SCALED - 1, MAX_SCALED])
def test_no_number_reaches_its_limit(limit):
    assert below(np.array([limit]), np.zeros(1, np.uint8), Extreme()).tolist() == [limit - 1]


def test_numbers_below_limits_that_floats_cannot_stretch_to():
    numbers = below(np.array([2**60]), np.zeros(1000, np.uint8), np.random.default_rng(1))
    assert 2**59 < numbers.max() < 2**60
    assert len(set((numbers % 2**10).tolist())) > 500  # floats would be multiples of 2**7
