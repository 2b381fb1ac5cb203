"""After a failure, and after the answer, nothing but the caller's own frame holds rows or exact
counts.
"""

import gc
import json

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from helpers.reach import carried, reachable, secrets, told_by

import synthdp
from synthdp.cli import run
from synthdp.core import PrivacyError
from synthdp.data import HeldTableReader
from synthdp.mechanisms import MST
from synthdp.privacy import MarginalL1Error, PrivateTable, PrivateValues, Queryable
from synthdp.release import FilledTable, engine_named

held_table = home(HeldTableReader)
private_table = home(PrivateTable)
queryable = home(Queryable)

N_ROWS = 4093
"""No other array is as long, and no other integers add up to as much."""

FIELDS = [
    {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}}
    for name in ("a", "b")
]
SCHEMA = {"fields": [*FIELDS, {"name": "c", "type": "string", "synthdp": {"derive": ["levels"]}}]}


class BreakError(RuntimeError):
    """Raised where a test wants it."""


def frame():
    codes = np.random.default_rng(0).integers(0, 10, (N_ROWS, 2))
    return pd.DataFrame(codes, columns=["a", "b"]).assign(c="x")


def break_late(monkeypatch, owner, name, error=BreakError):
    """Let a function do its work, then fail with its result and its arguments in its frame."""
    function = getattr(owner, name)

    def broken(*arguments, **options):
        result = function(*arguments, **options)
        if hasattr(result, "__next__"):
            result = list(result)
        raise error(f"after {name}") from ValueError("the cause")

    monkeypatch.setattr(owner, name, broken)


FAILURES = {
    "reading a column": (held_table.HeldTableReader, "add"),
    "holding the table": (held_table.HeldTableReader, "finish"),
    "deriving levels": (PrivateValues, "frequent"),
    "encoding": (held_table.HeldTable, "encode"),
    "counting": (PrivateTable, "_counts"),
    "measuring": (PrivateTable, "measure"),
    "drawing noise": (queryable, "gaussian_noise"),
    "scoring": (MarginalL1Error, "error"),
    "selecting": (private_table, "exponential_mechanism"),
    "fitting": (type(engine_named("graphical-model")), "estimate"),
}
MECHANISM = {"scoring": "mwem-pgm", "selecting": "mwem-pgm"}


def prepared(case, monkeypatch, error=BreakError):
    break_late(monkeypatch, *FAILURES[case], error)
    return {"mechanism": MECHANISM.get(case, "independent"), "engine": "graphical-model"}


@pytest.mark.parametrize("error", [BreakError, KeyboardInterrupt, MemoryError, PrivacyError])
@pytest.mark.parametrize("case", FAILURES)
def test_an_error_of_synthesize_carries_nothing_out(case, error, monkeypatch):
    mechanism = prepared(case, monkeypatch, error)
    with pytest.raises(error) as caught:
        synthdp.synthesize(frame(), SCHEMA, epsilon=1, delta=1e-6, **mechanism)
    assert caught.value.__traceback__.tb_next.tb_next is not None, "where it happened is still told"
    assert secrets(carried(caught.value, callers=1), N_ROWS) == []


@pytest.mark.parametrize("case", FAILURES)
def test_an_error_of_the_command_line_carries_nothing_out(case, monkeypatch, tmp_path):
    mechanism = prepared(case, monkeypatch)
    monkeypatch.setenv("SYNTHDP_DEBUG", "1")
    monkeypatch.chdir(tmp_path)
    frame().to_csv("in.csv", index=False)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    budget = ["--epsilon", "1", "--delta", "1e-6"]
    asked = ["--mechanism", mechanism["mechanism"], "--engine", mechanism["engine"]]
    with pytest.raises(BreakError) as caught:
        run(["run", "in.csv", "-s", "schema.json", "-o", "out.csv", *budget, *asked])
    assert secrets(carried(caught.value, callers=1), N_ROWS) == []


def test_memory_that_is_not_enough_does_not_tell_how_many_rows_there_are(monkeypatch):
    def large(*_arguments, **_options):
        np.zeros((N_ROWS, 2**45))

    monkeypatch.setattr(PrivateTable, "measure", large)
    with pytest.raises(MemoryError) as caught:
        synthdp.synthesize(frame(), SCHEMA, epsilon=1, delta=1e-6, mechanism="independent")
    assert str(N_ROWS) not in told_by(
        caught.value, repr(caught.value.args) + repr(vars(caught.value))
    )


@pytest.mark.parametrize("about", [b"\xff" * N_ROWS, "\ud800" * N_ROWS], ids=["bytes", "text"])
def test_an_error_that_holds_an_object_lets_it_go(about, monkeypatch):
    """An attribute that is missing, bytes that are no text: such errors keep what they were about."""

    def wrong(self, *_arguments, **_options):
        try:
            about.decode() if isinstance(about, bytes) else about.encode()
        finally:
            self.nothing_of_that_name  # noqa: B018

    monkeypatch.setattr(held_table.HeldTable, "encode", wrong)
    with pytest.raises(AttributeError) as caught:
        synthdp.synthesize(frame(), SCHEMA, epsilon=1, delta=1e-6)
    found = carried(caught.value, callers=1)
    assert secrets(found, N_ROWS) == []
    assert not [thing for thing in found if type(thing) is type(about) and thing[:N_ROWS] == about]
    assert isinstance(caught.value.__context__, UnicodeError)
    assert "codec can't" in str(caught.value.__context__)


def test_mechanisms_and_engines_that_keep_what_they_are_given_keep_no_table(monkeypatch):
    kept = []
    release = MST.release

    def keeping(self, table, task):
        kept.extend([table, task])
        kept.append(MarginalL1Error({("a", "b"): np.zeros((10, 10))}))
        table.scores([("a", "b")], score=kept[-1], rho=table.ledger.remaining / 10)
        return release(self, table, task)

    values = PrivateValues.__init__

    def remembering(self, *arguments, **options):
        values(self, *arguments, **options)
        kept.append(self)

    monkeypatch.setattr(MST, "release", keeping)
    monkeypatch.setattr(PrivateValues, "__init__", remembering)
    mechanism, engine = MST(), engine_named("graphical-model")
    data = frame()
    synthesis = synthdp.synthesize(
        # No rows are drawn to be judged: by chance they could be as many as the records.
        data,
        SCHEMA,
        epsilon=100,
        delta=1e-6,
        mechanism=mechanism,
        engine=engine,
        quality_share=0,
    )
    assert {type(thing) for thing in kept} >= {FilledTable, PrivateValues}
    assert secrets(reachable(synthesis, mechanism, engine, kept), N_ROWS) == []
    (table,) = (thing for thing in kept if isinstance(thing, FilledTable))
    spent = table.ledger.spent
    with pytest.raises(PrivacyError, match="its run is over"):
        table.measure(("a",), rho=table.ledger.budget / 10**9)
    assert table.ledger.spent == spent


def sources():
    gc.collect()
    kinds = {"CodedSource", "CodedTable", "HeldSource", "HeldTable"}
    return {id(thing) for thing in gc.get_objects() if type(thing).__name__ in kinds}


def test_no_source_outlives_the_run():
    before = sources()
    synthesis = synthdp.synthesize(frame(), SCHEMA, epsilon=1, delta=1e-6)
    assert sources() <= before
    assert synthesis.model.total > 0


def test_the_walk_would_find_what_an_error_carries():
    def failing(data):
        counts = np.bincount(data["a"], minlength=10)
        raise BreakError(len(counts))

    with pytest.raises(BreakError) as caught:
        failing(frame())
    assert len(secrets(carried(caught.value, callers=1), N_ROWS)) >= 2
