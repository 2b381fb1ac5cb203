"""Shares of noise: their sampler is exact, their sum is what the event says, and masks hide the rest."""

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from helpers.homes import home
from helpers.private_tables import private_table
from oracles.privacy import UntouchableSource, p_chi_squared

from synthdp.core import BudgetExceededError, Coarsening, Domain, ParameterError, PrivacyError
from synthdp.data import CodedSource, CodedTable
from synthdp.privacy import (
    MIN_SIGMA_SQUARED,
    Accounting,
    Adjacency,
    PrivacyLedger,
    PrivacyUnit,
    PrivateShares,
    ShareEvent,
    SystemRandomness,
    closeness,
    discrete_gaussian,
)
from synthdp.release import Message, opened, pairwise_masks

shares = home(PrivateShares)
SYSTEM = SystemRandomness()
DOMAIN = Domain(("a", "b"), (3, 4))
ONE = PrivacyUnit(adjacency=Adjacency.ADD_REMOVE)
BOTH = pytest.mark.parametrize("adjacency", Adjacency)
CHANCE = 1e-9


def ledger(adjacency=Adjacency.ADD_REMOVE, accounting=Accounting.ZCDP, epsilon=1.0):
    return PrivacyLedger(epsilon=epsilon, delta=1e-6, adjacency=adjacency, accounting=accounting)


def source_of(rows):
    columns = tuple(np.array([row[axis] for row in rows], dtype=np.int64) for axis in range(2))
    return CodedSource(CodedTable(DOMAIN, columns))


ROWS = [(0, 1), (2, 3), (0, 1), (1, 2)]


def pmf(sigma_squared, reach):
    numbers = np.arange(-reach, reach + 1)
    weights = np.exp(-(numbers**2) / (2 * float(sigma_squared)))
    return weights / weights.sum()


# --- the sampler --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sigma_squared", [Fraction(4), Fraction(37, 5), Fraction(4000, 7)], ids=str
)
def test_draws_have_the_exact_probabilities(sigma_squared):
    drawn = discrete_gaussian(sigma_squared=sigma_squared, size=200_000, randomness=SYSTEM)
    reach = int(12 * float(sigma_squared) ** 0.5)
    assert np.abs(drawn).max() <= reach
    observed = np.bincount(drawn + reach, minlength=2 * reach + 1)
    assert p_chi_squared(observed, pmf(sigma_squared, reach)) > CHANCE
    # A scale that is 1.3 times off is found out.
    assert p_chi_squared(observed, pmf(sigma_squared * Fraction(169, 100), reach)) < CHANCE
    pairs = drawn[::2] * drawn[1::2]
    assert abs(pairs.mean()) < 6.5 * float(sigma_squared) / np.sqrt(pairs.size)


def test_what_is_near_an_edge_is_decided_exactly(monkeypatch):
    """Where floating point cannot tell, the exact exponent is asked, and it is the formula's."""
    sampler = home(closeness)
    asked = []

    def recording(close, exact, randomness):
        asked.extend((value, exact(i)) for i, value in enumerate(close[:50]))
        return kept(close, exact, randomness)

    kept = sampler.bernoulli_exp_many
    monkeypatch.setattr(sampler, "bernoulli_exp_many", recording)
    discrete_gaussian(sigma_squared=Fraction(123, 7), size=100, randomness=SYSTEM)
    assert asked
    for close, exponent in asked:
        with localcontext() as context:
            context.prec = 50
            right = (-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
        assert abs(close - float(right)) < 2.0**-42


# --- a sum of shares ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_shares", [2, 3, 6])
@pytest.mark.parametrize("sigma_squared", [Fraction(1, 4), Fraction(1, 2), Fraction(1)])
def test_a_sum_of_shares_is_as_near_as_the_bound_says(n_shares, sigma_squared, monkeypatch):
    """Sums worked out to 60 digits; of small shares, whose distance can be seen."""
    monkeypatch.setattr(home(closeness), "MIN_SIGMA_SQUARED", Fraction(0))
    reach = 14
    with localcontext() as context:
        context.prec = 60
        parameter = Decimal(sigma_squared.numerator) / Decimal(sigma_squared.denominator)

        def weights(variance, most):
            raw = {z: (-Decimal(z * z) / (2 * variance)).exp() for z in range(-most, most + 1)}
            total = sum(raw.values())
            return {z: weight / total for z, weight in raw.items()}

        one = total = weights(parameter, 40)
        for _ in range(n_shares - 1):
            total = {
                z: sum(total.get(z - x, Decimal(0)) * p for x, p in one.items())
                for z in range(-40 - reach, 41 + reach)
            }
        ideal = weights(n_shares * parameter, 80)
        farthest = max(abs((total[z] / ideal[z]).ln()) for z in range(-reach, reach + 1))
    bound = closeness(sigma_squared, n_shares)
    assert float(farthest) <= float(bound)
    if sigma_squared >= Fraction(1, 2) and n_shares == 2:
        assert float(farthest) >= float(bound) / 20  # no idle bound


def test_shares_that_are_too_small_have_no_bound():
    with pytest.raises(ValueError, match="too small"):
        closeness(MIN_SIGMA_SQUARED - Fraction(1, 10**9), 2)
    assert closeness(MIN_SIGMA_SQUARED, 1) == 0


@BOTH
@pytest.mark.parametrize("n_honest", [1, 2, 19])
@pytest.mark.parametrize("rho", [Fraction(1, 10**6), Fraction(1, 100), Fraction(50)], ids=str)
def test_an_event_costs_no_more_than_was_asked(adjacency, n_honest, rho):
    unit = PrivacyUnit(adjacency=adjacency)
    event = ShareEvent.costing(rho, clique=("a",), unit=unit, n_honest=n_honest)
    assert event.rho <= rho
    assert event.share_sigma_squared >= MIN_SIGMA_SQUARED
    if event.share_sigma_squared > 4:
        assert event.rho >= rho * (1 - Fraction(1, 10**8))
    sum_squared = n_honest * event.share_sigma_squared
    assert event.rho > Fraction(event.sensitivity_squared) / (2 * sum_squared) or n_honest == 1
    assert event.sensitivity_squared == (1 if adjacency is Adjacency.ADD_REMOVE else 2)


def test_the_units_rows_may_move_as_many_cells_as_there_are_rows():
    unit = PrivacyUnit(adjacency=Adjacency.ADD_REMOVE, max_rows=5, column="id")
    event = ShareEvent.costing(Fraction(1, 100), clique=(), unit=unit, n_honest=3)
    assert (event.sensitivity_squared, event.n_cells) == (25, 5)


@pytest.mark.parametrize("sigma_squared", [Fraction(1), Fraction(4)])
def test_a_loss_is_what_the_event_says_worked_out_on_the_exact_distribution(sigma_squared):
    """Renyi divergences of the sum of three shares against its shift by one record."""
    n_shares, reach = 3, 60
    one = pmf(sigma_squared, reach).astype(np.longdouble)
    total = one
    for _ in range(n_shares - 1):
        total = np.convolve(total, one)
    event = ShareEvent(
        clique=(), share_sigma_squared=sigma_squared, n_honest=n_shares, sensitivity_squared=1, n_cells=1
    )  # fmt: skip
    p, q = (np.log(part[100:-100]) for part in (total[1:], total[:-1]))
    for alpha in (1.01, 1.5, 2.0, 5.0, 20.0):
        divergence = float(np.log(np.exp(alpha * p + (1 - alpha) * q).sum()) / (alpha - 1))
        assert divergence <= alpha * float(event.rho) * (1 + 1e-9)
        assert divergence >= 0.99 * alpha * float(event.rho)


# --- one site -----------------------------------------------------------------------------------


def site(rows=ROWS, n_honest=3, **settings):
    return PrivateShares(source_of(rows), ledger(**settings), n_honest=n_honest)


def no_noise(monkeypatch):
    monkeypatch.setattr(
        shares, "discrete_gaussian", lambda *, size, **_: np.zeros(size, dtype=np.int64)
    )


NO_MASKS = np.zeros((3, 4), dtype=np.uint64)


@BOTH
def test_a_neighbour_moves_a_share_by_what_is_paid_for(adjacency, monkeypatch):
    """Under replace-one a claim of 1 would be found out here."""
    no_noise(monkeypatch)
    other = ROWS[1:] if adjacency is Adjacency.ADD_REMOVE else [(2, 0), *ROWS[1:]]
    one, two = (site(rows, adjacency=adjacency) for rows in (ROWS, other))
    answers = [
        each.share(("a", "b"), rho=0.01, masks=NO_MASKS).view(np.int64) for each in (one, two)
    ]
    (event,) = one.ledger.events
    assert np.square(answers[0] - answers[1]).sum() == event.sensitivity_squared
    assert np.count_nonzero(answers[0] - answers[1]) == event.n_cells


def test_it_is_paid_for_before_the_records_are_touched():
    table = PrivateShares(UntouchableSource(DOMAIN), ledger(), n_honest=3)
    with pytest.raises(BudgetExceededError):
        table.share(("a",), rho=5.0, masks=np.zeros(3, dtype=np.uint64))
    assert not table.ledger.events
    with pytest.raises(AssertionError):
        table.share(("a",), rho=0.001, masks=np.zeros(3, dtype=np.uint64))
    assert len(table.ledger.events) == 1


@pytest.mark.parametrize(
    "masks", [np.zeros(4, np.uint64), np.zeros(3, np.int64), np.zeros((3, 1), np.uint64)]
)
def test_masks_of_another_kind_are_refused(masks):
    table = PrivateShares(UntouchableSource(DOMAIN), ledger(), n_honest=3)
    with pytest.raises(ParameterError, match="masks"):
        table.share(("a",), rho=0.001, masks=masks)
    assert not table.ledger.events


def test_gaussian_dp_does_not_cover_it():
    table = PrivateShares(UntouchableSource(DOMAIN), ledger(accounting=Accounting.GDP), n_honest=3)
    with pytest.raises(PrivacyError, match="zcdp"):
        table.share((), rho=0.001, masks=np.zeros((), dtype=np.uint64))


def test_it_is_closed_and_cannot_be_copied():
    table = site()
    table.close()
    with pytest.raises(PrivacyError):
        table.share((), rho=0.001, masks=np.zeros((), dtype=np.uint64))
    with pytest.raises(PrivacyError):
        table.__reduce__()


def test_levels_are_merged_before_counting(monkeypatch):
    no_noise(monkeypatch)
    merging = Coarsening({"b": np.array([0, 0, 1, 1])})
    masks = np.zeros((3, 2), dtype=np.uint64)
    answer = site().share(("a", "b"), rho=0.01, masks=masks, coarsening=merging)
    assert answer.tolist() == [[2, 0], [0, 1], [0, 1]]


# --- the protocol -------------------------------------------------------------------------------


def test_masks_cancel_and_each_alone_is_uniform():
    masks = pairwise_masks(5, (3000,), SYSTEM)
    assert not sum(masks, np.zeros(3000, dtype=np.uint64)).any()
    for size in range(1, 5):  # of any set but all of them the sum is uniform as well
        partial = sum(masks[:size], np.zeros(3000, dtype=np.uint64))
        observed = np.bincount((partial >> np.uint64(60)).astype(np.int64), minlength=16)
        assert p_chi_squared(observed, np.full(16, 1 / 16)) > CHANCE


def test_what_one_site_sends_says_nothing_of_its_counts():
    """Whatever the counts, a masked message is uniform; unmasked it is not."""
    counts = [(0, 0)] * 10_000
    masked = []
    for _ in range(200):
        (mask, _) = pairwise_masks(2, (3, 4), SYSTEM)
        message = site(counts, epsilon=50.0).share(("a", "b"), rho=1.0, masks=mask)
        masked.append(message)
    top = (np.concatenate([each.ravel() for each in masked]) >> np.uint64(61)).astype(np.int64)
    assert p_chi_squared(np.bincount(top, minlength=8), np.full(8, 1 / 8)) > CHANCE


@pytest.mark.parametrize(("n_sites", "colluding"), [(2, 0), (5, 0), (5, 2)])
def test_the_sum_has_the_counts_and_the_noise_that_the_event_says(n_sites, colluding):
    """Of the honest sites alone; a share that is sqrt(k) too small would be found out."""
    n_honest, rho, noise = n_sites - colluding, Fraction(1, 5000), []
    for _ in range(250):
        masks = pairwise_masks(n_sites, (13,), SYSTEM)
        messages = [
            site(ROWS, n_honest=n_honest).share(("a", "b"), rho=rho, masks=mask[1:].reshape(3, 4))
            for mask in masks
        ]
        messages = sent(messages, zeros=[int(mask[0]) for mask in masks])
        exact = source_of(ROWS * n_sites).counts_of([("a", "b")])
        noise.append(opened(messages) - next(iter(exact)))
    event = ShareEvent.costing(rho, clique=("a", "b"), unit=ONE, n_honest=n_honest)
    score = np.square(np.array(noise)) / float(n_sites * event.share_sigma_squared)
    assert abs(score.sum() - score.size) < 6.5 * np.sqrt(2 * score.size)
    too_small = score * n_sites
    assert abs(too_small.sum() - score.size) > 6.5 * np.sqrt(2 * score.size)
    assert float(n_honest * event.share_sigma_squared) == pytest.approx(float(1 / (2 * rho)))


def sent(numbers, zeros, asked="1"):
    """Messages of all sites."""
    return [
        Message.with_checksum(each, zero=zero, asked=asked, site=i, n_sites=len(numbers))
        for i, (each, zero) in enumerate(zip(numbers, zeros, strict=True))
    ]


def test_a_large_negative_sum_is_read_as_such():
    numbers = [np.array([2**64 - 7], dtype=np.uint64), np.array([3], dtype=np.uint64)]
    assert opened(sent(numbers, [5, 2**64 - 5])).tolist() == [-4]


def masked(asked="1", n_sites=3):
    """Messages of one cell without counts: what is left of their masks often looks like one."""
    masks = pairwise_masks(n_sites, (2,), SYSTEM)
    return sent([mask[1:] for mask in masks], [int(mask[0]) for mask in masks], asked)


def _altered(message):
    return replace(message, numbers=message.numbers ^ np.uint64(1))


def _without_check(message):
    return replace(message, zero=0)


def _other_cells(message):
    return Message.with_checksum(
        np.repeat(message.numbers, 2),
        zero=message.zero,
        asked=message.asked,
        site=message.site,
        n_sites=message.n_sites,
    )


NO_SUMS = {
    "none": (list, "there is no message"),
    "a missing one": (lambda: masked()[:2], "2 messages of 3 sites, and that of site 2 is missing"),
    "twice": (lambda: [*masked(), masked()[0]], "one is there twice"),
    "one in place of another": (
        lambda: [*(three := masked())[:2], three[1]],
        "that of site 2 is missing",
    ),
    "another sum": (lambda: [*masked()[:2], masked("2")[2]], "parts of different sums"),
    "other sites": (lambda: [*masked()[:2], masked(n_sites=4)[2]], "parts of different sums"),
    "other cells": (
        lambda: [*masked()[:2], _other_cells(masked()[2])],
        "parts of different sums",
    ),
    "altered": (lambda: [*masked()[:2], _altered(masked()[2])], "of site 2 was altered"),
    "another zero": (lambda: [_without_check(each) for each in masked()], "of site 0 was altered"),
    "another's name": (lambda: [replace(masked()[0], site=1)], "of site 1 was altered"),
    "masks of two sums": (lambda: [*masked()[:2], masked()[2]], "masks did not cancel"),
}


@pytest.mark.parametrize("name", NO_SUMS)
def test_what_is_no_sum_of_all_sites_is_not_opened(name):
    messages, said = NO_SUMS[name]
    given = messages()
    with pytest.raises(ParameterError, match=said):
        opened(given)


def test_masks_that_are_left_in_a_sum_of_one_cell_never_look_like_a_count():
    """One in eight did, when a sum was told from what is left by its size."""
    for _ in range(200):
        with pytest.raises(ParameterError, match="masks did not cancel"):
            opened([*masked()[:2], masked()[2]])


def test_a_table_without_shares_is_another_object():
    assert not hasattr(private_table((2,), 5), "share")
