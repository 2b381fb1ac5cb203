"""Generated columns in what is drawn: in their places, repeatable, unique, and with nothing of the
records in them.
"""

import gc
import json
import sys

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from helpers.reach import reachable

import synthdp
from synthdp.core import LinearMeasurement, MissingExtraError, ParameterError, SchemaError
from synthdp.data import HeldTableReader, held_rows
from synthdp.release import Release, RunSettings, load
from synthdp.schema import OpenSchema

held_table = home(HeldTableReader)
release = home(Release)

HOUSES = {"name": "house", "type": "string", "constraints": {"enum": ["a", "b", "c"]}}
AGE = {
    "name": "age",
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 9, "required": True},
}
FIELDS = [
    {"name": "id", "type": "id", "pattern": "P{:03d}"},
    HOUSES,
    {"name": "mail", "type": "email", "locale": "de_DE"},
    AGE,
    {"name": "number", "type": "id", "start": 0, "per": "house"},
    {"name": "code", "type": "id", "pattern": "uuid"},
]
NAMES = [field["name"] for field in FIELDS]
CANARY = "Quetzalcoatl"


def synthesis_of(*fields, **more):
    schema = {"fields": list(fields or FIELDS), **more}
    counts = LinearMeasurement(("house", "age"), np.arange(40.0).reshape(4, 10), 1.0)
    return synthdp.from_measurements(schema, [counts], engine="direct")


@pytest.fixture(scope="module")
def synthesis():
    return synthesis_of()


@pytest.mark.parametrize("text", [False, True])
def test_columns_are_in_their_places_with_dtypes_that_rows_do_not_change(text, synthesis):
    table, empty = synthesis.sample(7, seed=1, text=text), synthesis.sample(0, seed=1, text=text)
    assert list(table.columns) == NAMES
    assert table["id"].tolist() == [f"P{number:03d}" for number in range(1, 8)]
    assert (table.dtypes == empty.dtypes).all()
    assert table["number"].dtype == (object if text else np.int64)
    assert table["id"].dtype == table["mail"].dtype == (object if text else pd.Series(["x"]).dtype)
    if text:
        assert all(type(value) is str for name in NAMES for value in table[name])


def test_the_same_seed_gives_the_same_and_texts_are_those_of_values(synthesis):
    first, texts = synthesis.sample(200, seed=5), synthesis.sample(200, seed=5, text=True)
    pd.testing.assert_frame_equal(first, synthesis.sample(200, seed=5))
    for name in ("id", "mail", "code", "number"):
        assert first[name].astype(str).tolist() == texts[name].tolist()
    other = synthesis.sample(200, seed=6)
    assert set(first["code"]).isdisjoint(other["code"])
    assert first["id"].tolist() == other["id"].tolist()  # every draw begins again


def test_tables_of_many_columns_are_put_together_without_a_word(synthesis):
    table = pd.DataFrame({f"town {i}": ["a", "b"] for i in range(150)})
    whole = synthesis.schema.generated.completed(table.assign(house="a"), seed=0, stated={})
    assert whole.shape == (2, 155)


def test_the_second_name_and_mail_are_of_another_person():
    names = {
        "patient": "name",
        "mail": "email",
        "doctor": "name",
        "her mail": "email",
        "french": "name",
    }
    locales = {"french": "fr_FR"}
    fakes = [
        {"name": name, "type": kind, "locale": locales.get(name, "de_DE")}
        for name, kind in names.items()
    ]
    table = synthesis_of(*fakes, HOUSES, AGE).sample(50, seed=2)
    for who, mail in (("patient", "mail"), ("doctor", "her mail")):
        shared = [
            name[0].lower() == address[0]
            for name, address in zip(table[who], table[mail], strict=True)
        ]
        assert np.mean(shared) > 0.9
    assert (table["patient"] != table["doctor"]).sum() > 40


def test_the_rest_is_drawn_as_without_them(synthesis):
    plain = synthesis_of(HOUSES, AGE)
    pd.testing.assert_frame_equal(
        synthesis.sample(50, seed=3)[["house", "age"]], plain.sample(50, seed=3)
    )


@pytest.mark.parametrize("text", [False, True])
def test_a_composite_key_is_unique_in_every_sample(text):
    person = {"name": "person", "type": "id", "pattern": "{:02d}"}
    found = synthesis_of(person, HOUSES, AGE, primaryKey=["house", "age", "person"])
    table = found.sample(3000, seed=0, text=text)
    assert not table.duplicated(["house", "age", "person"]).any()
    assert table["house"].isna().any() or (table["house"] == "").any()  # a household of its own
    within = table.groupby(["house", "age"], dropna=False)["person"]
    assert (within.nunique() == within.size()).all()
    assert table["person"].nunique() == within.size().max()


def test_where_cannot_name_them_and_leaves_them_in(synthesis):
    with pytest.raises(ParameterError, match="where: the values of 'id' are generated, not drawn"):
        synthesis.sample(5, where={"id": ["P001"]})
    table = synthesis.sample(5, where={"house": ["a"]}, seed=0)
    assert (list(table.columns), set(table["house"]), table["id"].iloc[-1]) == (
        NAMES,
        {"a"},
        "P005",
    )


def test_given_ids_stay_as_they_are(synthesis):
    table = synthesis.sample(given={"id": ["x", "x"], "age": [3, 4]}, seed=0)
    assert (table["id"].tolist(), table["age"].tolist(), list(table.columns)) == (
        ["x", "x"],
        [3, 4],
        NAMES,
    )
    assert synthesis.sample(given={"id": [None, 7]}, seed=0)["id"].tolist() == ["P001", 7]
    alone = synthesis.sample(given={"id": [7.0, None, "z"]}, seed=0, text=True)
    assert (alone["id"].tolist(), len(alone)) == (["7", "P002", "z"], 3)
    inside = synthesis.sample(given={"id": ["y"] * 4}, where={"house": ["b"]}, seed=0)
    assert (set(inside["id"]), set(inside["house"])) == ({"y"}, {"b"})
    with pytest.raises(SchemaError, match="given: there is no column 'town'"):
        synthesis.sample(given={"id": ["x"], "town": ["y"]})


def test_given_ids_that_break_the_key_are_refused():
    found = synthesis_of(*FIELDS, primaryKey="id")
    assert found.sample(given={"id": ["x", "y"]})["id"].tolist() == ["x", "y"]
    with pytest.raises(
        ParameterError,
        match="given: its values make two rows alike in primaryKey 'id'; correct them",
    ):
        found.sample(given={"id": ["x", "x"]})


@pytest.mark.parametrize("text", [False, True])
def test_ids_are_filled_with_none_that_was_given(text, synthesis):
    keyed = synthesis_of(*FIELDS, primaryKey="id")
    for found in (keyed, synthesis):
        ids = found.sample(given={"id": ["P002", None, "P001", None, "z", ""]}, seed=0, text=text)[
            "id"
        ].tolist()
        assert ids == ["P002", "P003", "P001", "P004", "z", "P006"]  # of rows 1, 3 and 5
    numbers = [2.0, None, 1.0, 0.0, None]
    houses = ["a", "a", "a", "b", "b"]
    table = synthesis.sample(given={"number": numbers, "house": houses}, seed=0, text=text)
    assert table["number"].astype(int).tolist() == [2, 0, 1, 0, 1]
    many = synthesis.sample(
        given={"id": [f"P{i:03d}" for i in range(50, 0, -1)] + [None] * 50}, seed=0, text=text
    )
    assert many["id"].is_unique


def test_a_saved_model_generates_the_same(tmp_path):
    found = synthesis_of(*FIELDS, primaryKey=["house", "number"])
    found.save(tmp_path / "m.synthdp")
    restored = load(tmp_path / "m.synthdp")
    assert restored.schema == found.schema
    pd.testing.assert_frame_equal(restored.sample(20, seed=1), found.sample(20, seed=1))


def test_they_are_in_the_certificate_as_generated_and_nowhere_in_the_model(synthesis):
    facts = synthesis.certificate["schema"]
    kinds = {"id": "id", "mail": "email", "number": "id", "code": "id"}
    assert facts["generated"] == [{"name": name, "kind": kind} for name, kind in kinds.items()]
    assert [column["name"] for column in facts["columns"]] == ["house", "age"]
    assert synthesis.model.domain.attributes == ("house", "age")
    assert repr(synthesis).startswith("<Synthesis of 6 columns")
    assert "generated" not in synthesis_of(HOUSES, AGE).certificate["schema"]


def frame_of(n_rows=400):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(10, size=n_rows),
            "id": [f"{CANARY}{i}" for i in range(n_rows)],
            "house": rng.choice(["a", "b"], n_rows),
            "mail": [f"{CANARY}@{i}.net" for i in range(n_rows)],
        }
    )


KINDS = {"id": "id", "mail": "email", "house": "categorical", "age": "integer"}


def test_nothing_of_the_records_is_in_them(tmp_path):
    frame = frame_of()
    found = synthdp.synthesize(
        frame,
        OpenSchema.from_kinds(KINDS),
        epsilon=5,
        delta=1e-6,
        mechanism="independent",
        engine="direct",
    )
    found.save(tmp_path / "m.synthdp")
    table = found.sample(400, seed=0)
    assert list(table.columns) == list(frame.columns)
    assert table["id"].tolist() == list(range(1, 401))
    del frame
    gc.collect()
    assert not is_told(found, table)
    assert CANARY not in json.dumps(found.certificate) + table.to_csv()


def is_told(*things):
    """Whether a text that can be reached from things holds a real id; keys of dicts and arrays are
    no referents.
    """
    texts = []
    for thing in reachable(*things):
        inner = (
            thing
            if isinstance(thing, dict)
            else thing.ravel()
            if isinstance(thing, np.ndarray)
            else [thing]
        )
        texts += [text for text in inner if isinstance(text, str | bytes)]
    return any(CANARY in str(text) for text in texts)


def test_rows_that_are_held_hold_nothing_of_them():
    held = [
        held_rows(frame_of(), OpenSchema.from_kinds(KINDS | more))
        for more in ({}, {"mail": "categorical"})
    ]
    assert [is_told(each) for each in held] == [False, True]  # the second reads them


def test_the_codes_of_rows_are_the_same_whatever_the_ids(monkeypatch):
    coded = []
    monkeypatch.setattr(
        held_table,
        "source_of",
        lambda table, _: coded.append(table) or (_ for _ in ()).throw(KeyError),
    )
    schema = {"fields": [*FIELDS[:2], {"name": "mail", "type": "email"}, AGE]}
    for frame in (
        frame_of(),
        frame_of().assign(id=1, mail=None),
        frame_of().drop(columns=["id", "mail"]),
    ):
        with pytest.raises(KeyError):
            synthdp.synthesize(frame, schema, epsilon=1, delta=1e-6)
    for other in coded[1:]:
        assert [codes.tolist() for codes in other.columns] == [
            codes.tolist() for codes in coded[0].columns
        ]


def test_what_cannot_be_generated_is_told_before_anything_is_paid_for(monkeypatch):
    kinds = {"mail": {"type": "email", "locale": "xx_XX"}, "age": "integer"}
    for expected in (SchemaError, MissingExtraError):
        with pytest.raises(expected):
            release.Release(
                schema=OpenSchema.from_kinds(kinds),
                settings=RunSettings(
                    epsilon=1, delta=1e-6, mechanism="mst", adjacency="add-remove"
                ),
            )
        monkeypatch.setitem(sys.modules, "faker", None)
