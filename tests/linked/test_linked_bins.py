"""Bins of columns of a package that declares bounds alone: learnt as those of one table are, unless
levels have to be known before the run.
"""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from helpers.families import link

import synthdp
from synthdp.cli import package_facts, package_text
from synthdp.core import SchemaError
from synthdp.linked import Package

RUN = {"epsilon": 5.0, "delta": 1e-6, "mechanism": "independent", "engine": "local-consistency"}
REQUIRED = {"required": True}

pytestmark = pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")


def bounded(name, field_type, minimum, maximum, **own):
    limits = {"minimum": minimum, "maximum": maximum, **REQUIRED}
    return {"name": name, "type": field_type, "constraints": limits} | (
        {"synthdp": own} if own else {}
    )


def description(rules=(), **of_visits):
    """Homes with a rent, and visits with days, costs, ages, and hours of which bins are declared."""
    homes = {
        "fields": [{"name": "id", "type": "integer"}, bounded("rent", "integer", 0, 5000)],
        "primaryKey": "id",
    }
    visits = {
        "fields": [
            {"name": "home", "type": "integer"},
            bounded("day", "date", "2020-01-01", "2024-01-01"),
            bounded("cost", "number", 0, 100),
            bounded("age", "integer", 0, 20),
            bounded("hours", "integer", 0, 1000, bins=5),
        ],
        "foreignKeys": [link("home", "homes", "id")],
    }
    own = {"max_children": 4, "order": "day", **of_visits}
    return {
        "synthdp": {"root": "homes", "constraints": list(rules)},
        "resources": [
            {"name": "homes", "path": "homes.csv", "schema": homes},
            {"name": "visits", "path": "visits.csv", "schema": visits, "synthdp": own},
        ],
    }


def tables(n=2000, seed=0):
    """Costs are 9.99 at times, and otherwise small; rents are 800 at times."""
    rng = np.random.default_rng(seed)
    homes = np.repeat(np.arange(n), rng.integers(1, 5, n))
    m = len(homes)
    days = pd.Timestamp("2023-03-01") + pd.to_timedelta(rng.integers(0, 60, m), unit="D")
    costs = rng.integers(100, 700, m) / 100
    return {
        "homes": pd.DataFrame(
            {
                "id": np.arange(n),
                "rent": np.where(rng.random(n) < 0.3, 800, rng.integers(500, 1500, n)),
            }
        ),
        "visits": pd.DataFrame(
            {
                "home": homes,
                "day": days.strftime("%Y-%m-%d"),
                "cost": np.where(rng.random(m) < 0.3, 9.99, costs),
                "age": rng.integers(0, 20, m),
                "hours": rng.integers(0, 1000, m),
            }
        ),
    }


TABLES = tables()


def shares(drawn):
    return [
        (drawn["visits"]["cost"] == 9.99).mean(),
        (drawn["homes"]["rent"] == 800).mean(),
        drawn["visits"]["day"].astype(str).between("2023-03-01", "2023-04-29").mean(),
    ]


@pytest.fixture(scope="module")
def release():
    return synthdp.synthesize(TABLES, description(), **RUN)


def test_heavy_values_and_the_range_of_values_are_kept(release):
    of_costs, of_rents, of_days = shares(release.sample(seed=0))
    assert of_costs == pytest.approx(0.3, abs=0.06)
    assert of_rents == pytest.approx(0.3, abs=0.06)
    assert of_days > 0.95


def test_bins_that_are_declared_are_kept_and_lose_them():
    declared = description()
    for resource in declared["resources"]:
        for field in resource["schema"]["fields"]:
            if field["name"] in ("rent", "day", "cost"):
                field["synthdp"] = {"bins": 32}
    found = synthdp.synthesize(TABLES, declared, **RUN)
    assert "domain" not in found.certificate
    of_costs, of_rents, of_days = shares(found.sample(seed=0))
    assert of_costs < 0.15
    assert of_rents < 0.15
    assert of_days < 0.95


def test_the_certificate_says_what_was_learnt_and_what_it_cost(release):
    domain = release.certificate["domain"]
    assert domain["derived"] == {
        "homes.rent": ["bins"],
        "visits.day": ["bins"],
        "visits.cost": ["bins", "decimals"],
    }
    paid = [event for event in release.certificate["events"] if "column" in event]
    assert {event["column"] for event in paid} == {*domain["derived"]}
    stated = release.certificate["accounting"]
    assert stated["rho_spent"] <= stated["rho_budget"]


def test_no_delta_is_set_aside_where_bins_alone_are_learnt(release):
    events = release.certificate["events"]
    assert not [event for event in events if event["event"] == "partition selection"]
    assert release.certificate["accounting"].get("failure_delta", 0) == 0


def test_what_comes_out_is_declared_and_can_be_judged_by_what_went_in(release, tmp_path):
    assert not release.package.is_open
    release.save(tmp_path / "a.synthdp")
    loaded = synthdp.load(tmp_path / "a.synthdp")
    assert loaded.package.content == release.package.content
    drawn = loaded.sample(300, seed=0)
    pd.testing.assert_frame_equal(drawn["visits"], release.sample(300, seed=0)["visits"])
    for package in (release.package, Package.from_dict(description())):
        judged = synthdp.evaluate(TABLES, drawn, package)
        assert judged.distances["tvd"].between(0, 1).all()


def test_a_journal_is_gone_on_with_and_rescued(tmp_path):
    journal = tmp_path / "visits.journal"
    first = synthdp.synthesize(TABLES, description(), **RUN, journal=journal)
    again = synthdp.synthesize(TABLES, description(), **RUN, journal=journal)
    assert again.package.content == first.package.content
    rescued = synthdp.from_journal(journal)
    assert rescued.package.content == first.package.content


def opened(rules=(), **of_visits):
    package = Package.from_dict(description(rules, **of_visits))
    assert not package.is_open
    changed = package.with_open_bins()
    assert changed.with_open_bins() is changed
    return {column.name for column in changed.joint_schema.open_columns}


EVERY = {"homes.rent", "visits.day", "visits.cost"}


@pytest.mark.parametrize(
    ("closed", "rules", "of_visits"),
    [
        (set(), [{"check": "`homes.rent` >= `visits.cost`"}], {}),
        ({"visits.cost"}, [{"check": "`other visits.cost` <= `visits.cost`"}], {}),
        (
            set(),
            [{"forbid": {"homes.rent": {"minimum": 4000}, "other visits.day": ["2023-03-05"]}}],
            {},
        ),
        (
            {"visits.cost"},
            [{"forbid": {"homes.rent": {"minimum": 4000}, "visits.cost": {"maximum": 5}}}],
            {},
        ),
        ({"visits.cost"}, [], {"limits": [{"where": {"cost": {"minimum": 50}}, "at_most": 1}]}),
    ],
    ids=["check", "check of another row", "rule", "rule on decimals", "limit"],
)
def test_columns_whose_levels_are_needed_before_the_run_stay_closed(closed, rules, of_visits):
    assert opened(rules, **of_visits) == EVERY - closed


def test_parts_of_keys_stay_closed():
    declared = description()
    visits = declared["resources"][1]
    visits["schema"]["fields"].append({"name": "line", "type": "integer"})
    visits["schema"]["primaryKey"] = ["home", "day", "line"]
    package = Package.from_dict(declared).with_open_bins()
    assert {column.name for column in package.joint_schema.open_columns} == EVERY - {"visits.day"}


def test_bins_begin_and_end_where_a_rule_of_a_table_does():
    """Also of a column that declares its bins, which are not parted but refused."""
    declared = description()
    rule = {"forbid": {"cost": {"minimum": 5.5}, "age": {"maximum": 5}}}
    declared["resources"][1]["schema"]["synthdp"] = {"constraints": [rule]}
    package = Package.from_dict(declared).with_open_bins()
    assert {column.name for column in package.joint_schema.open_columns} == EVERY
    found = synthdp.synthesize(TABLES, declared, **RUN | {"mechanism": "auto", "engine": "auto"})
    visits = found.sample(seed=0)["visits"]
    assert (visits.loc[visits["age"] <= 5, "cost"] < 5.5).all()
    assert ((visits["age"] > 5) & (visits["cost"] == 9.99)).mean() > 0.1
    declared["resources"][1]["schema"]["fields"][2]["synthdp"] = {"bins": 7}
    with pytest.raises(SchemaError, match=r"table 'visits': constraints: .*cuts a bin"):
        Package.from_dict(declared)


@pytest.mark.parametrize("where", ["table", "package"])
def test_decimals_that_leave_no_row_to_rules_that_hang_together_give_way(where, tmp_path):
    """Whole numbers leave the first rule only ages up to 5, which another rule forbids."""
    declared = description()
    spans = [{"minimum": 17.2, "maximum": 17.8}, {"maximum": 17.1}, {"minimum": 17.9}]
    ages = [{"minimum": 6}, {"maximum": 5}, {"maximum": 5}]
    rule = {"allow": [{"cost": span, "age": age} for span, age in zip(spans, ages, strict=True)]}
    visits = declared["resources"][1]["schema"]
    if where == "table":
        visits["synthdp"] = {"constraints": [rule, {"forbid": {"age": {"maximum": 5}}}]}
    else:
        visits["synthdp"] = {"constraints": [rule]}
        declared["synthdp"]["constraints"] = [{"forbid": {"visits.age": {"maximum": 5}}}]
    whole = {**TABLES, "visits": TABLES["visits"].assign(cost=TABLES["visits"]["age"] * 1.0)}
    said = "column 'visits.cost': what was learnt of its bins leaves no row that keeps to the rules"
    journal = tmp_path / "journal"
    with pytest.warns(synthdp.CautionWarning, match=said):
        found = synthdp.synthesize(whole, declared, **RUN, journal=journal)
    assert any(said in each for each in found.certificate["cautions"])
    rescued = synthdp.from_journal(journal, unchecked=True)
    assert any(said in each for each in rescued.certificate["cautions"])
    visits = found.sample(300, seed=0)["visits"]
    assert visits["cost"].between(17.2, 17.8).all()
    assert (visits["age"] > 5).all()


def test_rules_that_hang_together_with_open_columns_are_found_in_any_order():
    def about(*names):
        return {"allow": [{name: {"minimum": 0} for name in names}]}

    declared = description([{"forbid": {"other visits.age": [3], "visits.age": [4]}}])
    visits = declared["resources"][1]["schema"]
    visits["synthdp"] = {
        "constraints": [about("hours"), about("hours", "age"), about("age", "cost")]
    }
    joint = Package.from_dict(declared).with_open_bins().joint_schema
    assert len(joint.rules) == 3
    visits["synthdp"]["constraints"].pop()
    joint = Package.from_dict(declared).with_open_bins().joint_schema
    assert not joint.rules


def test_a_package_that_leaves_no_bins_open_stays_as_it_is():
    declared = deepcopy(description())
    for resource in declared["resources"]:
        for field in resource["schema"]["fields"]:
            if "constraints" in field:
                field["synthdp"] = {"bins": 4}
    package = Package.from_dict(declared)
    assert package.with_open_bins() is package


def test_rows_of_persons_in_an_order_learn_bins_too():
    fields = [
        bounded("day", "date", "2020-01-01", "2024-01-01"),
        bounded("cost", "number", 0, 100),
    ]
    frame = TABLES["visits"][["home", "day", "cost"]]
    histories = synthdp.synthesize(
        frame, {"fields": fields}, **RUN, unit="home", max_rows_per_unit=4, order="day"
    )
    assert histories.certificate["domain"]["derived"] == {
        "rows.cost": ["bins", "decimals"],
        "rows.day": ["bins"],
    }
    drawn = histories.sample(seed=0)
    assert (drawn["cost"] == 9.99).mean() == pytest.approx(0.3, abs=0.06)
    assert (drawn.groupby("home")["day"].is_monotonic_increasing).all()


def test_what_is_said_before_a_run_names_what_will_be_learnt_and_counts_its_share():
    budget = {"epsilon": 1.0, "delta": 1e-6}
    facts = package_facts(Package.from_dict(description()), **budget)
    assert {name: set(parts) for name, parts in facts["learnt"].items()} == {
        "homes.rent": {"bins"},
        "visits.day": {"bins"},
        "visits.cost": {"bins", "decimals"},
    }
    said = package_text(facts)
    assert "learnt with 25 % of the budget at most: homes.rent (bins)" in said
    declared = description()
    for resource in declared["resources"]:
        for field in resource["schema"]["fields"]:
            if "constraints" in field:
                field["synthdp"] = {"bins": 4}
    closed = package_facts(Package.from_dict(declared), **budget)
    assert (closed["learnt"], closed["domain_share"]) == ({}, 0)
    assert "learnt" not in package_text(closed)
    for before, after in zip(closed["views"], facts["views"], strict=True):
        assert after["noise_families"] == pytest.approx(
            before["noise_families"] / 0.75**0.5, rel=0.01
        )


@pytest.mark.parametrize("bins", [None, 40])
def test_bins_begin_and_end_where_a_rule_of_the_package_does(bins):
    """Learnt ones, and those of a column with open decimals, which are equally wide."""
    rules = [
        {"forbid": {"homes.rent": {"maximum": 1110}, "visits.cost": {"minimum": 7.77}}},
        {"forbid": {"visits.day": {"maximum": "2023-03-09"}, "visits.age": {"minimum": 19}}},
        {"forbid": {"other visits.day": {"maximum": "2023-03-06"}, "visits.age": {"maximum": 0}}},
        # Where no record is, bins are wide: nothing but the rule has one begin there.
        {"forbid": {"other visits.day": {"maximum": "2021-06-15"}, "visits.age": {"maximum": 3}}},
    ]
    declared = description(rules)
    if bins is not None:
        declared["resources"][0]["schema"]["fields"][1]["synthdp"] = {"bins": bins}
        with pytest.raises(SchemaError, match="a rule cuts a bin in two"):
            synthdp.synthesize(TABLES, declared, **RUN)
        return
    found = synthdp.synthesize(TABLES, declared, **RUN)
    assert set(found.certificate["domain"]["derived"]) == {"homes.rent", "visits.day"}
    drawn = found.sample(seed=0)
    rows = drawn["visits"].merge(drawn["homes"], left_on="home", right_on="id")
    assert (rows.loc[rows["rent"] <= 1110, "cost"] < 7.77).all()
    assert (rows.loc[rows["rent"] > 1110, "cost"] >= 7.77).any()
    days = rows["day"].astype(str)
    assert (rows.loc[days <= "2023-03-09", "age"] < 19).all()
    before = drawn["visits"].groupby("home")["day"].shift().astype(str)
    is_early = (before != "NaT") & (before <= "2023-03-06")
    assert (drawn["visits"].loc[is_early, "age"] > 0).all()
    assert (drawn["homes"]["rent"] == 800).mean() == pytest.approx(0.3, abs=0.06)
    edges = found.package["homes"].schema["rent"].field()["synthdp"]["edges"]
    assert 1111 in edges
    content = found.package.content
    assert Package.from_dict(content).content == content


def test_bins_of_equal_width_begin_and_end_where_limits_do():
    limit = {"where": {"cost": {"minimum": 7.77}}, "at_most": 1}
    declared = description(limits=[limit])
    found = synthdp.synthesize(TABLES, declared, **RUN)
    visits = found.sample(seed=0)["visits"]
    assert (visits["cost"] >= 7.77).groupby(visits["home"]).sum().max() == 1
    declared["resources"][1]["schema"]["fields"][2]["synthdp"] = {"bins": 32}
    with pytest.raises(SchemaError, match="a rule cuts a bin in two"):
        synthdp.synthesize(TABLES, declared, **RUN)


@pytest.mark.parametrize("place", ["", "other "])
def test_a_rule_of_the_package_on_what_is_not_known_is_refused_before_the_run(place):
    declared = description([{"forbid": {f"{place}visits.cost": [5.0], "visits.age": [3]}}])
    cost = declared["resources"][1]["schema"]["fields"][2]
    cost |= {"constraints": REQUIRED, "synthdp": {"derive": True}}
    with pytest.raises(SchemaError, match=r"a rule names 'visits\.cost', whose domain is derived"):
        Package.from_dict(declared)


def test_relative_columns_beside_those_that_rules_name_stay_relative():
    declared = description([{"forbid": {"visits.hours": {"maximum": 199}, "homes.rent": [777]}}])
    left = {"relative_to": "day", "minimum": 0, "maximum": 400}
    declared["resources"][1]["schema"]["fields"][4:] = [
        {"name": "left", "type": "date", "constraints": REQUIRED, "synthdp": left},
        bounded("hours", "integer", 0, 1000),
    ]
    package = Package.from_dict(declared)
    assert package["visits"].schema.relatives.names == ("left",)
    days = pd.to_datetime(TABLES["visits"]["day"]) + pd.Timedelta(days=3)
    visits = TABLES["visits"].assign(left=days.dt.strftime("%Y-%m-%d"))
    found = synthdp.synthesize(TABLES | {"visits": visits}, declared, **RUN)
    drawn = found.sample(seed=0)["visits"]
    assert (drawn["left"] - drawn["day"]).dt.days.median() == 3
