"""Random tables: whatever the types, values and schema, a column that an engine takes is counted as
in memory.
"""

import random

import pytest
from helpers.engines import ENGINES
from helpers.random_columns import random_table

from synthdp.core import SchemaError
from synthdp.data import EngineFrame, EngineTable, held_rows, opened
from synthdp.schema import OpenSchema

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis", "ignore:fetch_arrow_table"
)


def counted(rows, schema):
    closed = schema.resolved({})
    cliques = [(name,) for name in closed.names]
    return dict(zip(cliques, map(list, rows.counted(closed).counts_of(cliques)), strict=True))


def check(engine, seed, n_columns):
    content, frame = random_table(random.Random(seed), n_columns)
    taken = []
    for field in content["fields"]:
        table = EngineFrame.from_native(ENGINES[engine](frame.select(field["name"])))
        try:
            EngineTable.from_frame(table, OpenSchema.from_dict({"fields": [field]}))
        except SchemaError:
            continue
        taken.append(field)
    assert len(taken) > n_columns / 2
    schema, kept = (
        OpenSchema.from_dict({"fields": taken}, learns_bins=False),
        frame.select([field["name"] for field in taken]),
    )
    remote = counted(
        EngineTable.from_frame(EngineFrame.from_native(ENGINES[engine](kept)), schema), schema
    )
    assert remote == counted(held_rows(opened(kept).frame, schema), schema)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_random_table_is_counted_as_in_memory(engine):
    check(engine, seed=16, n_columns=12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("engine", ENGINES)
def test_random_tables_are_counted_as_in_memory(engine, seed):
    check(engine, seed, n_columns=25)
