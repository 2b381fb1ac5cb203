"""Keys: what stands where it is not read is refused with its place, and what is foreign is let be."""

import json

import pytest

from synthdp.core import SchemaError
from synthdp.schema import OpenSchema, Schema

UNDER = 'is not known here; it belongs under {0}: "{0}": {{"{1}": {2}}}'
MEANT = "the key {!r} is not known; did you mean {!r}?"

MISPLACED = {
    "a bound": ({"minimum": 0}, UNDER.format("constraints", "minimum", 0)),
    "levels": ({"enum": [1, 2]}, UNDER.format("constraints", "enum", [1, 2])),
    "many levels": ({"enum": list(range(99))}, UNDER.format("constraints", "enum", "..")),
    "required": ({"required": True}, UNDER.format("constraints", "required", "true")),
    "bins": ({"bins": 5}, UNDER.format("synthdp", "bins", 5)),
    "derive": ({"derive": True}, UNDER.format("synthdp", "derive", "true")),
    "bins among constraints": ({"constraints": {"bins": 5}}, UNDER.format("synthdp", "bins", 5)),
    "a bound under synthdp": (
        {"synthdp": {"maximum": 9}},
        UNDER.format("constraints", "maximum", 9),
    ),
    "missing values among constraints": (
        {"constraints": {"missingValues": ["-9"]}},
        'is not known here; it belongs in the field itself, beside constraints: "missingValues": ["-9"]',
    ),
    "a decimal mark under synthdp": (
        {"synthdp": {"decimalChar": ","}},
        "in the field itself, beside synthdp",
    ),
    "camel": ({"synthdp": {"maxLevels": 9}}, MEANT.format("maxLevels", "max_levels")),
    "ignore": (
        {"ignore": True},
        "'ignore' is not known here; give it as the kind, or list the column in",
    ),
    "constraint": ({"constraint": {"minimum": 0}}, MEANT.format("constraint", "constraints")),
    "enums": ({"constraints": {"enums": [1]}}, MEANT.format("enums", "enum")),
    "enums in the field": (
        {"enums": [1]},
        MEANT.format("enums", "enum") + " It belongs under constraints",
    ),
    "minimun": ({"constraints": {"minimun": 0}}, MEANT.format("minimun", "minimum")),
    "maxmum in the field": (
        {"maxmum": 0},
        MEANT.format("maxmum", "maximum") + " It belongs under constraints",
    ),
    "snake": ({"missing_values": ["-9"]}, MEANT.format("missing_values", "missingValues")),
    "kebab": ({"decimal-char": ","}, MEANT.format("decimal-char", "decimalChar")),
    "shouted": ({"constraints": {"REQUIRED": True}}, MEANT.format("REQUIRED", "required")),
    "min": ({"min": 0, "max": 9}, MEANT.format("min", "minimum") + " It belongs under constraints"),
    "range": ({"range": [0, 9]}, MEANT.format("range", "minimum")),
    "values": ({"values": [0, 9]}, MEANT.format("values", "enum")),
    "nullable": ({"nullable": False}, MEANT.format("nullable", "required")),
    "thousands": ({"thousands": ","}, MEANT.format("thousands", "groupChar")),
    "an open bound": (
        {"constraints": {"exclusiveMinimum": 0}},
        "constraints.exclusiveMinimum is not read; give constra",
    ),
}
FOREIGN = {
    "the standard's": {
        "title": "t",
        "description": "d",
        "example": "7",
        "rdfType": "http://x",
        "format": "default",
    },
    "unread constraints": {
        "constraints": {"unique": False, "pattern": "[0-9]+", "minLength": 1, "jsonSchema": {}}
    },
    "open bounds beside bounds": {
        "constraints": {"minimum": 0, "exclusiveMinimum": -1, "maximum": 9}
    },
    "defaults": {
        "decimalChar": ".",
        "groupChar": "",
        "bareNumber": True,
        "floatNumber": True,
        "arrayItem": {},
    },
    "categories": {"categoriesOrdered": False, "examples": [7], "titles": "t", "names": "n"},
    "prefixed": {
        "dc:title": "t",
        "x-minimum": 0,
        "_enum": [],
        "@type": "t",
        "schema.org/minValue": 0,
        "$comment": "c",
    },
    "of others": {
        "unit": "cm",
        "label": "l",
        "comment": "c",
        "level": "ratio",
        "default": 0,
        "primaryKey": False,
    },
    "what holds anyhow": {"nullable": True, "ignore": False},
}


def ways(more):
    """A field, as a kinds file and schemas have it."""
    kind = {"type": "integer"} | more
    declared = {"minimum": 0, "maximum": 9}
    closed = {"name": "age"} | kind
    if isinstance(more.get("constraints", {}), dict) and "minimum" not in str(more).lower():
        closed["constraints"] = declared | more.get("constraints", {})
    return {
        "kinds": lambda: OpenSchema.from_kinds({"age": kind}),
        "open": lambda: OpenSchema.from_dict(
            {
                "fields": [
                    {"name": "age"} | kind | {"synthdp": {"derive": True} | more.get("synthdp", {})}
                ]
            }
        ),
        "closed": lambda: Schema.from_dict({"fields": [closed]}),
        "closed in an open one": lambda: OpenSchema.from_dict({"fields": [closed]}),
    }


@pytest.mark.parametrize("way", ways({}))
@pytest.mark.parametrize("case", MISPLACED)
def test_a_key_that_would_not_be_read_is_refused_with_its_place(case, way):
    more, expected = MISPLACED[case]
    with pytest.raises(SchemaError) as caught:
        ways(more)[way]()
    message = str(caught.value)
    assert message.startswith("schema: column 'age': ")
    assert expected in message
    assert "\n" not in message


@pytest.mark.parametrize("way", ["kinds", "open"])
@pytest.mark.parametrize("case", FOREIGN)
def test_what_is_foreign_or_changes_nothing_is_let_be(case, way):
    schema = ways(FOREIGN[case])[way]()
    assert schema.names == ("age",)


def test_a_kind_under_another_name_is_told():
    with pytest.raises(
        SchemaError, match=r"'age': the key 'typ' is not known; did you mean 'type'\?"
    ):
        OpenSchema.from_kinds({"age": {"typ": "integer"}})


def test_the_message_is_one_line_with_what_to_write():
    with pytest.raises(SchemaError) as caught:
        OpenSchema.from_kinds({"age": {"type": "integer", "minimum": 0}})
    assert str(caught.value) == (
        "schema: column 'age': 'minimum' is not known here; it belongs under constraints: "
        '"constraints": {"minimum": 0}'
    )
    assert OpenSchema.from_kinds(
        {"age": {"type": "integer", "constraints": {"minimum": 0, "maximum": 9}}}
    ).is_open


FIELDS = {
    "fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}]
}
OF_SCHEMAS = {
    "ignore": ({"ignore": ["note"]}, "'ignore' is not known here; it belongs under synthdp"),
    "rules": ({"constraints": []}, "'constraints' is not known here; it belongs under synthdp"),
    "snake": ({"missing_values": ["-9"]}, MEANT.format("missing_values", "missingValues")),
    "true values": (
        {"trueValues": ["yes"]},
        "'trueValues' is not known here; it belongs in each field",
    ),
    "a decimal mark": (
        {"decimalChar": ","},
        "'decimalChar' is not known here; it belongs in each field",
    ),
    "derive": ({"derive": True}, "'derive' is not known here; it belongs in each field"),
    "derive under synthdp": (
        {"synthdp": {"derive": True}},
        "'synthdp.derive' is not known here; it belongs in the fields",
    ),
    "ignored": (
        {"synthdp": {"ignored": ["note"]}},
        "'synthdp.ignored' is not known here; it may have ignore, constraints",
    ),
}


@pytest.mark.parametrize("kind", [Schema, OpenSchema])
@pytest.mark.parametrize("case", OF_SCHEMAS)
def test_keys_beside_the_fields_are_looked_at_as_well(case, kind):
    more, expected = OF_SCHEMAS[case]
    with pytest.raises(SchemaError) as caught:
        kind.from_dict(FIELDS | more)
    assert expected in str(caught.value)


def test_what_stands_beside_the_fields_in_the_standard_is_let_be():
    more = {
        "$schema": "https://x",
        "primaryKey": [],
        "foreignKeys": [],
        "fieldsMatch": "equal",
        "name": "n",
        "title": "t",
    }
    more |= {
        "synthdp": {"note": "n", "certificate": {}, "constraints": [], "ignore": []},
        "range": "EU",
        "format": "csv",
    }
    assert OpenSchema.from_dict(json.loads(json.dumps(FIELDS | more))).names == ("age",)


@pytest.mark.parametrize(
    "content",
    [
        {"fields": FIELDS["fields"], "synthdp": {"con\u2028straints": []}},
        {"fields": [{"name": "x", "type": "string", "synthdp": {"oth\u2028er": "o"}}]},
        {"fields": [{"name": "x", "type": "id", "synthdp": {"loc\u2028ale": "o"}}]},
    ],
)
def test_a_key_that_breaks_lines_is_shown_in_one(content):
    with pytest.raises(SchemaError, match=r"\\u2028") as caught:
        OpenSchema.from_dict(content)
    assert len(str(caught.value).splitlines()) == 1
