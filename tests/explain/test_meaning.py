"""What a guarantee means for one person, against attackers who are as good as they can be."""

from itertools import pairwise
from math import exp, inf, log

import numpy as np
import pytest
from scipy.stats import norm

from synthdp.explain.meaning import best_true_positives
from synthdp.privacy.accounting import Accounting

BUDGETS = [(0.1, 1e-9), (1.0, 1e-9), (1.0, 1e-2), (3.0, 1e-6), (10.0, 1e-6)]
WRONG = 0.01


def best(epsilon, delta, accounting, **more):
    rho = float(accounting.rho(epsilon=epsilon, delta=delta))
    return best_true_positives(epsilon=epsilon, delta=delta, accounting=accounting, rho=rho, **more)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_best_attacker_on_one_noisy_count_is_as_good_as_is_said(epsilon, delta):
    """With all of the budget on one count, the threshold that is wrong in 1 % of cases reaches the bound in GDP."""
    rho = float(Accounting.GDP.rho(epsilon=epsilon, delta=delta))
    sigma = (2 * rho) ** -0.5
    reached = norm.sf(norm.isf(WRONG, scale=sigma), loc=1, scale=sigma)
    assert best(epsilon, delta, Accounting.GDP) == pytest.approx(reached, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_zcdp_allows_for_that_attacker_and_for_little_more(epsilon, delta):
    rho = float(Accounting.ZCDP.rho(epsilon=epsilon, delta=delta))
    reached = norm.sf(norm.isf(WRONG) - (2 * rho) ** 0.5)
    assert reached < best(epsilon, delta, Accounting.ZCDP) < min(1.6 * reached, 1)


@pytest.mark.parametrize("accounting", Accounting)
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_it_is_never_more_than_epsilon_and_delta_allow(epsilon, delta, accounting):
    pure = min(exp(epsilon) * WRONG + delta, 1 - exp(-epsilon) * (1 - delta - WRONG))
    found = best(epsilon, delta, accounting)
    assert WRONG < found <= pure
    none_known = best_true_positives(epsilon=epsilon, delta=delta, accounting=accounting, rho=1e6)
    assert none_known == pytest.approx(pure)


@pytest.mark.parametrize("accounting", Accounting)
def test_more_budget_means_more_and_what_may_fail_is_added(accounting):
    rates = [best(epsilon, 1e-9, accounting) for epsilon in np.geomspace(0.01, 100, 9)]
    assert all(left < right or right == 1 for left, right in pairwise(rates))
    assert rates[0] == pytest.approx(WRONG, rel=0.1)
    some = best(3.0, 1e-2, accounting, failure_delta=5e-3)
    assert best(3.0, 1e-2, accounting) + 4e-3 < some < best(3.0, 1e-2, accounting) + 8e-3


def test_bounds_hold_at_the_ends():
    assert best(1e9, 0.5, Accounting.GDP) <= 1
    assert best_true_positives(epsilon=1e9, delta=1e-9, accounting=Accounting.ZCDP, rho=1e18) <= 1
    assert log(best(1e-3, 1e-9, Accounting.ZCDP)) > -inf
