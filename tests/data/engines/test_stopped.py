"""Sources that die on the way: one clear error, no paid answer lost or drawn anew, and the same
call goes on.
"""

import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.cli_runs import CANARY, invoke
from helpers.engines import ENGINES, LEARNING
from helpers.homes import home
from helpers.seldom import often
from helpers.stopped_runs import KINDS, RUN, SCHEMA, answers, frame

from synthdp import synthesize
from synthdp.core import DataFileError, SourceError
from synthdp.data import EngineFrame, checked_block, open_table, read_coded
from synthdp.release import Journal
from synthdp.schema import Schema

csv_blocks = home(checked_block)
engine_frame = home(EngineFrame)

TABLE = pl.from_pandas(frame()).with_columns(pl.col("d").str.to_date())
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis", "ignore:fetch_arrow_table"
)
ENGINES = {name: ENGINES[name] for name in LEARNING if name != "polars"}


def goes_on(attempt, path, most=40):
    """Call again and again until it ends; what was kept before stays as it is. How often it failed.

    There need be no journal before rows are read, for nothing is asked; and then it stays.
    """
    for n_failed in range(most):
        had_journal = path.exists()
        kept = answers(path) if had_journal else []
        found = attempt(n_failed)
        assert path.exists() or (not had_journal and found is None)
        assert (answers(path) if path.exists() else [])[: len(kept)] == kept
        if found is not None:
            return found, n_failed
    raise AssertionError("it never ends")


@pytest.mark.parametrize(
    "engine", often(*(set(ENGINES) & {"duckdb"}), seldom=sorted(set(ENGINES) - {"duckdb"}))
)
def test_an_engine_that_fails_at_any_query_loses_no_paid_answer(engine, tmp_path, monkeypatch):
    collected = engine_frame.collected
    left = []

    def failing(query):
        if not left.pop():
            raise RuntimeError(CANARY)
        return collected(query)

    def attempt(n_failed):
        left[:] = [True] * 99 if n_failed == 6 else [False, *[True] * n_failed]
        try:
            return synthesize(ENGINES[engine](TABLE), kinds=KINDS, journal=tmp_path / "j", **RUN)
        except SourceError as error:
            assert CANARY not in str(error)  # noqa: PT017 (another call may return)
            return None

    monkeypatch.setattr(engine_frame, "collected", failing)
    synthesis, n_failed = goes_on(attempt, tmp_path / "j")
    assert n_failed >= 4  # values of each column, and then counts
    repeated = synthesize(ENGINES[engine](TABLE), kinds=KINDS, journal=tmp_path / "j", **RUN)
    assert [m.values.tolist() for m in repeated.measurements] == [
        m.values.tolist() for m in synthesis.measurements
    ]


@pytest.mark.parametrize("n_answers", [1, 7])
def test_a_connection_that_is_lost(n_answers, tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    keep, kept, connections = Journal.keep, [], []

    def losing(self, question, answer):
        keep(self, question, answer)
        kept.append(answer)
        if len(kept) == n_answers:
            connections[-1].close()

    def attempt(_):
        connections.append(duckdb.connect(config={"threads": 1}))
        connections[-1].register("seen", TABLE.to_arrow())
        connections[-1].execute("CREATE TABLE people AS FROM seen")
        try:
            return synthesize(
                connections[-1].table("people"), kinds=KINDS, journal=tmp_path / "j", **RUN
            )
        except SourceError as error:
            assert "failed (ConnectionException)" in str(error)  # noqa: PT017 (another call may return)
            return None

    monkeypatch.setattr(Journal, "keep", losing)
    _, n_failed = goes_on(attempt, tmp_path / "j")
    assert n_failed == 1
    assert len(answers(tmp_path / "j")) == len(kept)


PUBLIC = Schema.from_dict(SCHEMA)


def cut(path, share=0.5):
    """Cut a file off, at the end of a line if it has any."""
    content = path.read_bytes()
    end = int(len(content) * share)
    path.write_bytes(
        content[: content.rfind(b"\n", 0, end) + 1] if path.suffix == ".csv" else content[:end]
    )


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_a_file_that_shrinks_while_it_is_read_is_no_shorter_table(ending, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", 2**10)
    path, rows = tmp_path / f"people{ending}", frame(4000)[["u", "v", "w"]]
    if ending == ".parquet":
        rows.to_parquet(path, row_group_size=100)
    else:
        rows.to_csv(path, index=False)
    told = []

    def progress(share):
        if not told:
            cut(path)
        told.append(share)

    with pytest.raises(
        DataFileError, match=r"changed while it was read|damaged|cannot be read"
    ) as caught:
        read_coded(path, PUBLIC, progress=progress)
    assert str(path) in str(caught.value)
    assert told


def test_a_file_that_is_written_to_or_replaced_is_found(tmp_path):
    path = tmp_path / "people.csv"
    for change in (
        lambda: path.write_text("u,v,w\na,a,b\n"),  # as long as before
        lambda: path.write_text("u,v,w\na,a,a\nb,b,b\n"),
        lambda: (tmp_path / "new.csv").replace(path),
        path.unlink,
    ):
        for name in (path, tmp_path / "new.csv"):
            name.write_text("u,v,w\na,a,a\n")
            os.utime(name, (1, 1))  # the clock of a file system may be coarse
        with open_table(path) as table:
            list(table.chunks())
            table.check_unchanged()
            change()
            with pytest.raises(DataFileError, match="changed while it was read"):
                table.check_unchanged()


def test_a_run_on_a_file_that_shrinks_is_charged_once(tmp_path, monkeypatch):
    path, run = tmp_path / "people.csv", tmp_path / "out.csv"
    frame(5000)[["u", "v", "w"]].to_csv(path, index=False)
    whole = path.read_bytes()
    Schema.from_dict(SCHEMA).save(tmp_path / "s.json")
    monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", 2**10)
    assert (
        invoke(
            "budget", "create", tmp_path / "b", "--epsilon=1", "--delta=1e-6", "--population=all"
        ).code
        == 0
    )
    arguments = ("run", path, "-s", tmp_path / "s.json", "-o", run, "--epsilon=1", "--delta=1e-6")
    arguments += ("--budget", tmp_path / "b", "--journal", tmp_path / "j")
    checked = csv_blocks.checked_block
    from synthdp.data.files import csv_file

    def shrinking(*block):
        cut(path)
        return checked(*block)

    monkeypatch.setattr(csv_file, "checked_block", shrinking)
    failed = invoke(*arguments)
    assert (failed.code, run.exists()) == (1, False)
    assert "changed while it was read" in failed.err or "as many fields" in failed.err
    monkeypatch.setattr(csv_file, "checked_block", checked)
    path.write_bytes(whole)
    done = invoke(*arguments)
    assert done.code == 0, done.err
    assert np.isclose(len(pd.read_csv(run)), 5000, atol=500)
