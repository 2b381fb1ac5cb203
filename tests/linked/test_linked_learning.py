"""Packages of which levels, bounds and bins are learnt: from the first question to what is drawn."""

import json
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from helpers.families import link
from helpers.stopped_runs import lines, stops

import synthdp
from synthdp.core import CautionWarning, ParameterError, SchemaError, UnreadColumnError
from synthdp.linked import LinkedRelease, LinkedTableReader, Package
from synthdp.release import LearntDomain, RunSettings
from synthdp.report import certificate_text

RUN = {"epsilon": 3.0, "delta": 1e-6, "mechanism": "independent", "engine": "local-consistency"}
DERIVE = {"synthdp": {"derive": True}}
REQUIRED = {"constraints": {"required": True}}

pytestmark = pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")


def description(rules=(), **of_visits):
    """Patients and their visits; only types are declared."""
    patients = {
        "fields": [
            {"name": "id", "type": "integer"},
            {"name": "town", "type": "string", **DERIVE},
            {"name": "born", "type": "integer", **REQUIRED, **DERIVE},
        ],
        "primaryKey": "id",
    }
    visits = {
        "fields": [
            {"name": "patient", "type": "integer"},
            {"name": "day", "type": "date", **REQUIRED, **DERIVE},
            {"name": "ward", "type": "string", **REQUIRED, **DERIVE},
            {"name": "cost", "type": "number", **DERIVE},
        ],
        "foreignKeys": [link("patient", "patients", "id")],
    }
    return {
        "synthdp": {"root": "patients", "constraints": list(rules)},
        "resources": [
            {"name": "patients", "path": "patients.csv", "schema": patients},
            {
                "name": "visits",
                "path": "visits.csv",
                "schema": visits,
                "synthdp": {"max_children": 4, "order": "day", **of_visits},
            },
        ],
    }


def tables(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    owners = np.repeat(np.arange(n), rng.integers(0, 5, n))
    days = pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 60, len(owners)), unit="D")
    patients = {
        "id": np.arange(n),
        "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
        "born": rng.integers(1950, 2000, n),
    }
    visits = {
        "patient": owners,
        "day": days.strftime("%Y-%m-%d"),
        "ward": rng.choice(["eyes", "heart"], len(owners)),
        "cost": rng.integers(1000, 9000, len(owners)) / 100,
    }
    return {"patients": pd.DataFrame(patients), "visits": pd.DataFrame(visits)}


TABLES = tables()


@pytest.fixture(scope="module")
def found():
    return synthdp.synthesize(TABLES, description(), **RUN)


def test_levels_bounds_and_bins_are_learnt_and_drawn(found):
    drawn = found.sample(1500, seed=0)
    assert set(drawn["patients"]["town"].dropna()) <= {"Ulm", "Bonn", "Kiel"}
    assert set(drawn["visits"]["ward"]) == {"eyes", "heart"}
    assert drawn["patients"]["born"].between(1940, 2010).all()
    assert drawn["visits"]["day"].between("2024-02-01", "2024-06-01").all()
    assert drawn["visits"]["cost"].dropna().between(0, 130).all()
    assert (
        drawn["visits"].groupby("patient")["day"].apply(lambda d: d.is_monotonic_increasing).all()
    )
    assert not found.package.is_open


def test_the_certificate_says_what_was_learnt_and_for_which_share(found):
    domain = found.certificate["domain"]
    assert domain["share_of_budget"] == 0.25
    assert domain["open"] == []
    assert set(domain["derived"]) == {
        "patients.town",
        "patients.born",
        "visits.day",
        "visits.ward",
        "visits.cost",
    }
    stated = found.certificate["accounting"]
    assert stated["rho_spent"] <= stated["rho_budget"]
    about = [event.get("column") for event in found.certificate["events"]]
    assert {*about} - {None} == {*domain["derived"]}


def test_of_how_many_values_a_root_counts_the_certificate_says_and_people_read_units(found):
    events = {
        event["column"]: event
        for event in found.certificate["events"]
        if event["event"] == "partition selection"
    }
    town, ward = events["patients.town"], events["visits.ward"]
    assert "values_per_record" not in town
    assert "units_of_weight" not in town
    assert town["sensitivity_l2_squared"] == 1
    assert (ward["values_per_record"], ward["units_of_weight"]) == (4, 1024)
    assert ward["sensitivity_l2_squared"] == 1024**2
    for event in (town, ward):
        squared = event["sensitivity_l2_squared"]
        assert event["rho"] == pytest.approx(squared / (2 * event["sigma"] ** 2))
    lines = {name: [] for name in events}
    for line in certificate_text(found.certificate).splitlines():
        for name in events:
            if "threshold" in line and name in line:
                lines[name].append(float(line.rpartition("threshold ")[2].split()[0]))
    assert {*lines["patients.town"]} == {town["threshold"]}
    assert {*lines["visits.ward"]} == {round(ward["threshold"] / 1024, 1)}


def test_numbers_are_looked_for_in_one_row_of_a_root_and_then_in_several(found):
    events = [event for event in found.certificate["events"] if event["event"] == "histogram"]
    of_days, of_years = (
        [event for event in events if event["column"] == name and event["of"] == "values"]
        for name in ("visits.day", "patients.born")
    )
    assert [event["sensitivity_l2_squared"] for event in of_days][:2] == [1, 1024**2]
    assert len(of_years) > 1
    assert {event["sensitivity_l2_squared"] for event in of_years} == {1}
    for event in (*of_days, *of_years):
        squared = event["sensitivity_l2_squared"]
        assert event["rho"] == pytest.approx(squared / (2 * event["sigma"] ** 2))
    # People read noise in records.
    noise = [event["sigma"] / event["sensitivity_l2_squared"] ** 0.5 for event in of_days]
    lines = [line for line in certificate_text(found.certificate).splitlines() if "day" in line]
    assert all(any(f"sigma {each:.4g}" in line for line in lines) for each in noise), lines


def test_a_saved_release_knows_what_was_learnt(found, tmp_path):
    found.save(tmp_path / "s.synthdp")
    again = synthdp.load(tmp_path / "s.synthdp")
    assert again.package.content == found.package.content
    one, other = found.sample(20, seed=1), again.sample(20, seed=1)
    assert all(one[name].equals(other[name]) for name in one)


def test_what_was_learnt_may_be_declared(found):
    again = synthdp.synthesize(TABLES, found.package.content, **RUN)
    assert "domain" not in again.certificate
    assert again.package.content == found.package.content


def test_a_larger_share_is_spent_on_learning_if_it_is_asked_for():
    spent = []
    for share in (0.1, 0.5):
        release = LinkedRelease(
            package=Package.from_dict(description()),
            settings=RunSettings(domain_share=share, **RUN),
        )
        spent.append(float(release._domain_rho / release.ledger.budget))
    assert spent == pytest.approx([0.1, 0.5])


@pytest.mark.slow
def test_a_run_that_is_stopped_while_it_learns_goes_on_and_pays_nothing_twice(tmp_path):
    path = tmp_path / "journal"

    def run():
        return synthdp.synthesize(TABLES, description(), journal=path, **RUN)

    for n_answers in (2, 5, 4):
        before = lines(path) if path.exists() else []
        assert stops(run, n_answers)
        assert lines(path)[: len(before)] == before
    whole = run()
    with pytest.warns(CautionWarning, match="nothing was asked of the records"):
        again = run()
    assert again.package.content == whole.package.content
    rescued = synthdp.from_journal(path)
    assert rescued.package.content == whole.package.content
    assert rescued.certificate["domain"] == whole.certificate["domain"]
    # The same events, of which a journal's begin with those of a look at numbers of children.
    events = [sorted(map(str, each.certificate["events"])) for each in (rescued, whole)]
    assert events[0] == events[1]
    assert set(rescued.sample(50, seed=0)["visits"]["ward"]) <= {"eyes", "heart"}


def test_another_share_is_another_run(tmp_path):
    path = tmp_path / "journal"
    assert stops(lambda: synthdp.synthesize(TABLES, description(), journal=path, **RUN), 2)
    with pytest.raises(ParameterError, match="domain_share"):
        synthdp.synthesize(TABLES, description(), journal=path, domain_share=0.3, **RUN)


def test_a_run_that_fails_after_learning_hands_over_a_package(monkeypatch, tmp_path):
    kept = []

    def failing(*_):
        raise MemoryError

    monkeypatch.setattr(LinkedRelease, "_release", _once_settled(failing, LinkedRelease._release))
    with pytest.raises(MemoryError):
        synthdp.synthesize(TABLES, description(), rescue=kept.append, **RUN)
    (learnt,) = kept
    assert isinstance(learnt, LearntDomain)
    assert learnt.certificate["domain"]["open"] == []
    learnt.save(tmp_path / "datapackage.json")
    again = Package.load(tmp_path / "datapackage.json")
    assert not again.is_open
    assert again["visits"].schema["ward"].listed == ("eyes", "heart")


def _once_settled(failing, release):
    def made(run, label, known=()):
        return (
            failing()
            if run._learnt and not run._views.package.is_open
            else release(run, label, known)
        )

    return made


def test_a_column_that_cannot_be_read_stops_the_run_before_tables_are_measured():
    broken = {**TABLES, "visits": TABLES["visits"].assign(cost="a lot")}
    with pytest.raises(UnreadColumnError, match=r"visits\.cost.*and the rest is not") as stopped:
        synthdp.synthesize(broken, description(), **RUN)
    assert isinstance(stopped.value.learnt, LearntDomain)
    assert synthdp.synthesize(broken, description(), anyway=True, **RUN).can_sample


CHECK = {"check": "`patients.born` <= `visits.cost` + 2000"}


def test_checks_across_tables_hold_in_what_was_learnt():
    found = synthdp.synthesize(TABLES, description([CHECK]), **RUN)
    drawn = found.sample(300, seed=0)
    both = drawn["visits"].merge(drawn["patients"], left_on="patient", right_on="id")
    both = both.dropna(subset=["cost"])
    assert (both["born"] <= both["cost"] + 2000).all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["synthdp"].update(constraints=[{"forbid": {"visits.ward": ["eyes"]}}]), "'visits.ward', whose"),
        (
            lambda c: c["synthdp"].update(constraints=[{"check": "`other visits.cost` <= `visits.cost`"}]),
            "'visits.cost', whose domain is derived; declare the column",
        ),
        (lambda c: visits(c).update(order="ward"), "'ward' orders rows, and its levels are derived"),
        (lambda c: visits(c).update(order="cost"), "'cost' orders rows, but may be missing"),
        (lambda c: visits(c).update(unique=["day"]), "unique names 'day', whose domain is derived"),
        (lambda c: visits(c).update(increasing=["day"]), "increasing names 'day', whose domain"),
        (
            lambda c: visits(c).update(limits=[{"where": {"ward": ["eyes"]}, "at_most": 1}]),
            "a limit names 'ward', whose domain is derived",
        ),
    ],
)  # fmt: skip
def test_what_needs_levels_before_the_run_is_refused_in_a_line(change, said, monkeypatch):
    monkeypatch.setattr(LinkedTableReader, "add", None)
    content = deepcopy(description())
    change(content)
    with pytest.raises(SchemaError, match=said) as refused:
        synthdp.synthesize(TABLES, content, **RUN)
    assert len(str(refused.value).splitlines()) == 1


def visits(content):
    return content["resources"][1]["synthdp"]


def test_an_evaluation_takes_what_was_learnt_from_beside_the_synthetic_tables(found, tmp_path):
    for folder, described, rows in (
        ("true", description(), TABLES),
        ("made", found.package.content, found.sample(seed=0, text=True)),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "datapackage.json").write_text(json.dumps(described))
        for name, table in rows.items():
            table.to_csv(tmp_path / folder / f"{name}.csv", index=False)
    true, made = (tmp_path / folder / "datapackage.json" for folder in ("true", "made"))
    assert len(synthdp.evaluate(true, made).summary)
    with pytest.raises(SchemaError, match="is open; give the description beside the synthetic"):
        synthdp.evaluate(TABLES, TABLES, description())


def test_rows_below_the_root_are_given_by_columns_that_were_learnt(found):
    homes = pd.DataFrame({"id": [1, 2], "town": ["Ulm", None], "born": [1960, None]})
    visits = {
        "patient": [1, 1, 2],
        "day": ["2024-03-05", "2024-03-09", "2024-04-01"],
        "ward": ["eyes", None, "heart"],
    }
    drawn = found.sample(given={"patients": homes, "visits": pd.DataFrame(visits)}, seed=0)
    assert drawn["visits"]["ward"].tolist()[::2] == ["eyes", "heart"]
    assert drawn["visits"]["ward"].isin(["eyes", "heart"]).all()
    assert drawn["visits"]["cost"].notna().any()
    assert drawn["patients"]["town"][0] == "Ulm"
