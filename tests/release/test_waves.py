"""Waves: an earlier release is used for nothing, as far as the table has not moved since; it is refused
before anything is paid if it is of other columns.
"""

import itertools
import json
from dataclasses import replace

import jsonschema
import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from helpers.non_interference import differences, of_call, replayed

import synthdp
from synthdp.core import (
    CautionWarning,
    DataFileError,
    Domain,
    LinearMeasurement,
    ParameterError,
    SchemaError,
)
from synthdp.mechanisms import Drifting, Resolutions
from synthdp.privacy import Accounting, Adjacency, PrivacyLedger
from synthdp.release import SCHEMA_FILE, losses_together
from synthdp.report import certificate_page, certificate_text

pytestmark = pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")

LEVELS = {"town": "abcd", "job": "xyz", "sex": "fm", "sick": "ny", "moved": "ny", "owner": "ny"}
SCHEMA = {
    "fields": [
        {
            "name": name,
            "type": "string",
            "constraints": {"enum": list(levels), "required": True},
        }
        for name, levels in LEVELS.items()
    ]
}
PAIRS = [("town", "job"), ("job", "sex"), ("sex", "sick"), ("town", "moved"), ("moved", "owner")]


def people(seed, n_rows=3000, *, has_moved=False):
    """A table of a chain of dependences, which run the other way if it has moved."""
    chance = np.random.default_rng(seed)
    table = {"town": chance.integers(0, 4, n_rows)}
    for parent, name in PAIRS:
        size = len(LEVELS[name])
        follows = chance.random(n_rows) < 0.6
        linked = (table[parent] + (name != "moved" and has_moved)) % size
        table[name] = np.where(follows, linked, chance.integers(0, size, n_rows))
    return pd.DataFrame({name: np.array(list(LEVELS[name]))[table[name]] for name in LEVELS})


def release(table, prior=None, schema=SCHEMA, **settings):
    given = {"epsilon": 0.3, "delta": 1e-6, "prior": prior} | settings
    return synthdp.synthesize(table, schema, **given)


def error(synthesis, table):
    """Mean total variation distance of the pairs of the chain."""
    return np.mean(
        [
            np.abs(
                (synthesis.marginal(pair) / synthesis.model.total).sub(
                    table.value_counts(list(pair), normalize=True), fill_value=0
                )
            ).sum()
            / 2
            for pair in PAIRS
        ]
    )


@pytest.fixture(scope="module")
def first():
    return release(people(0), epsilon=1.0)


@pytest.fixture(scope="module")
def second(first):
    return release(people(0), first)


@pytest.fixture(scope="module")
def alone():
    """Errors without an earlier release, of a table as it was and of one that moved."""
    tables = people(0), people(1, has_moved=True)
    return [mean_error(table, None) for table in tables]


def mean_error(table, prior, times=3):
    return np.mean([error(release(table, prior), table) for _ in range(times)])


def test_a_table_that_did_not_move_is_known_better(first, alone):
    assert mean_error(people(0), first) < 0.75 * alone[0]


def test_a_table_that_moved_is_not_taken_for_the_earlier_one(first, alone, monkeypatch):
    moved = people(1, has_moved=True)
    assert mean_error(moved, first) < 1.5 * alone[1]
    monkeypatch.setattr(home(Drifting), "_COLUMNS_MOVED", np.inf)  # one did
    monkeypatch.setattr(
        home(Drifting), "expected_turnovers", lambda observed: dict.fromkeys(observed, 0.0)
    )
    assert mean_error(moved, first, 1) > 2.0 * alone[1]  # without drift it is


def test_without_its_noise_an_earlier_release_is_believed_too_much(alone, monkeypatch):
    table = people(0)
    noisy = release(table, epsilon=0.05)
    for limit in ("_MOVED", "_COLUMNS_MOVED"):  # or it would not be used at all
        monkeypatch.setattr(home(Drifting), limit, np.inf)
    assert mean_error(table, noisy, 2) < 1.5 * alone[0]
    exact = [replace(m, stddev=1e-3) for m in noisy.measurements]
    monkeypatch.setattr(home(Drifting), "pooled", lambda *_: exact)
    assert mean_error(table, noisy, 1) > 1.5 * alone[0]


def test_waves_know_what_all_before_them_measured(second, tmp_path):
    second.save(tmp_path / "second.synthdp")
    again = synthdp.load(tmp_path / "second.synthdp")
    assert len(again.measurements) == len(second.measurements)
    for before, now in zip(second.carried, again.carried, strict=True):
        assert (before.clique, before.stddev) == (now.clique, now.stddev)
        assert np.array_equal(before.values, now.values)
    third = release(people(0), tmp_path / "second.synthdp")
    # Of a marginal that was measured twice the third year carries the mean of both.
    precision = {m.clique: 1 / m.stddev**2 for m in third.carried if not m.groups}
    for clique in {m.clique for m in second.carried} & {m.clique for m in second.measurements}:
        own = max(1 / m.stddev**2 for m in second.measurements if m.clique == clique)
        assert len(clique) > 1 or precision[clique] > own
    table = people(0)
    refitted = again.refit("graphical-model")
    assert error(refitted, table) < 1.3 * error(second, table)
    assert refitted.carried
    assert len(again.replicates(2, seed=0)) == 2


WEIGHTS = {"constraints": {"minimum": 0.0, "maximum": 5.0, "required": True}}
KNOWN = people(0).value_counts(["town"]).rename("count").reset_index()


def test_published_totals_hold_in_a_wave(first):
    synthesis = release(people(0), first, known=[KNOWN])
    assert synthesis.carried
    drawn = synthesis.sample(len(people(0)), seed=0)
    assert drawn["town"].value_counts().to_dict() == KNOWN.set_index("town")["count"].to_dict()
    # A rounding error of 1e-13, weighed by how precise a published column is, moved totals of 4e7.
    assert error(synthesis, people(0)) < 1.2 * mean_error(people(0), first, 2)


def test_persons_of_several_rows_are_protected_as_persons_in_each_wave(first):
    table = people(0).assign(who=np.arange(3000) // 2)
    persons = {"unit": "who", "max_rows_per_unit": 2}
    earlier = release(table, epsilon=1.0, **persons)
    now = release(table, earlier, **persons)
    alone = release(table, **persons)
    assert now.carried
    assert "at most 2 records" in now.certificate["unit_of_privacy"]
    assert error(now, people(0)) < error(alone, people(0))
    # What was measured of rows that weigh 1 says as much of a table whose persons have several.
    assert error(release(table, first, **persons), people(0)) < error(alone, people(0))


def test_a_wave_of_weighted_rows_counts_the_population():
    fields = [*SCHEMA["fields"], {"name": "weight", "type": "number", **WEIGHTS}]
    table = people(0)
    table["weight"] = np.where(table["town"] == "a", 4.0, 1.0)
    weighted = {"schema": {"fields": fields}, "weight": "weight"}
    earlier = release(table, epsilon=1.0, **weighted)
    now = release(table, earlier, **weighted)
    assert {"weight"} < {name for each in now.carried for name in each.clique}
    counts = now.marginal(["town"], weighted=True)
    true = table.groupby("town")["weight"].sum()
    assert (counts / counts.sum()).sub(true / true.sum()).abs().max() < 0.1


def test_intervals_rest_on_what_a_release_measured_itself(second):
    own = synthdp.from_measurements(second.schema, second.measurements)
    columns = ["town"]
    left, right = (each.marginal(columns, interval=0.9) for each in (second, own))
    pd.testing.assert_frame_equal(left, right)


def test_a_certificate_says_what_it_builds_on(first, second):
    certificate = second.certificate
    prior = certificate["prior"]
    jsonschema.validate(certificate, json.loads(SCHEMA_FILE.read_text()))
    assert prior["run"] == first.certificate["run"]["id"]
    assert prior["guarantee"] == first.certificate["guarantee"]
    assert certificate["guarantee"] == "(0.3, 1e-06)-differential privacy"
    assert prior["together"]["epsilon"] == pytest.approx(1.05, abs=0.05)  # and not 1.3
    assert prior["together"]["delta"] == 2e-6
    assert prior["moved"]["carried"] == len(second.carried) > 0
    # The look is paid for: an event of all 15 pairs, within the budget.
    looks = [event for event in certificate["events"] if event.get("n_candidates") == 15]
    assert looks
    assert certificate["accounting"]["rho_left"] >= 0
    lines = certificate_text(certificate), certificate_page(certificate)
    assert all(f"run {prior['run']}" in text for text in lines)
    assert all("together, for who is in both" in text for text in lines)


def n_looks(synthesis):
    """How often all 15 pairs were scored."""
    return sum(event.get("n_candidates") == 15 for event in synthesis.certificate["events"])


def test_where_all_columns_moved_no_look_at_pairs_is_paid_for_that(first):
    """As much is scored as without an earlier release: columns say that nothing is as it was."""
    chance = np.random.default_rng(2)
    moved = people(0)
    for name, levels in LEVELS.items():
        moved.loc[chance.random(len(moved)) < 0.5, name] = levels[-1]
    now = release(moved, first)
    assert n_looks(now) == n_looks(release(moved)) > 0
    assert {len(each.clique) for each in now.carried} <= {1}


def test_losses_add_up_in_rho_where_both_are_accounted_for_alike():
    def ledger(epsilon, **settings):
        settings = {"adjacency": Adjacency.ADD_REMOVE, "accounting": Accounting.GDP} | settings
        return PrivacyLedger(epsilon=epsilon, delta=1e-6, **settings)

    def stated(of, **facts):
        words = "one record, present or absent; the number of records is protected"
        return {
            "is_private": True,
            "epsilon": of.epsilon,
            "delta": of.delta,
            "unit_of_privacy": words,
            "max_rows_per_unit": 1,
            "accounting": {"currency": of.accounting.value, "failure_delta": 0.0},
        } | facts

    one = ledger(1.0)
    both = losses_together(one, stated(one))
    rho = Accounting.GDP.rho(epsilon=both["epsilon"], delta=2e-6)
    assert 2 * one.budget <= rho <= 2.01 * one.budget
    three = losses_together(one, stated(one, prior={"together": both}))
    assert three["rho"] == pytest.approx(3 * float(one.budget))
    assert three["epsilon"] > both["epsilon"]
    other = losses_together(ledger(1.0, accounting=Accounting.ZCDP), stated(one))
    assert other == {"epsilon": 2.0, "delta": 2e-6}
    persons = ledger(1.0, unit_column="id", max_rows_per_unit=2)
    assert "another unit" in losses_together(persons, stated(one))["note"]
    assert "no guarantee" in losses_together(one, stated(one, is_private=None))["note"]
    assert "no guarantee" in losses_together(one, stated(one, prior={"together": {}}))["note"]


def test_open_columns_take_what_the_earlier_release_learnt():
    kinds = dict.fromkeys(LEVELS, "categorical") | {"age": "integer"}
    table = people(0).assign(age=np.arange(3000) % 70)
    learnt = synthdp.synthesize(table, kinds=kinds, epsilon=2.0, delta=1e-6)
    wider = table.assign(age=table["age"] + 100)
    later = synthdp.synthesize(wider, kinds=kinds, epsilon=2.0, delta=1e-6, prior=learnt)
    assert later.schema["age"].field() == learnt.schema["age"].field()
    assert later.certificate["prior"]["columns_taken"] == [*kinds]
    assert "domain" not in later.certificate  # nothing was paid for them


def renamed(levels):
    fields = [dict(field) for field in SCHEMA["fields"]]
    fields[0] = {**fields[0], "constraints": {"enum": levels, "required": True}}
    return {"fields": fields}


BAD = {
    "no file": (lambda _, __: "none.synthdp", {}, "it cannot be read"),
    "a table": (lambda place, _: place / "in.csv", {}, "it is no saved synthesis"),
    "a number": (lambda _, __: 7, {}, "prior is a int; give an earlier release"),
    "a mechanism": (lambda _, first: first, {"mechanism": "mst"}, "the mechanism 'mst' cannot use"),
    "several mechanisms": (
        lambda _, first: first,
        {"mechanism": "mst,auto"},
        "the mechanism 'mst' cannot use an earlier release; take auto alone",
    ),
    "a level": (
        lambda _, first: first,
        {"schema": renamed(list("abcx"))},
        "'town' has other levels",
    ),
    "a column": (
        lambda _, first: first,
        {"schema": {"fields": SCHEMA["fields"][1:]}, "leave": "town"},
        "the schema lacks the column 'town'",
    ),
    "an order": (
        lambda _, first: first,
        {"unit": "id", "max_rows_per_unit": 2, "order": "town"},
        "prior does not go with order",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_is_refused_before_anything_is_paid(name, first, tmp_path):
    made, settings, said = BAD[name]
    table = people(0).drop(columns=settings.get("leave", []))
    table.to_csv(tmp_path / "in.csv")
    settings = {key: value for key, value in settings.items() if key != "leave"}
    with pytest.raises((ParameterError, SchemaError, DataFileError)) as refused:
        release(table, made(tmp_path, first), journal=tmp_path / "journal", **settings)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "journal").exists()


def test_a_release_of_columns_alone_is_carried_as_columns(first):
    few = people(0, 40)
    synthesis = release(few, first)
    assert {len(m.clique) for m in synthesis.carried} == {1}
    assert synthesis.certificate["prior"]["moved"]["pairs"] == []


def test_columns_that_are_noise_alone_are_not_carried():
    """Scaled from no records to many, their noise was beyond what engines take beside published
    totals: the run failed after it had paid.
    """
    schema = {"fields": SCHEMA["fields"][:2]}
    none, many = (people(0, n_rows)[["town", "job"]] for n_rows in (0, 3000))
    # Noise has one empty table in two at no records, or fewer.
    some = (release(none, schema=schema, mechanism="independent", epsilon=0.01) for _ in range(60))
    earlier = next(each for each in some if each.model.total <= 1.0)
    wave = release(many, earlier, schema, epsilon=3.0)
    for each in wave.evidence[len(wave.measurements) :]:
        assert each.values.size * float(np.max(each.stddev)) < 2 * len(many)
    known = many["town"].value_counts().rename("count").reset_index()
    assert release(many, earlier, schema, epsilon=20.0, known=known).measurements


def test_an_earlier_release_that_merged_all_levels_can_be_built_on():
    """Of a table of few records mst merges all levels of a pair, which then shows no drift: the run
    failed after it had paid.
    """
    table = pd.DataFrame({name: np.arange(400) % 40 for name in "ab"})
    column = {"type": "integer", "constraints": {"enum": list(range(40)), "required": True}}
    schema = {"fields": [{"name": name, **column} for name in "ab"]}
    earlier = release(table[:0], schema=schema, mechanism="mst", epsilon=1000.0)
    assert (1, 1) in [each.values.shape for each in earlier.measurements]
    wave = release(table, earlier, schema, epsilon=3.0)
    assert all(np.isfinite(each.values).all() for each in wave.evidence)


def test_an_earlier_release_that_counted_records_alone_can_be_built_on():
    """All else was published there: a marginal of no column has no resolution."""
    schema = {"fields": SCHEMA["fields"][:2]}
    table = people(0, 300)[["town", "job"]]
    known = table.value_counts(normalize=True).rename("share").reset_index()
    earlier = release(table, schema=schema, mechanism="gaussian", known=known)
    assert [each.clique for each in earlier.measurements] == [()]
    assert ("town",) in [each.clique for each in release(table, earlier, schema).measurements]


@pytest.mark.usefixtures("one_run")
def test_a_wave_tells_nothing_of_the_records_but_its_answers(first, tmp_path, monkeypatch):
    tables = {"given": people(0), "none": people(0, 0), "others": people(5, 700, has_moved=True)}

    def run(place, table):
        monkeypatch.chdir(place)
        return of_call(lambda: release(table, first, journal="journal"), place)

    assert differences(replayed(tmp_path, "journal", run, tables)) == []


@pytest.mark.usefixtures("one_run")
def test_a_look_that_nobody_paid_for_would_be_seen(first, tmp_path, monkeypatch):
    tables = {"given": people(0), "others": people(5, 700, has_moved=True)}
    shown = {}

    def free(drifting, _released):
        """Carries the rows that are there, in place of what was measured a year ago."""
        table = shown["table"]
        codes = table["town"].map(list(LEVELS["town"]).index)
        counts = np.bincount(codes, minlength=4).astype(float)
        drifting.carried = (LinearMeasurement(("town",), counts, 1.0),)
        return drifting.carried

    monkeypatch.setattr(Drifting, "carry", free)

    def run(place, table):
        monkeypatch.chdir(place)
        shown["table"] = table
        return of_call(lambda: release(table, first, journal="journal"), place)

    assert differences(replayed(tmp_path, "journal", run, tables)) != []


def test_a_journal_is_of_its_earlier_release(first, second, tmp_path):
    release(people(0), first, journal=tmp_path / "journal")
    with pytest.raises(ParameterError, match="it is of another run: prior"):
        release(people(0), second, journal=tmp_path / "journal")


def test_changes_between_releases_are_covered():
    """Of counts that were measured with known noise, and of pairs that nobody measured."""
    chance = np.random.default_rng(0)
    inside, measured = [], []
    schema = SCHEMA
    tables = [people(0), people(1, has_moved=True)]
    for _ in range(25):
        releases = []
        for table in tables:
            counts = []
            for names, stddev in (
                (("town",), 20.0),
                (("job",), 8.0),
                (("town", "job"), 30.0),
                (("sex",), 10.0),
            ):
                cells = pd.MultiIndex.from_product(
                    [list(LEVELS[name]) for name in names], names=names
                )
                true = (
                    table.groupby(list(names))
                    .size()
                    .reindex(cells if len(names) > 1 else cells.get_level_values(0), fill_value=0)
                )
                noisy = true + chance.normal(0.0, stddev, true.size)
                counts.append((noisy.rename("count").reset_index(), stddev))
            releases.append(synthdp.from_measurements(schema, counts, engine="local-consistency"))
        for names in (["town"], ["town", "job"], ["job", "sex"]):
            change = releases[1].difference(releases[0], names)
            size = [table.groupby(names).size() for table in tables]
            truth = size[1].sub(size[0], fill_value=0).reindex(change.index, fill_value=0)
            within = (change["low"] <= truth) & (truth <= change["high"])
            inside.append(within.to_numpy())
            measured.append((change["basis"] == "measured").to_numpy())
    inside, measured = np.concatenate(inside), np.concatenate(measured)
    assert 0.92 < inside[measured].mean() < 0.98
    assert (~measured).sum() == 25 * 6
    assert inside[~measured].mean() > 0.95


@pytest.mark.parametrize(
    ("earlier", "columns", "said"),
    [
        ("2025.synthdp", ["sex"], "earlier is a str; give a release"),
        (5, ["sex"], "earlier is a int; give a release"),
        (None, [], "columns: there is none"),
        (None, 5, "5"),
        (None, ["sexe"], "sexe"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(first, earlier, columns, said):
    with pytest.raises(ParameterError, match=said):
        first.difference(first if earlier is None else earlier, columns)


def test_a_prior_of_another_unit_is_said_where_the_run_is_read(first):
    table = people(1).assign(person=np.arange(3000))
    with pytest.warns(CautionWarning, match="earlier release: .* protects another unit"):
        release(table, first, unit="person", max_rows_per_unit=1)


def test_changes_of_other_columns_are_refused(first):
    other = release(people(0), schema=renamed(list("abcx")))
    with pytest.raises(SchemaError, match="'town' has other levels or bins there"):
        first.difference(other, ["town"])
    with pytest.raises(ParameterError, match="interval is 2"):
        first.difference(first, ["town"], interval=2)


def test_the_earlier_groups_of_levels_are_kept():
    domain = Domain(("age",), (64,))
    chance = np.random.default_rng(0)
    shares = {"age": chance.dirichlet(np.ones(64))}
    before = Resolutions(domain, {"age": chance.dirichlet(np.ones(64))})
    groups = [each.groups["age"] for each in before.coarsenings[:-1]]
    same = Resolutions(domain, shares, given={"age": groups})
    assert all(
        np.array_equal(left, right.groups["age"])
        for left, right in zip(groups, same.coarsenings, strict=False)
    )
    # Of the coarsest alone finer ones are made that lie within it.
    some = Resolutions(domain, shares, given={"age": groups[:1]})
    made = [each.groups["age"] for each in some.coarsenings[:-1]]
    assert np.array_equal(made[0], groups[0])
    for coarse, fine in itertools.pairwise(made):
        assert len(set(zip(coarse.tolist(), fine.tolist(), strict=True))) == fine.max() + 1
