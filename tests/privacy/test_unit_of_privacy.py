"""Units of privacy: persons with several records, and what the certificate says of them."""

import json
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import nan

import numpy as np
import pytest
from helpers.homes import home
from helpers.values import Counts, book
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.privacy import ArraySource, Seeded

from synthdp.core import Domain, Grid, ParameterError
from synthdp.privacy import (
    GAUSSIAN,
    MAX_ROWS,
    Accounting,
    Adjacency,
    HistogramEvent,
    MarginalL1Error,
    PartitionEvent,
    PrivacyLedger,
    PrivacyUnit,
    PrivateTable,
    PrivateValues,
    SystemRandomness,
    partition_threshold,
)
from synthdp.release import NOT_COVERED, RECORDS, privacy_certificate, unit_in_words

private_table = home(PrivateTable)

DOMAIN = Domain(("a", "b"), (3, 2))
CELLS = list(product(range(3), range(2)))
CLIQUES = [("a",), ("b",), ("a", "b"), ()]
ROWS = [(0, 0), (0, 1), (2, 1), (0, 0), (1, 0)]
EITHER = pytest.mark.parametrize("accounting", Accounting)
SEVERAL = pytest.mark.parametrize("max_rows", [1, 2, 3])


def person(max_rows, column="person"):
    return PrivacyUnit(adjacency=Adjacency.ADD_REMOVE, max_rows=max_rows, column=column)


def ledger(**changes):
    return PrivacyLedger(
        **({"epsilon": 10.0, "delta": 1e-6, "adjacency": Adjacency.ADD_REMOVE} | changes)
    )


def book_of(max_rows, accounting=Accounting.ZCDP):
    return ledger(
        epsilon=1000.0, accounting=accounting, max_rows_per_unit=max_rows, unit_column="person"
    )


# The unit


def test_sensitivities_grow_with_the_rows_of_a_person():
    for k in (1, 2, 7, MAX_ROWS):
        assert (person(k).marginal_l1, person(k).marginal_l2_squared) == (k, k * k)
    for adjacency, expected in {
        Adjacency.ADD_REMOVE: (1, 1),
        Adjacency.REPLACE_ONE: (2, 2),
    }.items():
        unit = PrivacyUnit(adjacency=adjacency)
        assert (unit.marginal_l1, unit.marginal_l2_squared) == expected


@pytest.mark.parametrize(
    "max_rows", [0, -1, True, 2.0, 1.5, "3", None, nan, np.float64(2), MAX_ROWS + 1]
)
def test_a_number_of_rows_that_is_none_is_refused(max_rows):
    with pytest.raises(
        ParameterError, match=r"max_rows_per_unit is .*; give a whole number of at least 1"
    ):
        person(max_rows)
    with pytest.raises(ParameterError, match="max_rows_per_unit is"):
        book_of(max_rows)


def test_contradictions_are_refused():
    with pytest.raises(
        ParameterError,
        match="max_rows_per_unit is 2 but there is no unit; name the person's column",
    ):
        PrivacyUnit(adjacency=Adjacency.ADD_REMOVE, max_rows=2)
    for k in (1, 2):
        with pytest.raises(ParameterError, match=r"adjacency is 'replace-one'.*'add-remove'"):
            PrivacyUnit(adjacency=Adjacency.REPLACE_ONE, max_rows=k, column="person")


def test_a_unit_says_in_words_what_it_is_and_is_frozen():
    assert (
        unit_in_words(PrivacyUnit(adjacency=Adjacency.REPLACE_ONE))
        == RECORDS[Adjacency.REPLACE_ONE]
    )
    text = unit_in_words(person(5, "patient"))
    assert "one person" in text
    assert "'patient'" in text
    assert "at most 5 records" in text
    with pytest.raises(FrozenInstanceError):
        person(5).max_rows = 1
    with pytest.raises(TypeError):
        PrivacyUnit(max_rows=1)


# Sensitivities, by brute force over all tables that differ in one person


def persons(max_rows):
    """Every person there can be: up to ``max_rows`` rows, in every combination of cells."""
    for n in range(1, max_rows + 1):
        yield from combinations_with_replacement(CELLS, n)


def neighbours(max_rows):
    return [(ROWS, [*ROWS, *rows]) for rows in persons(max_rows)]


def exact(clique, rows):
    return ArraySource(DOMAIN, rows).counts(clique)


@EITHER
@SEVERAL
def test_marginals_move_by_exactly_what_their_event_says_at_most(accounting, max_rows):
    for clique in CLIQUES:
        book = book_of(max_rows, accounting)
        PrivateTable(ArraySource(DOMAIN, ROWS), book).measure(clique, rho=1)
        (event,) = book.events
        assert event.rho == 1
        moves = [
            int(((exact(clique, one) - exact(clique, two)) ** 2).sum())
            for one, two in neighbours(max_rows)
        ]
        assert max(moves) == event.sensitivity_squared == 2 * event.sigma_squared
        assert max(moves) > (max_rows - 1) ** 2


@SEVERAL
def test_histograms_claim_what_marginals_do(max_rows):
    event = HistogramEvent.costing(
        Fraction(1, 7), column="a", of="values", n_cells=9, unit=person(max_rows)
    )
    assert (event.rho, event.sensitivity_squared) == (Fraction(1, 7), max_rows**2)
    assert (event.delta, event.is_gaussian) == (0, True)


SCORES = {
    "plain": MarginalL1Error({c: exact(c, ROWS) for c in CLIQUES}),
    "far off": MarginalL1Error({c: exact(c, ROWS) * 0.3 - 7.77 for c in CLIQUES}),
    "weighted": MarginalL1Error(
        {c: exact(c, ROWS) for c in CLIQUES},
        weights={c: 0.3 + len(c) for c in CLIQUES},
        penalties=dict.fromkeys(CLIQUES, 1.23),
    ),
}


@pytest.mark.parametrize("name", SCORES)
@SEVERAL
def test_scores_move_by_exactly_what_is_declared_at_most(name, max_rows):
    score, unit = SCORES[name], person(max_rows)
    for chosen in (CLIQUES, CLIQUES[:1]):
        moves, whole = [], []
        for one, two in neighbours(max_rows):
            errors = [
                (score.error(c, exact(c, one)), score.error(c, exact(c, two))) for c in chosen
            ]
            moves += [
                score.weighted(c, x) - score.weighted(c, y)
                for c, (x, y) in zip(chosen, errors, strict=True)
            ]
            whole += [score.whole_records(x) - score.whole_records(y) for x, y in errors]
        assert max(map(abs, moves)) == score.sensitivity(chosen, unit) * score.units_per_record
        assert max(map(abs, whole)) == unit.marginal_l1


@SEVERAL
def test_released_scores_are_charged_for_all_rows_of_a_person(max_rows):
    book = book_of(max_rows)
    PrivateTable(ArraySource(DOMAIN, ROWS), book).scores(CLIQUES[:3], score=SCORES["plain"], rho=1)
    (event,) = book.events
    reached = max(
        sum((int(np.abs(exact(c, two) - exact(c, one)).sum())) ** 2 for c in CLIQUES[:3])
        for one, two in neighbours(max_rows)
    )
    assert reached == event.n_candidates * event.sensitivity**2 == 2 * event.sigma_squared


WORST = MarginalL1Error({("a",): np.array([9.0, 0, 0]), ("b",): np.array([0.0, 0])})


@SEVERAL
def test_a_selection_is_bounded_range_for_all_rows_of_a_person(max_rows, monkeypatch):
    """A person in cell (0, 0) takes a's error down and b's up: the exponents move apart by all of
    epsilon.
    """
    exponents = []
    original = private_table.exponential_mechanism

    def recording(gaps, per_unit, randomness):
        exponents.append([gap * per_unit for gap in gaps])
        return original(gaps, per_unit, randomness)

    monkeypatch.setattr(private_table, "exponential_mechanism", recording)
    ranges = []
    for one, two in neighbours(max_rows):
        for rows in (one, two):
            book = book_of(max_rows)
            PrivateTable(ArraySource(DOMAIN, rows), book).select(
                [("a",), ("b",)], score=WORST, rho=Fraction(1, 2)
            )
        moves = [x - y for x, y in zip(*exponents[-2:], strict=True)]
        ranges.append(max(moves) - min(moves))
        (event,) = book.events
        assert (event.sensitivity, event.rho) == (max_rows, Fraction(1, 2))
    assert max(ranges) == event.epsilon


@settings(max_examples=50, deadline=None)
@given(
    rows=st.lists(st.sampled_from(CELLS), max_size=8),
    extra=st.lists(st.sampled_from(CELLS), min_size=1, max_size=4),
    clique=st.sampled_from(CLIQUES),
)
def test_with_the_same_noise_two_tables_differ_by_what_the_person_adds(rows, extra, clique):
    books = [book_of(len(extra)) for _ in range(2)]
    one, two = (
        PrivateTable(ArraySource(DOMAIN, r), b, randomness=Seeded(3))
        .measure(clique, rho=0.1)
        .values
        for r, b in zip((rows, [*rows, *extra]), books, strict=True)
    )
    assert np.array_equal(two - one, exact(clique, extra))
    assert ((two - one) ** 2).sum() <= books[0].events[0].sensitivity_squared
    assert books[0].events == books[1].events


# Sources of which a person is one record


class Persons(Counts):
    """Values of persons, each one record with up to four of them."""

    is_by_unit = True

    def most_values(self, _grid):
        return 4


@EITHER
@pytest.mark.parametrize("is_by_unit", [False, True])
def test_who_counts_as_one_record_moves_counts_as_one(accounting, is_by_unit):
    """Noise and threshold of a source of persons are those of records, not of a person's rows."""
    ledger_of = {"max_rows": 3, "accounting": accounting}
    source = Persons([1, 2], [1024 * 50, 1024 * 50]) if is_by_unit else Counts([1, 2], [50, 50])
    charged = book(**ledger_of)
    values = PrivateValues(source, charged)
    rho, delta = Fraction(1, 50), Fraction(1, 1000)
    values.histogram(Grid(column="x"), np.empty(0, np.int64), rho=rho)
    values.frequent(Grid(column="x"), rho=rho, delta=delta)
    histogram, partition_ = charged.events
    squared = 1 if is_by_unit else 9
    weight = 1024 if is_by_unit else 1
    assert (histogram.sensitivity_squared, histogram.sigma_squared) == (squared, 25 * squared)
    assert partition_.sensitivity_squared == squared * weight**2
    assert partition_.sigma_squared == 25 * squared * weight**2
    assert partition_.threshold == partition_threshold(
        sigma_squared=partition_.sigma_squared,
        max_rows=1 if is_by_unit else 3,
        delta=delta,
        most_values=4 if is_by_unit else 1,
    )
    assert charged.spent == 2 * rho
    assert {event.record for event in charged.events} == {"unit" if is_by_unit else "row"}
    stated = [event.to_dict().get("record") for event in charged.events]
    assert stated == ["unit" if is_by_unit else None] * 2


def test_a_tree_of_persons_is_that_of_records():
    charged = book(max_rows=3)
    PrivateValues(Persons([1], [5]), charged).split_tree(Grid(column="x"), 0, 1, rho=Fraction(1))
    (event,) = charged.events
    assert (event.sensitivity, event.record) == (1, "unit")
    assert event.to_dict()["record"] == "unit"


def test_where_persons_have_one_row_each_nothing_else_is_said():
    charged = book(max_rows=1)
    source = Persons([1], [5])
    PrivateValues(source, charged).histogram(Grid(column="x"), np.empty(0, np.int64), rho=1.0)
    assert charged.events[0].record == "row"


# The certificate


def partition(own):
    return PartitionEvent(
        column="a",
        of="values",
        sigma_squared=Fraction(50),
        sensitivity_squared=1,
        threshold=40,
        failure_probability=own,
    )


@EITHER
def test_the_certificate_says_unit_rows_and_deltas(accounting):
    book = ledger(
        accounting=accounting, max_rows_per_unit=4, unit_column="patient", failure_delta=2e-7
    )
    book.charge(partition(book.failure_delta / 4))
    book.charge(
        HistogramEvent.costing(
            Fraction(1, 100), column="b", of="decimals", n_cells=17, unit=book.unit
        )
    )
    statement = privacy_certificate(
        ledger=book, randomness=SystemRandomness(), release={"max_rows_per_unit": 1}
    )
    assert json.loads(json.dumps(statement, allow_nan=False)) == statement
    assert statement["max_rows_per_unit"] == 4
    assert statement["unit_of_privacy"] == unit_in_words(book.unit)
    assert statement["adjacency"] == "add-remove"
    parts = statement["accounting"]
    assert (parts["failure_delta"], parts["failure_delta_spent"]) == (2e-7, 5e-8)
    assert parts["rho_budget"] == float(book.budget)
    assert statement["not_covered"] == list(NOT_COVERED)
    first, second = statement["events"]
    assert (first["event"], first["column"], first["delta"], first["threshold"]) == (
        "partition selection",
        "a",
        5e-8,
        40,
    )
    assert first["rho"] == float(Fraction(1, 100)) == second["rho"]
    assert (second["event"], second["of"], second["n_cells"]) == ("histogram", "decimals", 17)
    assert second["sensitivity_l2_squared"] == 16
    assert {GAUSSIAN} == {event["mechanism"].split(", counts")[0] for event in (first, second)}


@pytest.mark.parametrize("column", [None, "", "person"])
def test_only_a_guarantee_for_records_warns_of_people_with_several(column):
    book = ledger(unit_column=column)
    statement = privacy_certificate(ledger=book, randomness=SystemRandomness(), release={})
    warned = [line for line in statement["not_covered"] if "one record" in line]
    assert bool(warned) == (column is None)
    assert ("one person" in statement["unit_of_privacy"]) == (column is not None)


@pytest.mark.parametrize(
    ("adjacency", "max_rows", "squared"),
    [("add-remove", 1, 1), ("add-remove", 3, 9), ("replace-one", 1, 2)],
)
def test_the_scale_of_noise_for_a_budget(adjacency, max_rows, squared):
    """Noise of that variance on n marginals costs rho: n squared / (2 sigma^2), worked out
    backwards.
    """
    unit = PrivacyUnit(
        adjacency=Adjacency(adjacency), max_rows=max_rows, column="person" if max_rows > 1 else None
    )
    for rho in (Fraction(1, 3), Fraction(7), Fraction(1, 2**70)):
        assert unit.sigma_squared(rho) == squared / (2 * rho)
        for n in (1, 2, 17):
            sigma_squared = unit.sigma_squared(rho, n)
            assert type(sigma_squared) is Fraction
            assert n * squared / (2 * sigma_squared) == rho
    assert unit.sigma_squared(0.5, 3) == 3 * squared
