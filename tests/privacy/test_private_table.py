"""The private table: noise as stated under both adjacencies, and nothing of the records to see."""

import copy
import gc
import pickle
from fractions import Fraction

import numpy as np
import pytest
from helpers import tables as small
from helpers.homes import home
from oracles.privacy import ArraySource, Seeded, failed, gaussian_p_values

from synthdp.core import BudgetExceededError, Coarsening, Domain, ParameterError, PrivacyError
from synthdp.privacy import (
    Accounting,
    Adjacency,
    PrivateTable,
    Queryable,
    SelectionEvent,
    SystemRandomness,
    gaussian_noise,
)

noise = home(gaussian_noise)
queryable = home(Queryable)

# The noise is what the event states


def noise_of_measurement(
    adjacency, coarsening=None, rho=Fraction(1, 8), accounting=Accounting.ZCDP
):
    """Noise of one big marginal, and the sigma that its event and its measurement state."""
    domain = Domain(("x", "y"), (500, 400))
    rows = [(i % 7, 3) for i in range(50)]
    table = small.private(rows, adjacency, domain=domain, accounting=accounting)
    measurement = table.measure(("x", "y"), rho=rho, coarsening=coarsening)
    counts = ArraySource(domain, rows).counts(("x", "y"))
    truth = coarsening.apply(("x", "y"), counts) if coarsening else counts
    (event,) = table.ledger.events
    assert (
        measurement.stddev
        == event.stddev
        == pytest.approx((float(event.sigma_squared) + 1 / 12) ** 0.5)
    )
    return (
        (measurement.values - truth).astype(np.int64).ravel(),
        float(event.sigma_squared) ** 0.5,
        event,
    )


@small.BOTH
@pytest.mark.parametrize(
    "coarsening", [None, Coarsening({"x": np.arange(500) // 2})], ids=["plain", "merged"]
)
@small.EITHER
def test_noise_has_the_stated_distribution(adjacency, coarsening, accounting):
    draws, sigma, event = noise_of_measurement(adjacency, coarsening, accounting=accounting)
    assert event.sigma_squared == Fraction(adjacency.marginal_l2_squared) / (2 * Fraction(1, 8))
    assert not failed(gaussian_p_values(draws, sigma))


@small.BOTH
def test_half_the_noise_is_noticed(adjacency, monkeypatch):
    def half(*, sigma_squared, size, randomness):
        return noise.gaussian_noise(
            sigma_squared=sigma_squared / 4, size=size, randomness=randomness
        )

    monkeypatch.setattr(queryable, "gaussian_noise", half)
    for accounting in Accounting:
        draws, sigma, _ = noise_of_measurement(adjacency, accounting=accounting)
        wrong = failed(gaussian_p_values(draws, sigma))
        assert {"fit", "variance"} <= set(wrong)


def test_noise_of_the_wrong_adjacency_is_noticed():
    draws, sigma, _ = noise_of_measurement(Adjacency.ADD_REMOVE)
    assert {"fit", "variance"} <= set(failed(gaussian_p_values(draws, sigma * 2**0.5)))


@small.BOTH
def test_merged_measurement_has_merged_shape_and_says_so(adjacency):
    table = small.private(adjacency=adjacency)
    measured = table.measure(("b", "c"), rho=100.0, coarsening=small.MERGING)
    assert measured.values.shape == (2, 2)
    assert list(measured.coarsening.groups) == ["c"]
    measured.check_fits(small.DOMAIN)
    assert table.measure(("b",), rho=1.0, coarsening=small.MERGING).coarsening is None


def test_measure_spends_exactly_rho_and_keeps_the_axes_asked_for():
    table = small.private()
    measured = table.measure(("c", "a"), rho=400.0)
    assert measured.clique == ("c", "a")
    assert np.array_equal(
        measured.values, small.exact(("c", "a"))
    )  # sigma = 0.035: noise in one cell of 1e176
    assert table.ledger.spent == 400
    assert table.released == (measured,)


@small.BOTH
def test_the_empty_clique_is_the_noisy_total(adjacency):
    table = small.private(small.ROWS, adjacency)
    measured = table.measure((), rho=400.0)
    assert measured.values.shape == ()
    assert measured.values == len(small.ROWS)
    totals = np.array(
        [small.private(small.ROWS, adjacency).measure((), rho=0.5).values for _ in range(300)]
    ) - len(small.ROWS)
    assert totals.std() > 0.3


def test_released_values_share_no_memory_with_counts():
    class OneArray(ArraySource):
        def __init__(self):
            super().__init__(small.DOMAIN, [])
            self.held = np.full((3,), 5, dtype=np.int64)

        def counts_of(self, cliques):
            return [self.held for _ in cliques]

    source = OneArray()
    measured = PrivateTable(source, small.ledger()).measure(("a",), rho=400.0)
    assert not np.shares_memory(measured.values, source.held)
    assert source.held.tolist() == [5, 5, 5]


# Nothing to see


def test_a_private_table_cannot_be_copied():
    table = small.private()
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(PrivacyError, match="copied"):
            attempt(table)


def test_it_has_no_length_no_iteration_and_no_attributes_to_add():
    table = small.private()
    for attempt in (len, iter, vars, lambda t: t[0], lambda t: "a" in t):
        with pytest.raises(TypeError):
            attempt(table)
    with pytest.raises(AttributeError):
        table.rows = 1


def test_its_public_face_is_small():
    public = {name for name in dir(PrivateTable) if not name.startswith("_")}
    assert public == {
        "close",
        "domain",
        "ledger",
        "measure",
        "randomness",
        "released",
        "scores",
        "select",
    }
    for name in public - {"close", "measure", "scores", "select"}:
        with pytest.raises(AttributeError):
            setattr(small.private(), name, None)


def test_a_closed_table_answers_nothing_and_costs_nothing():
    table = small.private()
    measured = table.measure(("a",), rho=1.0)
    score = small.zero_score()
    table.select(small.CLIQUES, score=score, rho=1.0)
    spent = table.ledger.spent
    table.close()
    for ask in (
        lambda: table.measure(("a",), rho=1.0),
        lambda: table.select(small.CLIQUES, score=score, rho=1.0),
        lambda: table.scores(small.CLIQUES, score=score, rho=1.0),
    ):
        with pytest.raises(PrivacyError, match="its run is over"):
            ask()
    assert table.ledger.spent == spent
    assert table.released == (measured,)


def test_its_text_says_the_same_whatever_the_records_are():
    few, many = small.private(small.ROWS), small.private(small.ROWS * 99)
    assert repr(few) == repr(many) == str(many) == f"{many}"
    assert repr(few) == "PrivateTable(3 attributes, add-remove)"


def test_errors_say_the_same_whatever_the_records_are():
    def complaints(rows):
        table = small.private(rows, epsilon=1.0)
        for request in [
            lambda: table.measure("ab", rho=1),
            lambda: table.measure(("a",), rho=50),
            lambda: table.measure(("z",), rho=1),
            lambda: table.select([], score=small.zero_score(), rho=1),
            lambda: table.select(small.CLIQUES, score=small.zero_score(), rho=50),
            lambda: table.scores([("a",), ("a",)], score=small.zero_score(), rho=1),
            lambda: table.scores(small.CLIQUES, score=small.zero_score(), rho=50),
        ]:
            with pytest.raises((ParameterError, BudgetExceededError)) as caught:
                request()
            yield str(caught.value)

    assert list(complaints([])) == list(complaints(small.ROWS * 50))


def test_a_measurement_does_not_lead_back_to_the_table():
    table = small.private()
    measured = table.measure(("a",), rho=1.0, coarsening=small.MERGING)
    reachable, todo = set(), [measured]
    while todo:
        thing = todo.pop()
        if id(thing) not in reachable and not isinstance(thing, type):
            reachable.add(id(thing))
            todo.extend(gc.get_referents(thing))
    assert id(table) not in reachable
    assert id(table._source) not in reachable


def test_default_randomness_is_the_systems():
    assert type(small.private().randomness) is SystemRandomness


def test_injected_randomness_is_used_even_if_it_is_falsy():
    class Falsy(Seeded):
        def __len__(self):
            return 0

    source = Falsy(1)
    assert small.private(randomness=source).randomness is source


def test_selection_events_are_recorded():
    table = small.private(adjacency=Adjacency.REPLACE_ONE)
    table.select(small.CLIQUES, score=small.zero_score(), rho=0.5)
    (event,) = table.ledger.events
    assert isinstance(event, SelectionEvent)
    assert (event.n_candidates, event.sensitivity, event.epsilon) == (len(small.CLIQUES), 2, 2)
