"""Every noisy number has noise of its own: no two cells, candidates or values share a random word."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.homes import home
from helpers.own_noise import cells_moved_alone, largest_correlation
from helpers.tables import CLIQUES, private, zero_score
from helpers.values import GRID, STARTS, Counts, Rows, book
from helpers.values import private as private_values

from synthdp.privacy import Accounting, Queryable

queryable = home(Queryable)

RHO = Fraction(1, 5000)
"""Sigma is 50 then: two cells are rarely equal by chance."""
EVERY = [("a", "b", "c"), ("b",), ("a", "c")]


def measured(clique):
    def ask(accounting, randomness=None):
        table = private(randomness=randomness, accounting=accounting)
        return table.measure(clique, rho=RHO).values.ravel()

    return ask


def scored(accounting, randomness=None):
    table = private(randomness=randomness, accounting=accounting)
    return np.array(list(table.scores(CLIQUES, score=zero_score(), rho=RHO).values()))


def counted(accounting, randomness=None):
    values = private_values(Rows([None, -9, -3, 0, 4]), book(accounting), randomness)
    found = values.histogram(GRID, STARTS, rho=RHO)
    return np.array([found.missing, found.below, *found.counts])


def frequent(accounting, randomness=None):
    values = private_values(Counts(np.arange(6), np.full(6, 10**6)), book(accounting), randomness)
    found = values.frequent(GRID, rho=RHO, delta=0.05)
    assert len(found.counts) == 6
    return np.array([found.missing, *found.counts.values()])


QUESTIONS = {f"measure {clique}": measured(clique) for clique in EVERY} | {
    "scores": scored,
    "histogram": counted,
    "frequent": frequent,
}
EACH = pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
EITHER = pytest.mark.parametrize("accounting", Accounting)


@EITHER
@EACH
def test_every_number_has_random_words_of_its_own(ask, accounting):
    alone, n_cells = cells_moved_alone(lambda bits: ask(accounting, bits))
    assert alone == set(range(n_cells))


@EITHER
@EACH
def test_no_two_numbers_noise_goes_together(ask, accounting):
    assert largest_correlation(lambda: ask(accounting)) < 0.5


@EACH
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("to", "of"), [(-1, 0), (1, 0), (-1, -2)])
def test_noise_that_is_shared_would_be_noticed(ask, sign, to, of, monkeypatch):
    draw = queryable.gaussian_noise

    def sharing(*arguments, **options):
        noise = draw(*arguments, **options)
        if noise.size > 1:
            noise[to] = sign * noise[of]
        return noise

    monkeypatch.setattr(queryable, "gaussian_noise", sharing)
    alone, n_cells = cells_moved_alone(lambda bits: ask(Accounting.GDP, bits))
    assert alone < set(range(n_cells))
    assert largest_correlation(lambda: ask(Accounting.GDP)) > 0.99
