"""Columns that are the same in all rows of a person: so they are in what is drawn."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.failing_runs import fail_once_learnt

import synthdp
from synthdp.cli import run
from synthdp.core import ParameterError, SchemaError
from synthdp.linked import HistorySynthesis
from synthdp.release import LearntDomain, check_combined

N, MOST = 400, 4


def frame(seed=0):
    """Visits of persons of two sexes, born in some year; those of women cost more."""
    rng = np.random.default_rng(seed)
    number = rng.integers(1, MOST + 1, N)
    who = np.repeat(np.arange(N), number)
    sex, born = rng.choice(["f", "m"], N), rng.integers(1930, 2000, N)
    return pd.DataFrame(
        {
            "visit": np.arange(len(who)) - np.repeat(np.cumsum(number) - number, number),
            "sex": sex[who],
            "person": who,
            "cost": rng.integers(0, 50, len(who)) + 50 * (sex[who] == "f"),
            "born": born[who],
        }
    )


def integer(name, least, most, **own):
    bounds = {"minimum": least, "maximum": most, "required": True}
    return {"name": name, "type": "integer", "constraints": bounds, **own}


def schema(rules=()):
    sexes = {"enum": ["f", "m"], "required": True}
    fields = [
        integer("visit", 0, MOST - 1),
        {"name": "sex", "type": "string", "constraints": sexes},
        integer("cost", 0, 99),
        integer("born", 1930, 1999),
    ]
    return {"fields": fields} | ({"synthdp": {"constraints": list(rules)}} if rules else {})


def release(constant=("sex", "born"), data=None, content=None, **settings):
    return synthdp.synthesize(
        frame() if data is None else data,
        schema() if content is None else content,
        **{
            "epsilon": 10,
            "delta": 1e-6,
            "unit": "person",
            "max_rows_per_unit": MOST,
            "constant": constant,
            "order": "visit",
            **settings,
        },
    )


@pytest.mark.parametrize("kept", [{"order": "visit"}, {"order": None, "together": True}])
def test_a_person_has_one_value_in_all_rows(kept):
    drawn = release(**kept).sample(N, seed=0)
    assert list(drawn) == list(frame())
    assert drawn.dtypes["born"].kind == "i"
    persons = drawn.groupby("person")
    assert persons.ngroups == N
    assert (persons[["sex", "born"]].nunique() == 1).all(axis=None)
    costs = drawn.groupby("sex")["cost"].mean()
    assert costs["f"] - costs["m"] > 35  # 50 in the records


def test_without_it_rows_of_a_person_contradict_each_other():
    drawn = release(constant=()).sample(N, seed=0)
    assert (drawn.groupby("person")["born"].nunique() > 1).mean() > 0.3


def test_values_are_learnt_of_persons(tmp_path):
    kinds = {"visit": "integer", "sex": "categorical", "cost": "integer", "born": "integer"}
    file = tmp_path / "visits.synthdp"
    synthdp.synthesize(
        frame(), kinds=kinds, epsilon=10, delta=1e-6, unit="person", max_rows_per_unit=MOST,
        together=True, constant=["sex", "born"],
    ).save(file)  # fmt: skip
    read = synthdp.load(file)
    assert isinstance(read, HistorySynthesis)
    assert read.tables == {"rows": tuple(frame())}
    drawn = read.sample(N, seed=0, text=True)
    assert (drawn.groupby("person")[["sex", "born"]].nunique() == 1).all(axis=None)
    assert {*drawn["sex"]} == {"f", "m"}


def test_marginals_are_of_columns_of_both():
    found = release()
    assert found.marginal(["sex"]).sum() == pytest.approx(N, rel=0.2)
    both = found.marginal(["sex", "cost"])
    assert both.index.names == ["sex", "cost"]
    assert both.sum() == pytest.approx(len(frame()), rel=0.2)
    with pytest.raises(ParameterError, match=r"there is no 'other sex'"):
        found.marginal(["other sex"])


def test_a_column_may_be_called_as_one_of_the_row_before_is():
    data, content = frame().rename(columns={"cost": "other visit"}), schema()
    content["fields"][2]["name"] = "other visit"
    found = release(data=data, content=content)
    assert found.marginal(["other visit"]).sum() == pytest.approx(len(data), rel=0.2)
    both = found.marginal(["other other visit", "other visit"])
    assert both.index.names == ["other other visit", "other visit"]
    assert both.sum() == pytest.approx(len(data) - N, rel=0.2)


def test_rules_hold_whose_columns_they_are_on():
    rules = [
        {"forbid": {"sex": ["m"], "born": {"maximum": 1949}}},
        {"check": "cost >= visit"},
        {"forbid": {"sex": ["f"], "visit": {"minimum": 3}}},
    ]
    found = release(content=schema(rules))
    package = found.linked.package
    assert [len(table.schema.rules) for table in package.tables] == [1, 1]
    assert package.rules == ({"forbid": {"persons.sex": ["f"], "rows.visit": {"minimum": 3}}},)
    drawn = found.sample(N, seed=0)
    assert not ((drawn["sex"] == "m") & (drawn["born"] <= 1949)).any()
    assert (drawn["cost"] >= drawn["visit"]).all()
    assert not ((drawn["sex"] == "f") & (drawn["visit"] >= 3)).any()


def test_where_records_have_several_values_one_rows_are_used():
    """A function of the person's rows and of the random key, whoever else is there."""
    data = frame()
    data.loc[:, "sex"] = np.where(data["visit"] % 2, "f", "m")
    drawn = release(data=data, epsilon=100).sample(N, seed=0)
    of_one = drawn.groupby("person")["sex"].nunique()
    assert (of_one == 1).all()
    assert 0.2 < (drawn.drop_duplicates("person")["sex"] == "f").mean() < 0.6


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"constant": ["sax"]},
            r"constant is 'sax', which the schema lacks; name one of 'visit', ",
        ),
        ({"constant": ["person"]}, r"constant is 'person', which the schema lacks"),
        ({"constant": ["visit"]}, r"constant is 'visit', which is order as well; leave out one"),
        (
            {"constant": ["sex", "born", "sex"]},
            r"constant names 'sex' twice; name each column once",
        ),
        ({"constant": None}, r"constant is None; give a list of the columns' names"),
        ({"constant": [3]}, r"constant is \[3\]; give a list of the columns' names"),
        ({"order": None}, r"constant is given without together or order: .*give one of them"),
        (
            {"order": None, "unit": None, "max_rows_per_unit": None},
            r"constant is given without together or order",
        ),
    ],
)
def test_what_no_person_can_have_is_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        release(**wrong)


def test_a_package_says_itself_what_persons_have():
    with pytest.raises(ParameterError, match="constant is for one table; leave it out for a pack"):
        check_combined("package", {"constant": ("sex",)})


def test_a_distance_from_a_column_of_persons_is_refused():
    content = schema()
    content["fields"][2]["synthdp"] = {"relative_to": "born"}
    with pytest.raises(SchemaError, match="relative_to"):
        release(content=content)


def test_one_name_is_a_list_of_one():
    assert release(constant="sex").linked.package["persons"].schema.names == ("sex",)


def test_what_was_learnt_is_handed_out_as_one_schema(monkeypatch):
    """Of a run that fails before a marginal was measured."""
    kept = []
    fail_once_learnt(monkeypatch)
    content = schema()
    content["fields"][1] = {"name": "sex", "type": "string", "synthdp": {"derive": True}}
    with pytest.raises(MemoryError):
        release(content=content, rescue=kept.append)
    (learnt,) = kept
    assert isinstance(learnt, LearntDomain)
    assert learnt.schema.names == ("visit", "sex", "cost", "born")
    assert not learnt.schema.is_open


def test_the_shell_takes_names_with_commas_between_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame().to_csv("visits.csv", index=False)
    Path("schema.json").write_text(json.dumps(schema()))
    words = ["run", "visits.csv", "-s", "schema.json", "-o", "drawn.csv", "--epsilon", "10"]
    words += ["--delta", "1e-6", "--unit", "person", "--max-rows-per-unit", str(MOST)]
    assert run([*words, "--constant", "sex"]) == 2
    assert "--constant is given without --together or --order" in capsys.readouterr().err
    assert run([*words, "--order", "visit", "--constant", "sex, born", "--save", "m.synthdp"]) == 0
    assert run(["sample", "m.synthdp", "-o", "more.csv", "--rows", "50"]) == 0
    for name in ("drawn.csv", "more.csv"):
        drawn = pd.read_csv(name)
        assert list(drawn) == list(frame())
        assert (drawn.groupby("person")[["sex", "born"]].nunique() == 1).all(axis=None)


@pytest.mark.parametrize("constant", [(), ("sex",)])
def test_a_column_that_hardly_ever_changes_is_said_to(constant):
    found = release(constant=constant, epsilon=30)
    said = [text for text in found.cautions if "--constant" in text]
    names = {text.split("'")[1] for text in said}
    assert ("sex" in names) == ("sex" not in constant)
    assert names <= {"sex", "born"}
    assert all("if it cannot change, name it in --constant (constant=)" in text for text in said)
    assert found.certificate["unit_of_privacy"].startswith("one person, or what else is told apart")


def test_what_orders_rows_is_not_said_to_be_constant():
    """It cannot be: `constant` refuses it."""
    data = frame()
    data["visit"] = data["person"] % MOST
    found = release(constant=(), data=data, epsilon=30)
    names = {text.split("'")[1] for text in found.cautions if "--constant" in text}
    assert "sex" in names
    assert "visit" not in names
    pair = found.marginal(["other visit", "visit"])
    assert pair[[row[0] == row[1] for row in pair.index]].sum() > 0.95 * pair.sum()


def test_columns_whose_pairs_no_model_tables_are_not_asked_whether_they_change():
    """They were once all was paid for, and the run was lost."""
    n_levels = 12_000  # their square is above what models answer
    places = {"enum": [f"p{place}" for place in range(n_levels)], "required": True}
    content = {"fields": [{"name": "place", "type": "string", "constraints": places}]}
    data = pd.DataFrame({"person": np.arange(90) // 2, "place": "p7"})
    found = release((), data, content, order=None, together=True, mechanism="independent")
    assert not [text for text in found.cautions if "--constant" in text]
    assert list(found.sample(9, seed=0)) == ["person", "place"]
