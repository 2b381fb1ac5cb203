"""One door for data of any kind: what was given says what comes back, and what does not go together is refused."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import synthdp
from synthdp.core import ParameterError, SchemaError
from synthdp.linked import Package

RUN = {"epsilon": 10.0, "delta": 1e-6, "mechanism": "independent", "engine": "graphical-model"}
YES = {"type": "boolean", "constraints": {"required": True}}
YEAR = {
    "name": "year",
    "type": "integer",
    "constraints": {"minimum": 1, "maximum": 2, "required": True},
}
SCHEMA = {"fields": [YEAR, {"name": "ill", **YES}]}
PACKAGE = {
    "resources": [
        {
            "name": "homes",
            "path": "homes.csv",
            "schema": {
                "fields": [{"name": "id", "type": "integer"}, {"name": "rents", **YES}],
                "primaryKey": "id",
            },
        },
        {
            "name": "people",
            "path": "people.csv",
            "schema": {
                "fields": [{"name": "home"}, {"name": "smokes", **YES}],
                "foreignKeys": [
                    {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
                ],
            },
            "synthdp": {"max_children": 2},
        },
    ]
}
PERSONS = {"unit": "person", "max_rows_per_unit": 2}
ONE_TABLE = {
    "kinds": "dtypes",
    "dialect": "excel",
    "workload": "1-way",
    "target": "rents",
    "adjacency": "replace-one",
}


def visits():
    persons = np.repeat(np.arange(300), 2)
    return pd.DataFrame({"person": persons, "year": [1, 2] * 300, "ill": persons % 2 == 0})


def homes():
    ids = np.arange(300)
    return {
        "homes": pd.DataFrame({"id": ids, "rents": ids % 2 == 0}),
        "people": pd.DataFrame({"home": ids, "smokes": ids % 2 == 0}),
    }


@pytest.fixture
def package(tmp_path):
    for name, table in homes().items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "datapackage.json").write_text(json.dumps(PACKAGE))
    return tmp_path / "datapackage.json"


def test_a_table_gives_a_synthesis_and_with_an_order_histories():
    one = synthdp.synthesize(visits(), SCHEMA, **PERSONS, **RUN)
    other = synthdp.synthesize(visits(), SCHEMA, **PERSONS, order="year", **RUN)
    assert isinstance(one, synthdp.Synthesis)
    assert isinstance(other, synthdp.HistorySynthesis)


def test_tables_by_name_give_a_linked_synthesis_however_the_package_is_given(package):
    for described in (PACKAGE, Package.from_dict(PACKAGE), package, str(package)):
        found = synthdp.synthesize(homes(), described, **RUN)
        assert isinstance(found, synthdp.LinkedSynthesis)
        assert list(found.tables) == ["homes", "people"]
    assert isinstance(synthdp.synthesize(package, **RUN), synthdp.LinkedSynthesis)
    assert isinstance(synthdp.synthesize(str(package), **RUN), synthdp.LinkedSynthesis)


def test_evaluation_takes_one_table_or_those_of_a_package(package):
    of_a_table = synthdp.evaluate(visits(), visits(), targets=[])
    assert isinstance(of_a_table, synthdp.TableEvaluation)
    _offers_what_every_evaluation_does(of_a_table)
    for real, described in ((homes(), PACKAGE), (package, None)):
        found = synthdp.evaluate(real, real, described)
        assert isinstance(found, synthdp.LinkedEvaluation)
        _offers_what_every_evaluation_does(found)
        assert not any(found.broken_links.values())
    with pytest.raises(ParameterError, match="targets is for one table; leave it out"):
        synthdp.evaluate(homes(), homes(), PACKAGE, targets=["rents"])


def _offers_what_every_evaluation_does(evaluation):
    assert isinstance(evaluation, synthdp.Evaluation)
    assert len(evaluation.summary)
    assert evaluation.summary_text.startswith("NOT PRIVATE")
    assert "NOT PRIVATE" in evaluation._repr_html_()
    assert evaluation.to_dict()["facts"] == dict(evaluation.facts)
    assert evaluation.to_html().startswith("<!")


@pytest.mark.parametrize("name", ONE_TABLE)
def test_what_is_for_one_table_is_refused_of_a_package(name):
    with pytest.raises(ParameterError, match=f"^{name} is ") as refused:
        synthdp.synthesize(homes(), PACKAGE, **RUN, **{name: ONE_TABLE[name]})
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("kept", [{"order": "year"}, {"together": True}])
@pytest.mark.parametrize("name", [name for name in ONE_TABLE if name != "dialect"])
def test_what_does_not_go_with_whole_persons_is_refused(name, kept):
    with pytest.raises(ParameterError, match=f"^{name} ") as refused:
        synthdp.synthesize(visits(), SCHEMA, **PERSONS, **kept, **RUN, **{name: ONE_TABLE[name]})
    assert next(iter(kept)) in str(refused.value)


@pytest.mark.parametrize(
    ("data", "schema", "options", "said"),
    [
        (homes(), None, {}, "data is a mapping, .* give it as schema, or one table as data"),
        (homes()["homes"], PACKAGE, {}, "data is one table, and schema a package; give its tables"),
        (homes(), PACKAGE, PERSONS, "unit is for one table"),
        ("datapackage.json", SCHEMA, {}, "schema is for one table; leave it out for a package"),
        (visits(), None, PERSONS | {"order": "year"}, "neither schema nor kinds is given"),
        (visits(), SCHEMA, {"order": "year"}, "order is given without unit"),
    ],
)
def test_what_cannot_be_meant_is_one_line(data, schema, options, said):
    with pytest.raises(ParameterError, match=said) as refused:
        synthdp.synthesize(data, schema, **RUN, **options)
    assert len(str(refused.value).splitlines()) == 1


def test_a_synthesizer_takes_what_the_door_takes():
    linked = synthdp.Synthesizer(PACKAGE, **RUN).fit(homes())
    assert linked.sample(5, seed=0)["homes"].shape == (5, 2)
    ordered = synthdp.Synthesizer(SCHEMA, **PERSONS, order="year", **RUN).fit(visits())
    assert ordered.sample(5, seed=0)["person"].nunique() == 5


def test_a_run_of_one_table_loads_nothing_of_linked_ones():
    program = f"""
import sys, warnings
import pandas as pd
import synthdp
warnings.simplefilter("ignore")
table = pd.DataFrame({{"year": [1, 2] * 100, "ill": [True, False] * 100}})
synthdp.synthesize(table, {SCHEMA!r}, epsilon=1.0, delta=1e-6, mechanism="independent")
print(*(name for name in sys.modules if name.startswith("synthdp.linked.")))
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == {
        "synthdp.linked.doors",
        "synthdp.linked.doors.synthesize",
    }


def test_one_table_with_the_description_of_a_package_is_told_what_to_give(tmp_path):
    path = tmp_path / "datapackage.json"
    path.write_text(json.dumps(PACKAGE), encoding="utf-8")
    table = pd.DataFrame({"year": [1, 2], "ill": [True, False]})
    with pytest.raises(SchemaError, match=r"package of tables.*give tables by name"):
        synthdp.synthesize(table, path, **RUN)
