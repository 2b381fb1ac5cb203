"""The private table: charge first, noise as stated, sensitivity as declared, and nothing to see.

`audit` is the deterministic test of privacy: it runs the same requests with the same random bits
on two neighbouring tables and checks every claim of every event exactly. Mutants at the end of
its section show that it notices when a claim is wrong.
"""

import copy
import gc
import pickle
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_privacy import ArraySource, Seeded, UntouchableSource, failed, gaussian_p_values, p_binomial, p_chi_squared

from synthdp.domain import Domain
from synthdp.errors import BudgetExceededError, ParameterError, PrivacyError
from synthdp.measurement import Coarsening
from synthdp.privacy import noise, private_table
from synthdp.privacy.events import Adjacency, MarginalEvent, SelectionEvent
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.randomness import SystemRandomness
from synthdp.privacy.scores import MarginalL1Error

DOMAIN = Domain(("a", "b", "c"), (3, 2, 4))
CLIQUES = [("a",), ("b",), ("a", "c"), ("c", "a"), ("a", "b", "c"), ()]
MERGING = Coarsening({"c": np.array([1, 0, 1, 0]), "a": np.array([0, 1, 0])})
ROWS = [(0, 1, 2), (2, 0, 3), (0, 1, 2), (1, 1, 0)]
BOTH = pytest.mark.parametrize("adjacency", Adjacency)

rows_of = st.tuples(*(st.integers(0, size - 1) for size in DOMAIN.shape))
tables = st.lists(rows_of, max_size=12)


def ledger(adjacency=Adjacency.ADD_REMOVE, epsilon=1000.0):
    return PrivacyLedger(epsilon=epsilon, delta=1e-9, adjacency=adjacency)


def private(rows=ROWS, adjacency=Adjacency.ADD_REMOVE, randomness=None, domain=DOMAIN, epsilon=1000.0):
    return PrivateTable(ArraySource(domain, rows), ledger(adjacency, epsilon), randomness=randomness)


def untouchable(adjacency=Adjacency.ADD_REMOVE):
    return PrivateTable(UntouchableSource(DOMAIN), ledger(adjacency))


def exact(clique, rows=ROWS, coarsening=None):
    counts = ArraySource(DOMAIN, rows).counts(clique)
    return coarsening.apply(clique, counts) if coarsening else counts


def zero_score(cliques=CLIQUES, coarsening=None):
    domain = coarsening.domain(DOMAIN) if coarsening else DOMAIN
    return MarginalL1Error({c: np.zeros(domain.project(c).shape) for c in cliques}, coarsening)


# The noise is what the event states


def noise_of_measurement(adjacency, coarsening=None, rho=Fraction(1, 8)):
    """Noise of one big marginal, and the sigma that its event and its measurement state."""
    domain = Domain(("x", "y"), (500, 400))
    rows = [(i % 7, 3) for i in range(50)]
    table = private(rows, adjacency, domain=domain)
    measurement = table.measure(("x", "y"), rho=rho, coarsening=coarsening)
    counts = ArraySource(domain, rows).counts(("x", "y"))
    truth = coarsening.apply(("x", "y"), counts) if coarsening else counts
    (event,) = table.ledger.events
    assert float(event.sigma_squared) == pytest.approx(measurement.stddev**2)
    return (measurement.values - truth).astype(np.int64).ravel(), measurement.stddev, event


@BOTH
@pytest.mark.parametrize("coarsening", [None, Coarsening({"x": np.arange(500) // 2})], ids=["plain", "merged"])
def test_noise_has_the_stated_distribution(adjacency, coarsening):
    draws, stddev, event = noise_of_measurement(adjacency, coarsening)
    assert event.sigma_squared == Fraction(adjacency.marginal_l2_squared) / (2 * Fraction(1, 8))
    assert not failed(gaussian_p_values(draws, stddev))


@BOTH
def test_half_the_noise_is_noticed(adjacency, monkeypatch):
    def half(*, sigma_squared, size, randomness):
        return noise.discrete_gaussian(sigma_squared=sigma_squared / 4, size=size, randomness=randomness)

    monkeypatch.setattr(private_table, "discrete_gaussian", half)
    draws, stddev, _ = noise_of_measurement(adjacency)
    assert {"fit", "variance"} <= set(failed(gaussian_p_values(draws, stddev)))


def test_noise_of_the_wrong_adjacency_is_noticed():
    draws, stddev, _ = noise_of_measurement(Adjacency.ADD_REMOVE)
    assert {"fit", "variance"} <= set(failed(gaussian_p_values(draws, stddev * 2**0.5)))


@BOTH
def test_merged_measurement_has_merged_shape_and_says_so(adjacency):
    table = private(adjacency=adjacency)
    measured = table.measure(("b", "c"), rho=100.0, coarsening=MERGING)
    assert measured.values.shape == (2, 2)
    assert list(measured.coarsening.groups) == ["c"]
    measured.check_fits(DOMAIN)
    assert table.measure(("b",), rho=1.0, coarsening=MERGING).coarsening is None


def test_measure_spends_exactly_rho_and_keeps_the_axes_asked_for():
    table = private()
    measured = table.measure(("c", "a"), rho=400.0)
    assert measured.clique == ("c", "a")
    assert np.array_equal(measured.values, exact(("c", "a")))  # sigma = 0.035: noise in one cell of 1e176
    assert table.ledger.spent == 400
    assert table.released == (measured,)


@BOTH
def test_the_empty_clique_is_the_noisy_total(adjacency):
    table = private(ROWS, adjacency)
    measured = table.measure((), rho=400.0)
    assert measured.values.shape == ()
    assert measured.values == len(ROWS)
    totals = np.array([private(ROWS, adjacency).measure((), rho=0.5).values for _ in range(300)]) - len(ROWS)
    assert totals.std() > 0.3


def test_released_values_share_no_memory_with_counts():
    class OneArray(ArraySource):
        def __init__(self):
            super().__init__(DOMAIN, [])
            self.held = np.full((3,), 5, dtype=np.int64)

        def counts(self, clique):
            return self.held

    source = OneArray()
    measured = PrivateTable(source, ledger()).measure(("a",), rho=400.0)
    assert not np.shares_memory(measured.values, source.held)
    assert source.held.tolist() == [5, 5, 5]


# Charge first


def requests(table):
    yield lambda rho: table.measure(("a",), rho=rho)
    yield lambda rho: table.measure((), rho=rho)
    yield lambda rho: table.measure(("a", "c"), rho=rho, coarsening=MERGING)
    yield lambda rho: table.select(CLIQUES, score=zero_score(), rho=rho)


BAD_RHOS = [
    0,
    0.0,
    -0.0,
    -1,
    nan,
    inf,
    -inf,
    Fraction(0),
    Fraction(-1, 2),
    False,
    10**400,
    Fraction(10**400),
    np.float64(nan),
]


@pytest.mark.parametrize("rho", [*BAD_RHOS, 1e-320, Fraction(1, 1 << 200)], ids=lambda rho: str(rho)[:12])
def test_a_bad_rho_costs_nothing_and_touches_nothing(rho):
    table = untouchable()
    for request in requests(table):
        with pytest.raises(ParameterError, match="rho"):
            request(rho)
    assert table.ledger.spent == 0


@BOTH
def test_a_request_beyond_the_budget_never_reaches_the_records(adjacency):
    table = untouchable(adjacency)
    table.ledger.charge(MarginalEvent.costing(table.ledger.budget - 1, clique=("a",), adjacency=adjacency))
    before = table.ledger.events
    for request in requests(table):
        with pytest.raises(BudgetExceededError):
            request(Fraction(1) + Fraction(1, 1 << 70))
    assert table.ledger.events == before
    assert table.ledger.remaining == 1


def test_the_charge_is_booked_before_the_records_are_asked():
    for index in range(4):
        table = untouchable()
        with pytest.raises(AssertionError, match="touched"):
            list(requests(table))[index](0.5)
        assert 0 < table.ledger.spent <= Fraction(1, 2)
        assert len(table.ledger.events) == 1


def test_the_last_of_the_budget_can_be_spent():
    table = private(epsilon=1.0)
    table.measure(("a",), rho=table.ledger.budget / 3)
    table.select(CLIQUES, score=zero_score(), rho=table.ledger.remaining / 7)
    table.measure(("b",), rho=table.ledger.remaining)
    assert table.ledger.remaining == 0
    with pytest.raises(BudgetExceededError):
        table.measure(("b",), rho=Fraction(1, 1 << 75))


@pytest.mark.parametrize(
    "rho", [np.int64(1), np.float32(0.5), np.float64(0.5), Fraction(np.int64(1), np.int64(2)), 1, True]
)
def test_numbers_of_any_make_are_charged_exactly(rho):
    table = private()
    table.measure(("a",), rho=rho)
    assert table.ledger.spent == Fraction(float(rho))
    table.select(CLIQUES, score=zero_score(), rho=rho)
    assert 0 < table.ledger.spent <= 2 * Fraction(float(rho))
    for event in table.ledger.events:
        assert type(event.rho.numerator) is type(event.rho.denominator) is int


@pytest.mark.parametrize("clique", ["ab", "a", ("a", "a"), ("a", "nobody"), ["b", "b"], ("A",)])
def test_refused_cliques(clique):
    table = untouchable()
    with pytest.raises(ParameterError):
        table.measure(clique, rho=1.0)
    with pytest.raises(ParameterError):
        table.select([("a",), clique], score=zero_score(), rho=1.0)
    assert table.ledger.spent == 0


def test_a_clique_may_be_a_list():
    table = private()
    assert table.measure(["a", "c"], rho=1.0).clique == ("a", "c")
    assert table.ledger.events[0].clique == ("a", "c")
    assert table.select([["a"]], score=zero_score(), rho=1.0) == ("a",)


def test_a_marginal_of_too_many_cells_is_refused_merged_or_not():
    domain = Domain(("x", "y"), (2**14, 2**14))
    table = PrivateTable(UntouchableSource(domain), ledger())
    merging = Coarsening({"x": np.zeros(2**14, dtype=np.int64), "y": np.zeros(2**14, dtype=np.int64)})
    score = MarginalL1Error({("x", "y"): np.zeros((1, 1))}, merging)
    for request in (
        lambda: table.measure(("x", "y"), rho=1.0),
        lambda: table.measure(("x", "y"), rho=1.0, coarsening=merging),
        lambda: table.select([("x", "y")], score=score, rho=1.0),
    ):
        with pytest.raises(ParameterError, match="cells"):
            request()
    assert table.ledger.spent == 0


@pytest.mark.parametrize("groups", [{"nobody": np.array([0])}, {"a": np.array([0, 1])}])
def test_a_coarsening_that_does_not_fit_is_refused(groups):
    table = untouchable()
    with pytest.raises(ParameterError):
        table.measure(("b",), rho=1.0, coarsening=Coarsening(groups))
    assert table.ledger.spent == 0


def test_a_coarsening_changed_behind_our_back_is_refused():
    """A gap in the groups would repeat a cell and so raise the sensitivity."""
    groups = np.array([0, 1, 2])
    coarsening = Coarsening({"a": groups})
    groups[1] = 2
    table = untouchable()
    with pytest.raises(ParameterError, match="gaps"):
        table.measure(("a",), rho=1.0, coarsening=coarsening)
    assert table.ledger.spent == 0


def test_bad_selections_are_refused():
    table = untouchable()
    wrong_shape = MarginalL1Error({("a",): np.zeros(4)})
    for candidates, score in [([], zero_score()), ([("b", "c")], zero_score()), ([("a",)], wrong_shape)]:
        with pytest.raises(ParameterError):
            table.select(candidates, score=score, rho=1.0)
    assert table.ledger.spent == 0


def test_only_the_kernels_own_scores_may_look_at_counts():
    class Greedy(MarginalL1Error):
        def grid_units(self, clique, counts):
            raise AssertionError("saw the counts")

    for score in (Greedy({("a",): np.zeros(3)}), object(), None):
        with pytest.raises(ParameterError, match="score"):
            untouchable().select([("a",)], score=score, rho=1.0)


@pytest.mark.parametrize(
    "counts", [np.zeros(3), np.zeros(3, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.zeros((1, 3), dtype=np.int64)]
)
def test_a_source_of_the_wrong_kind_is_refused(counts):
    """Floats would bring back rounding, other shapes would be broadcast."""
    source = UntouchableSource(DOMAIN)
    source.counts = lambda _: counts
    for request in list(requests(PrivateTable(source, ledger())))[:1]:
        with pytest.raises(PrivacyError, match="int64"):
            request(1.0)


# Scores


def test_score_is_the_l1_error_in_grid_units():
    estimate = np.array([1.0, 0.5, 2**-11 + 2**-12])
    score = MarginalL1Error({("a",): estimate})
    assert score.units_per_record == 1024
    assert score.grid_units(("a",), exact(("a",))) == 1024 + 512 + 1024 - 1


@pytest.mark.parametrize(
    "estimate", [np.full(3, nan), np.array([inf, 0, 0]), np.full(3, 2.0**39), np.array([2**41, 0, 0])]
)
def test_estimates_that_could_overflow_are_refused(estimate):
    with pytest.raises(ParameterError, match="estimate"):
        MarginalL1Error({("a",): estimate})


def test_many_large_estimates_cannot_wrap_round():
    """2^13 cells of 2^40 would add up to 2^63 units: one record less and the sum would be negative."""
    with pytest.raises(ParameterError, match="estimate"):
        MarginalL1Error({("a",): np.full(2**13, 2.0**40)})
    score = MarginalL1Error({("a",): np.full(2**13, 2.0**27)})
    assert score.grid_units(("a",), np.zeros(2**13, dtype=np.int64)) == 2**50
    assert score.grid_units(("a",), np.full(2**13, 2**36, dtype=np.int64)) == (2**36 - 2**27) * 2**13 * 2**10


def test_estimates_are_fixed_when_the_score_is_made():
    estimate = np.zeros(3)
    score = MarginalL1Error({("a",): estimate})
    estimate[:] = nan
    assert score.grid_units(("a",), exact(("a",))) == 4 * 1024
    assert MarginalL1Error({("a",): [0, 0, 0]}).grid_units(("a",), exact(("a",))) == 4 * 1024


estimates_of = st.lists(st.floats(-50, 50), min_size=24, max_size=24)


@settings(max_examples=150, deadline=None)
@given(rows=tables, row=rows_of, numbers=estimates_of, at=st.integers(0, 11), merged=st.booleans())
def test_score_sensitivity_is_exact(rows, row, numbers, at, merged):
    coarsening = MERGING if merged else None
    domain = MERGING.domain(DOMAIN) if merged else DOMAIN
    shapes = {clique: domain.project(clique).shape for clique in CLIQUES}
    score = MarginalL1Error({c: np.resize(numbers, shape) for c, shape in shapes.items()}, coarsening)
    neighbours = {Adjacency.ADD_REMOVE: [*rows, row]}
    if rows:
        neighbours[Adjacency.REPLACE_ONE] = [row if i == at % len(rows) else old for i, old in enumerate(rows)]
    for adjacency, other in neighbours.items():
        for clique in CLIQUES:
            change = score.grid_units(clique, exact(clique, rows, coarsening)) - score.grid_units(
                clique, exact(clique, other, coarsening)
            )
            assert abs(change) <= score.sensitivity(adjacency) * score.units_per_record


# Selection


@BOTH
@pytest.mark.parametrize("rho", [Fraction(1, 7), 0.003, 2, 1e-12])
def test_select_costs_at_most_rho_and_hardly_less(adjacency, rho):
    table = private(adjacency=adjacency)
    table.select(CLIQUES, score=zero_score(), rho=rho)
    assert 0 <= Fraction(rho) - table.ledger.spent <= Fraction(rho) / 10**9


def selection_counts(adjacency, n=6000, epsilon=Fraction(1, 2)):
    """How often each candidate wins, and the exact probabilities by the formula in floating point."""
    rows = [(0, 0, 0)] * 6 + [(1, 1, 2)]
    candidates, estimates = [("a",), ("b",), ("c",), ()], {}
    for clique, guess in zip(candidates, (0.0, 3.5, 1.25, 9.0), strict=True):
        estimates[clique] = np.full(DOMAIN.project(clique).shape, guess)
    table = private(rows, adjacency, epsilon=1e6)
    score = MarginalL1Error(estimates)
    wins = [table.select(candidates, score=score, rho=epsilon**2 / 8) for _ in range(n)]
    errors = np.array([np.abs(exact(c, rows) - estimates[c]).sum() for c in candidates])
    weights = np.exp(float(epsilon) * errors / (2 * adjacency.marginal_l1))
    return np.array([wins.count(c) for c in candidates]), weights / weights.sum()


@BOTH
def test_select_follows_the_exponential_mechanism(adjacency):
    wins, probabilities = selection_counts(adjacency)
    assert not failed({"fit": p_chi_squared(wins, probabilities)})
    top = int(np.argmax(probabilities))
    assert not failed({"top": p_binomial(int(wins[top]), int(wins.sum()), probabilities[top])})
    doubled = probabilities**2 / (probabilities**2).sum()
    assert failed({"fit": p_chi_squared(wins, doubled)})


def test_select_with_one_candidate_and_with_ties():
    table = private()
    assert table.select([("b",)], score=zero_score(), rho=0.1) == ("b",)
    wins = [table.select([("a",), ("b",)], score=zero_score(), rho=0.01) for _ in range(2000)]
    assert not failed({"even": p_binomial(wins.count(("a",)), 2000, 0.5)})


# The audit: neighbouring tables, the same bits


def run_recorded(rows, adjacency, requests, monkeypatch):
    """Answer the requests; returns the table, its answers and the exponents of its selections."""
    exponents = []
    original = private_table.exponential_mechanism

    def record(values, randomness):
        exponents.append(list(values))
        return original(values, randomness)

    with monkeypatch.context() as patch:
        patch.setattr(private_table, "exponential_mechanism", record)
        table = private(rows, adjacency, Seeded(11))
        answers = [request(table) for request in requests]
    return table, answers, exponents


def audit(rows, other, adjacency, requests, monkeypatch):
    """Violations of what the events claim, between two neighbours, by name."""
    table, answers, exponents = run_recorded(rows, adjacency, requests, monkeypatch)
    table_, answers_, exponents_ = run_recorded(other, adjacency, requests, monkeypatch)
    found = set()
    if table.ledger.events != table_.ledger.events:
        found.add("the events depend on the records")
    if table.ledger.spent != sum(event.rho for event in table.ledger.events):
        found.add("the sum is wrong")
    selections = iter(zip(exponents, exponents_, strict=True))
    for event, answer, answer_ in zip(table.ledger.events, answers, answers_, strict=True):
        if isinstance(event, MarginalEvent):
            truth, truth_ = (exact(answer.clique, r, answer.coarsening) for r in (rows, other))
            if not np.array_equal(answer.values - answer_.values, truth - truth_):
                found.add("the noise depends on the records")
            if ((answer.values - answer_.values) ** 2).sum() > event.sensitivity_squared:
                found.add("a marginal moves further than declared")
            if event.rho != Fraction(event.sensitivity_squared) / (2 * event.sigma_squared):
                found.add("the cost of a marginal is wrong")
        else:
            moves = [one - two for one, two in zip(*next(selections), strict=True)]
            if max(moves) - min(moves) > event.epsilon:
                found.add("a selection is not epsilon-bounded-range")
    return found


def select_request(cliques, numbers, coarsening):
    domain = coarsening.domain(DOMAIN) if coarsening else DOMAIN
    score = MarginalL1Error({c: np.resize(numbers, domain.project(c).shape) for c in cliques}, coarsening)
    return lambda table: table.select(cliques, score=score, rho=Fraction(1, 50))


def all_requests(numbers):
    measures = [
        lambda table, c=c, m=m: table.measure(c, rho=Fraction(1, 3), coarsening=m)
        for c in CLIQUES
        for m in (None, MERGING)
    ]
    return [*measures, *(select_request(CLIQUES, numbers, m) for m in (None, MERGING))]


@settings(max_examples=40, deadline=None)
@given(rows=tables, row=rows_of, numbers=estimates_of)
def test_audit_adding_a_record(rows, row, numbers):
    with pytest.MonkeyPatch.context() as patch:
        assert audit(rows, [*rows, row], Adjacency.ADD_REMOVE, all_requests(numbers), patch) == set()


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(rows_of, min_size=1, max_size=12), row=rows_of, numbers=estimates_of)
def test_audit_replacing_a_record(rows, row, numbers):
    with pytest.MonkeyPatch.context() as patch:
        assert audit(rows, [row, *rows[1:]], Adjacency.REPLACE_ONE, all_requests(numbers), patch) == set()


def test_adding_a_record_moves_one_cell_by_one():
    row = (2, 1, 3)
    for clique in CLIQUES:
        one, two = (private(rows, randomness=Seeded(5)).measure(clique, rho=0.1) for rows in (ROWS, [*ROWS, row]))
        one_hot = np.zeros(one.values.shape)
        one_hot[tuple(row[DOMAIN.index(name)] for name in clique)] = 1
        assert np.array_equal(two.values - one.values, one_hot)


# a and b move apart: a's error grows by 2 when the record is replaced, b's falls by 2
WORST = dict(
    rows=[(0, 0, 0)] * 3, other=[(0, 0, 0)] * 2 + [(1, 1, 0)], adjacency=Adjacency.REPLACE_ONE,
    requests=[
        lambda table: table.measure(("a", "b"), rho=0.1),
        lambda table: table.select(
            [("a",), ("b",)],
            score=MarginalL1Error({("a",): np.array([3.0, 0, 0]), ("b",): np.array([2.0, 1.0])}), rho=0.1,
        ),
    ],
)  # fmt: skip


def test_audit_of_the_worst_case_is_tight(monkeypatch):
    assert audit(**WORST, monkeypatch=monkeypatch) == set()
    _, _, ((a, b),) = run_recorded(WORST["rows"], WORST["adjacency"], WORST["requests"], monkeypatch)
    table, _, ((a_, b_),) = run_recorded(WORST["other"], WORST["adjacency"], WORST["requests"], monkeypatch)
    assert abs((a - a_) - (b - b_)) == table.ledger.events[1].epsilon


def understate_l2(monkeypatch):
    monkeypatch.setattr(Adjacency, "marginal_l2_squared", 1)


def understate_l1(monkeypatch):
    monkeypatch.setattr(Adjacency, "marginal_l1", 1)


def understate_in_the_score(monkeypatch):
    monkeypatch.setattr(MarginalL1Error, "sensitivity", lambda *_: 1)


def forget_the_factor_two(monkeypatch):
    monkeypatch.setattr(MarginalL1Error, "units_per_record", 512)


def score_too_finely(monkeypatch):
    original = MarginalL1Error.grid_units
    monkeypatch.setattr(MarginalL1Error, "grid_units", lambda self, clique, counts: 2 * original(self, clique, counts))


def undercharge(monkeypatch):
    monkeypatch.setattr(
        MarginalEvent, "rho", property(lambda self: self.sensitivity_squared / (4 * self.sigma_squared))
    )


def use_bits_by_the_records(monkeypatch):
    original = PrivateTable._counts

    def counts(self, clique, coarsening):
        self._randomness.random_bytes(64 * int(self._source.counts(("a",)).max()))
        return original(self, clique, coarsening)

    monkeypatch.setattr(PrivateTable, "_counts", counts)


def charge_by_the_records(monkeypatch):
    original = PrivateTable.measure

    def measure(self, clique, *, rho, coarsening=None):
        return original(self, clique, rho=rho + float(self._source.counts(("a",))[0]), coarsening=coarsening)

    monkeypatch.setattr(PrivateTable, "measure", measure)


@pytest.mark.parametrize(
    ("mutate", "violation"),
    [
        (understate_l2, "a marginal moves further than declared"),
        (understate_l1, "a selection is not epsilon-bounded-range"),
        (understate_in_the_score, "a selection is not epsilon-bounded-range"),
        (forget_the_factor_two, "a selection is not epsilon-bounded-range"),
        (score_too_finely, "a selection is not epsilon-bounded-range"),
        (undercharge, "the cost of a marginal is wrong"),
        (use_bits_by_the_records, "the noise depends on the records"),
        (charge_by_the_records, "the events depend on the records"),
    ],
)
def test_audit_finds_the_mutant(mutate, violation, monkeypatch):
    mutate(monkeypatch)
    repeated = WORST | {"requests": WORST["requests"] * 2}
    assert violation in audit(**repeated, monkeypatch=monkeypatch)


# Nothing to see


def test_a_private_table_cannot_be_copied():
    table = private()
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(PrivacyError, match="copied"):
            attempt(table)


def test_it_has_no_length_no_iteration_and_no_attributes_to_add():
    table = private()
    for attempt in (len, iter, vars, lambda t: t[0], lambda t: "a" in t):
        with pytest.raises(TypeError):
            attempt(table)
    with pytest.raises(AttributeError):
        table.rows = 1


def test_its_public_face_is_small():
    public = {name for name in dir(PrivateTable) if not name.startswith("_")}
    assert public == {"domain", "ledger", "measure", "randomness", "released", "select"}
    for name in public - {"measure", "select"}:
        with pytest.raises(AttributeError):
            setattr(private(), name, None)


def test_its_text_says_the_same_whatever_the_records_are():
    few, many = private(ROWS), private(ROWS * 99)
    assert repr(few) == repr(many) == str(many) == f"{many}"
    assert repr(few) == "PrivateTable(3 attributes, add-remove)"


def test_errors_say_the_same_whatever_the_records_are():
    def complaints(rows):
        table = private(rows, epsilon=1.0)
        for request in [
            lambda: table.measure("ab", rho=1),
            lambda: table.measure(("a",), rho=50),
            lambda: table.measure(("z",), rho=1),
            lambda: table.select([], score=zero_score(), rho=1),
            lambda: table.select(CLIQUES, score=zero_score(), rho=50),
        ]:
            with pytest.raises((ParameterError, BudgetExceededError)) as caught:
                request()
            yield str(caught.value)

    assert list(complaints([])) == list(complaints(ROWS * 50))


def test_a_measurement_does_not_lead_back_to_the_table():
    table = private()
    measured = table.measure(("a",), rho=1.0, coarsening=MERGING)
    reachable, todo = set(), [measured]
    while todo:
        thing = todo.pop()
        if id(thing) not in reachable and not isinstance(thing, type):
            reachable.add(id(thing))
            todo.extend(gc.get_referents(thing))
    assert id(table) not in reachable
    assert id(table._source) not in reachable


def test_default_randomness_is_the_systems():
    assert type(private().randomness) is SystemRandomness


def test_injected_randomness_is_used_even_if_it_is_falsy():
    class Falsy(Seeded):
        def __len__(self):
            return 0

    source = Falsy(1)
    assert private(randomness=source).randomness is source


def test_selection_events_are_recorded():
    table = private(adjacency=Adjacency.REPLACE_ONE)
    table.select(CLIQUES, score=zero_score(), rho=0.5)
    (event,) = table.ledger.events
    assert isinstance(event, SelectionEvent)
    assert (event.n_candidates, event.sensitivity, event.epsilon) == (len(CLIQUES), 2, 2)
