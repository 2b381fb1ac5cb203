"""The deterministic audit: no recipe of the registry is found fault with, and each mutant is."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from synthdp.mechanisms.independent import Independent

from synthdp.audit.asking.neighbours import Neighbours, binary_schema, worst_case
from synthdp.audit.check_mechanism import check_mechanism, default_neighbours, dependent_columns
from synthdp.derivation import learner
from synthdp.errors import ParameterError
from synthdp.grid import Grid
from synthdp.measurement import LinearMeasurement
from synthdp.privacy import ledger, private_table, queryable
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.events import MarginalEvent, ScoresEvent, SelectionEvent
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.unit import Adjacency
from synthdp.privacy.values import private_values
from synthdp.privacy.values.privtree import PrivTreeEvent
from synthdp.release import release
from synthdp.release.registry import MECHANISMS
from synthdp.selection.mechanism import Mechanism
from synthdp.table.records.unit_rows import UnitRows


@cache
def pair(name="declared", adjacency=Adjacency.ADD_REMOVE, max_rows=None):
    return dependent_columns() if name == "dependent" else worst_case(name, adjacency, max_rows=max_rows)


REPLACED = ("declared", Adjacency.REPLACE_ONE)
PERSONS = ("derived", Adjacency.ADD_REMOVE, 3)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_nothing_is_wrong_with(name):
    pairs = [pair(*REPLACED), pair("dependent"), *([pair(*PERSONS)] if name == "auto" else [])]
    assert check_mechanism(name, neighbours=pairs, epsilons=[20.0]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MECHANISMS))
@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_wrong_by_any_default_and_noise(name, seed):
    assert check_mechanism(name, epsilons=[0.1, 1.0, 5.0, 20.0], seed=seed) == []


def test_trees_keep_their_claims_too():
    kinds = {"income": {"type": "integer", "synthdp": {"binning": "privtree"}}, "job": "string"}
    one, other = (frame[["income", "job"]] for frame in (pair("derived").one, pair("derived").other))
    trees = Neighbours(name="trees", schema=release.OpenSchema.from_kinds(kinds), one=one, other=other)
    assert check_mechanism("independent", neighbours=[trees], epsilons=[20.0]) == []


def test_the_defaults_are_both_domains_both_adjacencies_and_persons():
    pairs = default_neighbours()
    assert {(p.adjacency, p.open_schema.is_open) for p in pairs} == {(a, o) for a in Adjacency for o in (True, False)}
    assert {(p.max_rows, p.open_schema.is_open) for p in pairs if p.unit} == {(3, True), (3, False)}


# --- mutants -----------------------------------------------------------------------------------


def noise_by(monkeypatch, change):
    draw = queryable.gaussian_noise
    monkeypatch.setattr(queryable, "gaussian_noise", lambda **asked: change(draw, **asked))


def halve_the_noise(monkeypatch):
    noise_by(monkeypatch, lambda draw, *, sigma_squared, **rest: draw(sigma_squared=sigma_squared / 4, **rest))


def share_noise_between_cells(monkeypatch):
    def share(draw, **asked):
        noise = draw(**asked)
        return np.full_like(noise, noise[0])

    noise_by(monkeypatch, share)


def share_noise_between_two_cells(monkeypatch):
    def share(draw, **asked):
        noise = draw(**asked)
        noise[-1] = noise[0]
        return noise

    noise_by(monkeypatch, share)


def use_noise_again_for_the_next_question(monkeypatch):
    kept = {}
    noise_by(monkeypatch, lambda draw, *, size, **rest: kept.setdefault(size, draw(size=size, **rest)))


def charge_selections_as_half(monkeypatch):
    monkeypatch.setattr(SelectionEvent, "rho", property(lambda self: self.epsilon**2 / 16))


def take_twice_the_epsilon_of_a_selection(monkeypatch):
    costing = SelectionEvent.costing
    monkeypatch.setattr(SelectionEvent, "costing", lambda rho, **about: costing(4 * rho, **about))
    monkeypatch.setattr(SelectionEvent, "rho", property(lambda self: self.epsilon**2 / 32))


def select_twice_as_sharply(monkeypatch):
    draw = private_table.exponential_mechanism
    monkeypatch.setattr(
        private_table, "exponential_mechanism", lambda gaps, per_unit, bits: draw(gaps, 2 * per_unit, bits)
    )


def charge_marginals_as_half(monkeypatch):
    halved = property(lambda self: self.sensitivity_squared / (4 * self.sigma_squared))
    monkeypatch.setattr(MarginalEvent, "rho", halved)


def charge_scores_as_one(monkeypatch):
    monkeypatch.setattr(ScoresEvent, "rho", property(lambda self: self.sensitivity**2 / (2 * self.sigma_squared)))


def charge_trees_as_half(monkeypatch):
    monkeypatch.setattr(PrivTreeEvent, "rho", property(lambda self: self.epsilon**2 / 16))


def forget_to_charge_one_marginal(monkeypatch):
    pay = PrivateTable._pay
    monkeypatch.setattr(
        PrivateTable, "_pay", lambda self, event: None if getattr(event, "clique", 0) == ("b",) else pay(self, event)
    )


def charge_one_marginal_in_secret(monkeypatch):
    def charge(self, event):
        original(self, event)
        self._events[-1:] = [] if getattr(event, "clique", None) == ("b",) else [event]

    original = ledger.PrivacyLedger.charge
    monkeypatch.setattr(ledger.PrivacyLedger, "charge", charge)


def forget_that_a_record_is_replaced(monkeypatch):
    monkeypatch.setattr(Adjacency, "marginal_l2_squared", 1)


def forget_that_a_record_is_replaced_in_scores(monkeypatch):
    monkeypatch.setattr(Adjacency, "marginal_l1", 1)


def keep_all_rows_of_a_person(monkeypatch):
    monkeypatch.setattr(UnitRows, "kept", lambda self: np.ones(len(self._ids.rows.joined()), dtype=bool))


def halve_the_threshold(monkeypatch):
    original = private_values.partition_threshold
    monkeypatch.setattr(private_values, "partition_threshold", lambda **asked: original(**asked) // 2)


def convert_to_twice_the_budget(monkeypatch):
    original = Accounting.rho
    monkeypatch.setattr(Accounting, "rho", lambda self, **asked: 2 * original(self, **asked))


def read_the_levels(monkeypatch):
    def learn_levels(values, column, **_):
        return column.closed(levels=list(values._source.frequencies(Grid(column=column.name))[0]))

    monkeypatch.setattr(learner, "learn_levels", learn_levels)


def estimate_with_the_exact_number(monkeypatch):
    def released(self):
        n = next(iter(self._kernel._source.counts_of([()])))
        return (*original.fget(self), LinearMeasurement((), n, 1e-3))

    from synthdp.audit.asking.witness import WitnessedTable

    original = WitnessedTable.released
    monkeypatch.setattr(WitnessedTable, "released", property(released))


def state_the_exact_number(monkeypatch):
    counted = []
    source = release.CodedSource
    monkeypatch.setattr(release, "CodedSource", lambda coded: counted.append(len(coded.columns[0])) or source(coded))
    monkeypatch.setattr(release, "clear_total", lambda _: counted[-1])


def take_bits_by_the_records(monkeypatch):
    original = PrivateTable._counts

    def counts(self, cliques, coarsening):
        self._randomness.random_bytes(64 * int(next(iter(self._source.counts_of([()])))))
        return original(self, cliques, coarsening)

    monkeypatch.setattr(PrivateTable, "_counts", counts)


def charge_by_the_records(monkeypatch):
    original = PrivateTable.measure

    def measure(self, clique, *, rho, coarsening=None):
        n = int(next(iter(self._source.counts_of([()]))))
        return original(self, clique, rho=rho * Fraction(n + 1, 10**6), coarsening=coarsening)

    monkeypatch.setattr(PrivateTable, "measure", measure)


NOT_ITS_NOISE = "not the exact one with the noise"
MUTANTS = [
    (halve_the_noise, "independent", (), NOT_ITS_NOISE),
    (halve_the_noise, "independent", (), "times the scale that its event says"),
    (share_noise_between_cells, "independent", (), NOT_ITS_NOISE),
    (share_noise_between_cells, "independent", (), "cells of a marginal share their noise"),
    (share_noise_between_two_cells, "independent", (), NOT_ITS_NOISE),
    (use_noise_again_for_the_next_question, "independent", (), NOT_ITS_NOISE),
    (charge_selections_as_half, "mst", (), "charges rho"),
    (take_twice_the_epsilon_of_a_selection, "mst", (), "charges rho"),
    (select_twice_as_sharply, "independent", (), "not the exponential mechanism that its event says"),
    (charge_marginals_as_half, "independent", (), "charges rho"),
    (charge_scores_as_one, "clique-tree", (), "charges rho"),
    (forget_to_charge_one_marginal, "independent", (), "no events were charged"),
    (charge_one_marginal_in_secret, "independent", (), "no events were charged"),
    (charge_one_marginal_in_secret, "independent", (), "is spent, its events cost"),
    (forget_that_a_record_is_replaced, "independent", REPLACED, "move by 2 (squared L2), 1 declared"),
    (forget_that_a_record_is_replaced, "independent", REPLACED, "sensitivity is 1, a unit can move it by 2"),
    (forget_that_a_record_is_replaced, "independent", ("derived", Adjacency.REPLACE_ONE), "(histogram): its exact"),
    (forget_that_a_record_is_replaced, "independent", ("derived", Adjacency.REPLACE_ONE), "(frequent): its exact"),
    (
        forget_that_a_record_is_replaced_in_scores,
        "clique-tree",
        REPLACED,
        "its declared sensitivity is 4, a unit can move it by 16",
    ),
    (forget_that_a_record_is_replaced_in_scores, "aim", REPLACED, "(Select): a score moves by"),
    (keep_all_rows_of_a_person, "independent", PERSONS, "(histogram): its exact numbers move by 16"),
    (keep_all_rows_of_a_person, "independent", PERSONS, "(measure): its exact numbers move by 16"),
    (halve_the_threshold, "independent", ("derived",), "a value of one unit passes"),
    (convert_to_twice_the_budget, "independent", (), "is claimed"),
    (read_the_levels, "independent", ("derived",), "looked for '_source'"),
    (read_the_levels, "independent", ("derived",), "asked something else"),
    (estimate_with_the_exact_number, "independent", (), "set of measurements of the neighbour"),
    (state_the_exact_number, "independent", (), "the certificate of the neighbour"),
    (take_bits_by_the_records, "independent", (), "how much randomness it takes depends on the records"),
    (charge_by_the_records, "independent", (), "its event depends on the records"),
]


@cache
def sound(name, tables):
    return check_mechanism(name, neighbours=[pair(*tables)], epsilons=[20.0])


@pytest.mark.parametrize(("mutate", "name", "tables", "expected"), MUTANTS)
def test_it_finds_the_mutant(mutate, name, tables, expected, monkeypatch):
    assert sound(name, tables) == []
    mutate(monkeypatch)
    found = check_mechanism(name, neighbours=[pair.__wrapped__(*tables)], epsilons=[20.0])
    assert any(expected in text for text in found), found


# --- recipes of somebody else ------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Wrapped(Mechanism):
    """Measures all columns, after something that it should not do."""

    name: ClassVar[str] = "wrapped"
    reference: ClassVar[str] = "a test"
    is_gaussian: ClassVar[bool] = True

    def wrong(self, table):
        raise NotImplementedError

    def release(self, table, *, workload, engine, constraints=(), report):
        self.wrong(table)
        return Independent().release(table, workload=workload, engine=engine, constraints=constraints, report=report)


def n_rows(table):
    return int(next(iter(table._source.counts_of([()]))))


class AsksByTheRecords(Wrapped):
    def wrong(self, table):
        table.measure(("a", "b") if n_rows(table) > 10 else ("b", "c"), rho=table.ledger.remaining / 4)


class AsksOnceMore(Wrapped):
    def wrong(self, table):
        for _ in range(n_rows(table) - 9):
            table.measure(("a",), rho=table.ledger.remaining / 4)


class FailsByTheRecords(Wrapped):
    def wrong(self, table):
        assert n_rows(table) == 10


class GoesBehindTheQuestions(Wrapped):
    def wrong(self, table):
        table._kernel.measure(("a",), rho=table.ledger.remaining / 4)


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (AsksByTheRecords(), "question 1 depends on the records"),
        (AsksByTheRecords(), "looked for '_source'"),
        (AsksOnceMore(), "depends on the records: the neighbour is asked something else"),
        (FailsByTheRecords(), "told the same, fails with AssertionError"),
        (GoesBehindTheQuestions(), "something was charged that was not asked for"),
    ],
)
def test_it_finds_what_a_recipe_does_wrong(recipe, expected):
    found = check_mechanism(recipe, neighbours=[pair()], epsilons=[20.0])
    assert any(expected in text for text in found), found


def test_tables_that_are_no_neighbours_are_refused():
    known = pair()
    with pytest.raises(ParameterError, match="differ in more than one unit"):
        Neighbours(name="far", schema=binary_schema(), one=known.one[:5], other=known.other)
    with pytest.raises(ParameterError, match="differ in more than one unit"):
        Neighbours(name="more", schema=binary_schema(), one=known.one, other=known.other,
                   adjacency=Adjacency.REPLACE_ONE)  # fmt: skip
    with pytest.raises(ParameterError, match="replace-one"):
        worst_case(adjacency=Adjacency.REPLACE_ONE, max_rows=2)
    with pytest.raises(ParameterError, match="domain is 'guessed'"):
        worst_case("guessed")


def test_frozen_noise_is_never_called_private():
    from synthdp.audit.frozen import FrozenRandomness

    run = release.Release(
        schema=pair().open_schema, epsilon=1, delta=1e-2, mechanism="independent", adjacency="add-remove",
        randomness=FrozenRandomness(0),
    )  # fmt: skip
    found = run.of(pair().truths[0].rows)
    assert found.certificate["guarantee"].startswith("NOT PRIVATE")
    assert not found.certificate["is_private"]
