"""Linked releases: keys, rules and orders in every row, one ledger, one certificate, one file."""

import json
from collections import Counter
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from fractions import Fraction
from types import SimpleNamespace
from zipfile import ZipFile

import jsonschema
import numpy as np
import pandas as pd
import pytest
from helpers.families import description, field, link, random_tables

import synthdp
from synthdp import evaluate
from synthdp.cli import package_facts
from synthdp.core import DataFileError, ParameterError, SchemaError
from synthdp.linked import LinkedRelease, Package, views_of
from synthdp.linked import package_run as door
from synthdp.linked.linked_certificate import _of_part
from synthdp.privacy import PrivateTable
from synthdp.release import SCHEMA_FILE, RunSettings, loading

BUDGET = {"epsilon": 3.0, "delta": 1e-6, "mechanism": "independent"}
HEAD = [{"where": {"job": ["yes"]}, "at_least": 1, "at_most": 1}]
ACROSS = [
    {"forbid": {"homes.place": ["land"], "people.sex": ["F"]}},
    {"forbid": {"people.sex": ["M"], "visits.why": ["ill"]}},
    {"forbid": {"other people.sex": ["M"], "people.sex": ["F"]}},
]


def content(rules=(), **settings):
    found = description(**settings)
    found["synthdp"]["constraints"] = list(rules)
    return found


def synthesis(rules=(), *, seed=0, n=300, **settings):
    return synthdp.synthesize(random_tables(n, seed), content(rules, **settings), **BUDGET)


@pytest.fixture(scope="module")
def released():
    return synthesis(ACROSS, limits=HEAD)


def test_every_key_is_fresh_and_every_link_holds(released):
    drawn = released.sample(200, seed=1)
    assert {name: list(table.columns) for name, table in drawn.items()} == {
        name: [field["name"] for field in resource["schema"]["fields"]]
        for name, resource in ((each["name"], each) for each in description()["resources"])
    }
    assert drawn["homes"]["home"].tolist() == list(range(1, 201))
    assert sum(evaluate(drawn, drawn, released.package).broken_links.values()) == 0
    assert (
        drawn["people"]
        .groupby("home")["number"]
        .apply(list)
        .map(lambda n: n == list(range(1, len(n) + 1)))
        .all()
    )
    assert {name: len(table) > 20 for name, table in drawn.items()} == dict.fromkeys(drawn, True)


@pytest.mark.parametrize("name", ["homes", "visits"])
def test_a_file_that_is_changed_while_it_is_read_is_refused_before_anything_is_paid(name, tmp_path):
    for table, frame in random_tables(30).items():
        frame.to_csv(tmp_path / f"{table}.csv", index=False)
    run = LinkedRelease(package=Package.from_dict(content()), settings=RunSettings(**BUDGET))

    def sources():
        with ExitStack() as stack:
            tables = door.opened_tables(run.package, None, tmp_path, stack)
            path = tmp_path / f"{name}.csv"
            path.write_text("".join(path.read_text().splitlines(keepends=True)[:-5]))
            return door.read_sources(run, tables)

    with pytest.raises(DataFileError, match=rf"{name}.csv': it was changed while it was read"):
        run.of(sources)
    assert run.ledger.spent == 0


def test_keys_of_the_data_are_nowhere_in_what_is_released(tmp_path):
    tables = {name: table.copy() for name, table in random_tables(60).items()}
    for name, column in (
        ("homes", "home"),
        ("people", "home"),
        ("visits", "home"),
        ("pets", "owner"),
    ):
        tables[name][column] = "secret-" + tables[name][column].astype(str)
    found = synthdp.synthesize(tables, content(), **BUDGET)
    found.save(tmp_path / "all.synthdp")
    drawn = found.sample(60, seed=0, text=True)
    texts = [json.dumps(found.certificate), json.dumps(dict(found.package.content))]
    texts += [table.to_csv() for table in drawn.values()]
    assert not any("secret" in text for text in texts)


def test_bounds_orders_limits_and_rules_hold_in_every_row(released):
    drawn = released.sample(300, seed=2)
    people = drawn["people"].merge(drawn["homes"], on="home")
    visits = drawn["visits"].merge(drawn["people"], on=["home", "number"])
    assert drawn["people"].groupby("home").size().max() == 3
    assert drawn["visits"].groupby(["home", "number"]).size().max() <= 2
    assert (
        drawn["people"].groupby("home")["job"].apply(lambda jobs: (jobs == "yes").sum()) == 1
    ).all()
    assert not ((people["place"] == "land") & (people["sex"] == "F")).any()
    assert not ((visits["sex"] == "M") & (visits["why"] == "ill")).any()
    assert (
        drawn["visits"]
        .groupby(["home", "number"])["when"]
        .apply(lambda w: w.is_monotonic_increasing)
        .all()
    )
    firsts = people.groupby("home")["sex"].transform("first")
    assert not ((people["number"] > 1) & (firsts == "M") & (people["sex"] == "F")).any()


def test_every_parent_has_as_many_rows_as_the_package_says(released):
    found = content()
    found["resources"][3]["synthdp"]["min_children"] = 1
    drawn = synthdp.synthesize(random_tables(100), found, **BUDGET).sample(100, seed=0)
    assert set(drawn["pets"]["owner"]) == set(drawn["homes"]["home"])
    assert (
        len(set(released.sample(100, seed=0)["pets"]["owner"])) < 100
    )  # which the package leaves open


def test_rules_that_leave_some_row_nothing_are_told_with_the_table_before_anything_is_paid(
    monkeypatch,
):
    monkeypatch.setattr(LinkedRelease, "kept", None)
    contradiction = {"forbid": {"other people.sex": ["M"], "people.sex": ["M"]}}
    with pytest.raises(ParameterError, match=r"table 'people': .*given: a record contradicts"):
        synthesis([ACROSS[0], contradiction])
    with pytest.raises(ParameterError, match=r"table 'people': .*given: a record contradicts"):
        package_facts(
            Package.from_dict(content([ACROSS[0], contradiction])), epsilon=None, delta=None
        )


def test_one_level_of_many_after_which_rules_leave_nothing_is_met_before_anything_is_paid(
    monkeypatch,
):
    monkeypatch.setattr(LinkedRelease, "kept", None)
    found = content([{"forbid": {"other people.step": [77], "people.sex": ["F", "M"]}}])
    levels = {"enum": list(range(100)), "required": True}
    found["resources"][1]["schema"]["fields"].append(
        {"name": "step", "type": "integer", "constraints": levels}
    )
    tables = random_tables(300, 0)
    tables["people"]["step"] = 1
    with pytest.raises(ParameterError, match=r"table 'people': .*given: a record contradicts"):
        synthdp.synthesize(tables, found, **BUDGET)


def test_a_seed_repeats_tables_and_texts_are_the_same_values(released):
    one, again, texts = (
        released.sample(50, seed=3),
        released.sample(50, seed=3),
        released.sample(50, seed=3, text=True),
    )
    for name, table in one.items():
        pd.testing.assert_frame_equal(table, again[name])
        assert table.astype(str).to_numpy().tolist() == texts[name].to_numpy().tolist()
    assert not released.sample(50, seed=4)["people"].equals(one["people"])


def test_given_homes_are_completed_with_their_keys(released):
    homes = pd.DataFrame({"home": ["A", "B", "C"], "place": ["land", "town", "land"]})
    drawn = released.sample(given={"homes": homes}, seed=0)
    assert drawn["homes"].to_dict("list") == homes.to_dict("list")
    assert set(drawn["people"]["home"]) <= {"A", "B", "C"}
    assert (drawn["people"].query("home != 'B'")["sex"] == "M").all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (pd.DataFrame({"home": [1, 1], "place": ["town", "land"]}), "repeat"),
        (pd.DataFrame({"street": ["x"]}), "has no column 'street'"),
        (pd.DataFrame({"home": [1]}), "no column besides keys"),
        (pd.DataFrame({"place": ["moon"]}), "none of its levels"),
        (3, "give rows of 'homes'"),
    ],
)
def test_given_rows_that_do_not_fit_are_refused(released, given, said):
    with pytest.raises((ParameterError, SchemaError), match=said):
        released.sample(given=given)


GIVEN = {
    "homes": pd.DataFrame({"home": ["A", "B", "C"], "place": ["land", "town", "land"]}),
    "people": pd.DataFrame(
        {
            "home": ["B", "A", "B"],
            "number": [7, 8, 9],
            "sex": ["F", "M", "M"],
            "job": ["yes", "yes", "no"],
        }
    ),
}


def test_given_people_get_visits_and_their_homes_get_pets(released):
    drawn = released.sample(given=GIVEN, seed=0)
    assert drawn["homes"]["home"].tolist() == ["A", "B", "C"]
    assert drawn["people"].to_numpy().tolist() == [
        ["A", 8, "M", "yes"], ["B", 7, "F", "yes"], ["B", 9, "M", "no"],
    ]  # fmt: skip
    visits = pd.concat([released.sample(given=GIVEN, seed=seed)["visits"] for seed in range(20)])
    assert {tuple(key) for key in visits[["home", "number"]].to_numpy()} == {
        ("A", 8),
        ("B", 7),
        ("B", 9),
    }
    assert not ((visits["number"] != 7) & (visits["why"] == "ill")).any()  # a rule on men
    assert ((visits["number"] == 7) & (visits["why"] == "ill")).any()
    whole = {
        **GIVEN,
        "visits": pd.DataFrame(
            {"home": "B", "number": "7", "why": ["ill", "check"], "when": ["3", "1"]}
        ),
    }
    again = released.sample(given=whole, seed=0, text=True)
    assert again["visits"].to_numpy().tolist() == [["B", 7, "check", "1"], ["B", 7, "ill", "3"]]


def test_numbers_of_children_of_given_rows_follow_from_what_is_given():
    rng = np.random.default_rng(0)
    tables = random_tables(900)
    women = tables["people"].query("sex == 'F'")[["home", "number"]]
    tables["visits"] = women[rng.random(len(women)) < 0.9].assign(why="ill", when="1")
    found = synthdp.synthesize(tables, content(), epsilon=30.0, delta=1e-6, mechanism="mst")
    people = pd.DataFrame(
        {"home": range(100), "number": 1, "sex": ["F"] * 50 + ["M"] * 50, "job": "yes"}
    )
    homes = pd.DataFrame({"home": range(100), "place": ["town"] * 50 + ["land"] * 50})
    drawn = found.sample(given={"homes": homes, "people": people}, seed=0)
    assert len(drawn["people"]) == 100
    assert drawn["visits"]["home"].lt(50).mean() > 0.7  # half, if they did not
    assert len(drawn["visits"]) > 25


PEOPLE = GIVEN["people"]


def test_rows_below_the_root_are_given_by_some_columns_and_get_the_others():
    """Who has a job depends on the home: what is lacking is drawn so."""
    found = synthdp.synthesize(
        random_tables(900), content(), epsilon=30.0, delta=1e-6, mechanism="mst"
    )
    homes = pd.DataFrame({"home": range(200), "place": ["town", "land"] * 100})
    people = pd.DataFrame(
        {"home": np.repeat(range(200), 2), "number": [1, 2] * 200, "job": ["yes", None] * 200}
    )
    drawn = found.sample(given={"homes": homes, "people": people}, seed=0)["people"]
    assert len(drawn) == 400
    assert (drawn["job"][drawn["number"] == 1] == "yes").all()
    keys = people[["home", "number"]]
    again = found.sample(given={"homes": homes, "people": keys}, seed=0)["people"]
    works = again["job"] == "yes"
    assert works[again["home"] % 2 == 0].mean() > 0.9 > 0.1 > works[again["home"] % 2 == 1].mean()


def test_rows_that_are_completed_stand_in_their_order(released):
    homes, people = (GIVEN[name] for name in ("homes", "people"))
    visits = pd.DataFrame({"home": ["B", "B"], "number": [7, 7], "when": ["3", "1"]})
    drawn = released.sample(given={"homes": homes, "people": people, "visits": visits}, seed=0)
    assert drawn["visits"]["when"].tolist() == ["1", "3"]
    assert set(drawn["visits"]["why"]) <= {"check", "ill"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cars": PEOPLE}, "there is no table 'cars'"),
        ({"homes": None}, "rows of 'people' need those of 'homes'"),
        ({"people": None, "visits": PEOPLE}, "rows of 'visits' need those of 'people'"),
        ({"homes": GIVEN["homes"].drop(columns="home")}, "'homes', whose rows lack 'home'"),
        ({"people": PEOPLE.drop(columns="home")}, "rows of 'people' lack 'home'"),
        (
            {"visits": pd.DataFrame({"home": "B", "number": [7], "why": "check"})},
            "rows of 'visits' lack 'when'",
        ),
        (
            {"visits": pd.DataFrame({"home": "B", "number": [7], "when": [None]})},
            "column 'when' of 'visits' has an empty cell, and orders rows",
        ),
        (
            {"people": PEOPLE.assign(home=["B", "A", "D"])},
            r"row 2 \(from 0\) of 'people' refers to no given row",
        ),
        ({"people": PEOPLE.assign(home=[None, "A", "B"])}, r"row 0 \(from 0\)"),
        (
            {"people": pd.concat([PEOPLE] * 2)},
            "'homes' has 4 rows of 'people', and max_children is 3",
        ),
        ({"people": PEOPLE.assign(number=7)}, "keys of 'people' are missing or repeat"),
        (
            {"people": PEOPLE.assign(sex="X")},
            r"none of its levels; correct it \(rows of 'people'\)",
        ),
        (
            {"people": PEOPLE.assign(sex="F")},
            "rows of 'people' contradict the rules: a record contradicts",
        ),
        ({"people": 3}, "give rows of 'people'"),
    ],
)
def test_given_rows_that_do_not_hang_together_are_refused(released, changed, said):
    given = {name: rows for name, rows in {**GIVEN, **changed}.items() if rows is not None}
    with pytest.raises((ParameterError, SchemaError), match=said):
        released.sample(given=given)


def test_cautions_on_columns_above_are_told_of_their_own_table_only(released):
    part, view = released.parts["visits"], views_of(released.package)["visits"]
    said = ["column 'people.sex': above", "column 'visits.why': its own", "of all"]
    given = SimpleNamespace(
        cautions=said,
        schema=part.schema,
        measurements=part.measurements,
        certificate=part.certificate,
    )
    assert _of_part(given, view) == said[1:]


def test_marginals_are_of_rows_of_the_lowest_table(released):
    drawn = released.sample(20_000, seed=0)
    scale = 20_000 / released.marginal(["homes.place"]).sum()
    people = drawn["people"].merge(drawn["homes"], on="home")
    expected = released.marginal(["homes.place", "people.sex"]) * scale
    found = people.groupby(["place", "sex"]).size().reindex(expected.index, fill_value=0)
    assert np.abs(found - expected).max() < 0.05 * len(people)
    assert released.marginal(["number of pets"]).index.tolist() == [0, 1, 2]
    with pytest.raises(
        ParameterError, match=r"there is no 'people.age'; there are .*'homes.place'.*'people.sex'"
    ):
        released.marginal(["people.age"])
    with pytest.raises(ParameterError, match="n_roots is -1; give a whole number"):
        released.sample(-1)
    for wrong in (["pets.kind", "people.sex"], ["people.age"], [], ["homes.place", "homes.place"]):
        with pytest.raises(ParameterError, match="columns"):
            released.marginal(wrong)


def test_columns_of_public_tables_follow_from_their_keys(tmp_path):
    found = content([{"forbid": {"sides.side": ["east"], "people.sex": ["F"]}}])
    found["resources"][0]["schema"]["foreignKeys"] = [
        {"fields": "place", "reference": {"resource": "sides", "fields": "place"}}
    ]
    fields = [{"name": "place"}, {"name": "side", "type": "string"}]
    found["resources"].append(
        {"name": "sides", "schema": {"fields": fields}, "synthdp": {"public": True}}
    )
    sides = pd.DataFrame({"place": ["land", "town"], "side": ["east", "west"]})
    made = synthdp.synthesize({**random_tables(200), "sides": sides}, found, **BUDGET)
    made.save(tmp_path / "all.synthdp")
    loaded = synthdp.load(tmp_path / "all.synthdp")
    by_side, by_place = (
        loaded.marginal([name, "people.sex"]) for name in ("sides.side", "homes.place")
    )
    assert by_side["west"].to_dict() == pytest.approx(by_place["town"].to_dict())
    assert by_side["east", "F"] == pytest.approx(0, abs=1e-6)
    drawn = loaded.sample(200, seed=0)
    assert set(
        drawn["people"].merge(drawn["homes"], on="home").query("place == 'land'")["sex"]
    ) == {"M"}
    assert list(drawn["homes"].columns) == ["home", "place"]


def test_one_ledger_pays_for_all_and_the_certificate_says_so(released):
    stated = released.certificate
    jsonschema.validate(stated, json.loads(SCHEMA_FILE.read_text()))
    assert stated["guarantee"] == "(3, 1e-06)-differential privacy"
    assert stated["complete"] is True
    assert "table 'homes', told apart by 'home', with all rows" in stated["unit_of_privacy"]
    assert (
        "and rows that hang on none are left out; a row that hangs on several"
        in stated["unit_of_privacy"]
    )
    events = stated["events"]
    assert stated["accounting"]["rho_spent"] == pytest.approx(sum(event["rho"] for event in events))
    assert stated["accounting"]["rho_spent"] <= stated["accounting"]["rho_budget"]
    by_view = {
        (each["table"], each["rows"]): each["units_of_weight"]
        for each in stated["package"]["tables"]
    }
    assert by_view == {
        ("homes", "all"): 1, ("people", "first"): 1, ("people", "later"): 2, ("pets", "first"): 1,
        ("pets", "later"): 1, ("visits", "first"): 6, ("visits", "later"): 6,
    }  # fmt: skip
    assert {event["sensitivity_l2_squared"] for event in events} == {1, 4, 36}


def test_the_file_holds_all_of_it_and_load_restores_it(released, tmp_path):
    path = tmp_path / "all.synthdp"
    released.save(path)
    loaded = synthdp.load(path)
    assert loaded.certificate == released.certificate
    for name, table in released.sample(40, seed=5).items():
        pd.testing.assert_frame_equal(loaded.sample(40, seed=5)[name], table)
    with pytest.raises(DataFileError, match="exists"):
        released.save(path)
    with ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda member: member.compress_size)
    damaged = bytearray(path.read_bytes())
    damaged[largest.header_offset + 30 + len(largest.filename) + largest.compress_size // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(DataFileError):
        synthdp.load(path)


def test_what_is_for_one_table_says_that_a_file_is_of_several(released, tmp_path):
    released.save(tmp_path / "saved.synthdp")
    with pytest.raises(DataFileError, match="release of linked tables, and this is for one table"):
        loading.load(tmp_path / "saved.synthdp")


def test_a_release_holds_no_rows():
    found = synthesis(n=40)
    seen = set()

    def look(thing):
        if id(thing) in seen or isinstance(thing, str | bytes | int | float | type):
            return
        seen.add(id(thing))
        assert type(thing).__name__ not in (
            "WeightedSource",
            "FamilyRows",
            "LinkedTableReader",
            "CodedSource",
        )
        if isinstance(thing, dict):
            [look(value) for value in thing.values()]
        elif isinstance(thing, list | tuple | set):
            [look(value) for value in thing]
        elif is_dataclass(thing):
            [look(getattr(thing, each.name)) for each in fields(thing)]
        elif hasattr(thing, "__dict__"):
            look(vars(thing))

    look(found)
    assert len(seen) > 50


def test_what_was_paid_for_before_a_failure_is_kept(monkeypatch, tmp_path):
    kept, asked = [], Counter()
    measure = PrivateTable.measure

    def failing(self, clique, **settings):
        asked["all"] += 1
        if asked["all"] > 16:  # after the looks at columns and links
            raise KeyboardInterrupt
        return measure(self, clique, **settings)

    monkeypatch.setattr(PrivateTable, "measure", failing)
    with pytest.raises(KeyboardInterrupt):
        synthdp.synthesize(random_tables(200), content(), **BUDGET, rescue=kept.append)
    (rescued,) = kept
    assert rescued.certificate["complete"] is False
    assert len(rescued.certificate["events"]) == 16
    rescued.save(tmp_path / "rescued.synthdp")
    with pytest.raises(ParameterError, match="stopped before it came to"):
        synthdp.load(tmp_path / "rescued.synthdp").sample(10)


def test_tables_that_do_not_fit_are_refused_before_any_row_is_read(monkeypatch):
    def never(*_):
        raise AssertionError("rows were read")

    monkeypatch.setattr(door, "read_sources", never)
    tables = random_tables(10)
    for changed, said in (
        ({"pets": None}, "there is no 'pets'"),
        ({"cars": tables["pets"]}, "'cars' is no table"),
        ({"pets": tables["pets"].drop(columns="kind")}, "kind"),
        ({"pets": tables["pets"].assign(colour="red")}, "colour"),
    ):
        wrong = {name: table for name, table in {**tables, **changed}.items() if table is not None}
        with pytest.raises((ParameterError, SchemaError), match=said):
            synthdp.synthesize(wrong, content(), **BUDGET)


def test_shares_of_the_budget_are_exact():
    package = Package.from_dict(content())
    from synthdp.linked import LinkedRelease

    run = LinkedRelease(package=package, settings=RunSettings(**BUDGET))
    looked = run.ledger.budget / 100
    assert sum(part.budget for part in run._parts.values()) + looked == run.ledger.budget
    assert all(isinstance(part.budget, Fraction) for part in run._parts.values())


def test_fresh_keys_are_written_by_the_pattern_of_their_column():
    found = description()
    key = {"name": "home", "type": "string", "synthdp": {"kind": "id", "pattern": "H-{:04d}"}}
    found["resources"][0]["schema"]["fields"][0] = key
    drawn = synthdp.synthesize(random_tables(300, 0), found, **BUDGET).sample(20, seed=0)
    assert drawn["homes"]["home"].tolist() == [f"H-{number:04}" for number in range(1, 21)]
    assert set(drawn["people"]["home"]) <= set(drawn["homes"]["home"])


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ({"type": "integer", "synthdp": {"kind": "id", "pattern": "H-{}"}}, "is no id of texts"),
        ({"type": "string", "synthdp": {"kind": "id", "pattern": "H"}}, "home"),
    ],
)
def test_patterns_of_keys_that_cannot_be_are_refused(key, problem):
    found = description()
    found["resources"][0]["schema"]["fields"][0] = {"name": "home", **key}
    with pytest.raises(SchemaError, match=problem):
        Package.from_dict(found)


@pytest.mark.parametrize("mechanism", ["independent", "mst"])
def test_an_engine_without_room_for_all_that_is_known_is_given_some(mechanism):
    """Of 60 roots drawn families hang together by chance in all pairs of columns of many levels:
    that took a tree of 1.5e11 cells, and the run stopped after it had paid.
    """
    names = [f"x{number}" for number in range(4)]
    levels = [f"v{number}" for number in range(25)]
    rng = np.random.default_rng(0)

    def columns(n_rows):
        return {name: rng.choice(levels, n_rows) for name in names}

    homes = {"fields": [{"name": "home"}, *(field(name, *levels) for name in names)]}
    pets = {"fields": [{"name": "home"}, *(field(name, *levels) for name in names)]}
    content = {
        "resources": [
            {"name": "homes", "schema": homes | {"primaryKey": "home"}},
            {
                "name": "pets",
                "schema": pets | {"foreignKeys": [link("home", "homes", "home")]},
                "synthdp": {"max_children": 3},
            },
        ]
    }
    tables = {
        "homes": pd.DataFrame({"home": np.arange(60), **columns(60)}),
        "pets": pd.DataFrame({"home": np.repeat(np.arange(60), 3), **columns(180)}),
    }
    run = {"epsilon": 3.0, "delta": 1e-6, "mechanism": mechanism, "engine": "graphical-model"}
    drawn = synthdp.synthesize(tables, content, anyway=True, **run).sample(60, seed=0)
    assert drawn["pets"]["home"].isin(drawn["homes"]["home"]).all()
    assert drawn["pets"][names].notna().all(axis=None)
