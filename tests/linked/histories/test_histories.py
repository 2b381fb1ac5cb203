"""Releases of one table of persons with several rows each: whole persons, in an order or none, under
one guarantee.
"""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.failing_runs import fail_once_learnt
from helpers.stopped_runs import answers, entries, stops

import synthdp
from synthdp.core import CautionWarning, ParameterError, SchemaError
from synthdp.linked import HistoryRelease, HistorySynthesis, LinkedTableReader
from synthdp.release import Budget, LearntDomain, RunSettings
from synthdp.schema import OpenSchema

WARDS = ["surgery", "eyes", "heart"]
DAY = {
    "name": "day",
    "type": "integer",
    "constraints": {"minimum": 1, "maximum": 40, "required": True},
}
WARD = {"name": "ward", "type": "string", "constraints": {"enum": WARDS, "required": True}}
SCHEMA = {"fields": [{**DAY, "synthdp": {"bins": 8}}, WARD]}
WHOSE = {"unit": "patient", "max_rows_per_unit": 3, "order": "day"}
RUN = {"epsilon": 10.0, "delta": 1e-6, "mechanism": "independent", "engine": "graphical-model"}


TOGETHER = {"unit": "patient", "max_rows_per_unit": 3, "together": True}


def visits(n_patients=600, seed=0):
    """Visits of patients, most of whom come back to the ward that they know; in no order."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 6, n_patients)
    patients = np.repeat(np.arange(n_patients), counts)
    known = rng.choice(WARDS, n_patients)[patients]
    wards = np.where(rng.random(len(patients)) < 0.8, known, rng.choice(WARDS, len(patients)))
    table = pd.DataFrame(
        {"ward": wards, "patient": patients, "day": rng.integers(1, 41, len(patients))}
    )
    table["patient"] = "secret-" + table["patient"].astype(str)
    return table.sample(frac=1, random_state=seed, ignore_index=True)


def released(table=None, schema=SCHEMA, whose=WHOSE, **options):
    table = visits() if table is None else table
    return synthdp.synthesize(table, schema, **whose | RUN | options)


@pytest.fixture(scope="module")
def synthesis():
    return released(mechanism="gaussian")


def same_ward(table):
    """How often a row has the ward of the row before."""
    rows = table.sort_values(["patient", "day"], kind="stable")
    before = rows.groupby("patient")["ward"].shift()
    return float((rows["ward"] == before)[before.notna()].mean())


def test_persons_have_fresh_keys_and_all_their_rows_in_order(synthesis):
    drawn = synthesis.sample(seed=1)
    assert drawn.columns.tolist() == ["ward", "patient", "day"]
    assert drawn["patient"].drop_duplicates().tolist() == list(
        range(1, drawn["patient"].nunique() + 1)
    )
    assert drawn["patient"].is_monotonic_increasing
    assert drawn.groupby("patient")["day"].apply(lambda days: days.is_monotonic_increasing).all()
    assert abs(drawn["patient"].nunique() - 600) < 60
    counts = drawn.groupby("patient").size().clip(upper=3).value_counts(normalize=True)
    assert counts.loc[3] == pytest.approx(0.6, abs=0.1)
    assert same_ward(drawn) == pytest.approx(same_ward(visits()), abs=0.12)
    assert "secret" not in json.dumps(synthesis.certificate) + drawn.to_csv()


def test_without_an_order_persons_are_as_whole(tmp_path):
    """Here the rows are beside the first one, and which is that says nothing."""
    found = released(whose=TOGETHER, mechanism="gaussian")
    drawn = found.sample(600, seed=1)
    assert drawn.columns.tolist() == ["ward", "patient", "day"]
    assert drawn["patient"].unique().tolist() == list(range(1, 601))
    assert (
        not drawn.groupby("patient")["day"].apply(lambda days: days.is_monotonic_increasing).all()
    )
    sizes, true = (each.groupby("patient").size().clip(upper=3) for each in (drawn, visits()))
    assert sizes.value_counts(normalize=True).loc[3] == pytest.approx(0.6, abs=0.1)
    assert sizes.mean() == pytest.approx(true.mean(), rel=0.1)

    def alike(table):
        first = table.groupby("patient")["ward"].transform("first")
        return float((table["ward"] == first)[table["patient"].duplicated()].mean())

    assert alike(drawn) == pytest.approx(alike(visits()), abs=0.1)
    assert found.certificate["package"]["tables"][1]["order"] is None
    found.save(tmp_path / "s.synthdp")
    assert synthdp.load(tmp_path / "s.synthdp").sample(9, seed=1).equals(found.sample(9, seed=1))
    # With an order beside it, that is kept.
    both = released(visits(60), whose=TOGETHER | WHOSE).sample(60, seed=1)
    assert both.groupby("patient")["day"].apply(lambda days: days.is_monotonic_increasing).all()


def test_a_column_that_orders_nothing_may_be_missing_and_be_learnt():
    table = visits()
    table.loc[::9, "day"] = None
    table["day"] = table["day"].astype("Int64")
    for declared in (OPTIONAL, None):
        kinds = None if declared else {"day": "integer", "ward": "categorical"}
        found = synthdp.synthesize(table, declared, kinds=kinds, **TOGETHER, **RUN)
        drawn = found.sample(400, seed=0)
        assert drawn["day"].isna().mean() == pytest.approx(1 / 9, abs=0.06)
        assert set(drawn["ward"]) <= set(WARDS)


def test_a_table_in_an_engine_keeps_persons_together_too():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("visits", visits(200))
    drawn = released(connection.table("visits"), whose=TOGETHER).sample(50, seed=1)
    assert sorted(drawn.columns) == ["day", "patient", "ward"]
    assert drawn["patient"].nunique() == 50
    assert drawn.groupby("patient").size().max() <= 3


def test_everybody_has_a_row_also_where_noise_hides_who_has(synthesis):
    for found in (synthesis, released(visits(40), epsilon=0.2)):
        for n_persons in (0, 1, 200):
            drawn = found.sample(n_persons, seed=2, text=True)
            assert drawn.columns.tolist() == ["ward", "patient", "day"]
            assert drawn["patient"].unique().tolist() == [
                str(number + 1) for number in range(n_persons)
            ]


def test_seeds_repeat_and_files_restore(synthesis, tmp_path):
    synthesis.save(tmp_path / "s.synthdp")
    loaded = synthdp.load(tmp_path / "s.synthdp")
    assert isinstance(loaded, HistorySynthesis)
    assert loaded.sample(9, seed=1).equals(synthesis.sample(9, seed=1))
    assert not loaded.sample(9, seed=2).equals(synthesis.sample(9, seed=1))
    assert (loaded.certificate, loaded.unit, repr(loaded)) == (
        synthesis.certificate,
        "patient",
        repr(synthesis),
    )
    for wrong in (-1, 2.5, True):
        with pytest.raises(ParameterError, match="n_persons is"):
            loaded.sample(wrong)


def test_marginals_count_rows_and_persons_by_their_own_names(synthesis):
    wards = synthesis.marginal("ward")
    assert (wards.index.name, list(wards.index)) == ("ward", WARDS)
    assert wards.sum() == pytest.approx(
        visits().groupby("patient").size().clip(upper=3).sum(), rel=0.1
    )
    pairs = synthesis.marginal(["other ward", "ward"])
    assert pairs.index.names == ["other ward", "ward"]
    assert pairs.loc[("eyes", "eyes")] > 2 * pairs.loc[("eyes", "heart")]
    assert synthesis.marginal(["number of rows"]).sum() == pytest.approx(600, rel=0.1)
    with pytest.raises(
        ParameterError, match=r"there is no 'patient'; there are .*'ward'.*'number of rows'"
    ):
        synthesis.marginal(["patient"])


def test_a_file_in_its_dialect_with_columns_that_are_ignored_and_made_up(tmp_path):
    table = visits(200).assign(note="x").rename(columns={"ward": "the ward"})
    table.to_csv(tmp_path / "t.csv", sep=";", index=False)
    fields = [{**WARD, "name": "the ward"}, {"name": "visit", "type": "id"}, DAY]
    check = {"check": "`day` <= 30"}
    own = {"ignore": ["patient", "note"], "constraints": [check]}
    schema = {"fields": fields, "synthdp": own}
    drawn = released(tmp_path / "t.csv", schema, dialect={"delimiter": ";"}).sample(50, seed=1)
    assert drawn.columns.tolist() == ["the ward", "patient", "visit", "day"]
    assert drawn["visit"].is_unique
    assert drawn["day"].max() <= 30
    assert drawn.groupby("patient")["day"].apply(lambda days: days.is_monotonic_increasing).all()


# --- what is counted of a person ------------------------------------------------------------------


def sources(table, whose=WHOSE):
    run = HistoryRelease(
        schema=OpenSchema.from_dict(SCHEMA),
        settings=RunSettings(**whose, **RUN),
        header=list(table.columns),
    )
    return run._read(table, lambda *_: None).counted(run._run.all_views)


@pytest.mark.parametrize(
    "whose",
    [WHOSE, TOGETHER, WHOSE | {"constant": "ward"}, TOGETHER | {"constant": ["ward"]}],
    ids=["order", "together", "order, constant", "together, constant"],
)
def test_a_person_changes_no_count_by_more_than_is_charged_for(whose, monkeypatch):
    # Which rows are kept, and which of them is the first, may be up to a random key: to one.
    monkeypatch.setattr("secrets.token_urlsafe", lambda _: "k" * 16)
    table = visits(60)
    canary = pd.DataFrame({"ward": "eyes", "patient": "odd \u0000", "day": [7] * 9})
    canary["ward"] = WARDS * 3  # also where it should be the same in all rows
    without, with_all = (
        sources(table, whose),
        sources(pd.concat([canary, table, canary], ignore_index=True), whose),
    )
    for label, source in without.items():
        cliques = [(name,) for name in source.domain.attributes]
        cliques += combinations(source.domain.attributes, 2)
        found = zip(source.counts_of(cliques), with_all[label].counts_of(cliques), strict=True)
        changes = [int(np.abs(one - other).sum()) for one, other in found]
        assert set(changes) == {source.max_rows}, (
            label
        )  # a person at the bound changes them by all of it
    assert {label: source.max_rows for label, source in without.items()} == {
        "persons": 1,
        "rows": 1,
        "later rows": 2,
    }


def test_persons_are_those_with_a_row_and_rows_without_an_id_are_left_out():
    table = visits(60)
    nobody = pd.DataFrame({"ward": "eyes", "patient": [None, "", np.nan], "day": 1})
    for label, source in sources(pd.concat([table, nobody], ignore_index=True)).items():
        for one, other in zip(
            source.counts_of([()]), sources(table)[label].counts_of([()]), strict=True
        ):
            assert one == other
    (n_persons,) = sources(table)["persons"].counts_of([()])
    assert n_persons == 60


# --- journal and budget ---------------------------------------------------------------------------


def test_it_goes_on_after_a_stop_is_charged_once_and_shares_a_budget_with_the_unit(tmp_path):
    journal, table = tmp_path / "j", visits(100)
    budget = Budget.create(
        tmp_path / "b", epsilon=20.0, delta=1e-5, population="patients", unit="patient"
    )
    kept = {"journal": journal, "budget": budget, "accounting": "zcdp"}
    for n_answers in (5, 1):  # some of them are looks at columns and links
        assert stops(lambda: released(table, **kept), n_answers)
    assert not synthdp.from_journal(journal).can_sample
    released(table, **kept)
    with pytest.warns(CautionWarning, match="nothing was asked of the records"):
        whole = released(table, **kept)
    found = synthdp.from_journal(journal)
    n_asked = len([e for e in answers(journal) if "view" not in e])
    (n_looks,) = [e["look"] for e in entries(journal) if "look" in e]
    assert len(whole.certificate["events"]) == found.n_measured + n_looks == n_asked
    assert found.sample(5, seed=1).columns.tolist() == ["ward", "patient", "day"]
    synthdp.synthesize(
        table,
        SCHEMA,
        unit="patient",
        max_rows_per_unit=2,
        **RUN | kept | {"journal": tmp_path / "k"},
    )
    assert [entry["kind"] for entry in budget.show()["entries"]] == [
        "run",
        "rescued",
        "end",
        "run",
        "end",
    ]


# --- what is refused ------------------------------------------------------------------------------

OPTIONAL = {"fields": [{**DAY, "constraints": {"minimum": 1, "maximum": 40}}, WARD]}
OPEN_WARD = {
    "name": "ward",
    "type": "string",
    "constraints": {"required": True},
    "synthdp": {"derive": ["levels"]},
}
OPEN = {"fields": [DAY, OPEN_WARD]}
MADE_UP = {"fields": [*SCHEMA["fields"], {"name": "patient", "type": "id"}]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"order": ""}, "order is ''; name the column"),
        (
            {"together": True, "order": None, "max_rows_per_unit": 1001},
            "max_rows_per_unit is 1001; with together give a whole number from 1 to 1000",
        ),
        ({"unit": None}, "order is given without unit; name the column that tells persons apart"),
        ({"max_rows_per_unit": None}, "order is given without max_rows_per_unit"),
        (
            {"max_rows_per_unit": 1001},
            "max_rows_per_unit is 1001; with order give a whole number from 1 to 1000",
        ),
        ({"max_rows_per_unit": 0}, "max_rows_per_unit is 0"),
        ({"order": "patient"}, "order is 'patient', which is unit as well"),
        ({"order": "date"}, "order is 'date', which the schema lacks; name one of 'ward', 'day'"),
        ({"unit": "person"}, r"unit \(--unit\) is 'person': the table has no such column"),
        ({"schema": OPTIONAL}, "order is 'day', which may be missing"),
        (
            {"schema": OPEN, "order": "ward"},
            "column 'ward' orders rows, and its levels are derived; declare them, in their order",
        ),
        ({"schema": MADE_UP}, "unit is 'patient', which the schema generates"),
        ({"schema": {"fields": [DAY]}}, "ward"),
        ({"epsilon": -1.0}, "epsilon is -1"),
        ({"budget": "b"}, "budget is given without journal"),
    ],
)
def test_wrong_input_is_one_line_before_a_row_is_read(change, said, monkeypatch):
    monkeypatch.setattr(LinkedTableReader, "add", None)
    with pytest.raises((ParameterError, SchemaError), match=said) as refused:
        released(visits(20), **change)
    assert len(str(refused.value).splitlines()) == 1


# --- what is learnt -------------------------------------------------------------------------------

KINDS = {"day": {"type": "integer", "constraints": {"required": True}}, "ward": "categorical"}


@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.FitWarning"
)  # by one noise in dozens the fit ends early; it is about what is learnt
def test_levels_and_bounds_are_learnt_of_one_row_of_each_person():
    table = visits(900)
    found = synthdp.synthesize(table, kinds=KINDS, **WHOSE, **RUN | {"epsilon": 3.0})
    drawn = found.sample(300, seed=0)
    assert set(drawn["ward"].dropna()) <= set(table["ward"])
    assert drawn["day"].between(table["day"].min() - 3, table["day"].max() + 3).all()
    assert drawn.groupby("patient")["day"].apply(lambda days: days.is_monotonic_increasing).all()
    assert set(found.certificate["domain"]["derived"]) == {"rows.day", "rows.ward"}


def test_what_was_learnt_of_a_run_that_fails_is_a_schema(monkeypatch):
    kept = []
    fail_once_learnt(monkeypatch)
    with pytest.raises(MemoryError):
        synthdp.synthesize(
            visits(900), kinds=KINDS, rescue=kept.append, **WHOSE, **RUN | {"epsilon": 3.0}
        )
    (learnt,) = kept
    assert isinstance(learnt, LearntDomain)
    assert sorted(learnt.schema.names) == ["day", "ward"]
    assert not learnt.schema.is_open


def test_dtypes_are_no_kinds_of_rows_in_an_order():
    with pytest.raises(ParameterError, match="kinds is 'dtypes', which does not go with order"):
        synthdp.synthesize(visits(20), kinds="dtypes", **WHOSE, **RUN)
