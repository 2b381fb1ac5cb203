"""How a schema and a kinds file say that a column is generated, and which key they may promise."""

import json
from hashlib import sha256

import pytest

from synthdp.core import SchemaError
from synthdp.schema import GENERATED_KINDS, OpenSchema, Schema

AGE = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
HOUSE = {"name": "house", "type": "string", "constraints": {"enum": ["a", "b"]}}
OPEN = {"name": "job", "type": "string", "synthdp": {"derive": True}}
ID = {"name": "id", "type": "string", "synthdp": {"kind": "id", "pattern": "P{:03d}", "start": 1}}
MAIL = {"name": "mail", "type": "string", "synthdp": {"kind": "email", "locale": "de_DE"}}


def schema_of(*fields, **more):
    return {"fields": list(fields), **more}


READ = {
    "Schema": Schema.from_dict,
    "open": lambda content: OpenSchema.from_dict(content | schema_of(*content["fields"], OPEN)),
}


@pytest.mark.parametrize("way", READ)
def test_generated_columns_are_none_of_the_model(way):
    schema = READ[way](schema_of(ID, AGE, MAIL, HOUSE))
    assert schema.names[:2] == ("age", "house")
    assert schema.generated.names == ("id", "mail")
    assert [field["name"] for field in schema.to_dict()["fields"]][:4] == [
        "id",
        "age",
        "mail",
        "house",
    ]
    assert type(schema).from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


def test_short_and_standard_forms_mean_the_same():
    short = [
        {"name": "id", "type": "id", "pattern": "P{:03d}"},
        {"name": "mail", "type": "email", "locale": "de_DE"},
    ]
    kinds = {
        "id": {"type": "id", "pattern": "P{:03d}"},
        "mail": {"type": "email", "locale": "de_DE"},
    }
    standard = Schema.from_dict(schema_of(ID, MAIL, AGE))
    assert Schema.from_dict(schema_of(*short, AGE)) == standard
    assert Schema.from_dict(standard.to_dict()).to_dict()["fields"][:2] == [ID, MAIL]
    assert OpenSchema.from_kinds(kinds | {"age": "integer"}).generated == standard.generated


def test_a_kind_alone_is_enough():
    schema = OpenSchema.from_kinds({kind: kind for kind in GENERATED_KINDS} | {"age": "integer"})
    assert schema.names == ("age",)
    fields = {field["name"]: field for field in schema.to_dict()["fields"]}
    assert fields["id"] == {"name": "id", "type": "integer", "synthdp": {"kind": "id", "start": 1}}
    assert fields["name"]["synthdp"] == {"kind": "name", "locale": "en_US"}


def test_what_others_say_of_a_column_is_no_contradiction():
    more = {
        "constraints": {"required": False, "unique": True, "enum": [], "minimum": None},
        "title": "T",
        "example": 7,
    }
    schema = Schema.from_dict(schema_of(ID | more, AGE))
    assert schema.to_dict()["fields"][0] == {**ID, "title": "T"}


def test_a_schema_without_any_keeps_its_fingerprint():
    schema = Schema.from_dict(schema_of(AGE))
    canonical = (
        b'{"fields":[{"constraints":{"maximum":9,"minimum":0},'
        b'"name":"age","synthdp":{"bins":10},"type":"integer"}],'
    )
    assert schema.fingerprint == sha256(canonical + b'"missingValues":[""]}').hexdigest()
    assert schema.fingerprint != Schema.from_dict(schema_of(AGE, ID)).fingerprint


OF_FIELDS = {
    "an unknown kind": (
        {"type": "string", "synthdp": {"kind": "ssn"}},
        "synthdp.kind is 'ssn'; give one of 'id', 'name'",
    ),
    "a kind that is read": (
        {"type": "string", "synthdp": {"kind": "integer"}},
        "synthdp.kind is 'integer'",
    ),
    "two kinds": (
        {"type": "id", "synthdp": {"kind": "name"}},
        "its type is 'id' but synthdp.kind is 'name'",
    ),
    "a foreign setting": (
        {"type": "id", "synthdp": {"locale": "de_DE"}},
        "'synthdp.locale' is not known for this kind",
    ),
    "derive": (
        {"type": "id", "synthdp": {"derive": True}},
        "'synthdp.derive' is not known for this kind of column; it may",
    ),
    "another name": (
        {"type": "email", "language": "de"},
        "'language' is not known for this kind of column; did you mean 'locale'?",
    ),
    "another name inside": (
        {"type": "string", "synthdp": {"kind": "id", "prefix": "P"}},
        "'synthdp.prefix' is not known for this kind of column; did you mean 'pattern'?",
    ),
    "an unknown key": (
        {"type": "id", "colour": 1},
        "'colour' is not known for this kind of column; it may have pattern, s",
    ),
    "a slip": (
        {"type": "id", "patern": "{:d}"},
        "'patern' is not known for this kind of column; did you mean 'pattern'",
    ),
    "both places": (
        {"type": "id", "start": 1, "synthdp": {"start": 1}},
        "'start' stands in the field and under synthdp",
    ),
    "the wrong place": (
        {"type": "string", "synthdp": {"kind": "id"}, "start": 5},
        "'start' is not known here; it belongs under synthdp",
    ),
    "levels": (
        {"type": "id", "constraints": {"enum": ["a"]}},
        "constraints.enum is for values that are read",
    ),
    "a bound": (
        {"type": "id", "constraints": {"minimum": 0}},
        "constraints.minimum is for values that are read",
    ),
    "reading": ({"type": "id", "missingValues": ["-"]}, "'missingValues' says how values are read"),
    "constraints": ({"type": "id", "constraints": []}, ""),
    "no constraints": ({"type": "id", "constraints": 7}, "constraints is 7; give an object"),
    "no object": ({"type": "id", "synthdp": 7}, "synthdp is 7; give an object"),
    "a number of names": (
        {"type": "number", "synthdp": {"kind": "name"}},
        "its values are texts, but its type is 'number'",
    ),
    "unique names": (
        {"type": "name", "constraints": {"unique": True}},
        "values of this kind may repeat",
    ),
    "per no name": ({"type": "id", "per": [1]}, r"synthdp.per is \[1\]"),
    "per an unknown": (
        {"type": "id", "per": "town"},
        "synthdp.per names 'town', which is no column of the output",
    ),
    "per another": (
        {"type": "id", "per": "mail"},
        "synthdp.per names 'mail', which is generated itself",
    ),
    "a title": ({"type": "id", "title": 7}, "title 7 is not a text"),
}


@pytest.mark.parametrize("way", READ)
@pytest.mark.parametrize("case", [case for case in OF_FIELDS if OF_FIELDS[case][1]])
def test_a_field_that_contradicts_itself_is_refused(case, way):
    field, expected = OF_FIELDS[case]
    with pytest.raises(SchemaError, match=f"^schema: column 'x': .*{expected}") as caught:
        READ[way](schema_of({"name": "x"} | field, AGE, MAIL))
    assert "\n" not in str(caught.value)


OF_SCHEMAS = {
    "nothing to draw": (schema_of(ID, MAIL), "all columns are generated"),
    "a name twice": (
        schema_of(ID, AGE | {"name": "id"}),
        "column 'id': it is generated, but stands there twice",
    ),
    "an id twice": (schema_of(ID, ID, AGE), "column 'id': it is generated, but stands there twice"),
    "no name": (schema_of({"type": "id"}, AGE), "the field name None is not a text"),
    "drawn values": (
        schema_of(AGE, HOUSE, primaryKey=["age", "house"]),
        "drawn cannot be promised to be unique; make one",
    ),
    "a drawn value": (schema_of(AGE, primaryKey="age"), "primaryKey 'age': .*or remove primaryKey"),
    "names": (
        schema_of(AGE, MAIL | {"synthdp": {"kind": "name"}}, primaryKey=["mail"]),
        "cannot be promised",
    ),
    "an unknown name": (
        schema_of(ID, AGE, primaryKey=["id", "town"]),
        "primaryKey names 'town', which is no column",
    ),
    "no names": (
        schema_of(ID, AGE, primaryKey=[7]),
        r"primaryKey is \[7\]; give the name of a column",
    ),
    "an object": (schema_of(ID, AGE, primaryKey={"id": 1}), "primaryKey is {'id': 1}"),
    "one name twice": (schema_of(ID, AGE, primaryKey=["id", "id"]), "primaryKey is"),
    "further keys": (schema_of(ID, AGE, uniqueKeys=[["id"]]), "uniqueKeys is not supported"),
    "a key that is numbered within others": (
        schema_of(
            {"name": "id", "type": "id", "per": "house"}, AGE, HOUSE, primaryKey=["id", "age"]
        ),
        "cannot be promised",
    ),
    "a drawn value that is unique": (
        schema_of(AGE | {"constraints": {"minimum": 0, "maximum": 9, "unique": True}}),
        "column 'age': constraints.unique is true, which drawn values cannot be; generate them",
    ),
}


@pytest.mark.parametrize("way", READ)
@pytest.mark.parametrize("case", OF_SCHEMAS)
def test_a_schema_that_cannot_be_kept_is_refused(case, way):
    content, expected = OF_SCHEMAS[case]
    if (case, way) == ("nothing to draw", "open"):
        return
    with pytest.raises(SchemaError, match=f"^schema: .*{expected}"):
        READ[way](content)


def test_names_that_are_ignored_or_in_rules_are_not_generated():
    for own, expected in (
        ({"ignore": ["id"]}, "column 'id': it is to be ignored, but has a kind or a field as well"),
        (
            {"ignore": ["town"], "constraints": [{"forbid": {"id": ["1"]}}]},
            "a rule names 'id', which is generated",
        ),
    ):
        with pytest.raises(SchemaError, match=expected):
            OpenSchema.from_dict(schema_of(ID, AGE, synthdp=own))
    with pytest.raises(
        SchemaError, match=r"primaryKey names 'town', which is ignored; make 'town' one of kind"
    ):
        OpenSchema.from_dict(
            schema_of(ID, AGE, primaryKey=["id", "town"], synthdp={"ignore": ["town"]})
        )


KEYS = {
    "the id": ("id", ()),
    "an id within a household": (["house", "id"], ("house",)),
    "an id within two": (["id", "house", "age"], ("house", "age")),
    "an id and a fake": (["id", "mail"], ()),
    "mail addresses": ("mail", None),
}


@pytest.mark.parametrize("case", KEYS)
def test_the_only_id_of_a_key_is_numbered_within_the_others(case):
    key, per = KEYS[case]
    schema = Schema.from_dict(schema_of(ID, AGE, MAIL, HOUSE, primaryKey=key))
    assert getattr(schema.generated.columns[0], "per", None) == (per or ())
    assert schema.to_dict()["primaryKey"] == ([key] if isinstance(key, str) else key)
    assert Schema.from_dict(schema.to_dict()) == schema


def test_an_id_that_says_how_it_is_numbered_stays_so():
    within = {"name": "id", "type": "id", "per": ["house"]}
    schema = Schema.from_dict(schema_of(within, AGE, HOUSE, primaryKey=["house", "age", "id"]))
    assert schema.generated.columns[0].per == ("house",)
    uuid = Schema.from_dict(
        schema_of(
            {"name": "id", "type": "id", "pattern": "uuid"}, HOUSE, primaryKey=["house", "id"]
        )
    )
    assert uuid.generated.columns[0].per == ()


@pytest.mark.parametrize("way", READ)
def test_the_output_follows_the_header_and_the_table_may_lack_what_is_generated(way):
    schema = READ[way](schema_of(ID, AGE, MAIL, HOUSE))
    more = ["job"] if way == "open" else []
    for header, expected in (
        (["house", "mail", "age", "id"], ["house", "mail", "age", "id"]),
        (["house", "age"], ["id", "house", "age", "mail"]),
        (["age", "house", "id"], ["age", "mail", "house", "id"]),
    ):
        found = schema.reordered([*header, *more])
        assert found.generated.header(found.names) == (*expected, *more)
    for header in (["id", "age", "mail"], ["age", "house", "mial"]):
        with pytest.raises(SchemaError, match="does not fit the schema"):
            schema.check_header([*header, *more])


def test_the_id_of_persons_may_be_generated():
    schema = OpenSchema.from_dict(schema_of(ID, AGE))
    schema.check_header(["age", "id"], unit="id")
    assert schema.reordered(["age", "id"], unit="id").generated.header(["age"]) == ("age", "id")
    with pytest.raises(
        SchemaError, match=r"unit \(--unit\) is 'id': the table has no such column; it has 'age'"
    ):
        schema.check_header(["age"], unit="id")


def test_an_id_cannot_be_numbered_within_persons_that_are_left_out():
    schema = OpenSchema.from_dict(
        schema_of({"name": "visit", "type": "id", "per": "house"}, AGE, HOUSE)
    )
    with pytest.raises(
        SchemaError,
        match=r"column 'visit': synthdp.per names 'house', which is no column of the output",
    ):
        schema.check_header(["visit", "age", "house"], unit="house")


@pytest.mark.parametrize("word", ["text", "free text", "freetext"])
def test_free_text_is_refused_with_what_people_do_instead(word):
    for read in (
        lambda: OpenSchema.from_kinds({"note": word, "age": "integer"}),
        lambda: OpenSchema.from_dict(schema_of(AGE, {"name": "note", "type": word})),
        lambda: Schema.from_dict(schema_of(AGE, {"name": "note", "type": word})),
    ):
        with pytest.raises(
            SchemaError,
            match=r"'note': .*free text cannot be synthesised: make coded columns of it",
        ) as caught:
            read()
        assert "ignore" in str(caught.value)
        assert "for the synthetic rows afterwards" in str(caught.value)
