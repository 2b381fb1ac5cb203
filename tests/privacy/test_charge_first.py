"""Every request pays before the records are touched, and what is refused costs nothing."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.bad_rhos import BAD_RHOS
from helpers.tables import BOTH, CLIQUES, DOMAIN, MERGING, ledger, private, untouchable, zero_score
from oracles.privacy import UntouchableSource

from synthdp.core import BudgetExceededError, Coarsening, Domain, ParameterError, PrivacyError
from synthdp.privacy import Accounting, MarginalEvent, MarginalL1Error, PrivacyUnit, PrivateTable


def requests(table):
    """Every way to ask a table; those that Gaussian DP covers come first."""
    yield lambda rho: table.measure(("a",), rho=rho)
    yield lambda rho: table.measure((), rho=rho)
    yield lambda rho: table.measure(("a", "c"), rho=rho, coarsening=MERGING)
    yield lambda rho: table.scores(CLIQUES, score=zero_score(), rho=rho)
    yield lambda rho: table.select(CLIQUES, score=zero_score(), rho=rho)


N_GAUSSIAN = 4


@pytest.mark.parametrize(
    "rho", [*BAD_RHOS, 1e-320, Fraction(1, 1 << 200)], ids=lambda rho: str(rho)[:12]
)
def test_a_bad_rho_costs_nothing_and_touches_nothing(rho):
    table = untouchable()
    for request in requests(table):
        with pytest.raises(ParameterError, match="rho"):
            request(rho)
    assert table.ledger.spent == 0


@BOTH
def test_a_request_beyond_the_budget_never_reaches_the_records(adjacency):
    table = untouchable(adjacency)
    table.ledger.charge(
        MarginalEvent.costing(
            table.ledger.budget - 1, clique=("a",), unit=PrivacyUnit(adjacency=adjacency)
        )
    )
    before = table.ledger.events
    for request in requests(table):
        with pytest.raises(BudgetExceededError):
            request(Fraction(1) + Fraction(1, 1 << 70))
    assert table.ledger.events == before
    assert table.ledger.remaining == 1


def test_the_charge_is_booked_before_the_records_are_asked():
    for index in range(5):
        table = untouchable()
        with pytest.raises(AssertionError, match="touched"):
            list(requests(table))[index](0.5)
        assert 0 < table.ledger.spent <= Fraction(1, 2)
        assert len(table.ledger.events) == 1


def test_gaussian_dp_charges_first_too_and_refuses_selections():
    for index in range(N_GAUSSIAN):
        table = untouchable(accounting=Accounting.GDP)
        with pytest.raises(AssertionError, match="touched"):
            list(requests(table))[index](Fraction(1, 2))
        assert table.ledger.spent == Fraction(1, 2)
    table = untouchable(accounting=Accounting.GDP)
    with pytest.raises(PrivacyError, match="gdp"):
        list(requests(table))[N_GAUSSIAN](Fraction(1, 2))
    for request in list(requests(table))[:N_GAUSSIAN]:
        with pytest.raises(BudgetExceededError):
            request(table.ledger.budget + Fraction(1, 1 << 70))
        with pytest.raises(ParameterError, match="too little"):
            request(Fraction(1, 1 << 102))  # the noise ends at sigma = 2^50
    assert table.ledger.spent == 0


def test_the_last_of_the_budget_can_be_spent():
    table = private(epsilon=1.0)
    table.measure(("a",), rho=table.ledger.budget / 3)
    table.select(CLIQUES, score=zero_score(), rho=table.ledger.remaining / 7)
    table.scores(CLIQUES, score=zero_score(), rho=table.ledger.remaining / 3)
    table.measure(("b",), rho=table.ledger.remaining)
    assert table.ledger.remaining == 0
    with pytest.raises(BudgetExceededError):
        table.measure(("b",), rho=Fraction(1, 1 << 75))


@pytest.mark.parametrize(
    "rho",
    [np.int64(1), np.float32(0.5), np.float64(0.5), Fraction(np.int64(1), np.int64(2)), 1, True],
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
    with pytest.raises(ParameterError):
        table.scores([("a",), clique], score=zero_score(), rho=1.0)
    assert table.ledger.spent == 0


def test_a_clique_may_be_a_list():
    table = private()
    assert table.measure(["a", "c"], rho=1.0).clique == ("a", "c")
    assert table.ledger.events[0].clique == ("a", "c")
    assert table.select([["a"]], score=zero_score(), rho=1.0) == ("a",)


def test_a_marginal_of_too_many_cells_is_refused_merged_or_not():
    domain = Domain(("x", "y"), (2**14, 2**14))
    table = PrivateTable(UntouchableSource(domain), ledger())
    merging = Coarsening(
        {"x": np.zeros(2**14, dtype=np.int64), "y": np.zeros(2**14, dtype=np.int64)}
    )
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
    groups[1] = 2  # no effect: the groups were copied
    assert coarsening.groups["a"].tolist() == [0, 1, 2]
    coarsening.groups["a"].setflags(write=True)
    coarsening.groups["a"][1] = 2
    table = untouchable()
    with pytest.raises(ParameterError, match="gaps"):
        table.measure(("a",), rho=1.0, coarsening=coarsening)
    assert table.ledger.spent == 0


def test_bad_selections_are_refused():
    table = untouchable()
    wrong_shape = MarginalL1Error({("a",): np.zeros(4)})
    for candidates, score in [
        ([], zero_score()),
        ([("b", "c")], zero_score()),
        ([("a",)], wrong_shape),
    ]:
        with pytest.raises(ParameterError):
            table.select(candidates, score=score, rho=1.0)
        with pytest.raises(ParameterError):
            table.scores(candidates, score=score, rho=1.0)
    assert table.ledger.spent == 0


def test_scores_of_a_repeated_candidate_are_refused():
    """Its score would move twice as far as the event says."""
    table = untouchable()
    for repeated in ([("a",), ("b",), ("a",)], [("a",), ["a"]]):
        with pytest.raises(ParameterError, match="repeats"):
            table.scores(repeated, score=zero_score(), rho=1.0)
    assert table.ledger.spent == 0


def test_a_scores_coarsening_changed_behind_our_back_is_refused():
    """As for measurements: with a gap in the groups the error could move by 2."""
    coarsening = Coarsening({"a": np.array([0, 1, 2])})
    score = MarginalL1Error({("a",): np.zeros(3)}, coarsening)
    coarsening.groups["a"].setflags(write=True)
    coarsening.groups["a"][1] = 2
    table = untouchable()
    for ask in (table.select, table.scores):
        with pytest.raises(ParameterError, match="gaps"):
            ask([("a",)], score=score, rho=1.0)
    assert table.ledger.spent == 0


def test_only_the_kernels_own_scores_may_look_at_counts():
    class GreedyScore(MarginalL1Error):  # noqa: N818
        def error(self, *_):
            raise AssertionError("saw the counts")

    for score in (GreedyScore({("a",): np.zeros(3)}), object(), None):
        with pytest.raises(ParameterError, match="score"):
            untouchable().select([("a",)], score=score, rho=1.0)
        with pytest.raises(ParameterError, match="score"):
            untouchable().scores([("a",)], score=score, rho=1.0)


@pytest.mark.parametrize(
    "counts",
    [
        np.zeros(3),
        np.zeros(3, dtype=np.uint64),
        np.zeros(1, dtype=np.int64),
        np.zeros((1, 3), dtype=np.int64),
    ],
)
def test_a_source_of_the_wrong_kind_is_refused(counts):
    """Floats would bring back rounding, other shapes would be broadcast."""
    source = UntouchableSource(DOMAIN)
    source.counts_of = lambda cliques: [counts for _ in cliques]
    table = PrivateTable(source, ledger())
    for ask in (
        lambda: table.measure(("a",), rho=1.0),
        lambda: table.scores([("a",)], score=zero_score(), rho=1.0),
        lambda: table.select([("a",)], score=zero_score(), rho=1.0),
    ):
        with pytest.raises(PrivacyError, match="int64"):
            ask()
