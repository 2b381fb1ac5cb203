"""``synthdp marginal`` and ``synthdp replicates``."""

import io

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke

import synthdp
from synthdp.core import LinearMeasurement


@pytest.fixture
def model(tmp_path):
    """A saved release of two columns, the second of which may be missing."""
    schema = {
        "fields": [
            {
                "name": "sex",
                "type": "string",
                "constraints": {"enum": ["F", "M"], "required": True},
            },
            {
                "name": "age",
                "type": "integer",
                "constraints": {"minimum": 0, "maximum": 9},
                "synthdp": {"bins": 2},
            },
        ]
    }
    counts = LinearMeasurement(
        ("sex", "age"), np.array([[100.0, 50.0, 9.0], [70.0, 90.0, -3.0]]), 4.0
    )
    path = tmp_path / "a.synthdp"
    synthdp.from_measurements(schema, [counts]).save(path)
    return path


def test_marginal_prints_what_python_gives(model):
    outcome = invoke("marginal", model, "age", "sex", "--interval", "0.9")
    table = pd.read_csv(io.BytesIO(outcome.out), dtype=str, keep_default_na=False)
    expected = synthdp.load(model).marginal(["age", "sex"], interval=0.9)
    assert list(table.columns) == ["age", "sex", "count", "low", "high", "basis"]
    assert table["age"].tolist()[::2] == ["0 .. 4", "5 .. 9", ""]
    np.testing.assert_allclose(table["high"].astype(float), expected["high"], atol=0.051)


def test_marginal_writes_as_the_schema_does(tmp_path):
    schema = {
        "dialect": {"delimiter": ";", "encoding": "utf-8-sig", "decimalChar": ","},
        "missingValues": ["k.A."],
        "fields": [
            {"name": "pay", "type": "number", "constraints": {"minimum": 0, "maximum": 1, "required": True},
             "synthdp": {"bins": 2, "decimals": 2}},
            {"name": "born", "type": "date", "format": "%d.%m.%Y",
             "constraints": {"minimum": "01.01.2020", "maximum": "31.12.2021", "required": True},
             "synthdp": {"bins": 2}},
            {"name": "ill", "type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
        ],
    }  # fmt: skip
    counts = LinearMeasurement(("pay", "born", "ill"), np.full((2, 2, 3), 1e6), 4.0)
    synthdp.from_measurements(schema, [counts], engine="direct").save(tmp_path / "m.synthdp")
    out = tmp_path / "out.csv"
    outcome = invoke("marginal", tmp_path / "m.synthdp", "pay", "born", "ill", "-o", out)
    assert outcome.code == 0, outcome.err
    lines = out.read_text(encoding="utf-8-sig").splitlines()
    assert lines[1].startswith("0,00 .. 0,49;01.01.2020 .. 30.12.2020;nein;1000000,0;")
    assert [line.split(";")[2] for line in lines[2:4]] == ["ja", "k.A."]
    assert lines[-1].startswith("0,50 .. 1,00;31.12.2020 .. 31.12.2021;k.A.;1000000,0;")


def test_marginal_writes_a_file_and_replaces_none(model, tmp_path):
    out = tmp_path / "out.csv"
    assert invoke("marginal", model, "sex", "-o", out).code == 0
    assert len(out.read_text().splitlines()) == 3
    outcome = invoke("marginal", model, "sex", "-o", out)
    assert outcome.code == 1
    assert "out.csv" in outcome.err
    assert invoke("marginal", out, "sex", "-o", out, "--force").code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["marginal", "MODEL", "nope"], "'nope' is not in the domain"),
        (["marginal", "MODEL", "sex", "--interval", "95"], "interval is 95.0; give a probability"),
        (["replicates", "MODEL", "-o", "-"], "name a file"),
        (
            ["replicates", "MODEL", "-o", "x.csv", "-m", "1"],
            "--number is 1; give a number of tables from 2",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_a_line(model, arguments, words):
    outcome = invoke(*[model if word == "MODEL" else word for word in arguments])
    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_replicates_writes_numbered_tables_with_certificates(model, tmp_path):
    assert (
        invoke(
            "replicates", model, "-m", "3", "-o", tmp_path / "r.csv", "--seed", "1", "--rows", "40"
        ).code
        == 0
    )
    names = sorted(path.name for path in tmp_path.glob("r-*"))
    assert names == [f"r-{i}.csv{ending}" for i in (1, 2, 3) for ending in ("", ".privacy.json")]
    tables = [pd.read_csv(tmp_path / f"r-{i}.csv") for i in (1, 2, 3)]
    assert [len(table) for table in tables] == [40] * 3
    expected = synthdp.load(model).replicates(3, n_rows=40, seed=1)
    assert tables[2]["sex"].tolist() == expected[2]["sex"].tolist()


def test_replicates_writes_nothing_if_one_is_there(model, tmp_path):
    (tmp_path / "r-3.csv").write_text("mine")
    outcome = invoke("replicates", model, "-m", "3", "-o", tmp_path / "r.csv")
    assert outcome.code == 1
    assert "r-3.csv" in outcome.err
    assert [path.name for path in tmp_path.glob("r-*")] == ["r-3.csv"]
