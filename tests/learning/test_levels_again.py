"""Levels that noise hid are asked for again, with what that may cost, and only where many are lost."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.learning import random
from hypothesis import given
from hypothesis import strategies as st

import synthdp
from synthdp.core import ParameterError
from synthdp.learning import (
    FoundLevels,
    asked_again,
    column_budgets,
    find_levels,
    learn_columns,
    takes_thresholds,
)
from synthdp.privacy import Accounting, Adjacency, FrequentValues, NoisyHistogram, PrivacyLedger
from synthdp.release import Release, RunSettings, again
from synthdp.schema import OpenSchema

RUN = {"epsilon": 1.0, "delta": 1e-9, "mechanism": "independent"}
N_ROWS = 9_000


def sales(n_towns, n_numbers=6):
    """A table of towns that are alike, and numbers."""
    rng = random()
    columns = {f"x{i}": rng.normal(100, 15, N_ROWS).round() for i in range(n_numbers)}
    towns = [f"t{i:03}" for i in range(n_towns)]
    return pd.DataFrame(columns | {"town": rng.choice(towns, N_ROWS)})


def kinds_of(frame):
    return {
        name: "categorical" if name in ("town", "note") else "integer" for name in frame.columns
    }


def asked(release, column):
    return [
        event
        for event in release.certificate["events"]
        if event["event"] == "partition selection" and event["column"] == column
    ]


def test_levels_that_were_lost_are_asked_for_again_and_found():
    frame = sales(n_towns=52)
    steps = []
    release = synthdp.synthesize(
        frame, kinds=kinds_of(frame), report=lambda *step: steps.append(step), **RUN
    )
    first, second = asked(release, "town")
    bars = [step for step in steps if step[0].startswith("learning")]
    once = [("learning the domain", done, 7) for done in range(8)]
    assert bars == [*once, ("learning more levels", 0, 1), ("learning more levels", 1, 1)]
    assert second["threshold"] < 0.7 * first["threshold"]
    assert 2 * first["rho"] < second["rho"] < 4 * first["rho"]
    drawn = release.sample(N_ROWS, seed=0)["town"]
    assert (drawn == "other").mean() < 0.05
    accounting = release.certificate["accounting"]
    spent = sum(event["rho"] for event in release.certificate["events"])
    assert spent <= accounting["rho_budget"] * (1 + 1e-9)
    thresholds = sum(event["delta"] for event in (first, second))
    assert thresholds == pytest.approx(accounting["failure_delta"])


@pytest.mark.parametrize("n_numbers", range(8))
def test_one_text_beside_any_numbers_is_asked_about_again(n_numbers):
    """Of few columns each has a large part of the budget: what is kept for again is just enough."""
    kinds = {f"x{i}": "number" for i in range(n_numbers)} | {"town": "categorical"}
    rho = Fraction(1, 4)
    *_, budget = column_budgets(OpenSchema.from_kinds(kinds), rho=rho, delta=Fraction(1, 10))
    ((_, more),) = asked_again([replace(found(), budget=budget)], rho=rho / 2)
    assert more >= 2 * budget.rho


def test_nothing_is_asked_again_where_all_are_found_or_all_are_different():
    frame = sales(n_towns=5)
    frame["note"] = [f"n{i}" for i in range(N_ROWS)]
    release = synthdp.synthesize(frame, kinds=kinds_of(frame), **RUN)
    assert [len(asked(release, name)) for name in ("town", "note")] == [1, 1]
    assert any("'note': no level" in each for each in release.certificate["cautions"])


@pytest.mark.parametrize("share", [0.05, 0.25, 0.95])
def test_what_asking_again_costs_leaves_the_model_its_own(share):
    frame = sales(n_towns=52, n_numbers=3)
    release = synthdp.synthesize(frame, kinds=kinds_of(frame), domain_share=share, **RUN)
    accounting = release.certificate["accounting"]
    learning = [event for event in release.certificate["events"] if "column" in event]
    spent = sum(event["rho"] for event in learning) / accounting["rho_budget"]
    assert spent <= share + min(share, 1 - share) / 2 + 1e-9


# ---- the parts


def found(lost=0.5, *, name="a", n_rows=1000.0, stddev=1.0, n_columns=4):
    """A column of which a share was lost."""
    kinds = {f"c{i}": "categorical" for i in range(n_columns - 1)} | {name: "categorical"}
    budgets = column_budgets(OpenSchema.from_kinds(kinds), rho=Fraction(1), delta=Fraction(1, 10))
    return FoundLevels(
        budget=budgets[-1],
        frequent=FrequentValues({"x": n_rows * (1 - lost)}, 0.0, stddev, 5.0),
        reading=NoisyHistogram(np.empty(0), 0.0, 0.0, np.array([n_rows]), 6 * stddev),
    )


def test_a_share_is_lost_if_it_is_large_and_clear():
    assert found(0.5).lost == pytest.approx(0.5)
    assert found(0.04).lost == 0.0  # few
    assert found(0.1, n_rows=100.0).lost == 0.0  # 10 records, with noise of 6
    assert found(-0.1).lost == 0.0
    nothing = FoundLevels(
        budget=found().budget,
        frequent=FrequentValues({}, 0.0, 1.0, 5.0),
        reading=found().reading,
    )
    assert nothing.lost == 0.0


def test_nothing_is_asked_again_where_no_more_levels_would_be_kept():
    of_few = found(0.5)
    column = replace(of_few.budget.column, max_levels=3)
    assert of_few.lost > 0
    assert replace(of_few, budget=replace(of_few.budget, column=column)).lost == 0.0


def test_a_delta_that_is_too_small_to_ask_again_is_refused_before_anything_is_asked():
    schema = OpenSchema.from_kinds({"town": "categorical"})
    with pytest.raises(ParameterError, match="delta of a threshold"):
        Release(schema=schema, settings=RunSettings(epsilon=1.0, delta=1.2e-279))
    Release(schema=schema, settings=RunSettings(epsilon=1.0, delta=2e-279))


@given(
    st.lists(st.floats(0.0, 0.95), max_size=8),
    st.fractions(min_value=Fraction(1, 1000), max_value=2),
)
def test_those_that_lost_most_are_asked_again_each_for_at_least_twice_as_much(lost, rho):
    columns = [found(each, name=f"n{i}") for i, each in enumerate(lost)]
    chosen = asked_again(columns, rho=rho)
    assert sum(more for _, more in chosen) <= rho
    first = found().budget.rho
    assert all(2 * first <= more <= 4 * first for _, more in chosen)
    n_lost = sum(each.lost > 0 for each in columns)
    assert len(chosen) == min(n_lost, int(rho / (2 * first)))
    largest = sorted((each.lost for each in columns), reverse=True)[: len(chosen)]
    assert [each.lost for each, _ in chosen] == largest


class Answers:
    """Answers as they are given, and what they cost."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def frequent(self, grid, *, rho, delta):
        self.asked.append((grid.column, rho, delta))
        return self.answers.pop(0)

    def histogram(self, grid, starts, *, rho):
        self.asked.append((grid.column, rho, Fraction(0)))
        return NoisyHistogram(starts, 0.0, 0.0, np.array([1000.0]), 9.0)


def test_counts_are_those_of_both_answers_by_their_precision():
    first = FrequentValues({"a": 100.0, "b": 50.0}, 10.0, 2.0, 20.0)
    second = FrequentValues({"a": 110.0, "c": 15.0}, 20.0, 1.0, 10.0)
    budget = found().budget
    answers = Answers(first, second)
    both = find_levels(answers, budget).and_more(answers, rho=4 * budget.rho)
    assert both.frequent.counts == pytest.approx({"a": 108.0, "b": 50.0, "c": 15.0})
    assert both.frequent.missing == pytest.approx(18.0)
    assert both.frequent.stddev == pytest.approx(1 / (1 / 4 + 1) ** 0.5)
    name = budget.column.name
    assert answers.asked == [
        (name, budget.rho, budget.delta),
        (name, budget.for_reading, 0),
        (name, 4 * budget.rho, budget.delta_again),
    ]
    levels = both.closed(min_mass=0.0).field()["constraints"]["enum"]
    assert levels == ["a", "b", "c"]


@given(st.integers(1, 6), st.integers(0, 2**32), st.fractions(0, 1))
def test_no_answers_cost_more_than_what_was_said(n_columns, seed, rho_again):
    rng = np.random.default_rng(seed)

    class AnyAnswers(Answers):
        def frequent(self, grid, *, rho, delta):
            self.answers = [
                FrequentValues(
                    {str(i): float(rng.uniform(0, 300)) for i in range(rng.integers(4))},
                    0.0,
                    float(rng.uniform(0.1, 9)),
                    5.0,
                )
            ]
            return super().frequent(grid, rho=rho, delta=delta)

    schema = OpenSchema.from_kinds({f"c{i}": "categorical" for i in range(n_columns)})
    answers, delta = AnyAnswers(), Fraction(takes_thresholds(schema), 1000)
    learnt = list(
        learn_columns(
            schema,
            answers,
            rho=Fraction(1),
            rho_again=rho_again,
            delta=delta,
            min_mass=10.0,
            report=lambda *_: None,
        )
    )
    assert sum(rho for _, rho, _ in answers.asked) <= 1 + rho_again
    assert sum(part for *_, part in answers.asked) <= delta
    assert {each.column.name for each in learnt} == set(schema.names)


def test_asking_again_never_takes_more_than_half_of_what_is_left():
    ledger = PrivacyLedger(
        epsilon=1.0, delta=1e-9, adjacency=Adjacency.ADD_REMOVE, accounting=Accounting.GDP
    )
    for share in (Fraction(1, 20), Fraction(1, 2), Fraction(19, 20)):
        more = again(ledger, rho=ledger.budget * share)
        assert more == ledger.budget * min(share, 1 - share) / 2
