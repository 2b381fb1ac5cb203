"""What is released cannot reach the records."""

import numpy as np
import pandas as pd
import pytest
from helpers.quick_engines import quick_engine
from helpers.reach import reachable

import synthdp
from synthdp.data import CodedSource, CodedTable, encode
from synthdp.privacy import PrivateTable
from synthdp.release import MECHANISMS, Release, RunSettings, registry
from synthdp.schema import Schema

LEVELS = 16
SCHEMA = {
    "fields": [
        {
            "name": name,
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": LEVELS - 1, "required": True},
        }
        | {"synthdp": {"bins": LEVELS}}
        for name in ("a", "b", "c")
    ]
}


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_a_synthesis_cannot_reach_the_records(mechanism, monkeypatch):
    monkeypatch.setattr(registry, "engine_named", quick_engine)
    # a row count that no other array has marks arrays of records
    n_rows = 4093
    rows = np.random.default_rng(0).integers(0, LEVELS, (n_rows, 3))
    frame = pd.DataFrame(rows, columns=list("abc"))
    synthesis = synthdp.synthesize(frame, SCHEMA, epsilon=1, delta=1e-6, mechanism=mechanism)
    for thing in reachable(synthesis):
        assert not isinstance(thing, (PrivateTable, CodedSource, CodedTable, pd.DataFrame))
        if isinstance(thing, np.ndarray):
            assert n_rows not in thing.shape


def test_the_walk_would_find_records_that_leak():
    schema = Schema.from_dict(SCHEMA)
    rows = np.zeros((4093, 3), dtype=int)
    coded = encode(pd.DataFrame(rows, columns=list("abc")), schema)
    leaking = Release(
        schema=schema,
        settings=RunSettings(
            epsilon=1, delta=1e-6, mechanism="mst", engine="graphical-model", adjacency="add-remove"
        ),
    )
    synthesis = leaking.of(CodedSource(coded))
    synthesis.leak = lambda: coded
    assert any(isinstance(thing, CodedTable) for thing in reachable(synthesis))
