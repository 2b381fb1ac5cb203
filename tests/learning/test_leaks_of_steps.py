"""How round values are is asked of each record by itself, once: neighbours differ in one cell, by
one record.
"""

import numpy as np
import pandas as pd
import pytest
from helpers.flows import Frozen, run_of
from helpers.homes import home
from helpers.random_tables import LOUD, moves

from synthdp.core import Grid
from synthdp.data import HeldTexts, held_rows
from synthdp.schema import STEPS, OpenSchema

held_columns = home(HeldTexts)

AMOUNTS = pd.DataFrame(
    {"x": [*range(1700, 2300, 7), *[2000, 2050, 2100, 2005] * 9, 0, None] * 6}, dtype=object
)
KINDS = {
    "integer": {"x": "integer"},
    "number": {"x": {"type": "number", "synthdp": {"derive": True, "decimals": 1}}},
    "time": {"x": "time"},
}
CELLS = np.arange(len(STEPS) + 2)
ODD = {
    "a heap": 2000,
    "a hundred": 2100,
    "no heap": 1999,
    "zero": 0,
    "far out": 10**15,
    "gap": None,
    "text": "many",
}


def with_value(value):
    return pd.concat([pd.DataFrame({"x": [value]}, dtype=object), AMOUNTS], ignore_index=True)


def of_kind(frame, kind):
    """The same as times of day, whose minutes the numbers are."""
    if kind != "time":
        return frame
    day = np.datetime64("2021-01-01T00:00:00")
    values = [
        str(day + np.timedelta64(60 * value, "s"))[-8:] if type(value) is int else value
        for value in frame["x"]
    ]
    return pd.DataFrame({"x": values}, dtype=object)


def steps_counted(frame, kind):
    table = held_rows(of_kind(frame, kind), OpenSchema.from_kinds(KINDS[kind]))
    return table.source.histogram(
        Grid(column="x", of="steps", decimals=int(kind == "number")), CELLS
    )


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("kind", KINDS)
def test_one_record_more_is_one_more_in_one_cell(name, kind):
    counts, others = steps_counted(AMOUNTS, kind), steps_counted(with_value(ODD[name]), kind)
    moved = others - counts
    assert sorted(moved.tolist()) == [0] * (len(moved) - 1) + [1]
    alone = steps_counted(pd.DataFrame({"x": [ODD[name]]}, dtype=object), kind)
    assert np.array_equal(alone, moved), "whatever the other records are"


def asked(frame, kind):
    """A run with much budget, so that it asks how round values are."""
    found = run_of(of_kind(frame, kind), KINDS[kind], randomness=Frozen(4), **LOUD)
    assert not found.error
    assert "steps" in [event.to_dict().get("of") for event in found.events]
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["a heap", "far out", "gap"])
def test_a_run_is_moved_by_no_more_than_it_is_charged_for(kind, name):
    assert asked(AMOUNTS, kind)
    tables = (of_kind(frame, kind) for frame in (AMOUNTS, with_value(ODD[name])))
    assert moves(KINDS[kind], *tables, 1) == []


def count_twice(monkeypatch):
    """A multiple of 1,000 is one of 10 as well, and so it is counted as both."""
    original = held_columns._HeldPoints.histogram

    def histogram(self, grid, starts, groups=None):
        found = original(self, grid, starts, groups)
        return found + np.append(found[1:], 0) if grid.of == "steps" else found

    monkeypatch.setattr(held_columns._HeldPoints, "histogram", histogram)


def read_the_row_before(monkeypatch):
    """A step is that of the difference to the record before."""
    original = held_columns.steps_of
    monkeypatch.setattr(
        held_columns, "steps_of", lambda points, steps: original(np.diff(points, prepend=0), steps)
    )


def read_the_finest(monkeypatch):
    """Steps are told as multiples of the finest that occurs."""
    original = held_columns.steps_of
    monkeypatch.setattr(
        held_columns,
        "steps_of",
        lambda points, steps: original(points, steps) - original(points, steps).min(initial=99),
    )


@pytest.mark.parametrize("mutate", [count_twice, read_the_row_before, read_the_finest])
def test_it_finds_the_mutant(mutate, monkeypatch):
    table, neighbour = AMOUNTS, with_value(1850)
    if mutate is read_the_finest:
        table, neighbour = AMOUNTS[AMOUNTS["x"].isin([2000, 2050, 2100])], with_value(1999)
        neighbour = neighbour[neighbour["x"].isin([2000, 2050, 2100, 1999])]
    one, other = steps_counted(table, "integer"), steps_counted(neighbour, "integer")
    assert np.abs(other - one).sum() == 1
    mutate(monkeypatch)
    one, other = steps_counted(table, "integer"), steps_counted(neighbour, "integer")
    assert np.abs(other - one).sum() > 1
