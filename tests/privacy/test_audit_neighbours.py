"""The audit: neighbouring tables, the same bits, and every claim of every event checked exactly.

It is the deterministic test of privacy. Mutants of the kernel show that it notices when a claim
is wrong.
"""

from fractions import Fraction

import numpy as np
import pytest
from helpers import tables as small
from helpers.homes import home
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.privacy import Seeded

from synthdp.privacy import (
    Accounting,
    Adjacency,
    MarginalEvent,
    MarginalL1Error,
    PrivateTable,
    Queryable,
    ScoresEvent,
    SelectionEvent,
)

private_table = home(PrivateTable)
queryable = home(Queryable)


def run_recorded(rows, adjacency, requests, monkeypatch, accounting=Accounting.ZCDP):
    """Answer the requests; returns the table, its answers, the exponents of its selections and its
    draws of noise.
    """
    exponents, draws = [], []
    select, draw = private_table.exponential_mechanism, queryable.gaussian_noise

    def record_selection(gaps, per_unit, randomness):
        exponents.append([gap * per_unit for gap in gaps])
        return select(gaps, per_unit, randomness)

    def record_noise(*, sigma_squared, size, randomness):
        draws.append((sigma_squared, size))
        return draw(sigma_squared=sigma_squared, size=size, randomness=randomness)

    with monkeypatch.context() as patch:
        patch.setattr(private_table, "exponential_mechanism", record_selection)
        patch.setattr(queryable, "gaussian_noise", record_noise)
        table = small.private(rows, adjacency, Seeded(11), accounting=accounting)
        answers = [request(table) for request in requests]
    return table, answers, exponents, draws


def audit(rows, other, adjacency, requests, monkeypatch, accounting=Accounting.ZCDP):
    """Violations of what the events claim, between two neighbours, by name."""
    table, answers, exponents, draws = run_recorded(
        rows, adjacency, requests, monkeypatch, accounting
    )
    table_, answers_, exponents_, draws_ = run_recorded(
        other, adjacency, requests, monkeypatch, accounting
    )
    found = set()
    if table.ledger.events != table_.ledger.events:
        found.add("the events depend on the records")
    if table.ledger.spent != sum(event.rho for event in table.ledger.events):
        found.add("the sum is wrong")
    if draws != draws_:
        found.add("the noise depends on the records")
    selections, noise = iter(zip(exponents, exponents_, strict=True)), iter(draws)
    for event, answer, answer_ in zip(table.ledger.events, answers, answers_, strict=True):
        if isinstance(event, SelectionEvent):
            moves = [one - two for one, two in zip(*next(selections), strict=True)]
            if max(moves) - min(moves) > event.epsilon:
                found.add("a selection is not epsilon-bounded-range")
            continue
        if next(noise) != (event.sigma_squared, np.size(cells(answer))):
            found.add("the noise is not what the event says")
        if isinstance(event, MarginalEvent):
            truths = [small.exact(answer.clique, r, answer.coarsening) for r in (rows, other)]
            found.update(
                marginal_violations(event, answer.values - answer_.values, truths[0] - truths[1])
            )
        else:
            found.update(scores_violations(event, cells(answer) - cells(answer_)))
    return found


def cells(answer):
    """The noisy numbers of a marginal or of scores."""
    return np.array(list(answer.values())) if isinstance(answer, dict) else answer.values


def marginal_violations(event, moves, true_moves):
    if not np.array_equal(moves, true_moves):
        yield "the noise depends on the records"
    if (moves**2).sum() > event.sensitivity_squared:
        yield "a marginal moves further than declared"
    if event.rho != Fraction(event.sensitivity_squared) / (2 * event.sigma_squared):
        yield "the cost of a marginal is wrong"


def scores_violations(event, moves):
    if (moves**2).sum() > moves.size * event.sensitivity**2 or np.abs(
        moves
    ).max() > event.sensitivity:
        yield "scores move further than declared"
    if event.rho != Fraction(moves.size * event.sensitivity**2) / (2 * event.sigma_squared):
        yield "the cost of scores is wrong"


def score_of(cliques, numbers, coarsening, **weighting):
    domain = coarsening.domain(small.DOMAIN) if coarsening else small.DOMAIN
    return MarginalL1Error(
        {c: np.resize(numbers, domain.project(c).shape) for c in cliques}, coarsening, **weighting
    )


def gaussian_requests(numbers):
    measures = [
        lambda table, c=c, m=m: table.measure(c, rho=Fraction(1, 3), coarsening=m)
        for c in small.CLIQUES
        for m in (None, small.MERGING)
    ]
    scores = [score_of(small.CLIQUES, numbers, m) for m in (None, small.MERGING)]
    return [
        *measures,
        *(
            lambda table, s=s: table.scores(small.CLIQUES, score=s, rho=Fraction(1, 50))
            for s in scores
        ),
    ]


def all_requests(numbers):
    weighting = {
        "weights": {c: 0.3 + abs(x) for c, x in zip(small.CLIQUES, numbers, strict=False)},
        "penalties": dict(zip(small.CLIQUES, reversed(numbers), strict=False)),
    }
    scores = [
        score_of(small.CLIQUES, numbers, m, **w)
        for m in (None, small.MERGING)
        for w in ({}, weighting)
    ]
    selections = (
        lambda table, s=s: table.select(small.CLIQUES, score=s, rho=Fraction(1, 50)) for s in scores
    )
    return [*gaussian_requests(numbers), *selections]


@settings(max_examples=40, deadline=None)
@given(rows=small.tables, row=small.rows_of, numbers=small.estimates_of)
def test_audit_adding_a_record(rows, row, numbers):
    with pytest.MonkeyPatch.context() as patch:
        assert (
            audit(rows, [*rows, row], Adjacency.ADD_REMOVE, all_requests(numbers), patch) == set()
        )
        gaussian = gaussian_requests(numbers)
        assert (
            audit(rows, [*rows, row], Adjacency.ADD_REMOVE, gaussian, patch, Accounting.GDP)
            == set()
        )


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(small.rows_of, min_size=1, max_size=12),
    row=small.rows_of,
    numbers=small.estimates_of,
)
def test_audit_replacing_a_record(rows, row, numbers):
    with pytest.MonkeyPatch.context() as patch:
        assert (
            audit(rows, [row, *rows[1:]], Adjacency.REPLACE_ONE, all_requests(numbers), patch)
            == set()
        )
        gaussian = gaussian_requests(numbers)
        assert (
            audit(rows, [row, *rows[1:]], Adjacency.REPLACE_ONE, gaussian, patch, Accounting.GDP)
            == set()
        )


def test_adding_a_record_moves_one_cell_by_one():
    row = (2, 1, 3)
    for clique in small.CLIQUES:
        one, two = (
            small.private(rows, randomness=Seeded(5)).measure(clique, rho=0.1)
            for rows in (small.ROWS, [*small.ROWS, row])
        )
        one_hot = np.zeros(one.values.shape)
        one_hot[tuple(row[small.DOMAIN.index(name)] for name in clique)] = 1
        assert np.array_equal(two.values - one.values, one_hot)


# a and b move apart: a's error grows by 2 when the record is replaced, b's falls by 2
WORST_SCORE = MarginalL1Error({("a",): np.array([3.0, 0, 0]), ("b",): np.array([2.0, 1.0])})
WORST = {
    "rows": [(0, 0, 0)] * 3,
    "other": [(0, 0, 0)] * 2 + [(1, 1, 0)],
    "adjacency": Adjacency.REPLACE_ONE,
    "requests": [
        lambda table: table.measure(("a", "b"), rho=0.1),
        lambda table: table.select(
            [("a",), ("b",)],
            score=WORST_SCORE,
            rho=0.1,
        ),
        lambda table: table.scores([("a",), ("b",)], score=WORST_SCORE, rho=0.1),
    ],
}


def test_audit_of_the_worst_case_is_tight(monkeypatch):
    assert audit(**WORST, monkeypatch=monkeypatch) == set()
    runs = [
        run_recorded(WORST[r], WORST["adjacency"], WORST["requests"], monkeypatch)
        for r in ("rows", "other")
    ]
    (table, answers, ((a, b),), _), (_, answers_, ((a_, b_),), _) = runs
    _, selection, scores = table.ledger.events
    assert abs((a - a_) - (b - b_)) == selection.epsilon
    assert [abs(answers[2][c] - answers_[2][c]) for c in (("a",), ("b",))] == [
        scores.sensitivity
    ] * 2


def understate_l2(monkeypatch):
    monkeypatch.setattr(Adjacency, "marginal_l2_squared", 1)


def understate_l1(monkeypatch):
    monkeypatch.setattr(Adjacency, "marginal_l1", 1)


def understate_in_the_score(monkeypatch):
    monkeypatch.setattr(MarginalL1Error, "sensitivity", lambda *_: Fraction(1))


def forget_the_factor_two(monkeypatch):
    monkeypatch.setattr(MarginalL1Error, "units_per_record", 2**25)


def score_too_finely(monkeypatch):
    original = MarginalL1Error.error
    monkeypatch.setattr(
        MarginalL1Error, "error", lambda self, clique, counts: 2 * original(self, clique, counts)
    )


def undercharge(monkeypatch):
    monkeypatch.setattr(
        MarginalEvent,
        "rho",
        property(lambda self: self.sensitivity_squared / (4 * self.sigma_squared)),
    )


def use_bits_by_the_records(monkeypatch):
    original = PrivateTable._counts

    def counts(self, cliques, coarsening):
        self._randomness.random_bytes(64 * int(self._source.counts(("a",)).max()))
        return original(self, cliques, coarsening)

    monkeypatch.setattr(PrivateTable, "_counts", counts)


def charge_by_the_records(monkeypatch):
    original = PrivateTable.measure

    def measure(self, clique, *, rho, coarsening=None):
        return original(
            self, clique, rho=rho + float(self._source.counts(("a",))[0]), coarsening=coarsening
        )

    monkeypatch.setattr(PrivateTable, "measure", measure)


def forget_the_number_of_candidates(monkeypatch):
    original = ScoresEvent.costing
    monkeypatch.setattr(
        ScoresEvent, "costing", lambda rho, **about: original(rho, **about | {"n_candidates": 1})
    )


def charge_scores_as_one(monkeypatch):
    monkeypatch.setattr(
        ScoresEvent, "rho", property(lambda self: self.sensitivity**2 / (2 * self.sigma_squared))
    )


def score_half_records(monkeypatch):
    monkeypatch.setattr(MarginalL1Error, "whole_records", lambda _, error: error >> 9)


def take_half_the_noise(monkeypatch):
    original = PrivateTable.measure

    def measure(self, clique, *, rho, coarsening=None):
        draw = queryable.gaussian_noise  # the audit's recorder
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                queryable,
                "gaussian_noise",
                lambda *, sigma_squared, **rest: draw(sigma_squared=sigma_squared / 4, **rest),
            )
            return original(self, clique, rho=rho, coarsening=coarsening)

    monkeypatch.setattr(PrivateTable, "measure", measure)


@pytest.mark.parametrize(
    ("mutate", "violation"),
    [
        (understate_l2, "a marginal moves further than declared"),
        (understate_l1, "a selection is not epsilon-bounded-range"),
        (understate_in_the_score, "a selection is not epsilon-bounded-range"),
        (forget_the_factor_two, "a selection is not epsilon-bounded-range"),
        (score_too_finely, "a selection is not epsilon-bounded-range"),
        (understate_l1, "scores move further than declared"),
        (score_too_finely, "scores move further than declared"),
        (score_half_records, "scores move further than declared"),
        (forget_the_number_of_candidates, "the cost of scores is wrong"),
        (charge_scores_as_one, "the cost of scores is wrong"),
        (take_half_the_noise, "the noise is not what the event says"),
        (undercharge, "the cost of a marginal is wrong"),
        (use_bits_by_the_records, "the noise depends on the records"),
        (charge_by_the_records, "the events depend on the records"),
    ],
)
def test_audit_finds_the_mutant(mutate, violation, monkeypatch):
    mutate(monkeypatch)
    repeated = WORST | {"requests": WORST["requests"] * 2}
    assert violation in audit(**repeated, monkeypatch=monkeypatch)
