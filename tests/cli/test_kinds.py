"""Runs that work with names and kinds only, and with persons of several rows."""

import gzip
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from helpers.cli_runs import HEADER, ROWS, assert_one_line, assert_quiet_success, invoke, names_in
from helpers.kinds_runs import (
    CATEGORICAL,
    CENSUS,
    CENSUS_KINDS,
    KINDS,
    freeze,
    kinds_arguments,
    lay_out_kinds,
)
from helpers.quick_engines import quick_engine

import synthdp
from synthdp.core import grouped, in_records, sealed, with_caution_code
from synthdp.release import DOMAIN_SHARE, MAX_DOMAIN_SHARE, registry

TOUCHING = 1e-12
"""Relative error of a sum of floats."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    lay_out_kinds(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_success(outcome, path):
    """The run ended well, and said no more than what its certificate says, of many columns in one
    line.
    """
    lines = [
        f"synthdp: caution: {with_caution_code(text)}"
        for text in grouped(certificate_of(path)["cautions"])
    ]
    assert (outcome.code, outcome.out) == (0, b"")
    assert outcome.said[1:] == lines


def certificate_of(path):
    return json.loads(path.with_name(f"{path.name}.privacy.json").read_text())


# ---- the sample, with a saved model


@pytest.fixture(scope="module")
def census(tmp_path_factory):
    """The sample, synthesised from its kinds file once."""
    folder = tmp_path_factory.mktemp("census")
    known, output = ("--kinds", CENSUS_KINDS), folder / "out.csv"
    more = ("--save", folder / "m.synthdp", "--seed", "3")
    with pytest.MonkeyPatch.context() as patch:
        # One run in 200 takes noise for a third decimal of the income: `significance.FALSE_ALARM`
        # allows it.
        freeze(patch, 2)
        outcome = invoke(
            *kinds_arguments(*more, source=CENSUS, known=known, output=output, delta="1e-9")
        )
        assert_success(outcome, output)
    return SimpleNamespace(
        folder=folder,
        real=pd.read_csv(CENSUS, dtype=str, keep_default_na=False),
        made=pd.read_csv(output, dtype=str, keep_default_na=False),
        certificate=certificate_of(output),
        model=synthdp.load(folder / "m.synthdp"),
    )


def test_the_sample_comes_out_as_it_went_in(census):
    assert list(census.made.columns) == list(census.real.columns)
    assert (
        abs(len(census.made) / len(census.real) - 1) < 0.1
    )  # many standard deviations of the noisy total
    for name in CATEGORICAL:  # a level of nobody, or of few, passes with probability 1e-9
        assert set(census.made[name]) <= {*census.real[name], "other", ""}
    for name in ("region", "sex", "marital", "status"):
        shares = [table[name].value_counts(normalize=True) for table in (census.real, census.made)]
        assert shares[0].sub(shares[1], fill_value=0).abs().max() < 0.05, name
    patterns = {
        "household_size": r"\d+",
        "age": r"\d+",
        "hours": r"(\d+)?",
        "income": r"(\d+\.\d\d)?",
    }
    for name, pattern in (
        patterns | {"moved": r"(\d{4}-\d\d-\d\d)?", "born_abroad": "(yes|no)?"}
    ).items():
        assert census.made[name].str.fullmatch(pattern).all(), name
    ages = [table["age"].astype(int) for table in (census.real, census.made)]
    assert abs(ages[0].median() - ages[1].median()) < 5


def test_the_certificate_says_what_was_derived_and_what_it_cost(census):
    columns = {column["name"]: column for column in census.certificate["schema"]["columns"]}
    assert list(columns) == list(census.real.columns)
    assert {column["domain"] for column in columns.values()} == {"derived"}
    assert columns["income"]["derived"] == ["bins", "bounds", "decimals", "missing"]
    assert columns["town"]["derived"] == ["levels", "missing"]
    accounting = census.certificate["accounting"]
    assert sum(event["rho"] for event in census.certificate["events"]) == pytest.approx(
        accounting["rho_spent"]
    )
    assert accounting["rho_spent"] <= accounting["rho_budget"]
    assert census.certificate["domain"]["share_of_budget"] == DOMAIN_SHARE
    domain = [event for event in census.certificate["events"] if "column" in event]
    assert {event["column"] for event in domain} == set(columns)
    # and half as much again for levels that were not found at first
    most = 1.5 * DOMAIN_SHARE * accounting["rho_budget"]
    assert sum(event["rho"] for event in domain) <= most * (1 + TOUCHING)
    assert (
        0 < accounting["failure_delta_spent"] <= accounting["failure_delta"] == DOMAIN_SHARE * 1e-9
    )


def test_a_saved_model_of_a_derived_domain_is_a_model_like_any_other(census):
    kept, beside = census.model.certificate, dict(census.certificate)
    assert beside.pop("rows")["n_rows"] == len(census.made)  # of this table, not of the model
    assert beside["cautions"][: len(kept["cautions"])] == kept["cautions"]
    own = ("cautions", "sha256")
    assert {k: v for k, v in kept.items() if k not in own} == {
        k: v for k, v in beside.items() if k not in own
    }
    outcome = invoke(
        "sample", census.folder / "m.synthdp", "-o", census.folder / "again.csv", "--seed", "3"
    )
    said = [
        f"synthdp: caution: {with_caution_code(text)}"
        for text in beside["cautions"]
        if text.startswith("rows:")
    ]
    assert (outcome.code, outcome.out, outcome.notes) == (0, b"", said)
    assert (census.folder / "again.csv").read_bytes() == (census.folder / "out.csv").read_bytes()
    edges = census.model.schema.columns[list(census.real.columns).index("age")].edges
    low, high = edges[len(edges) // 3], edges[2 * len(edges) // 3] - 1
    where = census.model.sample(
        where={"sex": ["F"], "age": {"minimum": low, "maximum": high}}, seed=1
    )
    assert set(where["sex"]) == {"F"}
    assert where["age"].between(low, high).all()
    assert len(where) > 1000
    given = pd.DataFrame(
        {"town": ["K-0801", "nowhere at all"], "age": [33, 44], "moved": ["2018-10-11", None]}
    )
    completed = census.model.sample(given=given, seed=1)
    assert list(completed.columns) == list(census.real.columns)
    assert completed["age"].tolist() == [33, 44]
    assert str(completed["moved"].iloc[0]).startswith(
        "2018-10-11"
    )  # the other cell is empty: completed
    marginal = census.model.marginal(["sex"])
    assert marginal.sum() == pytest.approx(census.model.model.total)


def test_kinds_and_a_declared_schema_are_one_pipeline(census):
    """The domain that was derived, declared: the same levels and no share for the domain."""
    path = census.folder / "derived.schema.json"
    census.model.schema.save(path)
    output = census.folder / "declared.csv"
    more = ("--mechanism", "independent", "--workload", "2-way", "--domain-share", "0.9")
    assert_success(
        invoke(*kinds_arguments(*more, source=CENSUS, known=("-s", path), output=output)), output
    )
    certificate = certificate_of(output)
    assert certificate["schema"]["sha256"] == census.certificate["schema"]["sha256"]
    assert {column["domain"] for column in certificate["schema"]["columns"]} == {"declared"}
    assert {event["event"] for event in certificate["events"]} == {"marginal", "scores"}
    assert certificate["accounting"]["rho_spent"] == pytest.approx(
        certificate["accounting"]["rho_budget"]
    )
    assert certificate["accounting"]["failure_delta"] == 0
    assert "domain" not in certificate


def test_one_table_in_any_format_gives_one_release(place, monkeypatch):
    texts = pd.read_csv(CENSUS, dtype=str, keep_default_na=False, nrows=4000)
    content = texts.to_csv(index=False).encode()
    (place / "t.csv").write_bytes(content)
    (place / "t.csv.gz").write_bytes(gzip.compress(content))
    texts.to_parquet("texts.parquet")
    typed = pd.read_csv("t.csv", dtype={"district": str}, parse_dates=["moved"])
    assert {"i", "f", "M"} <= {dtype.kind for dtype in typed.dtypes}
    typed.to_parquet("typed.parquet")
    releases = []
    for source in ("t.csv", "t.csv.gz", "-", "texts.parquet", "typed.parquet"):
        freeze(monkeypatch, 11)
        more = ("--mechanism", "independent", "--workload", "2-way", "--seed", "5", "--force")
        named = {"source": source, "known": ("--kinds", CENSUS_KINDS)}
        assert_success(
            invoke(*kinds_arguments(*more, **named), stdin=content if source == "-" else b""),
            place / "out.csv",
        )
        certificate = certificate_of(place / "out.csv")
        assert certificate == sealed(certificate)
        names = certificate.pop("run"), certificate.pop("sha256")  # of each run its own
        releases.append(((place / "out.csv").read_bytes(), certificate, names))
    assert all(release[:2] == releases[0][:2] for release in releases)
    assert (
        len({run["id"] for _, _, (run, _) in releases})
        == len({digest for *_, (_, digest) in releases})
        == 5
    )
    assert len(releases[0][0].splitlines()) > 1000


# ---- options


@pytest.mark.parametrize("mechanism", sorted(registry.MECHANISMS))
def test_every_mechanism_works_with_kinds(mechanism, place, monkeypatch):
    monkeypatch.setattr(registry, "engine_named", quick_engine)
    assert_success(
        invoke(*kinds_arguments("--mechanism", mechanism, "--workload", "2-way", "--rows", "50")),
        place / "out.csv",
    )
    assert len((place / "out.csv").read_text().splitlines()) == 51
    certificate = certificate_of(place / "out.csv")
    assert certificate["accounting"]["rho_spent"] <= certificate["accounting"]["rho_budget"]
    assert certificate["domain"]["derived"].keys() == KINDS.keys()
    assert names_in(place) == ["in.csv", "kinds.json", "out.csv", "out.csv.privacy.json"]


@pytest.mark.parametrize("share", ["0.05", "0.5", "0.95"])
def test_the_share_of_the_domain_can_be_set(share, place):
    assert_success(
        invoke(*kinds_arguments("--domain-share", share, "--mechanism", "independent")),
        place / "out.csv",
    )
    certificate = certificate_of(place / "out.csv")
    assert certificate["domain"]["share_of_budget"] == float(share)
    accounting = certificate["accounting"]
    domain = sum(event["rho"] for event in certificate["events"] if "column" in event)
    assert 0.5 * float(share) * accounting["rho_budget"] < domain
    assert domain <= float(share) * accounting["rho_budget"] * (1 + TOUCHING)
    assert accounting["failure_delta"] == pytest.approx(float(share) * 1e-6)


def test_help_states_the_default_share():
    text = " ".join(invoke("run", "--help-all").out.decode().split()) + " "
    assert f"learnt, above 0 and at most {MAX_DOMAIN_SHARE}; levels that" in text
    assert f"may take half as much again; default: {DOMAIN_SHARE} " in text


def test_privtree_is_not_gaussian_and_brings_zcdp(place):
    lay_out_kinds(place, KINDS | {"age": {"type": "integer", "synthdp": {"binning": "privtree"}}})
    assert_success(invoke(*kinds_arguments()), place / "out.csv")
    certificate = certificate_of(place / "out.csv")
    assert certificate["accounting"]["currency"] == "zcdp"
    assert "tree" in {event["event"] for event in certificate["events"]}


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1e-3", "1e-6"), ("1e-5", "1e-9"), ("1e-9", "1e-12")]
)
def test_a_tiny_budget_is_a_budget(epsilon, delta, place):
    assert_success(
        invoke(*kinds_arguments("--rows", "9", epsilon=epsilon, delta=delta)), place / "out.csv"
    )
    assert len((place / "out.csv").read_text().splitlines()) == 10


@pytest.mark.parametrize("most", [3, 20_000])
def test_most_levels_hold_for_the_widest_workload(most, place):
    town = {"type": "categorical", "synthdp": {"max_levels": most}}
    lay_out_kinds(place, KINDS | {"town": town, "code": town})
    assert_success(
        invoke(*kinds_arguments("--workload", "3-way", "--rows", "200", epsilon="100")),
        place / "out.csv",
    )
    certificate = certificate_of(place / "out.csv")
    assert certificate["workload"] == {"n_marginals": 1, "columns_at_most": 3}
    assert (
        max(
            column["n_levels"]
            for column in certificate["schema"]["columns"]
            if column["name"] != "age"
        )
        <= most
    )


@pytest.mark.parametrize("table", [HEADER, HEADER + "A,1,x\n", HEADER + ",,\n" * 9])
def test_tables_with_nothing_to_learn_work(table, place):
    lay_out_kinds(place, table=table)
    assert_success(invoke(*kinds_arguments("--rows", "5")), place / "out.csv")
    assert len((place / "out.csv").read_text().splitlines()) == 6


def test_json_for_machines(place):
    result = json.loads(invoke(*kinds_arguments("--json")).out)
    assert (result["output"], result["guarantee"]) == ("out.csv", "(1, 1e-06)-differential privacy")
    outcome = invoke(
        *kinds_arguments("--rows", "4", source="-", output="-"), stdin=(HEADER + ROWS).encode()
    )
    assert (outcome.code, len(outcome.out.splitlines())) == (0, 5)
    assert json.loads(outcome.err)["complete"] is True
    assert names_in(place) == ["in.csv", "kinds.json", "out.csv", "out.csv.privacy.json"]


# ---- persons


def persons_table(n_persons, rows_of_one):
    """A CSV with ids between the other columns: one row of each person, and many of the first."""
    ids = [f"P{i:05}Z" for i in range(n_persons)] + ["P00000Z"] * (rows_of_one - 1)
    return "town,person,age,code\n" + "".join(
        f"A,{person},{30 + i % 9},01\n" for i, person in enumerate(ids)
    )


@pytest.mark.parametrize("listed", [{}, {"person": "categorical"}, {"person": "integer"}], ids=str)
def test_the_id_column_never_reaches_anything_that_is_written(listed, place):
    lay_out_kinds(place, KINDS | listed, table=persons_table(300, 9))
    more = ("--unit", "person", "--max-rows-per-unit", "2", "--save", "m.synthdp", "--json")
    outcome = invoke(*kinds_arguments(*more, epsilon="1000"))
    assert (outcome.code, outcome.notes) == (0, [])
    texts = [
        path.read_bytes() for path in place.iterdir() if path.name not in ("in.csv", "kinds.json")
    ]
    with zipfile.ZipFile("m.synthdp") as archive:
        texts += [archive.read(name) for name in archive.namelist()]
    assert len(texts) > 4
    assert not [text for text in [*texts, outcome.out] if b"P00" in text]
    assert (place / "out.csv").read_text().startswith("town,age,code\n")
    certificate = certificate_of(place / "out.csv")
    assert certificate["max_rows_per_unit"] == 2
    assert "'person'" in certificate["unit_of_privacy"]
    assert list(certificate["domain"]["derived"]) == [
        column["name"] for column in certificate["schema"]["columns"]
    ]
    assert "person" not in certificate["domain"]["derived"]
    assert not [line for line in certificate["not_covered"] if "more than one record" in line]
    for event in map(in_records, certificate["events"]):
        # Each score moves by as much as a count does, and all of them at once; persons are counted
        # as one record where a domain is learnt.
        moved = 1 if event.get("record") == "unit" else 4 * event.get("n_candidates", 1)
        assert event["sensitivity_l2_squared"] == moved


@pytest.mark.parametrize("known", ["kinds", "schema"])
@pytest.mark.parametrize("most", [1, 3])
def test_one_person_counts_for_no_more_rows_than_allowed(most, known, place):
    """With next to no noise: the total is one row of each person, and at most so many of the first."""
    lay_out_kinds(place, table=persons_table(40, 500))
    bounds = {"minimum": 0, "maximum": 99, "required": True}
    fields = [
        {"name": name, "type": "string", "constraints": {"enum": ["A", "01"]}}
        for name in ("town", "code")
    ]
    fields.append({"name": "age", "type": "integer", "constraints": bounds, "synthdp": {"bins": 5}})
    (place / "schema.json").write_text(json.dumps({"fields": fields}))
    given = {"kinds": ("--kinds", "kinds.json"), "schema": ("-s", "schema.json")}[known]
    more = ("--unit", "person", "--max-rows-per-unit", most, "--accounting", "zcdp")
    assert_quiet_success(invoke(*kinds_arguments(*more, known=given, epsilon="1e6")))
    assert len((place / "out.csv").read_text().splitlines()) - 1 == 39 + most


def test_rows_without_an_id_are_left_out(place):
    table = persons_table(40, 1) + "A,,30,01\n" * 500
    lay_out_kinds(place, table=table)
    more = ("--unit", "person", "--max-rows-per-unit", "1", "--accounting", "zcdp")
    assert_quiet_success(invoke(*kinds_arguments(*more, epsilon="1e6")))
    assert len((place / "out.csv").read_text().splitlines()) - 1 == 40


@pytest.mark.usefixtures("place")
def test_a_drafted_kinds_file_is_to_be_filled_in():
    Path("t.csv").write_text("town,age\nA,3\n")
    outcome = invoke("schema", "draft", "t.csv", "--kinds")
    assert outcome.code == 0
    assert json.loads(outcome.out) == {"town": None, "age": None}
    assert "what kind it is" in outcome.err
    Path("k.json").write_text('{"town": null, "age": null}')
    assert_one_line(
        invoke(
            "run", "t.csv", "--kinds", "k.json", "-o", "o.csv", "--epsilon", "1", "--delta", "1e-6"
        ),
        1,
    )
