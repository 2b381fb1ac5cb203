"""The audit: neighbouring tables, the same bits, and every claim of every event checked exactly.

It is the deterministic test of privacy. Mutants of the kernel show that it notices when a claim
is wrong.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_privacy import Seeded
from tables_privacy import CLIQUES, DOMAIN, MERGING, ROWS, estimates_of, exact, private, rows_of, tables

from synthdp.privacy import private_table
from synthdp.privacy.events import Adjacency, MarginalEvent
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.scores import MarginalL1Error


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
WORST = {
    "rows": [(0, 0, 0)] * 3,
    "other": [(0, 0, 0)] * 2 + [(1, 1, 0)],
    "adjacency": Adjacency.REPLACE_ONE,
    "requests": [
        lambda table: table.measure(("a", "b"), rho=0.1),
        lambda table: table.select(
            [("a",), ("b",)],
            score=MarginalL1Error({("a",): np.array([3.0, 0, 0]), ("b",): np.array([2.0, 1.0])}),
            rho=0.1,
        ),
    ],
}


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
