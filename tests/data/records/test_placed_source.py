"""Rows with an unread value are counted apart, and the counts are those of all rows: each is in one
cell.
"""

import itertools

import numpy as np
import pandas as pd
import pytest

from synthdp.core import Domain
from synthdp.data import CodedSource, CodedTable, HeldTableReader, PlacedSource, encode
from synthdp.schema import OpenSchema

DECLARED, PLACED = Domain(("a", "b", "c"), (2, 3, 4)), Domain(("a", "b", "c"), (3, 4, 4))
CLIQUES = [clique for k in range(4) for clique in itertools.permutations("abc", k)]


def rows_of(n_rows, share, rng):
    columns = []
    for least, size in zip(DECLARED.shape, PLACED.shape, strict=True):
        codes = rng.integers(least, size=n_rows)
        columns.append(np.where((rng.random(n_rows) < share) & (size > least), least, codes))
    return columns


@pytest.mark.parametrize("share", [0.0, 0.05, 0.6, 1.0])
@pytest.mark.parametrize("n_rows", [0, 1, 40])
def test_counts_are_those_of_a_plain_source(n_rows, share):
    table = CodedTable(PLACED, tuple(rows_of(n_rows, share, np.random.default_rng(n_rows))))
    found, expected = PlacedSource(table, DECLARED), CodedSource(table)
    assert found.domain == PLACED
    for clique, one, other in zip(
        CLIQUES, found.counts_of(CLIQUES), expected.counts_of(CLIQUES), strict=True
    ):
        assert one.dtype == np.int64
        assert one.tolist() == other.tolist(), clique


def test_a_row_more_changes_one_cell_of_each_marginal_by_one():
    rng = np.random.default_rng(0)
    columns = rows_of(30, 0.2, rng)
    for place in range(30):
        rest = tuple(np.delete(codes, place) for codes in columns)
        sources = (
            PlacedSource(CodedTable(PLACED, each), DECLARED) for each in (tuple(columns), rest)
        )
        for more, less in zip(*(source.counts_of(CLIQUES) for source in sources), strict=True):
            assert np.abs(more - less).sum() == 1


FIELDS = [
    {
        "name": "status",
        "type": "string",
        "constraints": {"enum": ["dead", "alive"], "required": True},
    },
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
    {
        "name": "income",
        "type": "number",
        "constraints": {"minimum": 0, "maximum": 9},
        "synthdp": {"derive": ["missing"]},
    },
    {
        "name": "sex",
        "type": "string",
        "constraints": {"enum": ["f", "m"]},
        "synthdp": {"derive": ["missing"]},
    },
]
ROWS = pd.DataFrame(
    {
        "status": ["dead", "ALIVE", "alive", None, ""],
        "age": ["1", "unknown", "", None, "99"],
        "income": ["3.5", "much", "", None, "-1"],
        "sex": ["f", "F", "", None, "m "],
    }
)


@pytest.mark.parametrize("required", [True, False])
def test_held_rows_are_what_encoding_them_by_a_placed_schema_gives(required):
    """Whether a column was declared, or found to have values in all rows, or not."""
    opened = OpenSchema.from_dict({"fields": FIELDS})
    reader = HeldTableReader(opened)
    for start in range(0, len(ROWS), 2):
        reader.add(ROWS[start : start + 2])
    held = reader.finish()
    found = {
        column.name: column.resolved(required=required) if hasattr(column, "resolved") else column
        for column in opened.open_columns
    }
    closed = opened.resolved(found) if found else opened.resolved({})
    for schema in (closed.with_unread_places(), closed):
        expected = encode(ROWS, schema)
        assert [codes.tolist() for codes in held.encode(schema).columns] == [
            c.tolist() for c in expected.columns
        ]
        counted = held.counted(schema)
        assert next(iter(counted.counts_of([("status",)]))).sum() == len(ROWS)
