"""Packages: what they say, and one clear line for each that contradicts itself."""

import json
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from helpers.families import description, field, link

from synthdp.cli import package_facts, package_text
from synthdp.core import DataFileError, SchemaError
from synthdp.linked import LinkedView, Package, views_of
from synthdp.schema import is_package


def changed(change):
    content = deepcopy(description())
    change({each["name"]: each for each in content["resources"]}, content)
    return content


def test_tables_come_parents_first_with_their_keys():
    package = Package.from_dict(description())
    assert [table.name for table in package.tables] == ["homes", "people", "pets", "visits"]
    assert [table.parent for table in package.tables] == [None, "homes", "homes", "people"]
    assert package["visits"].parent_key == ("home", "number")
    assert [table.name for table in package.ancestors("visits")] == ["homes", "people"]
    assert Package.from_dict(package.content).tables == package.tables


def test_views_have_what_is_above_beside_and_own():
    views = views_of(Package.from_dict(description()))
    assert list(views) == [
        "homes",
        "people",
        "later people",
        "pets",
        "later pets",
        "visits",
        "later visits",
    ]
    later = views["later people"]
    assert later.ancestors == ("homes.place", "number of people", "number of pets")
    assert list(later.siblings) == ["other people.sex", "other people.job"]
    assert later.drawn == ("people.sex", "people.job", "number of visits")
    assert later.schema.names == (*later.ancestors, *later.siblings, *later.drawn)


@pytest.mark.parametrize(
    ("bounds", "is_later", "grid"),
    [((3, 2), False, 6), ((3, 2), True, 6), ((4, 5), True, 12 * 12), ((40, 40), True, 2**14)],
)
def test_weights_of_a_family_sum_to_the_grid_at_most(bounds, is_later, grid):
    package = Package.from_dict(description(people=bounds[0], visits=bounds[1]))
    view = LinkedView(package, package["visits"], is_later=is_later)
    assert view.grid == grid
    ways = np.arange(1, bounds[0] * bounds[1] + 1)
    units = dict(
        zip(ways.tolist(), np.array(view.weights)[view.class_of(ways)].tolist(), strict=True)
    )
    last = range(1, bounds[1]) if is_later else [1]
    for people in range(1, bounds[0] + 1):
        assert people * max(n * units[people * n] for n in last) <= view.grid
        assert min(units[people * n] for n in last) > 0


def _public_town(by_name, content):
    by_name["homes"]["schema"]["fields"].append({"name": "town", "type": "string"})
    by_name["homes"]["schema"]["foreignKeys"] = [link("town", "towns", "code")]
    content["resources"].append(
        {"name": "towns", "schema": {"fields": [{"name": "code"}]}, "synthdp": {"public": True}}
    )


def test_columns_that_refer_to_public_tables_have_their_keys_as_levels():
    content = changed(_public_town)
    package = Package.from_dict(content, lambda _: pd.DataFrame({"code": ["B", "A", "B"]}))
    assert package.root.schema["town"].levels == ("A", "B")
    assert package.lookups == {"towns": ""}
    assert Package.from_dict(package.content).root.schema["town"].levels == ("A", "B")
    with pytest.raises(SchemaError, match="'towns': column 'town' refers to it"):
        Package.from_dict(content)


BAD = {
    "resources is not given; give a list of tables": lambda _, c: c.pop("resources"),
    r"resources\[3\].name is 'a.b'; give a name without dots": lambda r, _: r["pets"].update(
        name="a.b"
    ),
    "two resources": lambda r, _: r["pets"].update(name="people"),
    "schema is not given; give an object with a list of fields": lambda r, _: r["pets"].pop(
        "schema"
    ),
    "refers to 'cars'": lambda r, _: r["pets"]["schema"].update(
        foreignKeys=[link("owner", "cars", "id")]
    ),
    "has 1 columns and refers to 2": lambda r, _: r["visits"]["schema"].update(
        foreignKeys=[link("home", "people", ["home", "number"])]
    ),
    "two protected parents": lambda r, _: r["pets"]["schema"]["foreignKeys"].append(
        link(["owner", "kind"], "people", ["home", "number"])
    ),
    "two protected parents, 'homes', 'homes'": lambda r, _: r["pets"]["schema"][
        "foreignKeys"
    ].append(link("kind", "homes", "home")),
    "rows of the table itself": lambda r, _: r["pets"]["schema"].update(
        foreignKeys=[link("kind", "", "owner")]
    ),
    "refer to no other": lambda r, c: (r["pets"]["schema"].pop("foreignKeys"), c.pop("synthdp")),
    "not linked to the root": lambda r, _: r["pets"]["schema"].pop("foreignKeys"),
    "form a circle": lambda r, c: (
        r["homes"]["schema"].update(foreignKeys=[link("home", "pets", "owner")]),
        c.pop("synthdp"),
    ),
    "is the root, but refers to": lambda _, c: c.update(synthdp={"root": "pets"}),
    "no protected table": lambda _, c: c.update(synthdp={"root": "cars"}),
    "whose primaryKey is not that": lambda r, _: r["pets"]["schema"].update(
        foreignKeys=[link("owner", "homes", "place")]
    ),
    "no primaryKey": lambda r, _: r["people"]["schema"].pop("primaryKey"),
    "which is no column": lambda r, _: r["pets"]["schema"].update(primaryKey="tag"),
    "max_children is not given": lambda r, _: r["pets"].pop("synthdp"),
    "max_children is 0": lambda r, _: r["pets"].update(synthdp={"max_children": 0}),
    "min_children is 3; give a whole number from 0 to 2": lambda r, _: r["pets"]["synthdp"].update(
        min_children=3
    ),
    "order is 'age'": lambda r, _: r["pets"]["synthdp"].update(order="age"),
    "orders rows, but may be missing": lambda r, _: (
        r["pets"]["schema"]["fields"][1]["constraints"].pop("required"),
        r["pets"]["synthdp"].update(order="kind"),
    ),
    "did you mean 'max_children'": lambda r, _: r["pets"]["synthdp"].update(maxchildren=3),
    "neither at_least nor at_most": lambda r, _: r["pets"]["synthdp"].update(
        limits=[{"where": {"kind": ["cat"]}}]
    ),
    "a limit names 'age'": lambda r, _: r["pets"]["synthdp"].update(
        limits=[{"where": {"age": [1]}, "at_most": 1}]
    ),
    "limits are for other tables": lambda r, _: r["homes"].update(synthdp={"order": "place"}),
    "table 'later people': later rows of 'people' are called so, too": lambda r, _: r[
        "pets"
    ].update(name="later people"),
    "give a file in the folder of the package": lambda r, _: r["pets"].update(path="../pets.csv"),
}


@pytest.mark.parametrize("said", BAD)
def test_packages_that_contradict_themselves_are_refused_in_one_line(said):
    with pytest.raises(SchemaError, match=said) as refused:
        views_of(Package.from_dict(changed(BAD[said])))
    assert str(refused.value).startswith("package: ")
    assert "\n" not in str(refused.value)


def test_roots_that_are_called_as_later_rows_are_refused():
    content = description()
    renamed = json.loads(json.dumps(content).replace('"homes"', '"later people"'))
    with pytest.raises(SchemaError, match="later rows of 'people' are called so"):
        views_of(Package.from_dict(renamed))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            {"forbid": {"cars.kind": ["x"], "homes.place": ["town"]}},
            "'cars', which is no protected table",
        ),
        (
            {"forbid": {"pets.kind": ["cat"], "people.sex": ["F"]}},
            "of which none hangs on all others",
        ),
        (
            {"forbid": {"other people.sex": ["F"], "homes.place": ["town"]}},
            "'other people.sex' and no column of the row itself.*column of 'people'",
        ),
        ({"check": "`other people.age` <= 90"}, "no column of the row itself"),
        (
            {"forbid": {"other homes.place": ["town"], "homes.place": ["land"]}},
            "'other homes.place', but only rows of one parent stand beside each other",
        ),
        (
            {"forbid": {"other people.sex": ["F"], "visits.why": ["ill"]}},
            "'other people.sex', but only rows of one parent stand beside each other",
        ),
        ({"forbid": {"kind": ["cat"]}}, "name columns as table.column"),
        ({"forbid": {"pets.kind": ["cow"], "homes.place": ["town"]}}, "cow"),
        ({}, "names no column"),
    ],
)
def test_rules_that_do_not_fit_are_refused(rule, said):
    content = description()
    content["synthdp"]["constraints"] = [rule]
    with pytest.raises(SchemaError, match=said):
        views_of(Package.from_dict(content))


def test_files_are_read_with_their_schemas(tmp_path):
    content = description()
    (tmp_path / "pets.schema.json").write_text(json.dumps(content["resources"][3]["schema"]))
    content["resources"][3]["schema"] = "pets.schema.json"
    (tmp_path / "datapackage.json").write_text(json.dumps(content))
    assert Package.load(tmp_path / "datapackage.json")["pets"].max_children == 2
    assert is_package(content)
    assert not is_package(field("a", "b"))
    with pytest.raises(DataFileError):
        Package.load(tmp_path / "nowhere.json")


def test_tables_whose_rows_may_hang_on_several_roots_are_named():
    assert package_facts(Package.from_dict(description()), epsilon=None, delta=None)["shared"] == []
    content = description()
    content["resources"][1]["schema"]["primaryKey"] = "number"
    content["resources"][2]["schema"]["foreignKeys"] = [link("number", "people", "number")]
    content["resources"][2]["schema"]["synthdp"] = {"ignore": ["home"]}
    facts = package_facts(Package.from_dict(content), epsilon=None, delta=None)
    assert facts["shared"] == ["people"]
    said = package_text(facts)
    assert "whoever is below two of them is two" in said
    assert "the key of 'people' does not hold that of the table above" in said
