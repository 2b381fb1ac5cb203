"""Published totals in releases: what is read, refused before anything is paid, met, and said."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers.non_interference import differences, of_call, replayed

import synthdp
from synthdp.core import CautionWarning, DataFileError, ParameterError, SchemaError
from synthdp.release import known_marginals
from synthdp.report import certificate_page, certificate_text
from synthdp.schema import OpenSchema

TOWNS = ["a", "b", "c", "d"]
FIELDS = [
    {"name": "town", "type": "string", "constraints": {"enum": TOWNS, "required": True}},
    {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]}},
    {
        "name": "age",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 99, "required": True},
        "synthdp": {"edges": [0, 6, 18, 65, 99]},
    },
    {"name": "job", "type": "string", "constraints": {"enum": ["x", "y", "z"], "required": True}},
]
HIERARCHY = {
    "country": {"of": "region", "groups": {"all": ["north", "south"]}},
    "region": {"of": "town", "groups": {"north": ["a", "b"], "south": ["c", "d"]}},
    "age group": {"of": "age", "groups": {"young": ["[0, 18)"], "old": ["[18, 99]"]}},
}
SCHEMA = {"fields": FIELDS, "synthdp": {"hierarchy": HIERARCHY}}


def people(n_rows=1500, seed=0):
    chance = np.random.default_rng(seed)
    town = chance.choice(TOWNS, n_rows, p=[0.4, 0.3, 0.2, 0.1])
    sex = np.where(chance.random(n_rows) < 0.4 + 0.2 * (town == "a"), "f", "m")
    age = chance.integers(0, 100, n_rows)
    job = np.where(age < 18, "x", chance.choice(["x", "y", "z"], n_rows))
    return pd.DataFrame({"town": town, "sex": sex, "age": age, "job": job})


def coarse(table):
    return table.assign(
        region=table["town"].map({"a": "north", "b": "north", "c": "south", "d": "south"}),
        **{"age group": np.where(table["age"] < 18, "young", "old")},
    )


def totals(table, *names):
    return coarse(table).groupby(list(names)).size().rename("count").reset_index()


def off(drawn, known):
    """By how many rows a drawn table differs from a published one in a cell, at most."""
    names = [name for name in known.columns if name != "count"]
    both = known.set_index(names)["count"].sub(
        totals(drawn, *names).set_index(names)["count"], fill_value=0
    )
    return both.abs().max()


def release(table, known, **settings):
    given = {"epsilon": 1.0, "delta": 1e-6, "known": known} | settings
    return synthdp.synthesize(table, SCHEMA, **given)


def test_totals_of_several_levels_are_met_in_every_draw(tmp_path):
    table = people()
    published = [totals(table, "region", "age group", "sex"), totals(table, "town")]
    published[1].to_csv(tmp_path / "towns.csv", index=False)
    synthesis = release(table, [published[0], tmp_path / "towns.csv"])
    for seed in range(5):
        drawn = synthesis.sample(seed=seed)
        assert len(drawn) == len(table)
        assert [off(drawn, known) for known in published] == [0, 0]
    synthesis.save(tmp_path / "all.synthdp")
    again = synthdp.load(tmp_path / "all.synthdp")
    assert [off(again.sample(seed=9), known) for known in published] == [0, 0]
    refitted = again.refit("graphical-model")
    assert [off(refitted.sample(seed=9), known) for known in published] == [0, 0]
    stated = synthesis.certificate["known"]
    assert [each["total"] for each in stated] == [1500, 1500]
    assert [each["largest_difference"] for each in stated] == [0, 0]
    assert [each["groups"] for each in stated] == [{"town": 2, "age": 2}, {}]
    assert ("town",) not in [m.clique for m in synthesis.measurements]  # nothing is paid for it
    line = "has it exactly"
    assert line in certificate_text(synthesis.certificate)
    assert line in certificate_page(synthesis.certificate)
    assert {"quantity": "totals that were said to be published", "source": "known"} in (
        synthesis.certificate["unprotected"]
    )


def test_marginals_meet_totals_and_other_numbers_of_rows_come_within_one():
    table = people()
    known = totals(table, "town", "sex")
    synthesis = release(table, known)
    found = synthesis.marginal(["town", "sex"]).dropna()
    expected = known.set_index(["town", "sex"])["count"]
    for cell, count in expected.items():
        assert found[cell] == pytest.approx(count, abs=1e-6)
    drawn = totals(synthesis.sample(333, seed=0), "town", "sex").set_index(["town", "sex"])["count"]
    assert (drawn.sub(expected * 333 / len(table), fill_value=0)).abs().max() < 1


def test_shares_leave_the_number_of_records_to_be_measured():
    table = people()
    shares = pd.DataFrame({"town": TOWNS, "share": [0.4, 0.3, 0.2, 0.1]})
    synthesis = release(table, shares)
    drawn = synthesis.sample(1000, seed=0)
    assert drawn["town"].value_counts().to_dict() == {"a": 400, "b": 300, "c": 200, "d": 100}
    assert synthesis.certificate["known"][0]["total"] is None
    assert abs(synthesis.model.total - 1500) < 200


@pytest.mark.parametrize("mechanism", ["mst", "aim", "independent", "gaussian"])
def test_rows_of_every_kind_of_mechanism_meet_totals(mechanism):
    table = people()
    known = totals(table, "town", "sex")
    synthesis = release(table, known, mechanism=mechanism, workload="2-way")
    assert off(synthesis.sample(seed=1), known) == 0


def shares(table, *names):
    known = totals(table, *names)
    return known.assign(count=known["count"] / len(table)).rename(columns={"count": "share"})


@pytest.mark.parametrize(
    ("mechanism", "of"), [("aim", totals), ("gem", totals), ("gaussian", shares)]
)
def test_a_table_that_is_published_whole_leaves_nothing_to_measure(mechanism, of):
    """Each of these failed where nothing was left to select or to count."""
    sizes = {"town": 3, "sex": 2, "job": 4}
    chance = np.random.default_rng(0)
    table = pd.DataFrame({name: chance.integers(n, size=300) for name, n in sizes.items()})
    rows = table.assign(age=0)
    fields = [
        {"name": name, "type": "integer", "constraints": {"enum": list(range(n)), "required": True}}
        for name, n in sizes.items()
    ]
    run = {"mechanism": mechanism, "epsilon": 1.0, "delta": 1e-6, "known": of(rows, *sizes)}
    drawn = synthdp.synthesize(table, {"fields": fields}, **run).sample(300, seed=1)
    assert off(drawn.assign(age=0), totals(rows, *sizes)) == 0


def test_a_column_of_one_level_tells_no_more_than_what_is_published():
    """Estimates of both together had less noise than any measurement can."""
    table = people()[["town", "job"]].assign(sex="f", age=0)
    one = {"name": "sex", "type": "string", "constraints": {"enum": ["f"], "required": True}}
    known = totals(table, "town", "job")
    run = {"mechanism": "gaussian", "workload": "3-way", "epsilon": 1.0, "delta": 1e-6}
    drawn = synthdp.synthesize(
        table.drop(columns="age"), {"fields": [FIELDS[0], one, FIELDS[3]]}, known=known, **run
    ).sample(seed=1)
    assert off(drawn.assign(age=0), known) == 0


def test_shares_beside_counts_are_of_as_many_records():
    """A column that only published shares tell was taken to be measured: the run failed."""
    table = people()
    known = [totals(table, "town"), shares(table, "town", "sex")]
    drawn = release(table, known, mechanism="mst").sample(seed=1)
    assert off(drawn, totals(table, "town", "sex")) <= 1


def test_a_number_of_records_that_is_known_is_no_question_of_noise():
    table = people(60)
    synthesis = release(table, totals(table, "town"), epsilon=0.01)
    assert synthesis.knows_size
    assert len(synthesis.sample(seed=0)) == 60


LIST = totals(people(), "town")
BAD = {
    "a sum": (LIST.assign(count=1), "contradict each other: their counts sum to 1500 and 4"),
    "a cell": (LIST.assign(count=[1497, 1, 1, 1]), "contradict each other in 'town'"),
    "no number": (LIST.rename(columns={"count": "n"}), "it needs one column 'count'"),
    "no column": (LIST.rename(columns={"town": "city"}), "the schema has no column 'city'"),
    "half": (LIST.assign(count=LIST["count"] + 0.5), "some counts are not whole"),
    "below 0": (LIST.assign(count=-LIST["count"]), "is no number of 0 or more"),
    "a level": (LIST.replace("a", "q"), "'q' is no level of 'town'"),
    "left out": (LIST.iloc[:3], "'d', a level of 'town', is in none of its rows"),
    "twice": (pd.concat([LIST, LIST]), "repeats a combination"),
    "shares": (LIST.rename(columns={"count": "share"}), "the shares sum to 1500, not 1"),
    "cut": (
        pd.DataFrame({"age": ["[0, 20)", "[20, 99]"], "count": [1, 2]}),
        "'[0, 20)' is no level of 'age', nor an interval",
    ),
    "overlap": (
        pd.DataFrame({"age": ["[0, 18)", "[6, 99]"], "count": [1, 2]}),
        "overlaps another of its values",
    ),
    "two levels": (
        coarse(people()).groupby(["town", "region"]).size().rename("count").reset_index(),
        "two of its columns are levels of 'town'",
    ),
    "a group": (pd.DataFrame({"region": ["west"], "count": [9]}), "'west' is no group of 'region'"),
    "no table": (7, "known[1] is a int; make a pandas.DataFrame"),
    "a mapping": ({"town": TOWNS}, "known[1] is a dict; make a table of it: pandas.DataFrame"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_met_is_refused_before_anything_is_paid(name, tmp_path):
    bad, said = BAD[name]
    good = coarse(people()).groupby(["town", "sex"]).size().rename("count").reset_index()
    with pytest.raises((ParameterError, SchemaError)) as refused:
        release(people(), [good, bad], journal=tmp_path / "journal")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "journal").exists()


def test_what_is_known_of_an_open_column_is_refused():
    kinds = {"town": "categorical", "sex": "categorical", "age": "integer", "job": "categorical"}
    with pytest.raises(SchemaError, match="whose levels or bins are still to be learnt; declare"):
        synthdp.synthesize(people(), kinds=kinds, epsilon=1.0, delta=1e-6, known=LIST)


def test_rules_that_contradict_totals_are_refused():
    table = people()
    rule = {"forbid": {"age": {"maximum": 17}, "job": ["y", "z"]}}
    schema = SCHEMA | {"synthdp": SCHEMA["synthdp"] | {"constraints": [rule]}}
    wrong = pd.DataFrame(
        {"age group": ["young", "young", "old"], "job": ["x", "y", "x"], "count": [1, 1, 1]}
    )
    more = pd.DataFrame({"age group": ["old"], "job": ["z"], "count": [0]})
    known = pd.concat([wrong, more])
    with pytest.raises(ParameterError, match="that a rule on 'age', 'job' forbids"):
        synthdp.synthesize(table, schema, epsilon=1.0, delta=1e-6, known=known)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"town": TOWNS, "count": [1, 1, 1, 1]}, "known is a dict; make a table of it"),
        (7, "known is a int; make a pandas.DataFrame"),
        (LIST["count"], "known is a pandas.Series; make a table of it"),
        (pl.DataFrame(LIST).lazy(), "known is a polars.LazyFrame; collect it"),
    ],
    ids=["mapping", "number", "series", "lazy"],
)
def test_what_is_no_table_says_what_to_give(known, said):
    with pytest.raises(ParameterError, match=said):
        known_marginals(known, OpenSchema.from_dict(SCHEMA), "known")


@pytest.mark.parametrize("kind", [pl.DataFrame, pa.Table.from_pandas])
def test_tables_of_other_libraries_are_read_alike(kind):
    schema = OpenSchema.from_dict(SCHEMA)
    (of_pandas,) = known_marginals(LIST, schema, "known")
    for given in (kind(LIST), [kind(LIST)]):
        (found,) = known_marginals(given, schema, "known")
        assert found.stated() == of_pandas.stated()


def test_totals_of_more_records_than_can_be_drawn_are_refused(tmp_path):
    many = LIST.assign(count=10**10)
    with pytest.raises(ParameterError, match="its counts sum to 40,000,000,000, and at most"):
        release(people(), many, journal=tmp_path / "journal")
    assert not (tmp_path / "journal").exists()
    with pytest.raises(ParameterError, match="its counts sum to 40,000,000,000, and at most"):
        synthdp.plan_measurements(SCHEMA, epsilon=1.0, delta=1e-6, known=many)


def test_totals_of_other_records_are_said_to_be():
    table = people()
    with pytest.warns(CautionWarning, match="they are of 150,000 records, and there are about 1,"):
        release(table, LIST.assign(count=100 * LIST["count"]))
    for known in (LIST, LIST.assign(count=LIST["count"] / 1500).rename(columns={"count": "share"})):
        cautions = release(table, known).certificate["cautions"]
        assert not [each for each in cautions if "published totals" in each]


def _under(*rules):
    return SCHEMA | {"synthdp": SCHEMA["synthdp"] | {"constraints": list(rules)}}


SOME = {
    "towns": pd.DataFrame({"town": TOWNS, "count": [600, 400, 300, 200]}),
    "jobs": pd.DataFrame({"job": ["x", "y", "z"], "count": [900, 300, 300]}),
}
IMPOSSIBLE = {
    "a rule with a column that is not published": (
        ["towns"],
        [{"forbid": {"town": ["a"], "age": {"maximum": 99}}}],
        "that a rule on 'town', 'age' forbids",
    ),
    "a rule with two more columns": (
        ["towns", "jobs"],
        # The 500 of towns c and d would all have job z, which 300 have.
        [{"forbid": {"town": ["c", "d"], "job": ["x", "y"], "age": {"maximum": 99}}}],
        "towns, jobs and the rules contradict each other",
    ),
    "rules that meet in a column that is not published": (
        ["towns", "jobs"],
        [
            {"forbid": {"town": ["a", "b"], "age": {"minimum": 18}}},
            {"forbid": {"job": ["y", "z"], "age": {"maximum": 17}}},
        ],
        "towns, jobs and the rules contradict each other",
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_totals_that_rules_make_impossible_are_refused_before_anything_is_paid(name, tmp_path):
    known, rules, said = IMPOSSIBLE[name]
    with pytest.raises(ParameterError) as refused:
        synthdp.synthesize(
            people(),
            _under(*rules),
            epsilon=1.0,
            delta=1e-6,
            known=[SOME[n] for n in known],
            journal=tmp_path / "journal",
        )
    assert said.replace("towns, jobs", "known[0], known[1]") in str(refused.value)
    assert not (tmp_path / "journal").exists()


def test_packages_and_orders_take_no_totals(tmp_path):
    table = people().assign(id=1, turn=1)
    with pytest.raises(ParameterError, match="known does not go with order"):
        release(table, LIST, unit="id", max_rows_per_unit=2, order="turn")
    with pytest.raises(DataFileError, match="cannot be read: there is no such file"):
        release(people(), tmp_path / "none.csv")


def test_a_hierarchy_is_kept_by_the_schema():
    schema = OpenSchema.from_dict(SCHEMA)
    assert OpenSchema.from_dict(schema.to_dict()) == schema
    assert schema.resolved({}).to_dict()["synthdp"]["hierarchy"] == HIERARCHY
    known = known_marginals(pd.DataFrame({"country": ["all"], "count": [7]}), schema, "known")
    assert known[0].clique == ("town",)
    assert known[0].coarsening.groups["town"].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("hierarchy", "said"),
    [
        ({"r": {"of": "nowhere", "groups": {}}}, "which is no column and no level"),
        ({"sex": {"of": "town", "groups": {}}}, "a column has that name"),
        ({"r": {"of": "town", "groups": {"n": ["a"], "s": ["a"]}}}, "in two groups"),
        ({"r": {"of": "town", "groups": {"n": "a"}}}, "give a list"),
        ({"r": {"of": "town", "group": {}}}, "is not known; did you mean"),
        ({"r": {"of": "r", "groups": {}}}, "which is no column and no level"),
        ([], "give an object of levels"),
    ],
)
def test_a_hierarchy_that_is_none_is_refused(hierarchy, said):
    with pytest.raises(SchemaError, match=said):
        OpenSchema.from_dict({"fields": FIELDS, "synthdp": {"hierarchy": hierarchy}})


@pytest.mark.usefixtures("one_run")
@pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")
def test_a_run_with_totals_tells_nothing_of_the_records_but_its_answers(tmp_path, monkeypatch):
    published = [LIST, totals(people(), "region", "age group", "sex")]
    tables = {"given": people(), "none": people(0), "others": people(700, 5)}

    def run(place, table):
        monkeypatch.chdir(place)
        return of_call(lambda: release(table, published, journal="journal"), place)

    assert differences(replayed(tmp_path, "journal", run, tables)) == []


def test_a_journal_is_of_its_totals(tmp_path):
    table = people()
    release(table, LIST, journal=tmp_path / "journal")
    with pytest.raises(ParameterError, match="it is of another run: known"):
        release(table, totals(table, "sex"), journal=tmp_path / "journal")
