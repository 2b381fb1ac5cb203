"""The deterministic audit: no mechanism of the registry is found fault with, and each mutant is."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import ClassVar

import pytest
from helpers import broken_kernels as broken
from helpers.homes import home

from synthdp.audit import (
    FrozenRandomness,
    Neighbours,
    binary_schema,
    default_neighbours,
    dependent_columns,
    ledger_excess,
    worst_case,
)
from synthdp.audit.check_mechanism import check_mechanism
from synthdp.core import ParameterError
from synthdp.data import UnitValues
from synthdp.mechanisms import Independent, Mechanism
from synthdp.privacy import Adjacency, HistogramEvent, PrivacyUnit, PrivTreeEvent
from synthdp.release import MECHANISMS, Release, RunSettings
from synthdp.schema import OpenSchema

release = home(Release)


@cache
def pair(name="declared", adjacency=Adjacency.ADD_REMOVE, max_rows=None):
    if name in ("dependent", "trees"):
        return dependent_columns() if name == "dependent" else trees()
    return worst_case(name, adjacency, max_rows=max_rows)


def trees():
    """The derived domain of a number, by PrivTree."""
    kinds = {"income": {"type": "integer", "synthdp": {"binning": "privtree"}}, "job": "string"}
    one, other = (
        frame[["income", "job"]] for frame in (pair("derived").one, pair("derived").other)
    )
    return Neighbours(name="trees", schema=OpenSchema.from_kinds(kinds), one=one, other=other)


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
    assert check_mechanism("independent", neighbours=[pair("trees")], epsilons=[20.0]) == []


def test_the_defaults_are_both_domains_both_adjacencies_and_persons():
    pairs = default_neighbours()
    assert {(p.adjacency, p.open_schema.is_open) for p in pairs} == {
        (a, o) for a in Adjacency for o in (True, False)
    }
    assert {(p.max_rows, p.open_schema.is_open) for p in pairs if p.unit} == {(3, True), (3, False)}


# --- mutants -----------------------------------------------------------------------------------

NOT_ITS_NOISE = "not the exact one with the noise"
MUTANTS = [
    (
        broken.halve_the_noise,
        "independent",
        (),
        [NOT_ITS_NOISE, "times the scale that its event says"],
    ),
    (
        broken.share_noise_between_cells,
        "independent",
        (),
        [NOT_ITS_NOISE, "cells of a marginal share their noise"],
    ),
    (broken.share_noise_between_two_cells, "independent", (), [NOT_ITS_NOISE]),
    (broken.use_noise_again_for_the_next_question, "independent", (), [NOT_ITS_NOISE]),
    (broken.charge_selections_as_half, "mst", (), ["charges rho"]),
    (broken.take_twice_the_epsilon_of_a_selection, "mst", (), ["charges rho"]),
    (
        broken.select_twice_as_sharply,
        "independent",
        (),
        ["not the exponential mechanism that its event says"],
    ),
    (broken.charge_marginals_as_half, "independent", (), ["charges rho"]),
    (broken.charge_scores_as_one, "clique-tree", (), ["charges rho"]),
    (broken.charge_trees_as_half, "independent", ("trees",), ["charges rho"]),
    (broken.forget_to_charge_one_marginal, "independent", (), ["no events were charged"]),
    (
        broken.charge_one_marginal_in_secret,
        "independent",
        (),
        ["no events were charged", "is spent, its events cost"],
    ),
    (
        broken.forget_that_a_record_is_replaced,
        "independent",
        REPLACED,
        ["move by 2 (squared L2), 1 declared", "move it by 2"],
    ),
    (
        broken.forget_that_a_record_is_replaced,
        "independent",
        ("derived", Adjacency.REPLACE_ONE),
        ["(histogram): its exact", "(frequent): its exact"],
    ),
    *(
        (
            broken.forget_that_a_record_is_replaced_in_the_values_of(name),
            "independent",
            ("derived", Adjacency.REPLACE_ONE),
            ["its exact numbers move by 2 (squared L2), 1 declared"],
        )
        for name in ("town", "income", "job")
    ),
    (
        broken.forget_that_a_record_is_replaced_in_scores,
        "clique-tree",
        REPLACED,
        ["is 4, a unit can move it by 16"],
    ),
    (
        broken.forget_that_a_record_is_replaced_in_scores,
        "aim",
        REPLACED,
        ["(Select): a score moves by"],
    ),
    (
        broken.keep_all_rows_of_a_person,
        "independent",
        PERSONS,
        ["(histogram): its exact numbers move by 16", "(measure): its"],
    ),
    (broken.halve_the_threshold, "independent", ("derived",), ["a value of one unit passes"]),
    (broken.convert_to_twice_the_budget, "independent", (), ["is claimed"]),
    (
        broken.read_the_levels,
        "independent",
        ("derived",),
        ["looked for '_source'", "asked something else"],
    ),
    (
        broken.estimate_with_the_exact_number,
        "independent",
        (),
        ["set of measurements of the neighbour"],
    ),
    (broken.state_the_exact_number, "independent", (), ["the certificate of the neighbour"]),
    (
        broken.take_bits_by_the_records,
        "independent",
        (),
        ["how much randomness it takes depends on the records"],
    ),
    (broken.fit_the_exact_number, "independent", (), ["the model of the neighbour"]),
    (broken.measure_once_more_without_a_charge, "independent", (), ["no events were charged"]),
    (broken.charge_by_the_records, "independent", (), ["its event depends on the records"]),
]


@cache
def sound(name, tables):
    return check_mechanism(name, neighbours=[pair(*tables)], epsilons=[20.0])


@pytest.mark.parametrize(("mutate", "name", "tables", "expected"), MUTANTS)
def test_it_finds_the_mutant(mutate, name, tables, expected, monkeypatch):
    assert sound(name, tables) == []
    mutate(monkeypatch)
    found = check_mechanism(name, neighbours=[pair.__wrapped__(*tables)], epsilons=[20.0])
    for text in expected:
        assert any(text in line for line in found), found


# --- mechanisms of somebody else ------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Wrapped(Mechanism):
    """Measures all columns, after something that it should not do."""

    name: ClassVar[str] = "wrapped"
    reference: ClassVar[str] = "a test"
    is_gaussian: ClassVar[bool] = True

    def wrong(self, table):
        raise NotImplementedError

    def release(self, table, task):
        self.wrong(table)
        return Independent().release(table, task)


def n_rows(table):
    return int(next(iter(table._source.counts_of([()]))))


class AsksByTheRecords(Wrapped):
    def wrong(self, table):
        table.measure(
            ("a", "b") if n_rows(table) > 100 else ("b", "c"), rho=table.ledger.remaining / 4
        )


class AsksOnceMore(Wrapped):
    def wrong(self, table):
        for _ in range(n_rows(table) - 99):
            table.measure(("a",), rho=table.ledger.remaining / 4)


class FailsByTheRecords(Wrapped):
    def wrong(self, table):
        assert n_rows(table) == 100


class GoesBehindTheQuestions(Wrapped):
    def wrong(self, table):
        table._kernel.measure(("a",), rho=table.ledger.remaining / 4)


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (AsksByTheRecords(), "question 4 depends on the records"),  # after a look at the columns
        (AsksByTheRecords(), "looked for '_source'"),
        (AsksOnceMore(), "depends on the records: the neighbour is asked something else"),
        (FailsByTheRecords(), "given the same answers, fails with AssertionError"),
        (GoesBehindTheQuestions(), "something was charged that was not asked for"),
    ],
)
def test_it_finds_what_a_mechanism_does_wrong(mechanism, expected):
    found = check_mechanism(mechanism, neighbours=[pair()], epsilons=[20.0])
    assert any(expected in text for text in found), found


def test_tables_that_are_no_neighbours_are_refused():
    known = pair()
    with pytest.raises(ParameterError, match="differ in more than one unit"):
        Neighbours(name="far", schema=binary_schema(), one=known.one[:50], other=known.other)
    with pytest.raises(ParameterError, match="differ in more than one unit"):
        Neighbours(name="more", schema=binary_schema(), one=known.one, other=known.other,
                   adjacency=Adjacency.REPLACE_ONE)  # fmt: skip
    with pytest.raises(ParameterError, match="replace-one"):
        worst_case(adjacency=Adjacency.REPLACE_ONE, max_rows=2)
    with pytest.raises(ParameterError, match="domain is 'guessed'"):
        worst_case("guessed")


def test_frozen_noise_is_never_called_private():
    run = release.Release(
        schema=pair().open_schema,
        settings=RunSettings(
            epsilon=1, delta=1e-2, mechanism="independent", adjacency="add-remove"
        ),
        randomness=FrozenRandomness(0),
    )
    found = run.of(pair().truths[0].rows)
    assert found.certificate["guarantee"].startswith("NOT PRIVATE")
    assert not found.certificate["is_private"]


def test_it_finds_levels_of_a_person_that_do_not_share_its_weight(monkeypatch):
    """Rows of the usual canary are alike; here each has a level of its own, and one that all have."""
    (several,) = (each for each in default_neighbours() if each.name.startswith("several"))
    assert check_mechanism("independent", neighbours=[several], epsilons=[1.0]) == []
    monkeypatch.setattr(home(UnitValues), "value_weights", lambda most: (1024,) * most)
    held_anew = replace(several)
    excesses = check_mechanism("independent", neighbours=[held_anew], epsilons=[1.0])
    assert any("(frequent): its exact numbers move by" in text for text in excesses)
    assert any("a value of one unit passes with probability" in text for text in excesses)
    # That of equal rows does not see it.
    alike = replace(pair(*PERSONS))
    assert check_mechanism("independent", neighbours=[alike], epsilons=[1.0]) == []


@pytest.mark.parametrize(("record", "least"), [("row", 3), ("unit", 1)])
def test_how_far_a_person_moves_an_event_follows_from_what_it_counts(record, least):
    """A person is one record, or three: an event that declares less is found."""
    person = PrivacyUnit(adjacency=Adjacency.ADD_REMOVE, max_rows=3, column="person")
    for declared in (1, 3):
        unit = replace(person, max_rows=declared)
        events = [
            HistogramEvent.costing(
                Fraction(1), column="x", of="values", n_cells=2, unit=unit, record=record
            ),
            PrivTreeEvent.costing(
                Fraction(1), column="x", sensitivity=unit.marginal_l1, record=record
            ),
        ]
        for event in events:
            found = list(home(ledger_excess).cost_excess(event, person))
            assert len(found) == (declared < least)
