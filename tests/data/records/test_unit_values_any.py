"""Any question about any column of persons with any ids: one person more or less moves the answer
by that of one record at most, and a row without an id moves nothing.
"""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from helpers.seldom import examples

from synthdp.core import Grid, ParameterError
from synthdp.data import HeldSource, HeldTableReader, UnitRows, UnitValues
from synthdp.privacy import MOST_ROWS
from synthdp.schema import OpenSchema

KINDS = {
    "number": ["1.5", "2", "7.25", "-3e10", "", "inf", "-inf", "nan", "x", 0.001, True],
    "integer": ["1", "2", "7", "-3", "", "none", "inf", "1e300", 5, 2.5, None],
    "categorical": [*"uvwqrstabcdefgh", "", " u", "u ", None, 1, 1.0, "1", "\ud800", (1,), "NA"],
    "date": ["2020-01-01", "1999-12-31", "", "bad", date(2021, 2, 3)],
    "datetime": ["2020-01-01T10:00:00", "", "bad", "2001-01-01 00:00"],
    "time": ["10:00", "23:59:59", "", "x"],
    "boolean": ["true", "false", "", "yes", "no", "1", "maybe"],
}
SCHEMA = OpenSchema.from_kinds({kind: kind for kind in KINDS})
IDS = [
    *("a", "b", "a ", "", None, 1, 1.0, "1", "1.0", True, float("nan"), b"a", Decimal(1), (1, 2)),
    *("\u00e9", "e\u0301", UUID(int=5), str(UUID(int=5)), date(2020, 1, 1), "2020-01-01"),
]
STARTS = np.array([-10, 0, 1, 2, 5, 8], np.int64)
NONE = np.empty(0, np.int64)
FINENESS = [
    (of, decimals, has_infinite)
    for of in ("values", "decimals", "exponents", "steps", "reading")
    for decimals in (0, 2)
    for has_infinite in (False, True)
]


def objects(values):
    column = np.empty(len(values), object)
    column[:] = values
    return pd.Series(column, dtype=object)


def people(rng):
    n_rows = int(rng.integers(1, 80))
    ids = [IDS[number] for number in rng.choice(len(IDS), int(rng.integers(1, 5)), replace=False)]
    columns = {"who": ids} | KINDS
    return pd.DataFrame(
        {
            name: objects([cells[n] for n in rng.integers(0, len(cells), n_rows)])
            for name, cells in columns.items()
        }
    )


def held(frame, max_rows, key, rng):
    """The table in chunks of any lengths."""
    reader = HeldTableReader(SCHEMA, unit="who", max_rows=max_rows, key=key)
    for rows in np.split(np.arange(len(frame)), sorted(rng.integers(0, len(frame) + 1, 2))):
        reader.add(frame.iloc[rows].reset_index(drop=True))
    return reader.finish()


def owners(frame):
    ids = UnitRows(max_rows=1)
    ids.add(frame["who"])
    return ids.ids.rows.joined()


def grids():
    for kind in KINDS:
        for of, decimals, has_infinite in FINENESS:
            yield Grid(column=kind, of=of, decimals=decimals, has_infinite=has_infinite)


def answers(table):
    """The exact answers to all that a source takes, in records."""
    source, found = table.source, {}
    for grid in grids():
        for starts in (STARTS, NONE):
            try:
                cells = source.histogram(grid, starts)
            except ParameterError:
                continue
            found["histogram", grid, len(starts)] = dict(enumerate(map(Fraction, cells.tolist())))
        try:
            frequencies = source.frequencies(grid)
        except ParameterError:
            continue
        weight = 1024 if source.most_values(grid) > 1 else 1
        counts = [count for block in frequencies.counts() for count in block.tolist()]
        values = frequencies.values(np.arange(len(counts)))
        cells = {
            value: Fraction(count, weight) for value, count in zip(values, counts, strict=True)
        }
        found["frequencies", grid] = cells | {(): Fraction(frequencies.missing(), weight)}
    return found


@pytest.mark.parametrize("max_rows", [2, MOST_ROWS - 1, MOST_ROWS, MOST_ROWS + 1, 60])
def test_a_person_is_one_record_of_any_question(max_rows):
    worst = {}
    for seed in range(examples(30)):
        rng = np.random.default_rng((seed, max_rows))
        frame = people(rng)
        key = f"{seed:016}"
        table = held(frame, max_rows, key, rng)
        assert isinstance(table.source, UnitValues)
        whole, persons = answers(table), owners(frame)
        for person in {*persons.tolist()}:
            fewer = held(frame[persons != person], max_rows, key, rng)
            again = answers(fewer)
            assert again.keys() == whole.keys()
            for question, before in whole.items():
                after = again[question]
                moves = [before.get(c, 0) - after.get(c, 0) for c in {*before, *after}]
                moved = sum(move**2 for move in moves)
                assert moved <= (person >= 0), (question, seed)
                assert min(moves) >= 0
                worst[question] = max(worst.get(question, 0), moved)
    # Or nothing would be found: each kind of column is asked in several ways.
    assert len(worst) > 40
    # Weights of several values are rounded down.
    assert all(0.99 < moved <= 1 for moved in worst.values())


def test_rows_that_are_chosen_are_counted_as_rows():
    """What is taken of a table is its rows: whoever takes them says whose they are."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: objects(["a"] * 5) for name in ("who", *KINDS)})
    some = held(frame, 9, "0" * 16, rng).of_rows(np.array([0, 3, 4]))
    assert isinstance(some.source, HeldSource)
    assert not some.source.is_by_unit
    (counts,) = some.source.frequencies(Grid(column="categorical")).counts()
    assert counts.tolist() == [3]
