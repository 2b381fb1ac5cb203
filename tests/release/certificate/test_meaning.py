"""What a guarantee means for one person and for groups, against attackers who are as good as they
can be.
"""

from itertools import pairwise
from math import exp, inf, log

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from synthdp.privacy import Accounting
from synthdp.release import Protection, protection_of, stated_meaning

BUDGETS = [(0.1, 1e-9), (1.0, 1e-9), (1.0, 1e-2), (3.0, 1e-6), (10.0, 1e-6)]
WRONG = 0.01
SHARES = (1e-4, 0.001, 0.01, 0.1, 0.4, 0.9)
GROUPS = (1, 2, 5)


def protection(epsilon, delta, accounting, **more):
    rho = float(accounting.rho(epsilon=epsilon, delta=delta))
    return Protection(epsilon=epsilon, delta=delta, accounting=accounting, rho=rho, **more)


def best(epsilon, delta, accounting, **more):
    return protection(epsilon, delta, accounting, **more).true_positives(WRONG)


def of_rho(rho, accounting, **more):
    """As much as the currency alone allows."""
    return Protection(epsilon=1e9, delta=0.999999, accounting=accounting, rho=rho, **more)


def against_counts(share, k, rho):
    """The best attack on one rounded count of which k people are a part, cell by cell
    [Neyman-Pearson].
    """
    sigma = (2 * rho) ** -0.5
    cells = np.arange(-int(40 * sigma), int(40 * sigma) + k)
    absent = np.diff(norm.cdf(np.append(cells, cells[-1] + 1) - 0.5, scale=sigma))
    present = np.diff(norm.cdf(np.append(cells, cells[-1] + 1) - 0.5, loc=k, scale=sigma))
    wrong, right = (
        absent[::-1].cumsum(),
        present[::-1].cumsum(),
    )  # the larger the count, the likelier
    return float(np.interp(share, np.append(0, wrong), np.append(0, right)))


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_best_attacker_on_one_noisy_count_is_as_good_as_is_said(epsilon, delta):
    """With all of the budget on one count, the threshold that is wrong in 1 % of cases reaches the
    bound in GDP.
    """
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
    none_known = Protection(epsilon=epsilon, delta=delta, accounting=accounting, rho=1e6)
    assert none_known.true_positives(WRONG) == pytest.approx(pure)
    advantage = (exp(epsilon) - 1 + 2 * delta) / (exp(epsilon) + 1)
    assert none_known.advantage() == pytest.approx(advantage)
    grown = exp(2 * epsilon) * WRONG + delta * (1 + exp(epsilon))  # [Dwork-Roth, Thm. 2.2]
    assert none_known.true_positives(WRONG, group=2) <= grown * (1 + 1e-12)


@pytest.mark.parametrize("accounting", Accounting)
def test_more_budget_means_more_and_what_may_fail_is_added(accounting):
    rates = [best(epsilon, 1e-9, accounting) for epsilon in np.geomspace(0.01, 100, 9)]
    assert all(left < right or right == 1 for left, right in pairwise(rates))
    assert rates[0] == pytest.approx(WRONG, rel=0.1)
    some = best(3.0, 1e-2, accounting, failure_delta=5e-3)
    assert best(3.0, 1e-2, accounting) + 4e-3 < some < best(3.0, 1e-2, accounting) + 8e-3


def test_bounds_hold_at_the_ends():
    assert best(1e9, 0.5, Accounting.GDP) <= 1
    huge = Protection(epsilon=1e9, delta=1e-9, accounting=Accounting.ZCDP, rho=1e18)
    assert huge.true_positives(WRONG, group=5) == pytest.approx(1)
    assert huge.advantage() == pytest.approx(1)
    assert log(best(1e-3, 1e-9, Accounting.ZCDP)) > -inf
    for accounting in Accounting:
        one = protection(1.0, 1e-9, accounting)
        assert 0 <= one.true_positives(0.0) <= 2e-9
        assert one.true_positives(1.0) == 1


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("rho", [0.001, 0.0166, 0.3])
def test_groups_are_as_exposed_as_a_count_of_them(rho, group):
    """In Gaussian DP no more and, where counts are fine, no less; in zCDP the attacker stays below
    the bound.
    """
    for share in SHARES:
        reached = against_counts(share, group, rho)
        if rho < 0.1:
            assert of_rho(rho, Accounting.GDP).true_positives(share, group=group) == pytest.approx(
                reached, rel=0.02
            )
        assert of_rho(rho, Accounting.GDP).true_positives(share, group=group) > reached * (1 - 1e-6)
        assert of_rho(rho, Accounting.ZCDP).true_positives(share, group=group) > reached
    exact = 2 * norm.cdf(group * (2 * rho) ** 0.5 / 2) - 1
    assert of_rho(rho, Accounting.GDP).advantage(group=group) == pytest.approx(exact, rel=1e-9)
    assert (
        exact < of_rho(rho, Accounting.ZCDP).advantage(group=group) < min(1.0, 1.4 * exact + 1e-9)
    )


@pytest.mark.parametrize("group", GROUPS)
def test_groups_in_zcdp_are_at_most_as_exposed_as_by_the_square_of_their_size(group):
    """The pairs of epsilon and delta of k^2 rho, each by the best of many orders, with 40 digits."""
    rho, found = 0.015, of_rho(0.015, Accounting.ZCDP)
    with mpmath.workdps(40):
        pairs = []
        for epsilon in np.geomspace(1e-2, 10, 40):
            deltas = []
            for alpha in 1 + np.geomspace(1e-1, 1e3, 40):
                a = mpmath.mpf(float(alpha))
                exponent = (a - 1) * (a * group**2 * rho - float(epsilon))
                deltas.append(
                    mpmath.exp(exponent) / (a - 1) * (1 - 1 / a) ** a
                )  # [CKS20, Prop. 12]
            pairs.append((float(epsilon), float(min(1, *deltas))))
    for share in (0.001, 0.01, 0.1):
        by_square = min(
            min(exp(epsilon) * share + delta, 1 - exp(-epsilon) * (1 - delta - share))
            for epsilon, delta in pairs
        )
        assert found.true_positives(share, group=group) < by_square * 1.005


@pytest.mark.parametrize("group", GROUPS)
def test_whoever_is_given_away_by_chance_is_counted_for_each_of_a_group(group):
    """With probability p each one is given away for sure; else there is a noisy count."""
    p, rho = 0.001, 0.02
    found = of_rho(rho, Accounting.GDP, failure_delta=p)
    kept = (1 - p) ** group
    for share in (0.001, 0.01, 0.1, 0.5):
        reached = 1 - kept + kept * norm.cdf(norm.ppf(share / kept) + group * (2 * rho) ** 0.5)
        bound = found.true_positives(share, group=group)
        assert reached * (1 - 1e-12) < bound < reached * 1.5
        assert group > 1 or bound == pytest.approx(reached)


@pytest.mark.parametrize("accounting", Accounting)
@pytest.mark.parametrize("failure_delta", [0.0, 1e-3])
@pytest.mark.parametrize("group", GROUPS)
def test_the_advantage_is_the_largest_difference(accounting, failure_delta, group):
    found = protection(1.0, 1e-2, accounting, failure_delta=failure_delta)
    shares = np.linspace(0, 1, 201)
    largest = max(found.true_positives(share, group=group) - share for share in shares)
    assert largest * (1 - 1e-12) <= found.advantage(group=group) <= largest + 6e-3


def test_a_certificate_states_it_for_one_and_for_groups():
    found = protection(1.0, 1e-9, Accounting.GDP)
    stated = stated_meaning(found)
    assert [entry["units"] for entry in stated] == [1, 2, 5]
    for entry in stated:
        assert entry["advantage"] == found.advantage(group=entry["units"])
        assert [rate["false_positives"] for rate in entry["true_positives"]] == [0.01, 0.001]
        for rate in entry["true_positives"]:
            assert rate["at_most"] == found.true_positives(
                rate["false_positives"], group=entry["units"]
            )


def test_certificates_that_know_of_no_failures_are_read():
    accounting = {"currency": "gdp", "rho_budget": 0.0165}
    found = protection_of({"epsilon": 1.0, "delta": 1e-9, "accounting": accounting})
    assert found == Protection(epsilon=1.0, delta=1e-9, accounting=Accounting.GDP, rho=0.0165)
