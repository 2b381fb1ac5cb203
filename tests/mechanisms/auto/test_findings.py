"""What is said of a round of scores: it names few candidates, counts many, and says what its noise hides."""

from math import log, sqrt

import numpy as np
import pytest

from synthdp.core import all_k_way
from synthdp.mechanisms import considered, hidden, too_large, visible_distance


@pytest.mark.parametrize(("n_columns", "is_listed"), [(20, True), (21, False)])
def test_candidates_are_named_while_they_are_few(n_columns, is_listed):
    pairs = all_k_way([f"x{i}" for i in range(n_columns)], 2)
    facts = considered(pairs, rule="all pairs", n_asked=300, stddev=10.0, total=1e4)
    assert (facts["looked_at"], facts["left_out"], facts["rule"]) == (
        len(pairs),
        300 - len(pairs),
        "all pairs",
    )
    assert facts.get("candidates") == ([list(pair) for pair in pairs] if is_listed else None)


def test_a_distance_is_visible_where_the_largest_noise_of_nothing_seldom_is():
    noise = np.abs(np.random.default_rng(0).normal(0, 100.0, (50, 5000))).max(axis=1) / (2 * 1e5)
    assert visible_distance(5000, 100.0, 1e5) == pytest.approx(100 * sqrt(2 * log(5000)) / 2e5)
    assert np.mean(noise) == pytest.approx(visible_distance(5000, 100.0, 1e5), rel=0.1)
    assert visible_distance(10, 1e9, 10.0) == 1.0


def test_only_what_hides_much_is_said():
    assert hidden(5000, 100.0, 1e5) == []
    (said,) = hidden(5000, 3000.0, 1e5)
    assert "5000 pairs" in said
    assert f"less than about {3000 * sqrt(2 * log(5000)) / 2e5:.2g}," in said


def test_pairs_that_are_too_large_are_named_up_to_three():
    assert too_large([]) == []
    (said,) = too_large(all_k_way(["a", "b", "c", "d"], 2))
    assert "'b' and 'c', 'b' and 'd', 'c' and 'd' and 3 more" in said
