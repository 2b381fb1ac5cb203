"""What is learnt of a table with persons: each person is one record, whatever rows it has, and of no
other person anything changes. Of levels a person counts for several, less for each.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from helpers.seldom import examples

from synthdp.core import Grid
from synthdp.data import HeldSource, HeldTableReader, UnitSample, UnitValues
from synthdp.privacy import MOST_ROWS, value_weights
from synthdp.schema import OpenSchema

SCHEMA = OpenSchema.from_kinds({"x": "integer", "y": "categorical", "z": "boolean"})
CELLS = np.array([-10, 0, 1, 2, 5, 8], np.int64)
KEY = "0123456789abcdef"


def people(rng):
    n_rows = int(rng.integers(1, 30))
    return pd.DataFrame(
        {
            "who": rng.choice(["a", "b", "c", "d", "", "1", "1.0"], n_rows),
            "x": rng.choice(["1", "2", "7", "-3", "", "none"], n_rows),
            "y": rng.choice(["u", "v", "w", "", " u"], n_rows),
            "z": rng.choice(["true", "false", ""], n_rows),
        }
    )


def source_of(frame, max_rows, *, key=KEY, n_at_once=None):
    reader = HeldTableReader(SCHEMA, unit="who", max_rows=max_rows, key=key)
    for start in range(0, len(frame) or 1, n_at_once or len(frame) or 1):
        reader.add(frame.iloc[start : start + (n_at_once or len(frame) or 1)])
    return reader.finish().source


def listed(frequencies):
    counts = [count for block in frequencies.counts() for count in block.tolist()]
    return dict(zip(frequencies.values(np.arange(len(counts))), counts, strict=True))


def answers(values):
    """The exact answers, in parts of the weight of a person."""
    asked = {}
    for of in ("values", "reading"):
        grid = Grid(column="x", of=of)
        asked[of] = dict(enumerate(values.histogram(grid, CELLS).tolist()))
        weight = value_weights(values.most_values(grid))[0]
        shared = values.shared_histogram(grid, CELLS).tolist()
        asked["shared", of] = {cell: Fraction(each, weight) for cell, each in enumerate(shared)}
    for column in "xy":
        if column == "y":
            starts = np.empty(0, np.int64)
            cells = values.histogram(Grid(column=column), starts)
            asked["missing"] = dict(enumerate(cells.tolist()))
        frequencies = values.frequencies(Grid(column=column))
        weight = value_weights(values.most_values(Grid(column=column)))[0]
        counts = listed(frequencies) | {"missing": frequencies.missing()}
        asked["frequent", column] = {
            value: Fraction(int(count), weight) for value, count in counts.items()
        }
    return asked


def largest_moves(max_rows):
    """How far answers move, at most, if a person is taken away: squares of all cells of one
    question.
    """
    worst, least = Counter(), 0
    for seed in range(examples(20)):
        frame = people(np.random.default_rng(seed))
        reading = {"max_rows": max_rows, "key": f"{seed:016}", "n_at_once": seed % 4 or None}
        whole = answers(source_of(frame, **reading))
        for person in frame["who"].unique():
            fewer = frame[frame["who"] != person]
            for question, cells in answers(source_of(fewer, **reading)).items():
                before = whole[question]
                moved = [before.get(cell, 0) - cells.get(cell, 0) for cell in {*before, *cells}]
                worst[question] = max(worst[question], sum(each**2 for each in moved))
                least = min(least, *moved)
    return worst, least


@pytest.mark.parametrize("max_rows", [2, 3, 40])
def test_a_person_moves_each_answer_by_one_at_most(max_rows):
    worst, least = largest_moves(max_rows)
    assert all(0.99 < moved <= 1 for moved in worst.values()), worst
    assert least == 0, "no count grows where a person goes"


@pytest.mark.parametrize("fault", ["all rows", "weights of single values", "units of rows"])
def test_other_counts_would_be_found(fault, monkeypatch):
    of = UnitValues.of.__func__

    def faulty(cls, columns, sample):
        if fault == "all rows":
            sample = UnitSample(
                one=sample.some, some=sample.some, units=sample.units, most=sample.most
            )
        if fault == "units of rows":
            units = np.arange(len(sample.some))
            sample = UnitSample(one=sample.one, some=sample.some, units=units, most=sample.most)
        return of(cls, columns, sample)

    monkeypatch.setattr(UnitValues, "of", classmethod(faulty))
    if fault == "weights of single values":
        monkeypatch.setattr(
            home(UnitValues), "value_weights", lambda most: (value_weights(most)[0],) * most
        )
    worst, _ = largest_moves(3)
    assert max(worst.values()) > 1


def test_a_person_shares_its_weight_among_its_levels():
    frame = pd.DataFrame({"who": list("aaab"), "x": list("1234"), "y": list("uvuu"), "z": [""] * 4})
    values = source_of(frame, 3)
    assert isinstance(values, UnitValues)
    assert values.most_values(Grid(column="y")) == 3
    assert listed(values.frequencies(Grid(column="y"))) == {"u": 724 + 1024, "v": 724}
    x = Grid(column="x")
    assert values.most_values(x) == 3
    assert values.histogram(x, CELLS).sum() == 2
    # 1 in a cell, 2 and 3 in the next one but one: two of three rows.
    assert values.shared_histogram(x, np.array([1, 2, 4])).tolist() == [0, 0, 457, 915, 1024]


def test_only_rows_that_are_kept_are_looked_at():
    """Of a person with more rows than are used the same ones are kept for learning."""
    n_rows = 50
    frame = pd.DataFrame(
        {"who": ["a"] * n_rows, "x": [*range(n_rows)], "y": [*map(str, range(n_rows))], "z": [""] * n_rows}
    )  # fmt: skip
    for key in range(20):
        reader = HeldTableReader(SCHEMA, unit="who", max_rows=4, key=f"{key:016}")
        reader.add(frame)
        table = reader.finish()
        levels = {*listed(table.source.frequencies(Grid(column="y")))}
        assert len(levels) == 4
        kept = {*listed(HeldSource(table._open).frequencies(Grid(column="y")))}
        assert levels == kept


def test_of_a_person_with_many_rows_a_sample_counts():
    n_rows = 3 * MOST_ROWS
    frame = pd.DataFrame(
        {"who": ["a"] * n_rows, "x": [1] * n_rows, "y": [*map(str, range(n_rows))], "z": [""] * n_rows}
    )  # fmt: skip
    values = source_of(frame, n_rows)
    assert values.most_values(Grid(column="y")) == MOST_ROWS
    counts = listed(values.frequencies(Grid(column="y")))
    assert {*counts.values()} == {value_weights(MOST_ROWS)[-1]}
    assert len(counts) == MOST_ROWS


def test_persons_of_one_row_are_rows():
    frame = pd.DataFrame({"who": list("aab"), "x": list("123"), "y": list("uvu"), "z": [""] * 3})
    values = source_of(frame, 1)
    assert isinstance(values, HeldSource)
    assert not values.is_by_unit
    assert sum(listed(values.frequencies(Grid(column="y"))).values()) == 2
