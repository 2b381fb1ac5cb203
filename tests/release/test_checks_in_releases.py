"""Checks hold in what releases give: tables, slices, completed records, saved models, files."""

import json
from dataclasses import replace
from io import BytesIO
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import assert_one_line, invoke, write
from helpers.kinds_runs import freeze

import synthdp
from synthdp.core import ParameterError, SchemaError
from synthdp.schema import OpenSchema

CHECKS = ["start <= end", "`home value` >= mortgage", "income = wages + rents"]
KINDS = {
    "start": "date",
    "end": "date",
    "home value": "integer",
    "mortgage": "number",
    "wages": "number",
    "rents": "number",
    "income": "number",
}


def loans(n_rows=4000):
    generator = np.random.default_rng(0)
    start = np.datetime64("2015-01-01") + generator.integers(0, 2000, n_rows).astype(
        "timedelta64[D]"
    )
    end = pd.Series(start + generator.integers(0, 300, n_rows).astype("timedelta64[D]"))
    value = generator.integers(50, 900, n_rows)
    wages, rents = np.round(generator.gamma(2, (500, 200), (n_rows, 2)).T, 2)
    return pd.DataFrame(
        {
            "start": start,
            "end": end.where(generator.random(n_rows) < 0.8),
            "home value": value,
            "mortgage": np.round(value * generator.random(n_rows), 1),
            "wages": wages,
            "rents": rents,
            "income": np.round(wages + rents, 2),
        }
    )


def n_broken(table):
    late = table["start"] > table["end"]
    more = table["home value"] < table["mortgage"]
    off = ((table["wages"] + table["rents"] - table["income"]).abs() > 1e-6).fillna(False)
    return [int(broken.fillna(False).sum()) for broken in (late, more, off)]


@pytest.fixture(scope="module")
def kinds():
    return KINDS | {"synthdp": {"constraints": [{"check": check} for check in CHECKS]}}


@pytest.fixture(scope="module")
def run(kinds):
    with pytest.MonkeyPatch.context() as patch:
        freeze(patch, 1)
        public = synthdp.OpenSchema.from_kinds(kinds)
        return synthdp.synthesize(loans(), public, epsilon=5, delta=1e-6, mechanism="mst")


def test_no_row_of_learnt_columns_breaks_a_check(run):
    table = run.sample(20_000, seed=0)
    assert n_broken(table) == [0, 0, 0]
    assert table["end"].isna().mean() > 0.1
    assert table["start"].nunique() > 1000
    pd.testing.assert_frame_equal(table, run.sample(20_000, seed=0))


def test_without_checks_many_rows_break_them():
    with pytest.MonkeyPatch.context() as patch:
        freeze(patch, 1)
        public = synthdp.OpenSchema.from_kinds(KINDS)
        table = synthdp.synthesize(loans(), public, epsilon=5, delta=1e-6, mechanism="mst").sample(
            2000, seed=0
        )
    assert min(n_broken(table)) > 20


def test_texts_are_the_same_values_and_sums_exact(run):
    texts, table = run.sample(500, seed=3, text=True), run.sample(500, seed=3)
    assert texts["end"].tolist() == [
        "" if pd.isna(moment) else str(moment.date()) for moment in table["end"]
    ]
    cents = {
        name: [round(100 * float(text)) for text in texts[name] if text]
        for name in ("wages", "rents", "income")
    }
    assert all(
        text.rpartition(".")[2].isdigit() and text.rpartition(".")[0]
        for text in texts["income"]
        if text
    )
    if not (texts[["wages", "rents", "income"]] == "").any(axis=None):
        assert np.array_equal(np.add(cents["wages"], cents["rents"]), cents["income"])


def test_checks_hold_in_what_a_saved_model_gives(run, tmp_path):
    run.save(tmp_path / "loans.synthdp")
    again = synthdp.load(tmp_path / "loans.synthdp")
    pd.testing.assert_frame_equal(again.sample(300, seed=4), run.sample(300, seed=4))


@pytest.mark.parametrize(
    "where",
    [
        {"start": {"minimum": "2018-01-20", "maximum": "2018-01-29"}},
        {"end": {"maximum": "2015-06-10"}, "mortgage": {"minimum": 100}},
        {"income": {"minimum": 700, "maximum": 750}},
        {"end": ["2016-03-03", "2016-09-09"]},
    ],
)
def test_checks_and_conditions_hold_in_a_slice(run, where):
    table = run.sample(2000, where=where, seed=0)
    assert n_broken(table) == [0, 0, 0]
    for name, condition in where.items():
        if isinstance(condition, list):
            assert set(table[name].astype(str)) == set(condition)
        else:
            kind = pd.Timestamp if name in ("start", "end") else float
            lowest, highest = (
                kind(condition[key]) if key in condition else None for key in ("minimum", "maximum")
            )
            assert lowest is None or table[name].min() >= lowest
            assert highest is None or table[name].max() <= highest


def test_given_values_stay_and_the_rest_keeps_to_the_checks(run):
    given = pd.DataFrame(
        {
            "start": pd.to_datetime(["2017-05-17", "2019-01-02"] * 300),
            "income": [777.25, 801.0] * 300,
        }
    )
    table = run.sample(given=given, seed=0)
    assert n_broken(table) == [0, 0, 0]
    assert (table["start"].to_numpy() == given["start"].to_numpy()).all()
    assert (table["income"] == given["income"]).all()
    assert n_broken(run.sample(given={"mortgage": [100.007] * 300}, seed=0)) == [
        0,
        0,
        0,
    ]  # finer than the column


@pytest.mark.parametrize(
    ("given", "check"),
    [
        (
            {"start": ["2016-01-01", "2017-05-17"], "end": ["2016-01-01", "2016-12-31"]},
            "'start <= end'",
        ),
        ({"home value": [200, 100], "mortgage": [200, 100.1]}, r"'`home value` >= mortgage'"),
        (
            {"wages": [500.0, 500.0], "rents": [200.0, 200.0], "income": [700.0, 700.01]},
            "'income = wages ",
        ),
    ],
)
def test_a_given_record_that_breaks_a_check_is_refused_in_one_line(run, given, check):
    with pytest.raises(
        SchemaError, match=f"given: record 1 \\(from 0\\) breaks the check {check}"
    ) as raised:
        run.sample(given=given)
    assert "\n" not in str(raised.value)


def test_a_slice_without_rows_is_refused_in_one_line(run):
    where = {"start": {"minimum": "2017-06-20"}, "end": {"maximum": "2017-06-10"}}
    with pytest.raises(
        ParameterError, match="where: no row that meets it keeps to the check 'start <= end'"
    ):
        run.sample(where=where)


def test_bounds_that_noise_makes_contradictory_end_no_run(kinds):
    """Of 20 records hardly anything can be learnt: some bounds cross, and are widened."""
    for seed in range(4):
        with pytest.MonkeyPatch.context() as patch:
            freeze(patch, seed)
            public = synthdp.OpenSchema.from_kinds(kinds)
            run = synthdp.synthesize(
                loans(20), public, epsilon=0.3, delta=1e-6, mechanism="independent"
            )
        assert n_broken(run.sample(500, seed=0)) == [0, 0, 0]


def test_the_command_line_writes_rows_that_keep_to_the_checks(tmp_path, monkeypatch, kinds):
    monkeypatch.chdir(tmp_path)
    freeze(monkeypatch, 1)
    loans(2000).to_csv("in.csv", index=False)
    write(tmp_path / "kinds.json", json.dumps(kinds))
    options = [
        "--kinds",
        "kinds.json",
        "-o",
        "out.csv",
        "--epsilon=2",
        "--delta=1e-6",
        "--mechanism",
        "independent",
    ]
    assert invoke("run", "in.csv", *options, "--save", "model.synthdp").code == 0
    dates = ["start", "end"]
    assert n_broken(pd.read_csv("out.csv", parse_dates=dates)) == [0, 0, 0]
    sampled = invoke("sample", "model.synthdp", "-o", "-", "--seed", "1")
    assert n_broken(pd.read_csv(BytesIO(sampled.out), parse_dates=dates)) == [0, 0, 0]
    for shown in ("kinds.json", "model.synthdp"):
        lines = invoke("show", shown, "--all").out.decode().splitlines()
        assert 'rule: {"check": "start <= end"}' in lines
    write(tmp_path / "given.csv", "start,end\n2017-05-17,2016-01-01\n")
    refused = invoke("sample", "model.synthdp", "-o", "no.csv", "--given", "given.csv")
    assert_one_line(refused, 2)
    assert "record 0 (from 0) breaks the check 'start <= end'" in refused.err
    wrong = kinds | {
        "synthdp": {"constraints": [{"check": "start < end"}, {"check": "end < start"}]}
    }
    write(tmp_path / "wrong.json", json.dumps(wrong))
    options[1], options[3] = "wrong.json", "no.csv"
    refused = invoke("run", "in.csv", *options)
    assert_one_line(refused, 1)
    assert (
        "the check 'start < end' and the check 'end < start' contradict each other" in refused.err
    )
    assert not (tmp_path / "no.csv").exists()


def test_columns_that_contradict_a_check_once_they_are_learnt_are_rescued_without_it():
    bounds = {"a": (100, 105), "c": (0, 1)}
    kinds = {
        name: {"type": "number", "constraints": {"minimum": low, "maximum": high}}
        for name, (low, high) in bounds.items()
    }
    schema, kept = OpenSchema.from_kinds(kinds), []
    with patch.object(OpenSchema, "partly_closed", _refusing_rules(OpenSchema.partly_closed)):
        schema = replace(schema, rules=({"check": "c <= a"},))
        with pytest.raises(SchemaError, match="refused"):
            synthdp.synthesize(
                pd.DataFrame({"a": [101.5], "c": [0.5]}),
                schema,
                epsilon=1,
                delta=1e-6,
                rescue=kept.append,
            )
    assert kept[0].schema.names == ("a", "c")
    assert not kept[0].schema.is_open


def _refusing_rules(partly_closed):
    def refusing(schema, found):
        if schema.rules:
            raise SchemaError("refused")
        return partly_closed(schema, found)

    return refusing
