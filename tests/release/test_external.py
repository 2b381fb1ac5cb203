"""A Synthesis from noisy marginals that another system released: `from_measurements`."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.fields import ranged

import synthdp
from synthdp.core import ParameterError, SchemaError, SynthdpError
from synthdp.inference import DirectEngine

SEX = {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"], "required": True}}
AGE = ranged("age", 0, 99, bins=4)
PAY = ranged("pay", 0, 9, kind="number", edges=[0, 1.5, 9])
DAY = {
    "name": "day",
    "type": "date",
    "constraints": {"minimum": "2020-01-15", "maximum": "2020-12-31"},
}
DAY |= {"synthdp": {"resolution": "month", "bins": 3}}
MEMBER = {"name": "member", "type": "boolean"}
KIDS = {
    "name": "kids",
    "type": "integer",
    "constraints": {"enum": [0, 1, 2]},
    "synthdp": {"other": 2},
}
SCHEMA = synthdp.Schema.from_dict({"fields": [SEX, AGE, PAY, DAY, MEMBER, KIDS]})
PAIRS = [("sex", "age"), ("pay", "age"), ("member", "day"), ("kids",), ("kids", "pay")]


def measured(clique, seed=0):
    """Counts of all cells of a marginal; sums to 1000."""
    shape = SCHEMA.domain.project(clique).shape
    return 1000 * np.random.default_rng(seed).dirichlet(np.ones(shape).ravel()).reshape(shape)


@pytest.fixture(scope="module")
def source():
    """What all other forms of its marginals must give again."""
    cliques = [synthdp.LinearMeasurement(clique, measured(clique), 2.0) for clique in PAIRS]
    return synthdp.from_measurements(SCHEMA, cliques, engine="graphical-model")


def as_frame(series):
    names = list(series.index.names)
    columns = {name: pd.Series(series.index.get_level_values(name), dtype=object) for name in names}
    return pd.DataFrame(columns | {"count": series.to_numpy()})


@pytest.mark.parametrize("form", ["series", "frame", "shuffled frame"])
def test_marginals_of_a_synthesis_are_measurements_again(source, form):
    released = [source.marginal(clique) for clique in PAIRS]
    if form != "series":
        released = [as_frame(series) for series in released]
    if form == "shuffled frame":
        released = [frame.sample(frac=1, random_state=1)[frame.columns[::-1]] for frame in released]
    again = synthdp.from_measurements(SCHEMA, [(counts, 2.0) for counts in released])
    for clique in PAIRS:
        assert np.allclose(
            again.model.marginal(clique).values, source.model.marginal(clique).values, atol=0.01
        )
    table = again.sample(100, seed=0)
    assert list(table.columns) == list(SCHEMA.names)
    assert len(again.sample()) == 1000


def test_values_inside_bins_texts_and_two_ways_to_say_missing():
    counts = pd.DataFrame({"age": ["7", 30, 74.0, "99", None], "count": ["1", 2, 3, 4.5, -5]})
    (measurement,) = synthdp.from_measurements(SCHEMA, [(counts, np.float32(3))]).measurements
    assert measurement.values.tolist() == [1, 2, 3, 4.5, -5]
    frame = pd.DataFrame({"member": [np.nan, True, False], "count": [1, 2, 3]})
    (measurement,) = synthdp.from_measurements(SCHEMA, [(frame, 1)]).measurements
    assert measurement.values.tolist() == [3, 2, 1]


def test_the_total_alone_and_one_stddev_a_cell():
    total = pd.DataFrame({"count": [500.0]})
    cells = synthdp.LinearMeasurement(("sex",), np.array([30.0, 70.0]), np.array([1.0, 3.0]))
    synthesis = synthdp.from_measurements(SCHEMA, [(total, 0.5), cells])
    assert synthesis.certificate["measurements"] == [
        {"columns": [], "stddev": 0.5},
        {"columns": ["sex"], "stddev": [1.0, 3.0]},
    ]
    assert 400 < synthesis.model.total < 500


def test_schemas_in_every_form(tmp_path):
    SCHEMA.save(tmp_path / "schema.json")
    counts = pd.DataFrame({"sex": ["f", "m"], "count": [3.0, 1.0]})
    for schema in (
        SCHEMA,
        SCHEMA.to_dict(),
        tmp_path / "schema.json",
        str(tmp_path / "schema.json"),
    ):
        assert (
            synthdp.from_measurements(schema, [(counts, 1.0)]).schema.fingerprint
            == SCHEMA.fingerprint
        )
    domain = synthdp.Domain(("a", "b"), (2, 3))
    counts = pd.DataFrame({"a": [0, 1], "count": [30.0, 10.0]})
    synthesis = synthdp.from_measurements(domain, [(counts, 1.0)], engine=DirectEngine())
    assert synthesis.schema.domain == domain
    assert synthesis.certificate["engine"]["name"] == "direct"
    assert np.allclose(synthesis.marginal("a"), [30, 10], atol=0.01)


@pytest.mark.parametrize("engine", ["auto", "graphical-model", "direct", "local-consistency"])
def test_rules_hold_whatever_was_measured(engine):
    rule = {"forbid": {"sex": ["m"], "member": [True]}}
    fields = [SEX, MEMBER | {"constraints": {"required": True}}]
    schema = {"fields": fields, "synthdp": {"constraints": [rule]}}
    index = pd.MultiIndex.from_product([["f", "m"], [False, True]], names=["sex", "member"])
    counts = pd.Series([10.0, 20.0, 30.0, 40.0], index=index)
    table = synthdp.from_measurements(schema, [(counts, 1.0)], engine=engine).sample(500, seed=0)
    assert not ((table["sex"] == "m") & table["member"]).any()
    assert table["member"].any()


def test_the_certificate_claims_nothing_and_says_what_a_release_says(source):
    certificate = source.certificate
    assert certificate["guarantee"].startswith("not stated here")
    nothing = (
        "is_private",
        "epsilon",
        "delta",
        "accounting",
        "mechanism",
        "noise",
        "adjacency",
        "unit_of_privacy",
    )
    assert all(certificate[name] is None for name in nothing)
    assert certificate["events"] == []
    assert certificate["complete"] is True
    assert certificate["measurements"][0] == {"columns": ["sex", "age"], "stddev": 2.0}
    assert certificate["schema"]["sha256"] == SCHEMA.fingerprint
    assert json.loads(json.dumps(certificate, allow_nan=False)) == certificate
    frame = pd.DataFrame({"sex": ["f", "m"] * 50})
    release = synthdp.synthesize(frame, {"fields": [SEX]}, epsilon=1, delta=1e-6)
    assert set(certificate) - set(release.certificate) == {"measurements"}
    assert set(release.certificate) - set(certificate) == {
        *("workload", "findings", "run", "unread", "quality")
    }


def test_a_saved_one_is_loaded_shown_and_sampled(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = synthdp.LinearMeasurement(("sex",), np.array([300.0, 700.0]), np.array([1.0, 3.0]))
    synthesis = synthdp.from_measurements(SCHEMA, [*source.measurements, cells])
    synthesis.save("m.synthdp")
    loaded = synthdp.load("m.synthdp")
    assert loaded.certificate == synthesis.certificate
    pd.testing.assert_frame_equal(loaded.sample(50, seed=1), synthesis.sample(50, seed=1))
    outcome = invoke("sample", "m.synthdp", "-o", "out.csv", "--rows", "20", "--json")
    assert (outcome.code, outcome.notes) == (0, [])
    assert json.loads(outcome.out)["is_private"] is None
    for name in ("m.synthdp", "out.csv.privacy.json"):
        outcome = invoke("show", name, "--all")
        assert (outcome.code, outcome.notes) == (0, [])
        for words in (
            "released by another system",
            "sex x age",
            "stddev 2\n",
            "stddev 1 to 3",
            "auto",
            "not covered",
        ):
            assert words in outcome.out.decode()
        assert isinstance(json.loads(invoke("show", name, "--json").out), dict)


GOOD = pd.DataFrame({"sex": ["f", "m"], "count": [3.0, 1.0]})
AGES = [0, 25, 50, 75, None]
OTHER_BINS = [*pd.IntervalIndex.from_breaks([0, 30, 60, 75, 99], closed="left"), None]
CUT = pd.cut(pd.Series([1, 30, 60, 90]), [0, 24, 49, 74, 99])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((GOOD, 0), ParameterError, r"measurements\[1\]: stddev is 0; give"),
        ((GOOD, -1.5), ParameterError, "stddev is -1.5"),
        ((GOOD, float("nan")), ParameterError, "stddev is nan"),
        ((GOOD, float("inf")), ParameterError, "stddev is inf"),
        ((GOOD, "2"), ParameterError, "stddev is '2'"),
        ((GOOD, True), ParameterError, "stddev is True"),
        (
            GOOD,
            ParameterError,
            r"measurements\[1\] is a DataFrame of another kind; give a LinearMeasurement or a pair",
        ),
        ((GOOD,), ParameterError, "is a tuple of another kind"),
        ((GOOD.to_dict(), 1.0), ParameterError, "is a tuple of another kind"),
        ((GOOD.iloc[:1], 1.0), ParameterError, "1 of the 2 combinations of 'sex' are not there"),
        ((GOOD.iloc[:0], 1.0), ParameterError, "2 of the 2 combinations"),
        ((GOOD.iloc[[0, 1, 0]], 1.0), ParameterError, r"row 2 \(from 0\) repeats"),
        ((pd.DataFrame({"count": [1.0, 2.0]}), 1.0), ParameterError, "row 1 .* repeats"),
        ((pd.DataFrame({"count": []}), 1.0), ParameterError, "1 of the 1 combinations"),
        (
            (GOOD.rename(columns={"sex": "height"}), 1.0),
            SchemaError,
            "no column 'height'; name one of 'sex', 'age'",
        ),
        ((GOOD.rename(columns={"count": "n"}), 1.0), SchemaError, "needs one column 'count'"),
        (
            (GOOD.assign(sex=["f", "x"]), 1.0),
            SchemaError,
            r"'sex': the value in row 1 \(from 0\) is not in the schema",
        ),
        ((GOOD.assign(sex=["f", None]), 1.0), SchemaError, "row 1"),
        ((GOOD.assign(sex=["f", ""]), 1.0), SchemaError, "row 1"),
        ((GOOD.assign(count=["many", 1]), 1.0), ParameterError, "some counts are not numbers"),
        ((GOOD.assign(count=[np.nan, 1]), 1.0), ParameterError, "nan or inf"),
        ((pd.Series([1.0, 2.0]), 1.0), SchemaError, "no column None"),
        (
            (pd.DataFrame({"age": [-1, *AGES[1:]], "count": 1.0}), 1.0),
            SchemaError,
            "'age': the value in row 0",
        ),
        (
            (pd.DataFrame({"age": [*AGES[:3], 100, None], "count": 1.0}), 1.0),
            SchemaError,
            "'age': the value in row 3",
        ),
        (
            (pd.DataFrame({"age": ["?", *AGES[1:]], "count": 1.0}), 1.0),
            SchemaError,
            "'age': the value in row 0",
        ),
        (
            (pd.DataFrame({"age": [0, 1, *AGES[2:]], "count": 1.0}), 1.0),
            ParameterError,
            "row 1 .* repeats",
        ),
        (
            (pd.DataFrame({"age": CUT, "count": 1.0}), 1.0),
            SchemaError,
            "intervals of 'age' are open on the left",
        ),
        (
            (pd.DataFrame({"age": OTHER_BINS, "count": 1.0}), 1.0),
            SchemaError,
            "interval in row 1 .* begins inside a bin",
        ),
        (
            (pd.DataFrame({"kids": [0, 1, 3, None], "count": 1.0}), 1.0),
            SchemaError,
            "'kids': the value in row 2",
        ),
        (
            (pd.DataFrame({"member": [True, False, "maybe"], "count": 1.0}), 1.0),
            SchemaError,
            "row 2",
        ),
        (
            (pd.DataFrame([["f", "f", 1.0]], columns=["sex", "sex", "count"]), 1.0),
            SchemaError,
            "appears twice",
        ),
        (synthdp.LinearMeasurement(("sex",), np.ones(3), 1.0), ParameterError, "shape"),
        (
            synthdp.LinearMeasurement(("height",), np.ones(3), 1.0),
            ParameterError,
            "'height' is not in the domain",
        ),
    ],
)
def test_refuses_what_it_cannot_use_in_one_line(given, error, message):
    with pytest.raises(error, match=message) as caught:
        synthdp.from_measurements(SCHEMA, [(GOOD, 1.0), given])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("measurements", "message"),
    [
        ([], "there is none"),
        ("counts", "is a str; give a list"),
        (GOOD, "is a DataFrame; give a list"),
    ],
)
def test_refuses_what_is_no_list_of_measurements(measurements, message):
    with pytest.raises(ParameterError, match=message):
        synthdp.from_measurements(SCHEMA, measurements)


def test_refuses_an_unknown_engine_and_rules_that_contradict_each_other():
    with pytest.raises(ParameterError, match="'magic' is unknown"):
        synthdp.from_measurements(SCHEMA, [(GOOD, 1.0)], engine="magic")
    rules = [{"forbid": {"sex": ["f"]}}, {"forbid": {"sex": ["m"]}}]
    with pytest.raises(SynthdpError):
        synthdp.from_measurements(
            {"fields": [SEX], "synthdp": {"constraints": rules}}, [(GOOD, 1.0)]
        )


@pytest.mark.parametrize("column", SCHEMA.columns, ids=lambda column: column.name)
def test_a_column_knows_what_it_writes_and_nothing_else(column):
    codes, rng = np.repeat(np.arange(column.size), 50), np.random.default_rng(0)
    assert column.knows(column.decode(codes, rng)).all()
    assert column.knows(pd.Series(column.decode_text(codes, rng))).all()
    assert not column.knows(
        pd.Series(["unheard of", object(), -5, pd.Timestamp("1700-01-01")], dtype=object)
    ).any()
