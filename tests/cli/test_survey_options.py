"""Published totals and survey weights, walked through in the shell; and slips, in one line each."""

import json
from io import BytesIO

import pandas as pd
import pytest

from tests.helpers.cli_runs import assert_one_line, invoke, lay_out, run_arguments

SCHEMA = {
    "fields": [
        {"name": "town", "type": "string", "constraints": {"enum": ["A", "B"], "required": True}},
        {
            "name": "weight",
            "type": "integer",
            "constraints": {"minimum": 1, "maximum": 9, "required": True},
        },
    ]
}
TABLE = "town,weight\n" + "A,1\nA,1\nA,1\nB,9\n" * 500


@pytest.fixture
def place(tmp_path, monkeypatch):
    lay_out(tmp_path, table=TABLE, schema=SCHEMA)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "towns.csv").write_text("town,count\nA,1500\nB,500\n")
    return tmp_path


def test_a_walk_by_known_totals_and_weights(place):
    run = invoke(
        *run_arguments("--known", "towns.csv", "--weight", "weight", "--save", "m.synthdp")
    )
    assert run.code == 0, run
    assert pd.read_csv("out.csv")["town"].value_counts().to_dict() == {"A": 1500, "B": 500}
    known = json.loads((place / "out.csv.privacy.json").read_text())["known"]
    assert (known[0]["total"], known[0]["largest_difference"]) == (2000, 0)
    shown = invoke("show", "out.csv.privacy.json")
    assert "a table of 2,000 rows has it exactly" in " ".join(shown.out.decode().split())
    drawn = invoke("sample", "m.synthdp", "-o", "people.csv", "--weighted", "--rows", "1000")
    assert drawn.code == 0, drawn
    people = pd.read_csv("people.csv")
    assert list(people.columns) == ["town"]
    assert (people["town"] == "B").mean() == pytest.approx(0.75, abs=0.05)
    counted = invoke("marginal", "m.synthdp", "town", "--weighted", "--interval", "0.999999")
    counts = pd.read_csv(BytesIO(counted.out), index_col="town")
    sums = pd.read_csv("in.csv")["weight"].groupby(pd.read_csv("in.csv")["town"]).sum()
    assert (counts["low"] <= sums).all()
    assert (sums <= counts["high"]).all()
    assert counts["count"].to_numpy() == pytest.approx(sums.to_numpy(), rel=0.2)
    assert_one_line(invoke("marginal", "m.synthdp", "weight", "--weighted"), 2)
    (place / "all.csv").write_text("town,count\nA,500\nB,1500\n")
    calibrated = ("--calibrated", "--totals", "all.csv")
    drawn = invoke("sample", "m.synthdp", "-o", "survey.csv", *calibrated)
    assert drawn.code == 0, drawn
    rows = pd.read_csv("survey.csv")
    sums = rows["weight"].groupby(rows["town"]).sum()
    assert sums.to_dict() == pytest.approx({"A": 500, "B": 1500}, abs=0.01)
    for wrong in (("--totals", "all.csv"), (*calibrated, "--weighted"), (*calibrated[:2], "none")):
        assert_one_line(
            invoke("sample", "m.synthdp", "-o", "x.csv", *wrong), 1 + ("none" not in wrong)
        )


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--known", "none.csv"), "--known[0]: 'none.csv' cannot be read"),
        (("--known", "towns.csv", "--known", "in.csv"), "it needs one column 'count'"),
        (("--weight", "town"), "--weight is 'town': it is of type string"),
    ],
)
def test_slips_are_told_in_one_line_before_anything_is_paid(options, said):
    outcome = invoke(*run_arguments(*options))
    assert outcome.code != 0
    assert_one_line(outcome, outcome.code)
    assert said in outcome.err
