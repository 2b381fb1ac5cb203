"""The Python door with schemas that leave things open, and with persons of several rows."""

import json
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from oracles.privacy import Seeded

import synthdp
from synthdp.core import DataFileError, ParameterError, SchemaError
from synthdp.data import CodedSource, encode, held_rows
from synthdp.learning import column_budgets
from synthdp.release import DOMAIN_SHARE, LearntDomain, Release, RunSettings
from synthdp.schema import OpenSchema, Schema

budgets = home(column_budgets)

KINDS = {
    "town": "categorical",
    "age": "integer",
    "pay": "number",
    "member": "boolean",
    "day": "date",
}
DECLARED = {
    "fields": [
        {
            "name": "town",
            "type": "string",
            "constraints": {"enum": ["A", "B", "C"], "required": True},
        }
        | {"synthdp": {"other": "C", "merged": {"levels": ["D", "E"], "weights": [2, 1]}}},
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
        | {"synthdp": {"bins": 10, "shape": {"starts": [0, 20], "weights": [1, 3]}}},
        {"name": "pay", "type": "number", "synthdp": {"edges": [0, 10, 1000], "decimals": 1}},
        {"name": "member", "type": "boolean"},
        {
            "name": "day",
            "type": "date",
            "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"},
        }
        | {"synthdp": {"bins": 32, "parts": ["weekday", "month"]}},
    ],
    "synthdp": {"constraints": [{"forbid": {"town": ["A"], "member": [True]}}]},
}


def people(n_rows=2000, seed=0):
    generator = np.random.default_rng(seed)
    member = generator.random(n_rows) < 0.3
    age = pd.array(generator.integers(0, 120, n_rows), dtype="Int64")
    age[:: n_rows // 10 or 1] = pd.NA
    return pd.DataFrame(
        {
            "town": np.where(member, "B", generator.choice(list("AADEX"), n_rows)),
            "age": age,
            "pay": np.round(generator.gamma(2, 40, n_rows), 1),
            "member": member,
            "day": pd.Timestamp("2019-12-01")
            + pd.to_timedelta(generator.integers(0, 366, n_rows), unit="D"),
        }
    )


def released(schema, rows, mechanism, seed):
    run = Release(
        schema=schema,
        settings=RunSettings(epsilon=2, delta=1e-6, mechanism=mechanism, adjacency="add-remove"),
        randomness=Seeded(seed),
    )
    return run.of(rows)


# ---- one pipeline


@pytest.mark.usefixtures("one_run")
@pytest.mark.parametrize("mechanism", ["auto", "mst", "independent", "aim"])
def test_held_rows_of_a_declared_schema_are_released_as_encoded_ones(mechanism, tmp_path):
    """To the last byte: what is written does not tell which way the rows came."""
    frame, public = people(), Schema.from_dict(DECLARED)
    opened = OpenSchema.from_dict(DECLARED)
    assert not opened.is_open
    paths = [
        (public, CodedSource(encode(frame, public.with_all_places()))),
        (public, held_rows(frame, opened)),
        (opened, held_rows(frame, opened)),
    ]
    runs = [released(schema, rows, mechanism, seed=5) for schema, rows in paths]
    for number, run in enumerate(runs):
        run.save(tmp_path / f"{number}.synthdp")
        run.sample(500, seed=1, text=True).to_csv(tmp_path / f"{number}.csv")
        assert run.certificate == runs[0].certificate
        for measurement, expected in zip(run.measurements, runs[0].measurements, strict=True):
            assert measurement.clique == expected.clique
            np.testing.assert_array_equal(measurement.values, expected.values)
    for kind in ("synthdp", "csv"):
        first, *others = ((tmp_path / f"{number}.{kind}").read_bytes() for number in range(3))
        assert all(content == first for content in others)
    other = released(public, CodedSource(encode(frame, public)), mechanism, seed=6)
    assert any(
        (a.values != b.values).any()
        for a, b in zip(other.measurements, runs[0].measurements, strict=False)
    )


def test_chunks_and_order_of_columns_do_not_matter():
    """A frame whose columns come in another order gives them back so, and its own schema file reads
    both.
    """
    frame, opened = people(3000), OpenSchema.from_kinds(KINDS)
    reordered = frame[["day", "town", "pay", "age", "member"]]
    run = synthdp.synthesize(reordered, opened, epsilon=5, delta=1e-6, mechanism="independent")
    assert list(run.sample(3).columns) == list(reordered.columns)
    assert run.schema.table_names == tuple(reordered.columns)
    again = Schema.from_dict(json.loads(json.dumps(run.schema.to_dict())))
    assert again.fingerprint == run.schema.fingerprint


# ---- open schemas


@pytest.fixture(scope="module")
def derived():
    return synthdp.synthesize(
        people(4000), OpenSchema.from_kinds(KINDS), epsilon=20, delta=1e-6, mechanism="mst"
    )


def test_names_and_kinds_are_enough(derived):
    made = derived.sample(3000, seed=1)
    assert [str(dtype) for dtype in made.dtypes] == [
        "str",
        "Int64",
        "float64",
        "bool",
        "datetime64[s]",
    ]
    assert set(made["town"]) <= {"A", "B", "D", "E", "X", "other"}
    assert made["age"].isna().mean() < 0.1
    assert made["age"].dropna().between(0, 130).all()
    np.testing.assert_allclose(made["pay"], made["pay"].round(1), rtol=0, atol=1e-9)
    assert abs(made["pay"].median() / people(4000)["pay"].median() - 1) < 0.1
    assert made["day"].between("2019-06-01", "2021-06-01").mean() > 0.9
    assert {column["domain"] for column in derived.certificate["schema"]["columns"]} == {"derived"}


def test_a_model_of_a_derived_domain_takes_slices_and_partial_records(derived, tmp_path):
    derived.save(tmp_path / "m.synthdp")
    edges = derived.schema.columns[1].edges
    low, high = edges[len(edges) // 3], edges[2 * len(edges) // 3] - 1
    for run in (derived, synthdp.load(tmp_path / "m.synthdp")):
        slice_ = run.sample(
            100, where={"town": ["B"], "age": {"minimum": low, "maximum": high}}, seed=0
        )
        assert set(slice_["town"]) == {"B"}
        assert slice_["age"].between(low, high).all()
        given = pd.DataFrame({"town": ["A", "Nowhere"], "pay": [12.3, 100.0]}, index=[3, 8])
        completed = run.sample(given=given, seed=0)
        assert len(completed) == 2
        assert completed[["town", "pay"]].to_dict("list") == given.to_dict("list")
        with pytest.raises(
            SchemaError,
            match=r"given: column 'pay': value 1 .* is 1000000000.0, which is no number",
        ):
            run.sample(given=given.assign(pay=[12.3, 1e9]))
        with pytest.raises(SchemaError, match="no level 'Nowhere'"):
            run.sample(3, where={"town": ["Nowhere"]})


def test_rare_levels_are_merged_and_drawn_in_proportion_to_what_was_released(monkeypatch):
    monkeypatch.setattr(
        budgets, "MIN_COLUMNS", 1
    )  # enough to find levels that the model cannot tell apart
    rare = {f"r{i:02}": 50 * (1 + i % 2) for i in range(40)}
    frame = pd.DataFrame(
        {"town": ["A"] * 20_000 + [town for town, n_rows in rare.items() for _ in range(n_rows)]}
    )
    options = {"epsilon": 1, "delta": 1e-6, "mechanism": "independent", "domain_share": 0.95}
    run = synthdp.synthesize(frame, OpenSchema.from_kinds({"town": "categorical"}), **options)
    (town,) = run.schema.columns
    assert town.levels == ("A",)
    assert town.merged.levels == tuple(
        rare
    )  # all are known well, but too rare for what is left to the model
    made = run.sample(200_000, seed=1)["town"].value_counts()
    assert made[list(rare)[1::2]].sum() / made[list(rare)[::2]].sum() == pytest.approx(2, rel=0.25)
    with pytest.raises(SchemaError, match="merged"):
        run.sample(3, where={"town": ["r00"]})


def test_what_is_declared_stays_declared():
    fields = [dict(field) for field in DECLARED["fields"]]
    fields[1] = {"name": "age", "type": "integer", "synthdp": {"derive": True}}
    schema = {"fields": fields, "synthdp": DECLARED["synthdp"]}
    run = synthdp.synthesize(people(), schema, epsilon=2, delta=1e-6, mechanism="independent")
    facts = {column["name"]: column for column in run.certificate["schema"]["columns"]}
    assert facts["age"]["derived"] == ["bins", "bounds", "missing"]
    assert [name for name, column in facts.items() if column["domain"] == "derived"] == ["age"]
    assert run.certificate["domain"]["derived"] == {"age": ["bins", "bounds", "missing"]}
    assert {event["column"] for event in run.certificate["events"] if "column" in event} == {"age"}
    assert not (run.sample(2000, seed=0).query("member")["town"] == "A").any()  # the rule holds


@pytest.mark.usefixtures("one_run")
def test_a_predictable_run_says_not_private():
    opened = OpenSchema.from_kinds(KINDS)
    frame = people(300)
    runs = [released(opened, held_rows(frame, opened), "independent", seed=3) for _ in range(2)]
    assert runs[0].certificate["guarantee"].startswith("NOT PRIVATE")
    assert runs[0].certificate == runs[1].certificate
    assert runs[0].schema.fingerprint == runs[1].schema.fingerprint


@pytest.mark.fresh_noise
def test_runs_differ_because_noise_has_no_seed():
    opened = OpenSchema.from_kinds({"pay": "number"})
    runs = [synthdp.synthesize(people()[["pay"]], opened, epsilon=1, delta=1e-6) for _ in range(2)]
    assert not np.array_equal(runs[0].measurements[0].values, runs[1].measurements[0].values)


def test_progress_does_not_depend_on_values():
    told = []
    opened = OpenSchema.from_kinds(KINDS)
    for frame in (people(500, seed=1), people(500, seed=2).assign(town=pd.NA, pay=1e300)):
        steps = []
        more = {"mechanism": "independent", "report": lambda *step, to=steps: to.append(step)}
        synthdp.synthesize(frame, opened, epsilon=1, delta=1e-6, **more)
        of_noisy_counts = ("fitting", "learning more levels")
        told.append([step for step in steps if step[0] not in of_noisy_counts])
    assert told[0] == told[1]
    assert told[0][:5] == [("learning the domain", number, 5) for number in range(5)]


# ---- what fails


def test_a_run_that_fails_hands_over_what_was_learnt(tmp_path):
    class StoppedError(Exception):
        pass

    def report(stage, done, _most):
        if stage == "learning the domain" and done == 3:
            raise StoppedError

    kept, frame = [], people()
    with suppress(StoppedError):
        opened = OpenSchema.from_kinds(KINDS)
        synthdp.synthesize(frame, opened, epsilon=1, delta=1e-6, report=report, rescue=kept.append)
    (learnt,) = kept
    assert isinstance(learnt, LearntDomain)
    assert [column.name for column in learnt.schema.open_columns] == ["member", "day"]
    accounting = learnt.certificate["accounting"]
    assert 0 < accounting["rho_spent"] < DOMAIN_SHARE * accounting["rho_budget"]
    assert repr(learnt) == "<LearntDomain of 5 columns>"
    learnt.certificate["guarantee"] = "perfect"
    assert learnt.certificate["guarantee"] == "(1, 1e-06)-differential privacy"
    path = tmp_path / "learnt.json"
    learnt.save(path)
    with pytest.raises(DataFileError, match="exists"):
        learnt.save(path)
    learnt.save(path, force=True)
    for schema in (learnt.schema, path, json.loads(path.read_text())):
        run = synthdp.synthesize(frame, schema, epsilon=1, delta=1e-6, mechanism="independent")
        assert list(run.certificate["domain"]["derived"]) == ["member", "day"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"domain_share": 0}, "domain_share is 0"),
        ({"domain_share": 1}, "domain_share is 1"),
        ({"domain_share": float("nan")}, "domain_share is nan"),
        ({"unit": "town"}, "unit is given without max_rows_per_unit"),
        ({"max_rows_per_unit": 2}, "max_rows_per_unit is given without unit"),
        ({"unit": "town", "max_rows_per_unit": 0}, "max_rows_per_unit is 0"),
        ({"unit": "town", "max_rows_per_unit": -1}, "max_rows_per_unit is -1"),
        ({"unit": "town", "max_rows_per_unit": 10**9}, "max_rows_per_unit is 1000000000"),
        ({"unit": "town", "max_rows_per_unit": 1.5}, "max_rows_per_unit is 1.5"),
        ({"unit": "town", "max_rows_per_unit": True}, "max_rows_per_unit is True"),
        (
            {"unit": "town", "max_rows_per_unit": 2, "adjacency": "replace-one"},
            "adjacency is 'replace-one'",
        ),
    ],
)
def test_refuses_parameters_out_of_range(arguments, message):
    with pytest.raises(ParameterError, match=message):
        synthdp.synthesize(
            people(10), OpenSchema.from_kinds(KINDS), **({"epsilon": 1, "delta": 1e-6} | arguments)
        )


def test_an_open_schema_does_not_take_coded_rows():
    public = Schema.from_dict(DECLARED)
    with pytest.raises(ParameterError, match="it counts codes, but the schema is open"):
        released(
            OpenSchema.from_kinds(KINDS),
            CodedSource(encode(people(5), public)),
            "independent",
            seed=1,
        )


def test_counts_from_anywhere_are_released_like_rows():
    """All that a release needs of a source is a domain and the counts of marginals."""
    frame, public = people(3000), Schema.from_dict(DECLARED)

    class Elsewhere:
        domain = public.domain

        def counts_of(self, cliques):
            codes = dict(zip(public.names, encode(frame, public).columns, strict=True))
            for clique in cliques:
                counts = np.zeros(public.domain.project(clique).shape, dtype=np.int64)
                np.add.at(counts, tuple(codes[name] for name in clique), 1)
                yield counts

    one, other = (
        released(public, source, "mst", seed=5)
        for source in (Elsewhere(), CodedSource(encode(frame, public)))
    )
    assert [m.clique for m in one.measurements] == [m.clique for m in other.measurements]
    for a, b in zip(one.measurements, other.measurements, strict=True):
        np.testing.assert_array_equal(a.values, b.values)


def test_counts_of_another_domain_are_refused():
    public = Schema.from_dict(DECLARED)
    source = CodedSource(
        encode(people(5)[["town"]], Schema.from_dict({"fields": DECLARED["fields"][:1]}))
    )
    with pytest.raises(ParameterError, match="domain is not that of the schema"):
        released(public, source, "independent", seed=1)


# ---- persons


@pytest.mark.parametrize(
    "ids", [lambda n: [f"p{i}" for i in n], list, lambda n: pd.Categorical(list(n))]
)
def test_a_person_counts_for_no_more_rows_than_allowed(ids):
    """With next to no noise, whatever kind of ids."""
    owners = [0] * 400 + list(range(1, 60))
    frame = people(len(owners)).assign(person=ids(owners)).sample(frac=1, random_state=1)
    options = {"epsilon": 1e6, "delta": 1e-6, "mechanism": "independent", "accounting": "zcdp"}
    for schema in (OpenSchema.from_kinds(KINDS), DECLARED):
        run = synthdp.synthesize(frame, schema, unit="person", max_rows_per_unit=3, **options)
        assert round(run.model.total) == 59 + 3
        assert list(run.sample(2).columns) == list(KINDS)
        assert run.certificate["max_rows_per_unit"] == 3
    with pytest.raises(SchemaError, match="'person'"):
        synthdp.synthesize(frame, OpenSchema.from_kinds(KINDS), **options)
    with pytest.raises(SchemaError, match="'who': the table has no such column"):
        synthdp.synthesize(
            people(9), OpenSchema.from_kinds(KINDS), unit="who", max_rows_per_unit=1, **options
        )


@pytest.mark.parametrize("read", [{}, {"unit": "id", "max_rows": 2}])
def test_rows_that_were_read_for_another_unit_are_refused(read):
    frame = pd.DataFrame({"id": ["p", "p", "q"], "town": ["A", "B", "A"]})
    schema = OpenSchema.from_kinds({"town": "categorical", **({} if read else {"id": "ignore"})})
    run = Release(
        schema=schema,
        settings=RunSettings(
            epsilon=1,
            delta=1e-6,
            mechanism="independent",
            adjacency="add-remove",
            unit="id",
            max_rows_per_unit=1,
        ),
    )
    with pytest.raises(ParameterError, match="unit and most rows"):
        run.of(held_rows(frame, schema, **read))
    assert not run.ledger.events
