"""Tables at several sites: one plan, one certificate each, and one release of all."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from helpers.mutated_files import odd_json
from helpers.release_files import MANIFEST, edited, members_of, mutated, summed, write_zip
from jsonschema import Draft202012Validator

import synthdp
from synthdp.core import DataFileError, ParameterError, SchemaError, SynthdpError, sealed
from synthdp.privacy import Accounting, PrivateTable, Queryable
from synthdp.release import SCHEMA_FILE, PlannedMarginal, epsilon_reaching

queryable = home(Queryable)
combining = home(synthdp.combine)

FIELDS = [
    {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"], "required": True}},
    {"name": "town", "type": "string", "constraints": {"enum": ["A", "B", "C"], "required": True}},
    {
        "name": "age",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 99, "required": True},
        "synthdp": {"bins": 5},
    },
]
SCHEMA = {"fields": FIELDS}
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def people(n_rows, seed, sex=("f", "m")):
    chance = np.random.default_rng(seed)
    columns = {"sex": chance.choice(list(sex), n_rows), "town": chance.choice(list("ABC"), n_rows)}
    return pd.DataFrame(columns | {"age": chance.integers(0, 100, n_rows)})


@pytest.fixture(scope="module")
def plan():
    return synthdp.plan_measurements(SCHEMA, **BUDGET)


@pytest.fixture(scope="module")
def sites(plan):
    """Three sites of uneven size; at the second there is one sex only."""
    tables = [people(3000, 0), people(500, 1, sex="f"), people(1000, 2)]
    return [synthdp.measure(table, plan) for table in tables]


def without_noise(monkeypatch):
    monkeypatch.setattr(
        queryable, "gaussian_noise", lambda *, size, **_: np.zeros(size, dtype=np.int64)
    )


# --- plans --------------------------------------------------------------------------------------


def test_a_plan_is_the_same_after_a_file(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    again = synthdp.MeasuringPlan.load(tmp_path / "plan.json")
    assert again.fingerprint == plan.fingerprint
    assert again.to_dict() == plan.to_dict()
    assert again.costs == plan.costs


def test_the_costs_of_a_plan_are_the_whole_budget_of_a_site_exactly(plan):
    assert sum(plan.costs, Fraction(0)) == Accounting.GDP.rho(**BUDGET)


def test_a_plan_of_a_release_asks_for_what_the_release_chose():
    release = synthdp.synthesize(people(3000, 0), SCHEMA, **BUDGET, mechanism="mst")
    plan = synthdp.plan_measurements(release, **BUDGET)
    cliques = {frozenset(measurement.clique) for measurement in release.measurements}
    assert {frozenset(marginal.clique) for marginal in plan.marginals} == cliques
    assert len(plan.marginals) == len(
        {
            (
                frozenset(m.clique),
                json.dumps({k: v.tolist() for k, v in m.groups.items()}, sort_keys=True),
            )
            for m in release.measurements
        }
    )


def test_a_plan_of_a_release_merges_levels_as_the_release_did():
    merging = synthdp.LinearMeasurement(("town", "sex"), np.ones((2, 2)) * 50, 2.0, None)
    groups = {"town": [0, 0, 1]}
    marginal = PlannedMarginal(clique=("town", "sex"), share=1.0, merged=groups)
    content = synthdp.plan_measurements(SCHEMA, **BUDGET).to_dict()
    plan = synthdp.MeasuringPlan(
        schema=synthdp.OpenSchema.from_dict(SCHEMA), marginals=(marginal,), **BUDGET
    )
    assert plan.fingerprint != content["sha256"]
    both = synthdp.combine([synthdp.measure(people(2000, seed), plan) for seed in range(2)])
    assert both.measurements[0].groups["town"].tolist() == [0, 0, 1]
    assert both.measurements[0].values.shape == merging.values.shape
    again = synthdp.plan_measurements(both, **BUDGET)
    assert again.marginals[0].merged == {"town": (0, 0, 1)}
    assert again.fingerprint == plan.fingerprint


OPEN = {"name": "town", "type": "string", "synthdp": {"derive": ["levels"], "other": "else"}}
REFUSED = {
    "an open schema": (SchemaError, lambda: synthdp.plan_measurements({"fields": [OPEN]}, **BUDGET)),
    "no epsilon": (ParameterError, lambda: synthdp.plan_measurements(SCHEMA, epsilon=0, delta=1e-6)),
    "an unknown adjacency": (ParameterError, lambda: synthdp.plan_measurements(SCHEMA, **BUDGET, adjacency="none")),
    "half of a unit": (ParameterError, lambda: synthdp.plan_measurements(SCHEMA, **BUDGET, unit="id")),
    "an unknown column": (SchemaError, lambda: planned(clique=("sex", "pay"))),
    "a share of nothing": (ParameterError, lambda: planned(share=0.0)),
    "a share without end": (ParameterError, lambda: planned(share=float("inf"))),
    "merged levels with a gap": (ParameterError, lambda: planned(merged={"sex": (0, 2)})),
    "merged levels of another column": (SchemaError, lambda: planned(merged={"age": (0,) * 5})),
}  # fmt: skip


def planned(*, clique=("sex",), share=1.0, merged=None):
    marginal = PlannedMarginal(clique=clique, share=share, merged=merged or {})
    return synthdp.MeasuringPlan(
        schema=synthdp.OpenSchema.from_dict(SCHEMA), marginals=(marginal,), **BUDGET
    )


@pytest.mark.parametrize("what", REFUSED)
def test_a_plan_that_cannot_be_is_refused_in_one_line(what):
    error, make = REFUSED[what]
    with pytest.raises(error) as caught:
        make()
    assert len(str(caught.value).splitlines()) == 1


def test_a_marginal_is_asked_for_once():
    twice = tuple(
        PlannedMarginal(clique=c, share=0.5, merged={}) for c in (("sex", "age"), ("age", "sex"))
    )
    with pytest.raises(ParameterError, match="twice"):
        synthdp.MeasuringPlan(
            schema=synthdp.OpenSchema.from_dict(SCHEMA), marginals=twice, **BUDGET
        )


def changes(content):
    """Every value of a plan, changed, with its hash left as it is."""
    for key in content:
        yield {name: value for name, value in content.items() if name != key}
        for odd in (None, 7, "x", [], {}, {"a": 1}, [{}], [{"columns": ["sex"], "share": "1"}]):
            yield content | {key: odd}


def test_a_plan_that_was_changed_is_refused(plan, tmp_path):
    content = plan.to_dict()
    for changed in changes(content):
        if changed == content:
            continue
        with pytest.raises((SchemaError, ParameterError)) as caught:
            synthdp.MeasuringPlan.from_dict(changed)
        assert len(str(caught.value).splitlines()) == 1
    (tmp_path / "plan.json").write_text(json.dumps(content)[:-9])
    with pytest.raises(SchemaError):
        synthdp.measure(people(9, 0), tmp_path / "plan.json")
    with pytest.raises(DataFileError):
        synthdp.measure(people(9, 0), tmp_path / "none.json")


def test_odd_values_with_a_right_hash_are_refused_as_well(plan):
    content = plan.to_dict()
    for changed in changes(content):
        if sealed(changed) == content or "sha256" not in changed:
            continue
        with pytest.raises((SchemaError, ParameterError)):
            synthdp.MeasuringPlan.from_dict(sealed(changed))


# --- one site -----------------------------------------------------------------------------------


def test_a_site_answers_exactly_the_plan_and_pays_its_whole_budget(plan, sites):
    certificate = sites[0].certificate
    asked = [tuple(event["columns"]) for event in certificate["events"]]
    assert asked == [marginal.clique for marginal in plan.marginals]
    assert certificate["accounting"]["rho_spent"] == float(Accounting.GDP.rho(**BUDGET))
    assert certificate["complete"]
    assert certificate["plan"] == {"sha256": plan.fingerprint}
    stated = [float(rho) for rho in plan.costs]
    assert [event["rho"] for event in certificate["events"]] == pytest.approx(stated)


def test_a_site_fits_no_model_unless_it_is_asked_for_one(sites):
    assert sites[0].existing_model is None
    assert sites[0].sample(7, seed=0).shape == (7, 3)


def test_columns_of_a_site_may_stand_in_any_order(plan, monkeypatch):
    without_noise(monkeypatch)
    table = people(300, 5)
    one, other = (synthdp.measure(frame, plan) for frame in (table, table[["age", "sex", "town"]]))
    assert one.schema.to_dict() == other.schema.to_dict()
    for left, right in zip(one.measurements, other.measurements, strict=True):
        assert np.array_equal(left.values, right.values)


def test_a_table_with_other_columns_is_refused_before_anything_is_paid(plan, monkeypatch):
    monkeypatch.setattr(PrivateTable, "measure", lambda *_, **__: pytest.fail("it was asked"))
    with pytest.raises(SchemaError):
        synthdp.measure(people(9, 0).drop(columns="sex"), plan)


def test_a_site_keeps_a_journal_and_is_charged_to_a_budget(plan, tmp_path):
    budget = synthdp.Budget.create(
        tmp_path / "north.budget", epsilon=1.1, delta=2e-6, population="people of the north"
    )
    kept = {"journal": tmp_path / "j", "budget": budget}
    first = synthdp.measure(people(800, 1), plan, **kept)
    with pytest.warns(synthdp.CautionWarning):
        again = synthdp.measure(people(800, 1), plan, **kept)
    for left, right in zip(first.measurements, again.measurements, strict=True):
        assert np.array_equal(left.values, right.values)
    assert first.certificate["run"]["is_charged_to_budget"]
    with pytest.raises(synthdp.BudgetExceededError):
        synthdp.measure(people(800, 2), plan, journal=tmp_path / "k", budget=budget)


def test_a_journal_that_was_not_ended_gives_no_site(plan, tmp_path, monkeypatch):
    measured = PrivateTable.measure
    calls = []

    def failing(self, *arguments, **named):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("power cut")
        return measured(self, *arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(PrivateTable, "measure", failing)
        with pytest.raises(RuntimeError):
            synthdp.measure(people(800, 1), plan, journal=tmp_path / "j")
    rescued = synthdp.from_journal(tmp_path / "j")
    whole = synthdp.measure(people(800, 2), plan)
    with pytest.raises(ParameterError, match="stopped before"):
        synthdp.combine([rescued, whole])
    ended = synthdp.measure(people(800, 1), plan, journal=tmp_path / "j")
    assert synthdp.combine([ended, whole]).certificate["complete"]


# --- all sites ----------------------------------------------------------------------------------


def test_without_noise_sites_give_what_one_table_gives(plan, monkeypatch):
    without_noise(monkeypatch)
    table = people(4000, 3)
    cuts = [table[:100], table[100:2500], table[2500:]]
    whole = synthdp.measure(table, plan)
    together = synthdp.combine([synthdp.measure(cut, plan) for cut in cuts])
    for one, all_ in zip(whole.measurements, together.measurements, strict=True):
        assert np.array_equal(one.values, all_.values)


def test_variances_of_disjoint_sites_add_up(sites):
    together = synthdp.combine(sites)
    for number, measurement in enumerate(together.measurements):
        parts = [site.measurements[number] for site in sites]
        assert np.allclose(measurement.values, sum(part.values for part in parts))
        assert np.allclose(measurement.variance, sum(part.variance for part in parts))


@pytest.mark.parametrize("n_sites", [2, 5])
def test_the_noise_of_sites_has_the_variance_that_is_stated(n_sites):
    """Chi-squared over some thousand cells: a scale that is sqrt(k) too small is 10 deviations off."""
    fields = [
        {
            "name": name,
            "type": "integer",
            "constraints": {"enum": list(range(40)), "required": True},
        }
        for name in "ab"
    ]
    plan = synthdp.plan_measurements({"fields": fields}, **BUDGET)
    table = pd.DataFrame(
        np.random.default_rng(0).integers(0, 40, (n_sites * 100, 2)), columns=["a", "b"]
    )
    cuts = np.array_split(np.arange(len(table)), n_sites)
    together = synthdp.combine(
        [synthdp.measure(table.iloc[cut], plan) for cut in cuts], engine="direct"
    )
    measured = together.measurements[0]
    counts = np.zeros((40, 40))
    np.add.at(counts, (table.a, table.b), 1)
    axes = [measured.clique.index(name) for name in "ab"]
    score = np.square(np.transpose(measured.values, axes) - counts) / measured.variance
    n_cells = score.size
    assert abs(score.sum() - n_cells) < 6.5 * np.sqrt(2 * n_cells)
    one = synthdp.measure(table, plan).measurements[0]
    assert np.allclose(measured.stddev, np.sqrt(n_sites) * one.stddev)


def test_each_person_at_one_site_loses_what_that_site_states(sites):
    certificate = synthdp.combine(sites).certificate
    assert certificate["guarantee"] == sites[0].certificate["guarantee"]
    for name in ("epsilon", "delta", "meaning", "accounting", "events"):
        assert certificate[name] == sites[0].certificate[name]
    assert certificate["sites"]["people"] == "disjoint"
    assert len(certificate["sites"]["each"]) == 3
    assert any("more than one site" in line for line in certificate["not_covered"])


@pytest.mark.parametrize("accounting", ["zcdp", "gdp"])
def test_losses_of_the_same_people_add_up(accounting):
    plan = synthdp.plan_measurements(SCHEMA, **BUDGET, accounting=accounting)
    same = [synthdp.measure(people(2000, 4), plan) for _ in range(4)]
    together = synthdp.combine(same, same_people=True)
    certificate, theorem = together.certificate, Accounting(accounting)
    total = 4 * theorem.rho(**BUDGET)
    assert certificate["accounting"]["rho_spent"] == pytest.approx(float(total))
    assert sum(event["rho"] for event in certificate["events"]) == pytest.approx(float(total))
    assert certificate["epsilon"] > BUDGET["epsilon"]
    assert theorem.rho(epsilon=certificate["epsilon"], delta=1e-6) >= total
    assert theorem.rho(epsilon=0.995 * certificate["epsilon"], delta=1e-6) < total
    for number, measurement in enumerate(together.measurements):
        parts = [site.measurements[number] for site in same]
        assert np.allclose(measurement.values, np.mean([part.values for part in parts], axis=0))
        assert np.allclose(measurement.variance, parts[0].variance / 4)
    assert certificate["sites"]["people"] == "same-people"


def test_an_epsilon_that_reaches_a_cost_is_never_too_small():
    for factor in (1, 2, 3.7, 50, 1000):
        rho = Fraction(factor) * Accounting.ZCDP.rho(epsilon=0.3, delta=1e-7)
        epsilon = epsilon_reaching(Accounting.ZCDP, rho, 1e-7, least=0.3)
        assert Accounting.ZCDP.rho(epsilon=epsilon, delta=1e-7) >= rho


def test_a_release_of_sites_is_like_any_other(sites, tmp_path):
    together = synthdp.combine(sites)
    together.save(tmp_path / "all.synthdp")
    again = synthdp.load(tmp_path / "all.synthdp")
    assert again.certificate == together.certificate
    assert len(together.sample(seed=1)) == pytest.approx(4500, abs=400)
    table = together.marginal(["sex"], interval=0.95)
    truth = pd.concat([people(3000, 0), people(500, 1, sex="f"), people(1000, 2)])
    exact = truth["sex"].value_counts()
    for sex, row in zip(("f", "m"), table.itertuples(), strict=True):
        width = row.high - row.low
        assert row.low - width <= exact[sex] <= row.high + width


def test_certificates_of_sites_and_of_all_follow_the_schema(sites):
    validator = Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))
    for release in (*sites, synthdp.combine(sites), synthdp.combine(sites, same_people=True)):
        assert list(validator.iter_errors(release.certificate)) == []


def test_sites_may_be_files(sites, tmp_path):
    paths = [tmp_path / f"{number}.counts" for number in range(3)]
    for site, path in zip(sites, paths, strict=True):
        site.save(path)
    together, direct = synthdp.combine(paths), synthdp.combine(sites)
    for one, other in zip(together.measurements, direct.measurements, strict=True):
        assert np.array_equal(one.values, other.values)


def test_a_damaged_file_is_refused(sites, tmp_path):
    path = tmp_path / "north.counts"
    sites[0].save(path)
    whole = path.read_bytes()
    for cut in (10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(DataFileError):
            synthdp.combine([path, sites[1]])
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
    with pytest.raises(DataFileError):
        synthdp.combine([path, sites[1]])


def with_certificate(synthesis, **changes):
    return synthdp.Synthesis(
        schema=synthesis.schema,
        measurements=synthesis.measurements,
        model=None,
        certificate=synthesis.certificate | changes,
    )


def test_what_does_not_belong_together_is_refused_in_one_line(sites):
    def measured(**settings):
        return synthdp.measure(
            people(500, 9), synthdp.plan_measurements(SCHEMA, **(BUDGET | settings))
        )

    first, second = sites[:2]
    release = synthdp.synthesize(people(500, 1), SCHEMA, **BUDGET, mechanism="independent")
    cases = {
        "another epsilon": measured(epsilon=2.0),
        "another delta": measured(delta=1e-7),
        "another adjacency": measured(adjacency="replace-one"),
        "another accounting": measured(accounting="zcdp"),
        "another workload": measured(workload="1-way"),
        "the same run": first,
        "no site": release,
        "all of them": synthdp.combine(sites),
        "another guarantee under the same hash": with_certificate(second, epsilon=0.5),
        "another unit under the same hash": with_certificate(second, adjacency="replace-one"),
        "other events under the same hash": with_certificate(second, events=[]),
        "nothing": None,
    }
    for what, other in cases.items():
        with pytest.raises(ParameterError) as caught:
            synthdp.combine([first, other])
        assert len(str(caught.value).splitlines()) == 1, what
    for sites_ in ([first], [], first, "x.counts"):
        with pytest.raises(ParameterError):
            synthdp.combine(sites_)
    with pytest.raises(ParameterError):
        synthdp.combine(sites, same_people=1)


def test_sites_of_predictable_noise_are_refused(sites):
    broken = with_certificate(sites[1], is_private=False)
    with pytest.raises(synthdp.PrivacyError):
        synthdp.combine([sites[0], broken])


# --- what a plan can do to records ----------------------------------------------------------------


def test_what_is_asked_depends_on_no_record(plan):
    """The events are the plan's, whatever the records are: none, all alike, or of another kind."""
    asked = []
    for table in (people(0, 0), people(2000, 1), people(2000, 1, sex="f").assign(town="A")):
        site = synthdp.measure(table, plan)
        asked.append((site.certificate["events"], [m.stddev for m in site.measurements]))
    assert asked[0] == asked[1] == asked[2]


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_neighbouring_table_moves_what_a_site_answers_by_no_more_than_it_pays_for(
    adjacency, monkeypatch
):
    """With frozen noise; under replace-one a claim of sensitivity 1 would be found out here."""
    without_noise(monkeypatch)
    plan = synthdp.plan_measurements(SCHEMA, **BUDGET, adjacency=adjacency)
    table = people(60, 7)
    other = table.copy()
    if adjacency == "add-remove":
        other = table[1:]
    else:
        other.loc[0] = ["m" if table.sex[0] == "f" else "f", "C", 3]
        other.loc[0, "town"] = "A" if table.town[0] != "A" else "B"
    one, two = (synthdp.measure(each, plan) for each in (table, other))
    moved = [
        float(np.square(left.values - right.values).sum())
        for left, right in zip(one.measurements, two.measurements, strict=True)
    ]
    paid = [event["sensitivity_l2_squared"] for event in one.certificate["events"]]
    assert moved == paid


def test_an_unpaid_look_is_noticed(plan, monkeypatch):
    """A kernel that answers one question of the plan without charging it gives another certificate."""
    measured = PrivateTable.measure

    def unpaid(self, clique, *, rho, coarsening=None):
        if len(self.released) == 1:
            monkeypatch.setattr(type(self.ledger), "charge", lambda *_: None)
        return measured(self, clique, rho=rho, coarsening=coarsening)

    assert len(plan.marginals) > 1
    with monkeypatch.context() as patched:
        patched.setattr(PrivateTable, "measure", unpaid)
        broken = synthdp.measure(people(500, 1), plan)
    monkeypatch.undo()
    assert len(broken.certificate["events"]) < len(plan.marginals)
    with pytest.raises(ParameterError, match="other marginals"):
        synthdp.combine([synthdp.measure(people(500, 2), plan), broken])


def test_mutated_counts_are_refused_in_one_line_or_combined(sites, tmp_path):
    """Files that are damaged anywhere, and certificates that say odd things with a right hash."""
    sites[0].save(tmp_path / "site")
    sites[1].save(tmp_path / "other")
    members, rng = members_of(tmp_path / "site"), np.random.default_rng(0)
    validator = Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))
    outcomes, told = {"refused": 0, "combined": 0}, []

    def odd(certificate):
        return sealed(odd_json({k: v for k, v in certificate.items() if k != "sha256"}, rng))

    for number in range(120):
        found = mutated(members, rng)
        if number % 2:
            found = dict(members)
            edited(lambda m: m.update(certificate=odd(m["certificate"])))(found)
            assert found[MANIFEST] != members[MANIFEST]
            found = summed(found)
        path = write_zip(tmp_path / "mutated", found)
        try:
            order = [tmp_path / "other", path][:: rng.choice([-1, 1])]
            both = synthdp.combine(order, engine="direct", same_people=number % 4 > 1)
        except SynthdpError as error:
            outcomes["refused"] += 1
            told.append(str(error))
            continue
        outcomes["combined"] += 1
        assert list(validator.iter_errors(both.certificate)) == []
    assert min(outcomes.values()) > 10
    assert [text for text in told if len(text.splitlines()) != 1] == []


def test_the_same_people_are_not_of_very_different_numbers(sites, plan):
    """Sites of 3,000 and 500 people are no two looks at one table."""
    together = synthdp.combine(sites[:2], same_people=True)
    assert "does not explain that" in together.certificate["cautions"][-1]
    twice = [synthdp.measure(people(900, 3), plan) for _ in range(2)]
    assert synthdp.combine(twice, same_people=True).certificate["cautions"] == []


# --- published totals and weights ---------------------------------------------------------------


def totals(table, *names):
    return table.groupby(list(names)).size().rename("count").reset_index()


def test_what_is_published_is_not_measured_and_is_met_exactly(tmp_path):
    tables = [people(900, 0), people(300, 1, sex="f")]
    published = totals(pd.concat(tables), "town", "sex")
    published.to_csv(tmp_path / "towns.csv", index=False)
    plan = synthdp.plan_measurements(SCHEMA, **BUDGET, known=published)
    asked = {marginal.clique for marginal in plan.marginals}
    assert asked == {("sex", "age"), ("town", "age")}
    assert sum(plan.costs, Fraction(0)) == Accounting.GDP.rho(**BUDGET)
    sites = [synthdp.measure(table, plan) for table in tables]
    together = synthdp.combine(sites, known=[tmp_path / "towns.csv"])
    for seed in range(3):
        drawn = totals(together.sample(seed=seed), "town", "sex")
        assert drawn.equals(published)
    stated = together.certificate["known"]
    assert [(each["total"], each["largest_difference"]) for each in stated] == [(1200, 0)]
    assert {each["source"] for each in together.certificate["unprotected"]} >= {"known"}
    validator = Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))
    assert list(validator.iter_errors(together.certificate)) == []
    # A plan of such a release does not ask for it either.
    again = synthdp.plan_measurements(together, **BUDGET, known=published)
    assert {marginal.clique for marginal in again.marginals} == asked


def test_published_tables_that_cannot_be_are_refused(sites):
    towns = pd.DataFrame({"town": list("ABC"), "count": [1, 2, 3]})
    ages = pd.DataFrame({"age": ["[0, 20)"], "count": [3]})
    wanted = {"marginals": [{"columns": ["sex"]}]}
    for door in (
        lambda known: synthdp.plan_measurements(SCHEMA, **BUDGET, known=known),
        lambda known: synthdp.combine(sites, known=known),
    ):
        for known in (ages, [towns, towns.assign(count=7)], towns.rename(columns={"town": "x"})):
            with pytest.raises((SchemaError, ParameterError)) as caught:
                door(known)
            assert len(str(caught.value).splitlines()) == 1
    plan = synthdp.plan_measurements(SCHEMA, **BUDGET, known=towns, workload=wanted)
    assert ("town",) not in {marginal.clique for marginal in plan.marginals}
    measured = [synthdp.measure(people(200, seed), plan) for seed in range(2)]
    alone = synthdp.combine(measured).certificate["cautions"]
    both = synthdp.combine(measured, known=towns).certificate["cautions"]
    assert [line for line in alone if "no site measured 'town'" in line] == alone[-1:]
    assert alone[-1] not in both
    alone = {"fields": SCHEMA["fields"][1:2]}
    with pytest.raises(ParameterError, match="tell all that is wanted"):
        synthdp.plan_measurements(alone, **BUDGET, known=towns)


WEIGHT = {
    "name": "weight",
    "type": "integer",
    "constraints": {"minimum": 1, "maximum": 20, "required": True},
    "synthdp": {"bins": 20},
}


def test_sites_describe_the_population_that_their_weights_do():
    schema = {"fields": [*FIELDS[:2], WEIGHT]}
    plan = synthdp.plan_measurements(schema, **BUDGET, weight="weight", workload="1-way")
    # A weighted count needs to know how weights depend on what is counted.
    assert {("sex", "weight"), ("town", "weight")} <= {each.clique for each in plan.marginals}
    tables = []
    for seed in range(2):
        table = people(3000, seed)[["sex", "town"]]
        tables.append(table.assign(weight=np.where(table["sex"] == "f", 2, 18)))
    together = synthdp.combine([synthdp.measure(table, plan) for table in tables])
    population = together.sample(20_000, seed=1, weighted=True)
    assert list(population.columns) == ["sex", "town"]
    assert (population["sex"] == "m").mean() == pytest.approx(0.9, abs=0.02)
    assert (together.sample(seed=1)["sex"] == "m").mean() == pytest.approx(0.5, abs=0.05)
    with pytest.raises(ParameterError, match="weight is 'town': it is of type string"):
        synthdp.plan_measurements(schema, **BUDGET, weight="town")
