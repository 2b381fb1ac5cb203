import pytest

from synthdp import OpenSchema, SchemaError
from synthdp.schema import csvw_schema, privacy_unit

SEX = {"name": "sex", "datatype": "string", "keyValues": ["F", "M"]}
PERSON = {"name": "person", "datatype": "string", "privacyId": True}


def described(*columns, **of_table):
    return of_table | {"tableSchema": {"columns": list(columns)}}


def field_of(nullable=True, **column):
    (field,) = csvw_schema(described({"name": "x"} | column), nullable=nullable)["fields"]
    return field


def test_keys_that_may_not_be_all_have_a_level_for_others():
    assert field_of(datatype="string", keyValues=["a"])["synthdp"] == {"other": "other"}
    assert "synthdp" not in field_of(datatype="string", keyValues=["a"], exhaustiveKeys=True)


@pytest.mark.parametrize(
    ("column", "open_"),
    [
        ({"datatype": "string"}, ["levels"]),
        ({"datatype": "double"}, ["bounds"]),
        ({"datatype": "unsignedInt", "minimum": 0}, ["bounds"]),
        ({"datatype": "integer", "keyValues": [1, 2]}, None),
        ({"datatype": "date", "minimum": "2020-01-01T00:00:00", "maximum": "2021-01-01"}, None),
        ({"datatype": "boolean", "minimum": 0}, None),
    ],
)
def test_what_is_not_said_is_learnt(column, open_):
    field = field_of(**column)
    assert field.get("synthdp", {}).get("derive") == open_
    OpenSchema.from_dict({"fields": [field]})


def test_values_may_be_missing_unless_the_column_or_the_question_says_otherwise():
    assert "required" not in field_of(datatype="boolean")["constraints"]
    assert field_of(datatype="boolean", required=True)["constraints"]["required"]
    assert field_of(datatype="boolean", nullable=False)["constraints"]["required"]


def test_the_column_of_persons_is_no_column_of_the_table():
    table = described(PERSON, SEX, maxContributions=3)
    assert [field["name"] for field in csvw_schema(table)["fields"]] == ["sex"]
    assert privacy_unit(table) == ("person", 3)
    assert privacy_unit(described(SEX, maxContributions=1)) == (None, None)


@pytest.mark.parametrize(
    ("table", "what"),
    [
        (described(SEX, maxContributions=2), "no column has privacyId"),
        (described(PERSON, SEX), "maxContributions, too"),
        (described(PERSON, PERSON | {"name": "house"}, maxContributions=1), "person and house"),
    ],
)
def test_a_unit_that_cannot_be_protected_is_refused(table, what):
    with pytest.raises(SchemaError, match=what):
        privacy_unit(table)


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ({}, "tableSchema"),
        (described({"datatype": "string"}), "name"),
        (described({"name": "stay", "datatype": "duration"}), "'stay' has the data type"),
    ],
)
def test_descriptions_that_are_none_are_refused(table, what):
    with pytest.raises(SchemaError, match=what):
        csvw_schema(table)


def test_an_unknown_column_is_refused_with_those_there_are():
    with pytest.raises(SchemaError, match="no column 'age'; choose from sex"):
        csvw_schema(described(SEX), ["age"])
