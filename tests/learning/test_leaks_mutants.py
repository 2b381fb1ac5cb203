"""The leak test notices: mutants that show something of a record, each of which it must find."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.flows import NOTHING, Frozen, run_of, sensitivity_violations
from helpers.homes import home
from helpers.random_tables import (
    KINDS,
    LARGE,
    LOUD,
    PERSONS,
    QUIET,
    RICH,
    USUAL,
    assert_same,
    assert_same_domain,
    moves,
    neighbours_by_person,
    runs_of,
    with_row,
)
from helpers.values import Listed, counted, listed

from synthdp.core import Grid
from synthdp.data import HeldNumbers, HeldTexts, UnitRows
from synthdp.learning import learn_columns, learnt_missing
from synthdp.privacy import PrivateValues

learner = home(learn_columns)
learning_levels = home(learnt_missing)
private_values = home(PrivateValues)

LEVELS = {"town": "string"}
TOWNS = pd.DataFrame({"town": ["A"] * 300 + ["B"] * 200 + ["C"] * 100}, dtype=object)


def levels_with_first(town):
    """The levels that are found if one record more comes first."""
    first = pd.concat([pd.DataFrame({"town": [town]}), TOWNS], ignore_index=True)
    one, other = (run_of(table, LEVELS, randomness=Frozen(3), **LOUD) for table in (TOWNS, first))
    return [found.schema["fields"][0]["constraints"]["enum"] for found in (one, other)]


def list_in_order_of_appearance(monkeypatch):
    original = HeldTexts.frequencies

    def frequencies(self, grid, _groups=None):
        found = original(self, grid)
        counts = counted(found)
        seen = [key for key in self._vocabulary.keys if key in counts]
        return Listed(seen, [counts[key] for key in seen], found.missing())

    monkeypatch.setattr(HeldTexts, "frequencies", frequencies)


def sort_nothing(monkeypatch):
    for module in (private_values, learning_levels):
        monkeypatch.setattr(module, "sorted", lambda values, **_: list(values), raising=False)


@pytest.mark.parametrize("town", ["A", "C", "Z"])
def test_levels_come_in_their_own_order(town, monkeypatch):
    expected = ["A", "B", "C"]
    assert levels_with_first(town) == [expected, expected]
    list_in_order_of_appearance(monkeypatch)
    assert levels_with_first(town) == [expected, expected]  # the kernel sorts what any source lists


def test_it_finds_levels_in_order_of_appearance(monkeypatch):
    list_in_order_of_appearance(monkeypatch)
    sort_nothing(monkeypatch)
    one, other = levels_with_first("C")
    assert one != other


def read_the_largest(monkeypatch):
    original = learner._learn

    def learn(values, budget, *, min_mass):
        learnt = original(values, budget, min_mass=min_mass)
        if budget.column.type != "integer":
            return learnt
        points, _ = listed(
            values._source._source.frequencies(Grid(column=budget.column.name))
        )  # past the spy
        closed = budget.column.resolved(
            minimum=0, maximum=min(int(max(points)), 2**53), required=True
        )
        return replace(learnt, column=closed)

    monkeypatch.setattr(learner, "_learn", learn)


def read_the_decimals(monkeypatch):
    def learn_decimals(values, column, *, rho):
        grid = Grid(column=column, of="decimals")
        values.histogram(grid, NOTHING, rho=rho)
        return int(max(listed(values._source._source.frequencies(grid))[0]))

    monkeypatch.setattr(learner, "learn_decimals", learn_decimals)


def forget_the_threshold(monkeypatch):
    monkeypatch.setattr(private_values, "partition_threshold", lambda *_, **__: 1)


def read_whether_values_are_missing(monkeypatch):
    def learnt_missing(column, missing, _):
        return {"required": missing < 0.5} if "missing" in column.open_parts else {}

    for module in (learner, learning_levels):
        monkeypatch.setattr(module, "learnt_missing", learnt_missing)


def warn_of_a_value(monkeypatch):
    original = HeldNumbers.add

    def add(self, values):
        if values.str.len().gt(300).any():
            raise ValueError("a number is too long")
        original(self, values)

    monkeypatch.setattr(HeldNumbers, "add", add)


def ask_once_more(monkeypatch):
    original = learner._learn

    def learn(values, budget, *, min_mass):
        if (
            budget.column.name == "smokes"
            and values._source._source.histogram(Grid(column="smokes"), NOTHING)[0]
        ):
            budget = replace(budget, rho=budget.rho / 2)
        return original(values, budget, min_mass=min_mass)

    monkeypatch.setattr(learner, "_learn", learn)


@pytest.mark.parametrize(
    ("mutate", "odd"),
    [
        (read_the_largest, {"age": "1000000"}),
        (read_the_decimals, {"price": "1.23456789"}),
        (forget_the_threshold, {"town": "unique"}),
        (read_whether_values_are_missing, {"smokes": ""}),
        (warn_of_a_value, {"price": "1" * 400}),
        (ask_once_more, {"smokes": ""}),
    ],
)
def test_it_finds_the_mutant(mutate, odd, monkeypatch):
    mutate(monkeypatch)
    one, other = runs_of([USUAL, with_row(USUAL, odd)], frozen=QUIET[0])
    with pytest.raises(AssertionError):
        assert_same(one, other)
    with pytest.raises(AssertionError):
        assert_same_domain(one, other)


def test_it_finds_a_bound_on_rows_that_is_not_kept(monkeypatch):
    monkeypatch.setattr(
        UnitRows,
        "ranks",
        lambda self, *_eligible: np.zeros(len(self._ids.rows.joined()), dtype=int),
    )
    frames = neighbours_by_person(9, {})
    one, other = runs_of(frames, frozen=QUIET[0], epsilon=0.2, **PERSONS)
    found = {what for what, *_ in sensitivity_violations(one.events, one.answers, other.answers)}
    # For its one level a person counts once, however many rows it has.
    assert found == {"histogram", "marginal"}
    assert len(moves(KINDS, *frames, PERSONS["max_rows"] ** 2, **PERSONS)) > 10


def test_it_finds_a_record_that_is_counted_twice(monkeypatch):
    of_levels, of_cells = HeldTexts.frequencies, HeldNumbers.histogram

    def frequencies(self, grid, _groups=None):
        found = of_levels(self, grid)
        counts = counted(found)
        return Listed([*counts, "all"], [*counts.values(), sum(counts.values())], found.missing())

    monkeypatch.setattr(HeldTexts, "frequencies", frequencies)
    monkeypatch.setattr(HeldNumbers, "histogram", lambda self, *asked: 2 * of_cells(self, *asked))
    found = moves(RICH, LARGE, with_row(LARGE, {}), 1)
    assert ("frequencies", "town") in found
    assert ("histogram", "price") in found
