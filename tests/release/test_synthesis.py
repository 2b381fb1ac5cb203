"""The Python door: `synthesize`, `Synthesis` and what the certificate says."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.fields import ranged
from oracles.privacy import Seeded

import synthdp
from synthdp.core import ModelTooLargeError, ParameterError, SchemaError
from synthdp.data import CodedSource, encode
from synthdp.mechanisms import MST, Independent
from synthdp.privacy import Accounting, gdp_rho, zcdp_rho
from synthdp.release import MECHANISMS, Release, RunSettings, mechanism_named
from synthdp.schema import Schema

SCHEMA = {
    "fields": [
        {
            "name": "code",
            "type": "string",
            "constraints": {"enum": ["01", "02", "é"], "required": True},
        },
        ranged("age", 0, 99, bins=10),
        ranged("pay", 0, 10, kind="number", required=True, bins=5, decimals=1),
        {"name": "member", "type": "boolean"},
        ranged("day", "2020-01-01", "2020-12-31", kind="date", bins=32),
    ]
}


def people(n_rows=2000):
    generator = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "day": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(generator.integers(0, 366, n_rows), unit="D"),
            "code": generator.choice(["01", "02", "é"], n_rows, p=[0.7, 0.2, 0.1]),
            "age": generator.integers(0, 100, n_rows),
            "pay": generator.random(n_rows) * 10,
            "member": generator.random(n_rows) < 0.3,
        }
    )


@pytest.fixture(scope="module")
def synthesis():
    return synthdp.synthesize(people(), SCHEMA, epsilon=2, delta=1e-6, mechanism="mst")


def test_sample_has_the_columns_in_the_table_s_order_and_the_schema_s_dtypes(synthesis):
    table = synthesis.sample(50, seed=1)
    assert list(table.columns) == ["day", "code", "age", "pay", "member"]
    assert [str(dtype) for dtype in table.dtypes] == [
        "datetime64[s]",
        "str",
        "Int64",
        "float64",
        "boolean",
    ]
    assert table["code"].isin(["01", "02", "é"]).all()


def test_sample_is_repeatable_by_its_seed_only(synthesis):
    pd.testing.assert_frame_equal(synthesis.sample(200, seed=7), synthesis.sample(200, seed=7))
    assert not synthesis.sample(200, seed=7).equals(synthesis.sample(200, seed=8))
    assert not synthesis.sample(200).equals(synthesis.sample(200))


def test_default_number_of_rows_is_the_noisy_total(synthesis):
    assert len(synthesis.sample()) == round(synthesis.model.total)
    assert len(synthesis.sample(0)) == 0
    with pytest.raises(ParameterError, match="n_rows is -1"):
        synthesis.sample(-1)
    with pytest.raises(ParameterError, match="seed is -1"):
        synthesis.sample(1, seed=-1)


@pytest.mark.fresh_noise
def test_runs_differ_because_noise_has_no_seed():
    runs = [
        synthdp.synthesize(people(), SCHEMA, epsilon=1, delta=1e-6).measurements[0].values
        for _ in range(2)
    ]
    assert not np.array_equal(*runs)


def test_marginal_is_labelled(synthesis):
    one = synthesis.marginal(["code"])
    assert list(one.index) == ["01", "02", "é"]
    assert one.idxmax() == "01"
    assert one.sum() == pytest.approx(synthesis.model.total)
    two = synthesis.marginal(["member", "code"])
    assert two.index.names == ["member", "code"]
    assert len(two) == 9
    pd.testing.assert_series_equal(synthesis.marginal("code"), one)
    with pytest.raises(ParameterError, match="'height'"):
        synthesis.marginal(["height"])
    with pytest.raises(ParameterError, match="repeats"):
        synthesis.marginal(["code", "code"])
    with pytest.raises(ParameterError, match="at least one"):
        synthesis.marginal([])


def test_certificate_says_what_a_release_must_say(synthesis):
    certificate = json.loads(json.dumps(synthesis.certificate))
    assert certificate["guarantee"] == "(2, 1e-06)-differential privacy"
    assert certificate["adjacency"] == "add-remove"
    assert certificate["complete"] is True
    accounting = certificate["accounting"]
    assert accounting["rho_spent"] + accounting["rho_left"] == pytest.approx(
        accounting["rho_budget"]
    )
    assert sum(event["rho"] for event in certificate["events"]) == pytest.approx(
        accounting["rho_spent"]
    )
    n_quality = 4  # columns, pairs, the worst of them, triples
    assert len(certificate["events"]) == 5 + 4 + 4 + n_quality
    assert certificate["schema"]["sha256"] == synthesis.schema.fingerprint
    assert {column["domain"] for column in certificate["schema"]["columns"]} == {"declared"}
    assert certificate["mechanism"]["name"] == "mst"
    assert "os.urandom" in certificate["noise"]["randomness"]
    assert certificate["not_covered"]
    assert synthdp.__version__ in certificate["software"]
    synthesis.certificate["guarantee"] = "perfect"
    assert synthesis.certificate["guarantee"] == "(2, 1e-06)-differential privacy"


def release(frame, schema, *, seed, mechanism="mst"):
    public = Schema.from_dict(schema).reordered(frame.columns)
    settings = RunSettings(epsilon=1, delta=1e-6, mechanism=mechanism, engine="graphical-model")
    run = Release(schema=public, settings=settings, randomness=Seeded(seed))
    return run.of(CodedSource(encode(frame, public)))


def test_a_predictable_run_says_not_private_everywhere(tmp_path):
    run = release(people(), SCHEMA, seed=3)
    assert run.certificate["guarantee"].startswith("NOT PRIVATE")
    assert run.certificate["is_private"] is False
    assert "NOT PRIVATE" in repr(run)
    run.save(tmp_path / "run.synthdp")
    assert synthdp.load(tmp_path / "run.synthdp").certificate["is_private"] is False


@pytest.mark.parametrize(
    "neighbour",
    [
        {"code": "unheard of"},
        {"age": 10**9},
        {"pay": 3.14159265},
        {"member": None},
        {"day": pd.Timestamp("1666-01-01")},
        {"age": None},
    ],
    ids=str,
)
@pytest.mark.usefixtures("one_run")
def test_a_neighbour_cannot_be_told_by_anything_but_noisy_counts(neighbour):
    """With frozen noise: same events, schema, dtypes and shapes, whatever one record holds."""
    frame = people(500)
    extra = frame.iloc[[0]].astype(object)
    for name, value in neighbour.items():
        extra[name] = [value]
    runs = [
        release(table, SCHEMA, seed=5, mechanism="independent")
        for table in (frame, pd.concat([frame, extra]))
    ]
    left, right = (run.certificate for run in runs)
    # how the fit went, noisy counts of unread values, noisy errors, the hash of all
    noisy = {"engine", "unread", "quality", "sha256"}
    assert {key: value for key, value in left.items() if key not in noisy} == {
        key: value for key, value in right.items() if key not in noisy
    }
    for a, b in zip(runs[0].measurements, runs[1].measurements, strict=True):
        column = runs[0].schema[a.clique[0]]
        is_read = column.with_unread_place().encode(extra[column.name])[0] < column.size
        moved = np.abs(
            a.values - b.values
        ).sum()  # the declared sensitivity, exactly, but for what is filled in
        assert moved == 1 if is_read else moved < 1 + 1e-9
    assert list(runs[0].sample(3).dtypes) == list(runs[1].sample(3).dtypes)


def test_accepts_mechanisms_engines_and_schemas_as_objects_or_names(tmp_path):
    schema = Schema.from_dict(SCHEMA)
    schema.save(tmp_path / "schema.json")
    for given in (schema, SCHEMA, tmp_path / "schema.json", str(tmp_path / "schema.json")):
        run = synthdp.synthesize(people(50), given, epsilon=1, delta=1e-6, mechanism=Independent())
        assert run.schema.fingerprint == schema.reordered(people(1).columns).fingerprint
    run = synthdp.synthesize(
        people(50), schema, epsilon=1, delta=1e-6, mechanism=MST(rare_threshold=1.0)
    )
    assert run.certificate["mechanism"]["parameters"]["rare_threshold"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "epsilon is 0"),
        ({"epsilon": -1}, "epsilon is -1"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"epsilon": float("inf")}, "epsilon is inf"),
        ({"delta": 0}, "delta is 0"),
        ({"delta": 1}, "delta is 1"),
        ({"delta": float("nan")}, "delta is nan"),
        ({"mechanism": "magic"}, "'magic' is unknown; choose one of aim, auto, clique-tree"),
        ({"engine": "magic"}, "'magic' is unknown; choose one of auto, columns, direct"),
        ({"adjacency": "magic"}, "adjacency is 'magic'"),
        ({"accounting": "magic"}, "accounting is 'magic'; give 'zcdp' or 'gdp'"),
        ({"workload": "many"}, "workload 'many': it cannot be read"),
        ({"epsilon": "1"}, "epsilon is '1'; give a number"),
        ({"epsilon": True}, "epsilon is True; give a number"),
        ({"delta": None}, "delta is None; give a number"),
        ({"mechanism": 3}, "mechanism is 3; give the name of a mechanism"),
        ({"engine": 3}, "engine is 3; give the name of an engine"),
        ({"workload": 3}, "workload is 3; give a Workload, a mapping"),
        ({"workload": {"k": 0}}, "workload: k is 0"),
        ({"target": "height"}, "target 'height' is no column of the model; name one of"),
        (
            {"target": "age", "workload": {"k": 2, "target": "age"}},
            "it has the target 'age', so it takes no",
        ),
    ],
)
def test_refuses_parameters_out_of_range(arguments, message):
    with pytest.raises(ParameterError, match=message):
        synthdp.synthesize(people(10), SCHEMA, **({"epsilon": 1, "delta": 1e-6} | arguments))


def test_a_schema_must_be_one_or_a_file():
    with pytest.raises(
        SchemaError, match="schema is a int; give a mapping, or the path of a JSON file"
    ):
        synthdp.synthesize(people(10), 3, epsilon=1, delta=1e-6)


def test_the_default_mechanism_brings_its_own_accounting():
    run = synthdp.synthesize(people(50), SCHEMA, epsilon=1, delta=1e-6)
    assert run.certificate["mechanism"]["name"] == "auto"
    assert run.certificate["accounting"]["currency"] == "gdp"
    assert run.certificate["noise"]["kind"].startswith(
        "Gaussian, rounded to the nearest integer, sampled exactly"
    )
    assert run.certificate["workload"] == {"n_marginals": 10, "columns_at_most": 3}


@pytest.mark.parametrize(
    ("workload", "expected"), [(None, (6, 3)), ("2-way", (4, 2)), ({"k": 4}, (4, 4))]
)
def test_a_target_is_a_workload_in_one_word(workload, expected):
    options = {"epsilon": 1, "delta": 1e-6, "mechanism": "gaussian", "target": "age"}
    # Quality asks for marginals of its own.
    run = synthdp.synthesize(people(50), SCHEMA, workload=workload, quality_share=0, **options)
    n_marginals, most = expected
    stated = {"n_marginals": n_marginals, "columns_at_most": most, "target": "age"}
    assert run.certificate["workload"] == stated
    wide = [
        set(event["columns"])
        for event in run.certificate["events"]
        if len(event.get("columns", ())) > 1
    ]
    assert wide
    assert all("age" in columns for columns in wide)


@pytest.mark.parametrize("accounting", [None, "zcdp", "gdp", Accounting.ZCDP, Accounting.GDP])
def test_accounting_can_be_chosen_for_gaussian_mechanisms(accounting):
    options = {"epsilon": 1, "delta": 1e-6, "workload": "2-way", "accounting": accounting}
    run = synthdp.synthesize(people(50), SCHEMA, mechanism="independent", **options)
    currency = "zcdp" if accounting is None else Accounting(accounting).value
    budget = {"zcdp": zcdp_rho, "gdp": gdp_rho}[currency](epsilon=1, delta=1e-6)
    stated = run.certificate["accounting"]
    assert (stated["currency"], stated["rho_budget"]) == (currency, float(budget))
    assert stated["rho_spent"] == pytest.approx(stated["rho_budget"], rel=1e-12)
    kinds = {event["mechanism"] for event in run.certificate["events"]}
    assert kinds == {"Gaussian, rounded to the nearest integer"}
    assert run.certificate["workload"] == {"n_marginals": 10, "columns_at_most": 2}


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_gaussian_accounting_is_refused_where_not_all_noise_is_gaussian(name):
    schema = Schema.from_dict(SCHEMA)

    def ask(accounting=None):
        settings = RunSettings(epsilon=1, delta=1e-6, mechanism=name, accounting=accounting)
        return Release(schema=schema, settings=settings)

    ask()  # its own accounting suits a mechanism
    if mechanism_named(name).is_gaussian:
        ask(accounting="gdp")
    else:
        message = (
            f"accounting is 'gdp' but {name} selects by the exponential mechanism; give 'zcdp'"
        )
        with pytest.raises(ParameterError) as caught:
            ask(accounting="gdp")
        assert str(caught.value) == message


def test_refuses_a_table_that_the_schema_does_not_describe():
    with pytest.raises(SchemaError, match="'height'"):
        synthdp.synthesize(people(10).assign(height=1), SCHEMA, epsilon=1, delta=1e-6)
    with pytest.raises(SchemaError, match="'pay'"):
        synthdp.synthesize(people(10).drop(columns="pay"), SCHEMA, epsilon=1, delta=1e-6)


def test_an_engine_that_cannot_hold_the_domain_refuses_before_anything_is_paid():
    wide = {
        "fields": [
            field | {"name": f"{field['name']}{i}"} for field in SCHEMA["fields"] for i in range(4)
        ]
    }
    kept = []
    with pytest.raises(ModelTooLargeError, match="graphical-model"):
        synthdp.synthesize(
            pd.concat([people(10).add_suffix(str(i)) for i in range(4)], axis=1),
            wide,
            epsilon=1,
            delta=1e-6,
            engine="direct",
            rescue=kept.append,
        )
    assert kept == []


def test_a_failed_run_hands_over_what_was_paid_for():
    class StoppedError(Exception):
        pass

    def report(stage, _done, _most):
        if stage == "selecting pairs":
            raise StoppedError

    kept = []
    with pytest.raises(StoppedError):
        synthdp.synthesize(
            people(),
            SCHEMA,
            epsilon=1,
            delta=1e-6,
            mechanism="mst",
            report=report,
            rescue=kept.append,
        )
    (partial,) = kept
    assert len(partial.measurements) == len(partial.certificate["events"]) == 5
    assert partial.certificate["complete"] is False
    assert partial.sample(10, seed=0).shape == (10, 5)


def test_an_empty_table_is_a_table():
    run = synthdp.synthesize(people(10).iloc[:0], SCHEMA, epsilon=1, delta=1e-6)
    assert run.sample(5).shape == (5, 5)


def test_a_slice_and_partial_records(synthesis):
    slice_ = synthesis.sample(where={"code": ["02"], "age": {"minimum": 20, "maximum": 39}}, seed=0)
    assert set(slice_["code"]) == {"02"}
    assert slice_["age"].between(20, 39).all()
    assert 0.02 < len(slice_) / synthesis.model.total < 0.08
    assert len(synthesis.sample(7, where={"member": [True]})) == 7
    given = pd.DataFrame({"age": [34, 71], "code": ["é", "01"]}, index=[5, 9])
    completed = synthesis.sample(given=given, seed=0)
    assert completed["age"].tolist() == [34, 71]
    assert completed["code"].tolist() == ["é", "01"]
    assert list(completed.columns) == ["day", "code", "age", "pay", "member"]
    with pytest.raises(ParameterError, match="given: each of its rows"):
        synthesis.sample(3, given=given)
    with pytest.raises(SchemaError, match="no level '09'"):
        synthesis.sample(3, where={"code": ["09"]})
    with pytest.raises(SchemaError, match="'height'"):
        synthesis.sample(3, where={"height": [1]})


@pytest.mark.parametrize("epsilon", [1.0, 0.01, 1e-7])
def test_auto_uses_gaussian_dp_however_small_the_budget_is(epsilon):
    frame = pd.DataFrame({"smoker": ["yes", "no", "no"] * 100})
    levels = {"enum": ["no", "yes"], "required": True}
    schema = {"fields": [{"name": "smoker", "type": "string", "constraints": levels}]}
    certificate = synthdp.synthesize(frame, schema, epsilon=epsilon, delta=1e-9).certificate
    assert certificate["accounting"]["currency"] == "gdp"
    assert certificate["accounting"]["rho_left"] == 0
