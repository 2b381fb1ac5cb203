"""Releases of linked tables that are kept: one journal for all views, one charge, and the same
answers after a stop.
"""

import json

import pytest
from helpers.families import description, random_tables
from helpers.stopped_runs import StopError, answers, lines, of_the_release, stops

import synthdp
from synthdp.core import (
    BudgetExceededError,
    CautionWarning,
    DataFileError,
    ParameterError,
    PrivacyError,
)
from synthdp.linked import LinkedRelease, LinkedRows, LinkedTableReader, Package, WeightedSource
from synthdp.linked import package_run as door
from synthdp.release import (
    Budget,
    ChainedFile,
    JournaledRun,
    KeptAnswers,
    Persistence,
    RunIdentity,
    RunSettings,
    release_of,
)

RUN = {"epsilon": 1.0, "delta": 1e-6, "mechanism": "independent", "engine": "graphical-model"}
VIEWS = ["homes", "pets", "later pets"]


def content(**settings):
    """Homes and their pets."""
    found = description(**settings)
    return {**found, "resources": [found["resources"][0], found["resources"][3]]}


TABLES = {name: table for name, table in random_tables(80).items() if name in ("homes", "pets")}


def run(path, package=None, **options):
    return synthdp.synthesize(TABLES, package or content(), journal=path, **RUN | options)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal"


@pytest.fixture
def never_read(monkeypatch):
    def never(*_):
        raise AssertionError("rows were read")

    monkeypatch.setattr(door, "read_sources", never)


def notes(path):
    return [entry["view"] for entry in map(entry_of, lines(path)) if "view" in entry]


def entry_of(line):
    return json.loads(line)["entry"]


def answered(path):
    return [entry for entry in answers(path) if "view" not in entry]


def rewritten(path, entries):
    """Another journal, whose hashes hold."""
    path.unlink()
    ChainedFile.create(path, entries[0], what="journal")
    with ChainedFile(path, what="journal", patience=0) as file:
        for entry in entries[1:]:
            file.append(entry)


def test_stopped_after_any_answer_it_goes_on_and_nothing_is_paid_twice(path, monkeypatch):
    before, n_stops = [], 0
    while stops(lambda: run(path), 1):
        assert lines(path)[: len(before)] == before, "nothing that was there has changed"
        before, n_stops = lines(path), n_stops + 1
    monkeypatch.setattr(WeightedSource, "counts_of", None)
    with pytest.warns(CautionWarning, match="nothing was asked of the records"):
        again = run(path)
    assert lines(path)[: len(before)] == before
    assert n_stops == len(answered(path)) == len(again.certificate["events"]) > len(VIEWS)
    assert notes(path) == VIEWS
    spent = sum(event["rho"] for event in again.certificate["events"])
    assert again.certificate["accounting"]["rho_spent"] == pytest.approx(spent)


@pytest.mark.parametrize("mechanism", ["aim", "auto"])
def test_mechanisms_that_ask_in_view_of_drawn_families_go_on(path, mechanism):
    for n_answers in (4, 2):
        assert stops(lambda: run(path, mechanism=mechanism), n_answers)
    before = lines(path)
    whole = run(path, mechanism=mechanism)
    assert lines(path)[: len(before)] == before
    with pytest.warns(CautionWarning, match="nothing was asked of the records"):
        again = run(path, mechanism=mechanism)
    assert of_the_release(again.certificate) == of_the_release(whole.certificate)
    one, other = whole.sample(30, seed=0), again.sample(30, seed=0)
    assert all(one[name].equals(other[name]) for name in one)


def test_families_that_were_drawn_anew_would_ask_for_something_else(path, monkeypatch):
    """The seeds of families are given: of a few homes, others are sometimes counted alike."""
    monkeypatch.setattr(JournaledRun, "entropy", 1)
    run(path, mechanism="aim")
    monkeypatch.setattr(JournaledRun, "entropy", 3)
    with pytest.raises(PrivacyError, match="the run asks for"):
        run(path, mechanism="aim")


@pytest.mark.fresh_noise
def test_what_is_new_differs_from_resumption_to_resumption(path):
    assert stops(lambda: run(path), 2)
    kept, found = path.read_bytes(), []
    for _ in range(2):
        path.write_bytes(kept)
        run(path)
        found.append([entry["numbers"] for entry in answered(path)])
    assert found[0][:2] == found[1][:2]
    assert found[0][2:] != found[1][2:]


@pytest.mark.usefixtures("never_read")
@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 1.1},
        {"delta": 1e-7},
        {"mechanism": "gaussian"},
        {"engine": "gum"},
        {"accounting": "zcdp"},
        {"package": content(pets=3)},
        {
            "package": {
                **content(),
                "synthdp": {
                    "root": "homes",
                    "constraints": [{"forbid": {"homes.place": ["land"]}}],
                },
            }
        },
    ],
    ids="-".join,
)
def test_a_journal_of_another_run_is_refused_before_a_row_is_read(path, change):
    run_kept(path)
    (name,) = change
    with pytest.raises(ParameterError, match=rf"of another run: .*{name}"):
        run(path, **{"accounting": "gdp"} | change)


def run_kept(path):
    """A journal with nothing but its header."""
    with LinkedRelease(
        package=Package.from_dict(content()), settings=RunSettings(accounting="gdp", **RUN)
    ).kept(Persistence(journal=path)):
        pass


def test_a_journal_of_one_table_is_no_journal_of_several(path):
    schema = {"fields": content()["resources"][1]["schema"]["fields"][1:]}
    synthdp.synthesize(TABLES["pets"][["kind"]], schema, journal=path, **RUN)
    with pytest.raises(ParameterError, match=r"of another run: .*another schema"):
        run(path)


def test_answers_of_one_view_are_not_those_of_another(path):
    run(path)
    entries = [entry_of(line) for line in lines(path)]
    second = next(number for number, entry in enumerate(entries) if entry.get("view") == "pets")
    rewritten(path, [*entries[:second], *entries[second + 1 :]])
    with pytest.raises(PrivacyError, match="its answers are read in another way"):
        run(path)
    rewritten(path, [*entries[: second - 1], *entries[second:]])
    with pytest.raises(PrivacyError, match="the run asks for marginal"):
        run(path)


def test_another_seed_of_noise_makes_another_run(path):
    from oracles.privacy import Seeded

    run_kept(path)
    release = LinkedRelease(
        package=Package.from_dict(content()),
        settings=RunSettings(accounting="gdp", **RUN),
        randomness=Seeded(1),
    )
    with pytest.raises(ParameterError, match="randomness"), release.kept(Persistence(journal=path)):
        pass


# --- with a budget --------------------------------------------------------------------------------


@pytest.fixture
def budget(tmp_path):
    return Budget.create(
        tmp_path / "budget", epsilon=1.0, delta=1e-6, population="homes", unit="home"
    )


def kinds(budget):
    return [entry["kind"] for entry in budget.show()["entries"]]


def test_a_run_is_charged_once_when_all_rows_are_read_however_often_it_is_stopped(
    budget, path, monkeypatch
):
    def stopped(*_):
        assert kinds(budget) == []
        raise StopError

    def counting(*_):
        assert kinds(budget) == ["run"]
        raise StopError

    for moment, stop in ((LinkedTableReader, stopped), (LinkedRows, counting)):
        with monkeypatch.context() as patch:
            patch.setattr(moment, "add" if moment is LinkedTableReader else "counted", stop)
            with pytest.raises(StopError):
                run(path, budget=budget)
    for n_answers in (3, 4):
        assert stops(lambda: run(path, budget=budget), n_answers)
        assert (kinds(budget), len(budget.show()["unfinished_runs"])) == (["run"], 1)
    run(path, budget=budget, budget_note="not read any more")
    with pytest.warns(CautionWarning, match="nothing was asked of the records"):
        run(path, budget=budget.path)
    assert (kinds(budget), budget.show()["unfinished_runs"]) == (["run", "end"], [])


@pytest.mark.usefixtures("never_read")
def test_what_is_overspent_or_protects_others_is_refused_and_leaves_nothing(tmp_path, path, budget):
    with pytest.raises(BudgetExceededError, match="but only"):
        run(path, budget=budget, epsilon=1.1)
    records = Budget.create(tmp_path / "records", epsilon=9.0, delta=1e-5, population="people")
    with pytest.raises(
        PrivacyError, match="by add-remove of records and the run by add-remove of home;"
    ):
        run(path, budget=records)
    with pytest.raises(ParameterError, match="budget is given without journal"):
        run(None, budget=budget)
    with pytest.raises(ParameterError, match="budget_note is given without budget"):
        run(path, budget_note="x")
    assert not path.exists()
    assert kinds(budget) == kinds(records) == []


def test_one_population_has_one_budget_for_a_package_and_for_its_tables(tmp_path, path):
    budget = Budget.create(
        tmp_path / "b", epsilon=2.0, delta=1e-5, population="homes", unit="owner"
    )
    schema = {"fields": content()["resources"][1]["schema"]["fields"][1:]}
    unit = {"unit": "owner", "max_rows_per_unit": 2, "budget": budget}
    synthdp.synthesize(
        TABLES["pets"], schema, journal=tmp_path / "one", **RUN | {"accounting": "zcdp"}, **unit
    )
    homes = json.loads(json.dumps(content()).replace('"home"', '"owner"'))
    tables = {**TABLES, "homes": TABLES["homes"].rename(columns={"home": "owner"})}
    synthdp.synthesize(tables, homes, journal=path, budget=budget, **RUN | {"accounting": "zcdp"})
    assert kinds(budget) == ["run", "end"] * 2


# --- without the run ------------------------------------------------------------------------------


def test_a_release_is_made_of_what_was_measured_of_all_views(path):
    whole = run(path)
    found = synthdp.from_journal(path)
    for label, part in whole.parts.items():
        for one, other in zip(found.parts[label].measurements, part.measurements, strict=True):
            assert (one.clique, one.stddev, one.values.tolist()) == (
                other.clique,
                other.stddev,
                other.values.tolist(),
            )
    own = ("engine", "cautions", "package", "run", "not_covered", "sha256")
    said = {name: value for name, value in whole.certificate.items() if name not in own}
    assert {name: value for name, value in found.certificate.items() if name not in own} == said
    facts = zip(
        found.certificate["package"]["tables"], whole.certificate["package"]["tables"], strict=True
    )
    assert all(one | {"engine": None} == other | {"engine": None} for one, other in facts)
    assert {name: list(table) for name, table in found.sample(20, seed=0).items()} == {
        "homes": ["home", "place"],
        "pets": ["owner", "kind"],
    }
    shown = KeptAnswers.from_file(path).described()
    assert (shown["complete"], shown["events"]) == (True, whole.certificate["events"])


def test_of_a_run_that_was_stopped_it_is_what_was_paid_for_until_then(path):
    n_looks = 3  # at two columns and a link
    assert stops(lambda: run(path), n_looks)
    with pytest.raises(DataFileError, match="holds no marginal yet"):
        synthdp.from_journal(path)
    assert stops(lambda: run(path), 3)
    found = synthdp.from_journal(path)
    assert (
        sum(len(part.measurements) for part in found.parts.values())
        == len(found.certificate["events"]) - n_looks
        == 3
    )
    assert (found.certificate["complete"], found.can_sample) == (False, False)
    assert found.marginal(["homes.place"]).index.tolist() == ["town", "land"]
    with pytest.raises(ParameterError, match="stopped before it came to"):
        found.sample(5)


def test_a_journal_that_holds_no_answer_yet_makes_no_release(path):
    run_kept(path)
    with pytest.raises(DataFileError, match="holds no marginal yet"):
        synthdp.from_journal(path)


@pytest.mark.parametrize(
    "change", ["a view twice", "no view", "an unknown view", "more than its share", "no package"]
)
def test_a_journal_that_is_no_runs_is_refused(path, change):
    run(path)
    header, *entries = [entry_of(line) for line in lines(path)]
    first = next(number for number, entry in enumerate(entries) if entry.get("view") == "pets")
    match change:
        case "a view twice":
            entries[first] = {"view": "homes"}
        case "no view":
            entries = entries[1:]
        case "an unknown view":
            entries[first] = {"view": "cars"}
        case "more than its share":
            header["facts"]["views"]["homes"]["budget"] = "1/1000"
        case "no package":
            header["facts"]["package"] = {}
    rewritten(path, [header, *entries])
    with pytest.raises(DataFileError, match="no run's; give a file that synthdp wrote"):
        synthdp.from_journal(path)
    with pytest.raises(DataFileError, match="no run's"):  # nor one of a single table
        release_of(KeptAnswers.from_file(path), RunIdentity(run="", when=None))


def test_a_note_of_views_that_is_none_is_refused(path):
    run(path)
    header, *entries = [entry_of(line) for line in lines(path)]
    rewritten(path, [header, {"views": 3}, *entries])
    with pytest.raises(DataFileError, match="line 2 is no answer"):
        synthdp.from_journal(path)
