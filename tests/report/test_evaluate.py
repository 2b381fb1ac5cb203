"""The door: what goes in, what comes out, and what is said where there is nothing to compare."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.evaluations import SCHEMA, people

import synthdp
from synthdp import DataFileError, ParameterError, Schema, SchemaError, evaluate
from synthdp.core import LinearMeasurement

REAL = people(300)
QUICK = {"targets": []}


def test_a_table_is_perfect_beside_itself():
    found = evaluate(REAL, REAL, SCHEMA, targets="job", by="town")
    summary = found.summary.set_index("metric")["value"]
    assert summary["k-marginal score"] == 1000
    assert summary["sub-sample equivalent"] == 1
    zeros = [
        name
        for name in summary.index
        if "TVD" in name or "difference" in name or name.startswith("S_pMSE")
    ]
    assert len(zeros) == 12
    assert summary[zeros].to_numpy() == pytest.approx(0, abs=1e-6)
    assert summary["confidence intervals, mean overlap"] == pytest.approx(1)
    assert summary["levels covered"] == 1


def test_every_section_names_its_table_and_is_the_same_again():
    tables = {"a": people(200, 1), "b": people(250, 2)}
    found, again = (
        evaluate(REAL, tables, SCHEMA, targets="job", by=["town", "job"], seed=5) for _ in range(2)
    )
    assert found.names == ("a", "b")
    for name in ("summary", "columns", "marginals", "associations", "propensity", "prediction", "regression", "rules",
                 "groups", "matches", "distributions", "roc"):  # fmt: skip
        frame = getattr(found, name)
        assert frame.columns[0] == "table"
        assert set(frame["table"]) == {"a", "b"}
        pd.testing.assert_frame_equal(frame, getattr(again, name))
    assert found.facts["rows_synthetic"] == {"a": 200, "b": 250}


def test_whatever_shows_it_says_first_that_it_is_not_private():
    found = evaluate(REAL, people(100, 1), SCHEMA, **QUICK)
    assert evaluate.__doc__.startswith("NOT PRIVATE")
    assert type(found).__doc__.startswith("NOT PRIVATE")
    assert repr(found).splitlines()[1].startswith("NOT PRIVATE")
    assert found._repr_html_().startswith("<p><strong>NOT PRIVATE")
    content = found.to_dict()
    assert next(iter(content)) == "NOT PRIVATE"
    assert len(json.loads(json.dumps(content, allow_nan=False))["marginals"]) == 25
    assert len(repr(found).splitlines()) < 50


def test_drill_shows_the_cells_of_a_marginal():
    found = evaluate(REAL, people(100, 1), SCHEMA, **QUICK)
    cells = found.drill(("town", "job")).set_index(["town", "job"])
    assert cells.loc[("A", "x"), "real share"] == pytest.approx(
        ((REAL["town"] == "A") & (REAL["job"] == "x")).mean()
    )
    worst = found.marginals.set_index("columns").loc[[("town", "job")], "tvd"].iloc[0]
    assert cells["difference"].abs().sum() / 2 == pytest.approx(worst)
    for columns, table in (
        (("town", "town"), None),
        ((), None),
        (("gone",), None),
        (("town",), "x"),
    ):
        with pytest.raises(ParameterError):
            found.drill(columns, table)


def test_files_and_other_containers_give_the_same(tmp_path):
    paths = [tmp_path / f"{name}.csv" for name in ("real", "synthetic")]
    other = people(100, 1)
    for path, frame in zip(paths, (REAL, other), strict=True):
        frame.to_csv(path, index=False)
    Schema.from_dict(SCHEMA).save(tmp_path / "schema.json")
    polars = pytest.importorskip("polars")
    expected = evaluate(REAL, other, SCHEMA, **QUICK).marginals
    from_files = evaluate(*paths, tmp_path / "schema.json", **QUICK).marginals
    foreign = evaluate(
        polars.from_pandas(REAL), polars.from_pandas(other), SCHEMA, **QUICK
    ).marginals
    pd.testing.assert_frame_equal(from_files, expected)
    pd.testing.assert_frame_equal(foreign, expected)


def test_without_a_schema_levels_and_bins_are_read_off_the_real_table(tmp_path):
    frame = REAL.assign(
        code=[f"{place % 40:03}" for place in range(300)], id=[f"p{place}" for place in range(300)]
    )
    frame = frame.assign(empty=None, constant=7, flag=frame["job"] == "x")
    found = evaluate(frame, frame.head(150), **QUICK)
    kinds = found.columns.set_index("column")["kind"].to_dict()
    assert kinds == {
        "town": "string", "job": "string", "age": "integer", "pay": "number", "born": "date", "code": "string",
        "constant": "integer", "flag": "boolean",
    }  # fmt: skip
    notes = " ".join(found.notes["note"])
    assert "read off the real table" in notes
    assert "'id' is left out" in notes
    assert "'empty' is left out" in notes
    frame.to_csv(tmp_path / "real.csv", index=False)
    texts = evaluate(tmp_path / "real.csv", frame.head(150), **QUICK)
    assert texts.columns.set_index("column")["kind"].to_dict() == kinds


def test_a_saved_synthesis_gives_its_schema_and_its_noise(tmp_path):
    synthesis = synthdp.synthesize(REAL, SCHEMA, epsilon=3, delta=1e-6, mechanism="independent")
    synthesis.save(tmp_path / "model.synthdp")
    drawn = synthesis.sample(300, seed=0)
    by_certificate = evaluate(
        REAL, drawn, tmp_path / "model.synthdp", certificate=synthesis.certificate, **QUICK
    )
    by_measurements = evaluate(
        REAL, drawn, SCHEMA, certificate=list(synthesis.measurements), **QUICK
    )
    one_way = by_certificate.marginals[by_certificate.marginals["k"] == 1]
    assert one_way["measured"].all()
    assert one_way["noise"].between(0, 1).all()
    assert not by_certificate.marginals.query("k > 1")["measured"].any()
    other = by_measurements.marginals[by_measurements.marginals["k"] == 1]
    assert one_way["noise"].tolist() == pytest.approx(
        other["noise"].tolist(), rel=0.02
    )  # to whole numbers
    short = {**SCHEMA, "synthdp": {}}
    notes = evaluate(REAL, drawn, short, certificate=synthesis.certificate, **QUICK).notes["note"]
    assert notes.str.contains("of another schema").any()


@pytest.mark.parametrize(
    ("real", "synthetic", "options", "error", "says"),
    [
        (REAL, REAL.drop(columns="job"), {}, SchemaError, "synthetic: .*'job'"),
        (REAL.drop(columns="job"), REAL, {}, SchemaError, "real: .*'job'"),
        (REAL, REAL.head(0), {}, ParameterError, "synthetic: it has no rows"),
        (REAL.head(0), REAL, {}, ParameterError, "real: it has no rows"),
        (REAL, {}, {}, ParameterError, "no table"),
        (REAL, 5, {}, ParameterError, "synthetic is a int"),
        (REAL, "gone.csv", {}, DataFileError, "cannot be read"),
        (REAL, REAL, {"by": "city"}, ParameterError, "by: there is no column 'city'"),
        (REAL, REAL, {"targets": ["city"]}, ParameterError, "targets: there is no column 'city'"),
        (REAL, [REAL, REAL], {"names": ["a"]}, ParameterError, "names: 1 for 2"),
        (REAL, [REAL, REAL], {"names": ["a", "a"]}, ParameterError, "comes twice"),
        (REAL, {"a": REAL}, {"names": ["b"]}, ParameterError, "named already"),
        (REAL, REAL, {"certificate": {"a": 1}}, ParameterError, "no synthetic table 'a'"),
        (REAL, REAL, {"certificate": {"events": 1}}, ParameterError, "no events"),
        (REAL, REAL, {"certificate": [None, None]}, ParameterError, "certificate: 2 for 1"),
        (
            REAL,
            REAL,
            {"certificate": [LinearMeasurement(("job",), np.zeros(9), 1.0)]},
            ParameterError,
            "shape",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(real, synthetic, options, error, says):
    with pytest.raises(error, match=says) as caught:
        evaluate(real, synthetic, SCHEMA, **options)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_saved_synthesis_is_refused(tmp_path):
    (tmp_path / "no.synthdp").write_bytes(b"PK no archive")
    with pytest.raises(DataFileError, match="no saved synthesis"):
        evaluate(REAL, REAL, tmp_path / "no.synthdp")


def test_odd_tables_have_numbers_or_a_reason():
    odd = REAL.assign(pay=REAL["pay"] * 1e200, age=np.inf, town=[["A"]] * 300, job=REAL["age"] + 1j)
    found = evaluate(odd, odd, **QUICK)
    assert found.marginals["tvd"].max() == 0
    assert set(found.columns["column"]) == {"town", "pay", "born"}
    for twice in (pd.concat([REAL, REAL], axis=1), REAL.set_axis(range(5), axis=1)):
        with pytest.raises(SchemaError, match="real: "):
            evaluate(twice, twice)
    with pytest.raises(ParameterError, match="seed is -1"):
        evaluate(REAL, REAL, seed=-1)


def test_a_schema_that_leaves_things_open_is_refused_with_the_way_out():
    fields = [{"name": "job", "type": "string", "synthdp": {"derive": True}}]
    with pytest.raises(SchemaError, match="saved synthesis"):
        evaluate(REAL, REAL, {"fields": fields})


@pytest.mark.parametrize("n_rows", [1, 10])
def test_few_rows_constants_and_gaps_leave_sections_empty_with_a_reason(n_rows):
    frame = REAL.head(n_rows).assign(town=None, job="x", pay=np.nan)
    found = evaluate(frame, frame.tail(1), SCHEMA)
    assert found.prediction.empty
    assert any(
        note.startswith("no column is a suitable target: one has 50 rows")
        for note in found.notes["note"]
    )
    assert found.associations["real"].isna().any()
    assert repr(found)
    one = evaluate(REAL[["job"]], REAL[["job"]], {"fields": [SCHEMA["fields"][1]]}, by="job")
    assert set(one.notes["section"]) >= {"associations", "queries", "rules", "prediction"}
    assert one.summary.set_index("metric").loc["k-marginal score", "value"] == 1000


def test_other_dtypes_and_unseen_levels_are_read_as_texts_are():
    other = REAL.astype({"age": "float32", "town": "category"}).assign(
        born=REAL["born"].dt.strftime("%Y-%m-%d")
    )
    assert evaluate(REAL, other, SCHEMA, **QUICK).marginals["tvd"].max() == 0
    unseen = evaluate(REAL, REAL.assign(job="z"), SCHEMA, **QUICK).columns.set_index("column")
    assert unseen.loc["job", "unknown_synthetic"] == 300


def test_predictions_are_left_out_with_a_note_where_scikit_learn_is_missing(monkeypatch):
    monkeypatch.setattr("synthdp.report.evaluate_table.find_spec", lambda _name: None)
    found = evaluate(REAL, REAL, SCHEMA)
    assert found.prediction.empty
    assert found.notes["note"].str.contains("pip install").any()
    assert len(found.regression)


def test_epsilons_are_those_of_certificates_that_state_one():
    stated = {"a": 0.5, "b": None, "c": "large", "d": float("nan"), "e": -1.0}
    certificates = {name: {"events": [], "epsilon": epsilon} for name, epsilon in stated.items()}
    tables = dict.fromkeys(stated, people(50))
    found = evaluate(people(50), tables, SCHEMA, certificate=certificates | {"b": None}, **QUICK)
    assert found.facts["epsilon"] == {"a": 0.5}
    assert evaluate(people(50), people(50), SCHEMA, **QUICK).facts["epsilon"] == {}
