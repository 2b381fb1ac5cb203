"""Open schemas: what may be left open, what contradicts itself, and how findings close a column."""

import datetime as dt
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.fields import derived

from synthdp.core import DataFileError, Domain, Grid, SchemaError
from synthdp.schema import (
    OpenColumn,
    OpenSchema,
    Resolver,
    Schema,
    draft_from_frame,
    schema_of_kinds,
    start_of,
)

AGE = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 120}}
AGE |= {"synthdp": {"bins": 32}}
SEX = {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"], "required": True}}


def one(kind, derive=True, constraints=None, missing_values=("",), field=None, **own):
    """The only column of a schema."""
    settings = {"constraints": constraints or {}, "synthdp": {"derive": derive} | own} | (
        field or {}
    )
    entry = {"name": "x", "type": kind} | settings
    return OpenSchema.from_dict({"fields": [entry], "missingValues": list(missing_values)}).columns[
        0
    ]


def resolved(field, **own):
    return OpenSchema.from_dict({"fields": [field | {"synthdp": own}]})


@pytest.mark.parametrize(
    ("column", "parts"),
    [
        (lambda: one("string"), {"levels", "missing"}),
        (lambda: one("string", constraints={"enum": []}), {"levels", "missing"}),
        (lambda: one("string", field={"categories": []}), {"levels", "missing"}),
        (lambda: one("integer", constraints={"enum": []}), {"bounds", "bins", "missing"}),
        (
            lambda: one("number", field={"categories": []}),
            {"bounds", "bins", "decimals", "missing"},
        ),
        (lambda: one("string", constraints={"required": False}), {"levels"}),
        (lambda: one("string", ["levels", "missing"], {"required": False}), {"levels", "missing"}),
        (lambda: one("string", constraints={"enum": ["a"]}), {"missing"}),
        (lambda: one("boolean"), {"missing"}),
        (lambda: one("integer"), {"bounds", "bins", "missing"}),
        (lambda: one("year", ["bounds"]), {"bounds"}),
        (lambda: one("integer", constraints={"enum": [1, 2]}), {"missing"}),
        (
            lambda: one("integer", constraints={"minimum": None, "maximum": None}),
            {"bounds", "bins", "missing"},
        ),
        (
            lambda: one("integer", constraints={"minimum": 0, "maximum": 9, "required": True}),
            {"bins"},
        ),
        (lambda: one("integer", bins=20), {"bounds", "missing"}),
        (lambda: one("integer", bins=20, binning="privtree"), {"bounds", "bins", "missing"}),
        (lambda: one("integer", ["bounds", "bins"], bins=20), {"bounds", "bins"}),
        (lambda: one("number"), {"bounds", "bins", "decimals", "missing"}),
        (lambda: one("number", edges=[0, 1, 2], decimals=2), {"missing"}),
        (lambda: one("date"), {"bounds", "bins", "missing"}),
        (lambda: one("integer", True, {"minimum": 0}), {"bounds", "bins", "missing"}),
        (lambda: one("date", ["bounds"], {"maximum": "2020-12-31"}), {"bounds"}),
        (
            lambda: one("datetime", ["bins"], {"minimum": "2020-01-01", "maximum": "2021-01-01"}),
            {"bins"},
        ),
    ],
)
def test_what_is_open(column, parts):
    assert column().open_parts == parts


CONTRADICTIONS = [
    (lambda: one("string", ["levels"], {"enum": ["a"]}), "enum or categories declares it"),
    (
        lambda: one("string", ["levels"], field={"categories": ["a"]}),
        "enum or categories declares it",
    ),
    (lambda: one("integer", ["bounds"], {"minimum": 0, "maximum": 9}), "declares it; remove one"),
    (lambda: one("integer", ["bounds"], {"minimum": "low"}), "constraints.minimum is 'low'"),
    (lambda: one("year", True, {"maximum": 0}), "constraints.maximum 0 leaves no room for values"),
    (lambda: one("date", True, {"minimum": "9999-12-31"}), "leaves no room for values"),
    (
        lambda: one("integer", ["bins"]),
        'constraints.minimum is not filled in.*"bounds" to synthdp.derive',
    ),
    (lambda: one("integer", ["bins"], {"minimum": 0}), "constraints.maximum is not filled in"),
    (
        lambda: one("integer", ["bins", "missing"], edges=[0, 1, 2]),
        "'bins', but synthdp.edges declares it",
    ),
    (
        lambda: one("number", ["decimals"], edges=[0, 1, 2], decimals=1),
        "synthdp.decimals declares it",
    ),
    (
        lambda: one("string", ["levels", "missing"], {"required": True}),
        "constraints.required declares it",
    ),
    (lambda: one("string", ["missing"]), 'constraints.enum is missing.*"levels" to synthdp.derive'),
    (
        lambda: one("string", ["bounds"]),
        "which a column of type 'string' has not; it may list levels, missing$",
    ),
    (lambda: one("integer", ["decimals"]), "it may list bounds, bins, missing$"),
    (lambda: one("integer", ["decimals"], edges=[0, 1, 2]), "it may list missing$"),
    (
        lambda: one("integer", ["bins"], {"enum": [1]}),
        "'integer' with declared levels has not; it may list missing$",
    ),
    (
        lambda: one("string", ["bins"], {"enum": ["a"], "required": True}),
        "everything is declared; remove",
    ),
    (lambda: one("string", ["levles"]), "lists 'levles'"),
    (lambda: one("string", [["levels"]]), "synthdp.derive lists"),
    (
        lambda: one("string", []),
        r"synthdp.derive is \[\]; give true, or a list of levels, missing$",
    ),
    (
        lambda: one("boolean", [], {"required": True}),
        r"synthdp.derive is \[\]; give nothing: remove it$",
    ),
    (lambda: one("string", False), "synthdp.derive is False"),
    (lambda: one("string", None), "synthdp.derive is not given; give true"),
    (lambda: one("string", "levels"), "synthdp.derive is 'levels'"),
    (lambda: one("string", True, {"enum": ["a"], "required": False}), "everything is declared"),
    (lambda: one("string", max_levels=2), "synthdp.max_levels is 2"),
    (lambda: one("string", max_levels=1_000_001), "from 3 to 1000000"),
    (lambda: one("string", max_levels=True), "synthdp.max_levels is True"),
    (
        lambda: one("string", bins=3),
        "'synthdp.bins' is not known.*; it may have other, max_levels, derive$",
    ),
    (
        lambda: one("string", binning="quantiles"),
        "'synthdp.binning' is not known.*; it may have other, max_levels, derive$",
    ),
    (
        lambda: one("string", ["missing"], {"enum": ["a"]}, binning=1),
        "it may have other, merged, derive$",
    ),
    (
        lambda: one("integer", ["missing"], {"enum": [1]}, max_levels=9),
        "it may have other, merged, derive$",
    ),
    (lambda: one("string", ["missing"], {"enum": ["a"]}, max_levels=9), "they are not; remove it$"),
    (
        lambda: one("integer", ["bounds"], binning="privtree"),
        "they are not; remove it or derive bins$",
    ),
    (
        lambda: one("integer", ["missing"], edges=[0, 1, 2], binning="privtree"),
        "they are not; remove it$",
    ),
    (lambda: one("integer", colour=1), "it may have bins, heaping, width, binning, derive$"),
    (
        lambda: one("integer", ["missing"], edges=[0, 1, 2], colour=1),
        "it may have edges, shape, heaping, width, derive$",
    ),
    (lambda: one("integer", ["bounds"], colour=1), "it may have bins, heaping, width, derive$"),
    (
        lambda: one("number", ["decimals"], {"minimum": 0, "maximum": 1}, colour=1),
        "bins, edges, shape, heaping, derive$",
    ),
    (
        lambda: one("date", colour=1),
        "it may have resolution, bins, parts, timezone, binning, derive$",
    ),
    (lambda: one("string", other=3), "synthdp.other 3 is not a text"),
    (lambda: one("string", other=" NA ", missing_values=["", "NA"]), "one of the missing values"),
    (
        lambda: one("string", merged={"levels": ["a"], "weights": [1]}),
        "synthdp.merged cannot be declared",
    ),
    (
        lambda: one("integer", shape={"starts": [0], "weights": [1]}),
        "synthdp.shape cannot be declared",
    ),
    (lambda: one("string", missing_values=[]), "missingValues is empty"),
    (lambda: one("string", field={"missingValues": "NA"}), "give a list of texts"),
    (lambda: one("integer", bins=1), "synthdp.bins is 1"),
    (lambda: one("integer", binning="even"), "give one of 'quantiles', 'privtree', 'equal-width'"),
    (lambda: one("integer", ["bins", "bounds"], bins=1), "from 2 to 1000000"),
    (
        lambda: one("integer", missing_values=["", "-9"]),
        "'-9' could lie between bounds that are derived",
    ),
    (lambda: one("date", missing_values=["1900-01-01"]), "'1900-01-01' could lie between"),
    (lambda: one("date", field={"format": "%B"}), "cannot say which day"),
    (lambda: one("date", field={"format": "%d/%m"}), "cannot say which day"),
    (lambda: one("date", resolution="hour"), "synthdp.resolution is 'hour'"),
    (lambda: one("datetime", field={"format": 3}), "the format 3 is not supported"),
    (lambda: one("number", decimals="2"), "synthdp.decimals is '2'"),
    (lambda: one("number", field={"decimalChar": "comma"}), "decimalChar"),
    (lambda: one("boolean", field={"trueValues": []}), "trueValues is empty"),
    (lambda: one("boolean", field={"truevalues": ["x"]}), "did you mean 'trueValues'"),
    (
        lambda: one("boolean", colour=1),
        "'synthdp.colour' is not known.*; it may have spelling, derive$",
    ),
    (lambda: one("money"), "the type 'money' is not supported"),
    (
        lambda: OpenSchema.from_dict({"fields": [{"name": "x", "type": "integer"}]}),
        'add "bounds" to synthdp.derive',
    ),
    (
        lambda: OpenSchema.from_dict({"fields": [{"name": "x", "type": "string"}]}),
        'add "levels" to synthdp.derive',
    ),
    (
        lambda: resolved(AGE, max_levels=9),
        "max_levels' is not known.*; it may have bins, edges, shape, .*width, derive$",
    ),
    (
        lambda: resolved(AGE, binning="privtree"),
        "binning says how bins are derived, but they are not; remove it or derive",
    ),
    (
        lambda: resolved(AGE, derived=True),
        "'synthdp.derived' is not known.*; did you mean 'derive'\\?$",
    ),
    (lambda: resolved(SEX, othr="x"), r"'synthdp.othr' .*; did you mean 'other'\?$"),
    (
        lambda: resolved({"name": "x", "type": "boolean", "constraints": {"required": True}}, a=1),
        "; it may have spelling$",
    ),
    (
        lambda: Schema.from_dict({"fields": [AGE | {"synthdp": {"derive": True}}]}),
        "read it as an OpenSchema",
    ),
    (lambda: OpenSchema.from_dict({"fields": [AGE | {"synthdp": 3}]}), "synthdp is 3"),
    (
        lambda: OpenSchema.from_dict({"fields": [{"type": "string", "synthdp": {"derive": True}}]}),
        "field name None",
    ),
    (lambda: OpenSchema.from_dict({"fields": ["age"]}), "a field is 'age'; give an object"),
    (lambda: OpenSchema.from_dict({"fields": []}), "empty"),
    (lambda: OpenSchema.from_dict({}), "fields is not given; give a list of columns"),
    (lambda: OpenSchema.from_dict([1]), "it is a list"),
]


@pytest.mark.parametrize("case", range(len(CONTRADICTIONS)))
def test_contradictions_are_refused_in_one_line(case):
    make, message = CONTRADICTIONS[case]
    with pytest.raises(SchemaError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_settings_are_read_and_written_out():
    fields = [
        derived("job", "string", max_levels=9, other="else"),
        derived("pay", "number", ["bounds", "bins"], binning="privtree", bins=8),
        {"name": "born", "type": "date", "format": "%d/%m/%Y", "missingValues": ["?"]}
        | {"synthdp": {"derive": ["bounds"], "resolution": "month", "bins": 7}},
        AGE,
    ]
    schema = OpenSchema.from_dict({"fields": fields, "missingValues": ["", "NA"]})
    job, pay, born = schema.open_columns
    assert (job.max_levels, job.other, job.most_levels, job.missing_values) == (
        9,
        "else",
        9,
        ("", "NA"),
    )
    assert (pay.binning, pay.max_bins, pay.most_levels, pay.decimals) == ("privtree", 8, 9, None)
    assert (born.resolution, born.max_bins, born.most_levels, born.missing_values) == (
        "month",
        7,
        8,
        ("?",),
    )
    assert (schema.names, schema.is_open) == (("job", "pay", "born", "age"), True)
    assert schema.largest_domain == Domain(("job", "pay", "born", "age"), (9, 9, 8, 33))
    written = schema.to_dict()
    again = OpenSchema.from_dict(json.loads(json.dumps(written)))
    assert again.to_dict() == written
    assert [
        (c.open_parts, c.max_levels, c.max_bins, c.other, c.binning) for c in again.open_columns
    ] == [(c.open_parts, c.max_levels, c.max_bins, c.other, c.binning) for c in schema.open_columns]
    assert "derive" not in json.dumps([dict(column.declared) for column in schema.open_columns])


def test_a_closed_schema_is_the_very_same():
    mapping = {
        "fields": [AGE | {"synthdp": {"bins": 121}}, SEX],
        "synthdp": {"constraints": [{"forbid": {"age": {"maximum": 3}, "sex": ["m"]}}]},
    }
    for source in (mapping, {"a": 3, "b": 4}):
        opened, schema = OpenSchema.from_dict(source), Schema.from_dict(source)
        assert not opened.is_open
        assert opened.resolved({}) == OpenSchema.from_schema(schema).resolved({}) == schema
        assert opened.resolved({}).fingerprint == schema.fingerprint
        assert opened.largest_domain == schema.domain
        assert opened.to_dict() == schema.to_dict()
        assert [c.allowed.tolist() for c in opened.outline.constraints] == [
            c.allowed.tolist() for c in schema.constraints
        ]


def test_drafts_are_opened_by_one_word():
    frame = pd.DataFrame(
        {"a": [1], "b": [1.5], "c": ["x"], "d": [True], "e": [pd.Timestamp("2020-01-01")]}
    )
    fields = draft_from_frame(frame)["fields"]
    with pytest.raises(SchemaError):
        OpenSchema.from_dict({"fields": fields})
    opened = [
        field | {"synthdp": {"derive": True}} for field in fields if field["type"] != "boolean"
    ]
    schema = OpenSchema.from_dict({"fields": opened})
    assert [sorted(column.open_parts) for column in schema.open_columns] == [
        ["bins", "bounds"], ["bins", "bounds", "decimals"], ["levels"], ["bins", "bounds"],
    ]  # fmt: skip


# --- closing ------------------------------------------------------------------------------------


def test_findings_close_columns_one_by_one():
    schema = OpenSchema.from_dict(
        {"fields": [SEX, {"name": "job", "type": "string", "synthdp": {"derive": True}}]}
    )
    (job,) = schema.open_columns
    with pytest.raises(SchemaError, match="'job' is still open"):
        schema.resolved({})
    with pytest.raises(SchemaError, match="no open column 'sex'"):
        schema.partly_closed({"sex": job.resolved(levels=["a"])})
    column = job.resolved(
        levels=["baker", "cook"], merged={"levels": ["x", "y"], "weights": [1, 2]}, required=True
    )
    closed = schema.resolved({"job": column})
    assert closed == schema.partly_closed({"job": column}).resolved({})
    assert closed["job"].field()["constraints"] == {"enum": ["baker", "cook"], "required": True}
    assert closed["job"].field()["synthdp"]["other"] == "other"
    assert Schema.from_dict(closed.to_dict()) == closed
    assert job.resolved(levels=[]).size == 2  # other, missing


def test_declared_parts_pass_into_the_closed_column():
    date = one(
        "date",
        ["bounds"],
        {"required": True},
        field={"format": "%d/%m/%Y", "title": "Born"},
        resolution="year",
    )
    column = date.resolved(minimum="01/01/2000", maximum="31/12/2004")
    assert (column.size, column.resolution, column.format, column.title) == (
        5,
        "year",
        "%d/%m/%Y",
        "Born",
    )
    truth = one("boolean", field={"trueValues": ["y"], "falseValues": ["n"]})
    assert truth.resolved(required=True).encode(pd.Series(["y", "n"])).tolist() == [1, 0]
    assert truth.resolved().size == 3


@pytest.mark.parametrize(
    ("column", "found", "size"),
    [
        (one("integer", ["bounds"], bins=20), {"minimum": 0, "maximum": 5}, 7),
        (one("integer", ["bounds"], bins=20), {"minimum": 5, "maximum": 5}, 2),
        (one("integer", ["bounds"], bins=4), {"minimum": 0, "maximum": 5}, 5),
        (one("integer", ["bounds"], bins=4), {"edges": [0, 2, 3, 9]}, 4),
        (one("number", ["bounds", "decimals"], bins=20), {"minimum": 0, "maximum": 1, "decimals": 1}, 12),
        (one("number", ["bounds"], bins=20, decimals=1), {"minimum": 0, "maximum": 1}, 12),
        (one("number", ["bounds"], bins=20), {"minimum": 0.5, "maximum": 0.5}, 2),
        (one("number", ["decimals"], {"minimum": 0, "maximum": 1e12}, bins=8), {"decimals": 9}, 9),
        (one("number", ["decimals"], {"minimum": 0, "maximum": 1}, bins=8), {"decimals": 0}, 9),
        (one("date", ["bounds"], bins=20), {"minimum": "2000-01-01", "maximum": "2000-01-03"}, 4),
        (one("integer", ["bins"], {"minimum": 0, "maximum": 40}), {"edges": [0, 5, 40, 41]}, 4),
        (one("number", ["bins"], {"minimum": 0.005, "maximum": 1}), {"edges": [0.0, 0.5, 1.0]}, 3),
        (
            one("date", ["bins"], {"minimum": "2000-01-05", "maximum": "2001-05-05"}, resolution="month"),
            {"edges": ["2000-01-01", "2000-06-01", "2001-05-01"]}
            | {"shape": {"starts": ["2000-01-01", "2000-03-01"], "weights": [1, 2]}},
            3,
        ),
    ],
)  # fmt: skip
def test_findings_give_way_to_what_is_declared(column, found, size):
    assert column.resolved(**found).size == size
    assert column.resolved(**found).size <= max(column.most_levels, size if "edges" in found else 0)


def test_what_cannot_be_closed_says_what_was_wrong_with_the_findings():
    with pytest.raises(SchemaError, match=r"minimum 5 is above constraints\.maximum 1"):
        one("integer").resolved(minimum=5, maximum=1)
    resolver = Resolver(
        declared={"name": "x", "type": "integer"}, missing_values=("",), open_bounds=True
    )
    with pytest.raises(SchemaError, match="minimum is not filled in"):
        resolver.column({}, {})


def test_points_of_bounds():
    grid = Grid(column="x", decimals=2)
    number = one("number", constraints={"minimum": -0.5, "maximum": 1.256})
    assert (number.point_limits(grid), number.bounds) == ((-50, 125), (-0.5, 1.256))
    assert one("number").bounds is None
    assert one("number").point_limits(grid) == (1 - 10**15, 10**15 - 1)
    days = one("date", ["bins"], {"minimum": "1970-01-02", "maximum": "1970-02-01"})
    assert (days.point_limits(Grid(column="x")), days.bounds[1]) == (
        (1, 31),
        dt.datetime.fromisoformat("1970-02-01"),
    )
    assert one("string").point_limits(grid) is None
    assert one("integer").point_limits(Grid(column="x")) == (-(2**53), 2**53)


@pytest.mark.parametrize(
    ("pattern", "first", "last"),
    [("%d.%m.%y", 1969, 2068), ("%d/%m/%Y", 1000, 9999), ("default", 1, 9999)],
)
def test_bounds_within_the_limits_can_be_closed(pattern, first, last):
    column = one("date", ["bounds", "bins"], field={"format": pattern})
    low, high = column.point_limits(Grid(column="x"))
    assert (np.datetime64(low, "D").item().year, np.datetime64(high, "D").item().year) == (
        first,
        last,
    )
    for start, stop in ((low, high), (low, low + 40), (high - 40, high), (low + 400, high - 400)):
        texts = [str(np.datetime64(point, "D")) for point in (start, stop)]
        assert column.resolved(minimum=texts[0], maximum=texts[1]).size > 2


@pytest.mark.parametrize("pattern", ["%d.%m.%y", "%d/%m/%Y", "default"])
@pytest.mark.parametrize("resolution", ["week", "month", "quarter", "year"])
def test_the_first_moment_of_the_lowest_unit_can_be_a_bound(pattern, resolution):
    column = one("date", ["bounds", "bins"], field={"format": pattern}, resolution=resolution)
    points = np.array(column.point_limits(Grid(column="x")))
    first, last = (
        moment.date() for moment in start_of(points, resolution).astype("datetime64[s]").tolist()
    )
    texts = [
        day.isoformat() if pattern == "default" else day.strftime(pattern) for day in (first, last)
    ]
    closed = column.resolved(minimum=texts[0], maximum=texts[1])
    assert (closed.minimum.date(), closed.maximum.date()) == (first, last)


# --- names, rules, files --------------------------------------------------------------------------


def test_the_header_is_checked_as_a_schemas():
    schema = OpenSchema.from_kinds({"a": "integer", "b": "categorical"})
    schema.check_header(["b", "a"])
    schema.check_header(["b", "id", "a"], unit="id")
    assert schema.reordered(["b", "id", "a"], unit="id").names == ("b", "a")
    for header in (
        ["a"],
        ["a", "b", "c"],
        ["a", "c"],
        ["a", "a", "b"],
        ["secret", "2"],
        [],
        ["a", "b", "secret\n"],
    ):
        with pytest.raises(SchemaError, match=r"^table: ") as mine:
            schema.check_header(header)
        with pytest.raises(SchemaError):
            Schema.from_dict({"a": 3, "b": 3}).check_header(header)
        assert "\n" not in str(mine.value)
        if "a" not in header:
            assert "secret" not in str(mine.value)  # it may be the first record
    for header in (["a", "b"], ["a", "b", "id", "id"]):
        with pytest.raises(SchemaError):
            schema.check_header(header, unit="id")
    schema.check_header(["a", "b"], unit="a")
    assert schema.without("a").names == ("b",)
    with pytest.raises(SchemaError, match="no column but 'b'"):
        schema.without("a").without("b")
    with pytest.raises(SchemaError, match="appears twice"):
        OpenSchema(schema.columns + schema.columns)


def test_header_messages_fit_schemas_and_kinds():
    schema = OpenSchema.from_kinds({"a": "integer", "b": "categorical"})
    for header, parts in (
        (
            ["a"],
            [
                "it does not fit the schema or kinds file: the schema has 'b', the table has not; add"
            ],
        ),
        (
            ["a", "b", "c"],
            [
                "the table has 'c', the schema has not",
                'kind "ignore"',
                "synthdp.ignore in a schema",
            ],
        ),
        (["c", "d", "e"], ["0 of the 2 column names in the schema or kinds file"]),
        ([0, 1], ["its column names are not all texts", "frame.columns.map(str)"]),
        (["a", "b", 7], ["its column names are not all texts"]),
        ([("a", "b"), ("a", "c")], ["its column names are not all texts"]),
    ):
        with pytest.raises(SchemaError) as caught:
            schema.reordered(header)
        assert all(part in str(caught.value) for part in parts)
    with pytest.raises(SchemaError) as caught:
        schema.check_header(["a"])
    assert "ignore" not in str(caught.value)  # nothing to leave out
    schema.check_header(pd.DataFrame(np.zeros((1, 2)), columns=["b", "a"]).columns)
    schema.check_header(pd.DataFrame({"b": [1], "a": [2]}).convert_dtypes().columns)


def test_rules_are_on_closed_columns_only():
    job = {"name": "job", "type": "string", "synthdp": {"derive": True}}
    born = {"name": "born", "type": "date", "synthdp": {"derive": True, "parts": ["month"]}}
    good = {"forbid": {"age": {"maximum": 3}, "sex": ["m"]}}

    def schema(*rules):
        bins = {"synthdp": {"bins": 121}}
        return OpenSchema.from_dict(
            {"fields": [AGE | bins, SEX, job, born], "synthdp": {"constraints": list(rules)}}
        )

    opened = schema(good)
    found = {"job": opened.open_columns[0].resolved(levels=["a"])}
    found["born"] = opened.open_columns[1].resolved(minimum="2000-01-01", maximum="2001-01-01")
    closed = opened.resolved(found)
    assert [dict(rule.text) for rule in closed.rules] == [good]
    assert (
        closed.names
        == opened.largest_domain.attributes
        == ("age", "sex", "job", "born", "born:month")
    )
    assert closed.constraints[0].allowed.tolist() == opened.outline.constraints[0].allowed.tolist()
    assert OpenSchema.from_dict(opened.to_dict()).rules == opened.rules
    for rule in (
        {"forbid": {"job": ["a"]}},
        {"allow": [{"sex": ["m"], "job": ["a"]}]},
        {"determines": ["sex", "job"], "map": {"m": "a"}},
        {"forbid": {"born:month": [1]}},
    ):
        with pytest.raises(SchemaError, match="whose domain is derived; declare the column"):
            schema(rule)
    for rule, message in (
        ({"forbid": {"agee": [1]}}, "no column 'agee'"),
        (3, "not an object"),
        ({"a": 1}, "keys"),
    ):
        with pytest.raises(SchemaError, match=message):
            schema(rule)
    with pytest.raises(SchemaError, match="a rule names 'sex'"):
        opened.without("sex")
    with pytest.raises(SchemaError, match="constraints is 3; give a list of rules"):
        OpenSchema.from_dict({"fields": [job], "synthdp": {"constraints": 3}})


def test_the_largest_domain_is_never_exceeded_by_likely_findings():
    columns = [
        one("string", max_levels=4),
        one("boolean"),
        one("integer"),
        one("number", ["bounds"]),
        one("date"),
    ]
    columns.append(one("integer", constraints={"minimum": 0, "maximum": 3, "required": True}))
    assert [column.most_levels for column in columns] == [4, 3, 33, 65, 33, 4]
    assert columns[3].resolved(minimum=0, maximum=6.3).size <= 65


# --- kinds ----------------------------------------------------------------------------------------


def test_kinds_leave_everything_open_that_is_not_declared():
    kinds = {
        "age": {"type": "integer", "constraints": {"minimum": 0, "maximum": 120}},
        "job": "categorical",
        "pay": "number",
        "born": {"type": "date", "format": "%d/%m/%Y", "synthdp": {"resolution": "month"}},
        "sex": {"type": "categorical", "constraints": {"enum": ["f", "m"], "required": True}},
        "ok": "boolean",
    }
    schema = OpenSchema.from_kinds(kinds)
    assert schema.names == tuple(kinds)
    assert {column.name: sorted(column.open_parts) for column in schema.open_columns} == {
        "age": ["bins", "missing"],
        "job": ["levels", "missing"],
        "pay": ["bins", "bounds", "decimals", "missing"],
        "born": ["bins", "bounds", "missing"],
        "ok": ["missing"],
    }
    assert schema.missing_values == ("",)


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"age": 5}, "the number 5.*give a file of domain sizes as the schema"),
        ({"age": 5.0}, "the number 5.0"),
        ({"note": "text"}, "free text cannot be synthesised"),
        (
            {"age": "int"},
            "its kind is 'int'; did you mean 'integer'. If not, use one of categorical, string",
        ),
        (
            {"age": None},
            "'age': its kind is not filled in; use one of categorical.*, or 'ignore' to leave",
        ),
        ({"age": {"constraints": {}}}, "'age': its kind is not filled in"),
        ({"age": {}}, "'age': its kind is not filled in"),
        ({"age": "text"}, "or 'ignore' to leave the column out"),
        ({"note": "Ignore"}, "its kind is 'Ignore'; use one of"),
        ({"note": "ignore"}, "the kind of all columns is 'ignore'"),
        (
            {"age": "integer", "synthdp": {"ignore": ["note"]}},
            "'synthdp.ignore' is not known; give each column to leave out",
        ),
        (
            {"age": "integer", "synthdp": {"rules": []}},
            "'synthdp.rules' is not known; did you mean 'constraints'?",
        ),
        (
            {"age": "integer", "synthdp": {"colour": 3}},
            "'synthdp.colour' is not known; it may have constraints, hierarchy, dialect",
        ),
        ({"synthdp": {"dialect": "csv"}}, "no column is named"),
        (
            {"age": "integer", "dialect": {"delimiter": ";"}},
            "if it is no column, write it under synthdp",
        ),
        (
            {"age": "integer", "dialect": "excel-semicolon"},
            "if it is no column, write it under synthdp",
        ),
        (
            {0: "integer", "0": "ignore"},
            "'0': it is to be ignored, but has a kind or a field as well",
        ),
        ({"age": ["integer"]}, "its kind is"),
        ({"age": {"type": "integer", "name": "b"}}, "the name 'b'; remove it"),
        ({"age": {"type": "integer", "constraints": 3}}, "constraints is 3"),
        ({"age": {"type": "integer", "synthdp": 3}}, "synthdp is 3"),
        (
            {"fields": []},
            "give a JSON object of columns and kinds.*give a schema as the schema, not as kinds$",
        ),
        ({}, "^kinds: no column is named; list at least one"),
        ([], "give a JSON object"),
    ],
)
def test_wrong_kinds_are_refused(kinds, message):
    with pytest.raises(SchemaError, match=message):
        OpenSchema.from_kinds(kinds)


@pytest.mark.parametrize("kind", ["categorical", "integer", "number", "date", "boolean"])
def test_an_empty_list_of_levels_in_a_kinds_file_is_not_declared(kind):
    plain = OpenSchema.from_kinds({"x": kind})
    for declared in ({"constraints": {"enum": []}}, {"categories": []}):
        assert OpenSchema.from_kinds({"x": {"type": kind} | declared}) == plain
    bounded = {
        "type": "integer",
        "constraints": {"enum": [], "minimum": 0, "maximum": 9, "required": True},
    }
    everything = OpenSchema.from_kinds({"x": bounded | {"synthdp": {"edges": [0, 5, 9]}}})
    assert everything.resolved({})["x"].size == 2


def test_a_schema_that_is_a_kinds_file_says_so():
    for kinds in ({"age": "integer"}, {"a": {"type": "categorical"}, "b": None}, {"a": "ignore"}):
        with pytest.raises(
            SchemaError, match="no list 'fields', but kinds of columns; give it as kinds"
        ):
            OpenSchema.from_dict(kinds)
    for other in ({"fields": 3}, {}, {"age": 0}, {"a": ["integer"]}):
        with pytest.raises(SchemaError, match=r"fields is (3|not given); give a list of columns"):
            OpenSchema.from_dict(other)


# --- columns to be left out -----------------------------------------------------------------------

JOB = {"name": "job", "type": "string", "synthdp": {"derive": True}}
AGE_KIND = {"type": "integer", "constraints": {"required": True}}
AGE_OPEN = {"name": "age", "synthdp": {"derive": True}} | AGE_KIND


def test_ignored_columns_must_be_there_and_are_no_columns():
    from_kinds = OpenSchema.from_kinds(
        {"note": "ignore", "age": AGE_KIND, "": {"type": "ignore"}, "job": "categorical"}
    )
    from_dict = OpenSchema.from_dict(
        {"fields": [AGE_OPEN, JOB], "synthdp": {"ignore": ["note", ""]}}
    )
    assert from_kinds == from_dict
    for schema in (from_kinds, OpenSchema.from_dict(json.loads(json.dumps(from_kinds.to_dict())))):
        assert (schema.names, schema.ignored) == (("age", "job"), ("note", ""))
        assert schema.largest_domain.attributes == ("age", "job")
        schema.check_header(["", "job", "note", "age"])
        reordered = schema.reordered(["", "job", "note", "age"])
        assert (reordered.names, set(reordered.ignored)) == (("job", "age"), {"note", ""})
        for lacking in ({"note", "age", "job"}, {"", "age", "job"}, {"", "note", "job"}):
            with pytest.raises(SchemaError, match="the table has not"):
                schema.check_header(lacking)
        with pytest.raises(SchemaError, match="the table has 'x', the schema has not"):
            schema.check_header(["", "job", "note", "age", "x"])
        with pytest.raises(SchemaError, match="1 of the 4 column names"):
            schema.check_header(["note", "40", "baker", "secret"])
    age, job = from_kinds.open_columns
    partly = from_kinds.partly_closed({"job": job.resolved(levels=["a"])})
    assert OpenSchema.from_dict(partly.to_dict()).ignored == partly.ignored == ("note", "")
    found = {"job": job.resolved(levels=["a"]), "age": age.resolved(minimum=0, maximum=9)}
    assert OpenSchema.from_dict(from_kinds.partly_closed(found).to_dict()).ignored == ("note", "")
    assert from_kinds.resolved(found) == replace(from_kinds, ignored=()).resolved(found)
    assert "ignore" not in json.dumps(from_kinds.resolved(found).to_dict())


def test_a_closed_schema_may_ignore_columns():
    mapping = {"fields": [AGE, SEX], "synthdp": {"ignore": ["note"], "note": "a remark"}}
    schema = OpenSchema.from_dict(mapping)
    assert (schema.is_open, schema.ignored) == (False, ("note",))
    assert schema.resolved({}) == Schema.from_dict({"fields": [AGE, SEX]})
    assert OpenSchema.from_dict(schema.to_dict()) == schema
    with pytest.raises(
        SchemaError, match="a Schema cannot; read it as an OpenSchema, or remove it"
    ):
        Schema.from_dict(mapping)
    for nothing in ([], None):
        assert OpenSchema.from_dict({"fields": [AGE], "synthdp": {"ignore": nothing}}).ignored == ()


def test_the_unit_may_be_ignored():
    schema = OpenSchema.from_kinds({"age": "integer", "id": "ignore", "note": "ignore"})
    header = ["note", "id", "age"]
    schema.check_header(header, unit="id")
    assert schema.reordered(header, unit="id").names == ("age",)
    assert schema.without("id").ignored == ("id", "note")
    schema.check_header([*header, "person"], unit="person")
    for wrong, unit in (
        (["note", "age"], "id"),
        (["note", "age"], "person"),
        ([*header, "id"], "id"),
    ):
        with pytest.raises(SchemaError):
            schema.check_header(wrong, unit=unit)
    with pytest.raises(
        SchemaError, match="is 'who': the table has no such column; it has 'note', 'id', 'age'"
    ):
        schema.check_header(header, unit="who")
    with pytest.raises(SchemaError, match="no such column; it has 'note', 'id', 'age', 'person'"):
        schema.check_header(
            [*header, "person"], unit="who"
        )  # and not that the schema lacks 'person'
    with pytest.raises(SchemaError, match="its header has 0 of the 3 column names") as caught:
        schema.check_header(["Eva", "7", "ill"], unit="who")
    assert "Eva" not in str(caught.value)  # a first record in place of a header


@pytest.mark.parametrize(
    ("fields", "ignored", "message"),
    [
        ([AGE], "note", "synthdp.ignore is 'note'; give a list of column names"),
        ([AGE], {"note": 1}, "give a list of column names"),
        ([AGE], 3, "give a list of column names"),
        ([AGE], [3], "synthdp.ignore 3 is not a text"),
        ([AGE], [["note"]], "is not a text"),
        ([AGE], ["\ud800"], "lone surrogate"),
        ([AGE], ["a", "a"], "'a': it is to be ignored, but stands there twice"),
        (
            [AGE],
            ["age"],
            "'age': it is to be ignored, but has a kind or a field as well; remove one",
        ),
        ([JOB], ["job"], "'job': it is to be ignored, but has a kind or a field as well"),
        ([], ["a"], "all columns are to be ignored"),
        ([{"name": "note", "type": "ignore"}], [], "the type 'ignore' is not supported"),
    ],
)
def test_contradictions_about_ignored_columns_are_refused(fields, ignored, message):
    with pytest.raises(SchemaError, match=message) as caught:
        OpenSchema.from_dict({"fields": fields, "synthdp": {"ignore": ignored}})
    assert "\n" not in str(caught.value)


def test_rules_cannot_name_ignored_columns():
    born = {"name": "born:month", "type": "string", "constraints": {"enum": ["1", "2"]}}

    def schema(rule, *fields):
        own = {"constraints": [rule], "ignore": ["note", "born"]}
        return OpenSchema.from_dict(
            {"fields": [AGE | {"synthdp": {"bins": 121}}, SEX, *fields], "synthdp": own}
        )

    young = {"age": {"maximum": 3}}
    for fields in ((), (JOB,)):
        for rule in (
            {"forbid": young | {"note": ["x"]}},
            {"determines": ["note", "sex"], "map": {}},
        ):
            with pytest.raises(SchemaError, match="a rule names 'note'"):
                schema(rule, *fields)
        kept = schema(
            {"forbid": young | {"born:month": ["1"]}}, born, *fields
        )  # a column of its own, no part of 'born'
        assert len(OpenSchema.from_dict(kept.to_dict()).rules) == 1


# --- files ----------------------------------------------------------------------------------------


def test_kinds_are_read_from_a_path(tmp_path):
    path = tmp_path / "kinds.json"
    path.write_text('{"age": "integer", "note": "ignore"}')
    expected = OpenSchema.from_kinds({"age": "integer", "note": "ignore"})
    assert (
        OpenSchema.from_kinds(path)
        == OpenSchema.from_kinds(str(path))
        == OpenSchema.load_kinds(path)
        == expected
    )
    path.write_text('"kinds.json"')
    with pytest.raises(SchemaError, match="give a JSON object of columns and kinds"):
        OpenSchema.from_kinds(path)
    with pytest.raises(DataFileError, match=r"kinds 'none\.json': it cannot be read"):
        OpenSchema.from_kinds("none.json")


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ('{"age": "integer", "job": "string", "age": "number"}', "age", 1),
        ('{"age": "integer",\n "job": "string",\n "age": "number"}', "age", 3),
        ('{"fields": [{"name": "a", "type": "integer", "name": "b"}]}', "name", 1),
        (
            '{\r\n"fields": [\r\n{"name": "a"}, {"name": "name"},\r\n{"name": "b", "name":\r\n"b"}]}',
            "name",
            4,
        ),
        ('{"fields": [{"name": "a", "constraints": {"enum": [1],\n"enum": [2]}}]}', "enum", 2),
        ('{"a": 1, "\\u0061": 1}', "a", 1),
        ('{"x\\ny": 1, "x\\ny": 1}', "x\\ny", 1),
        ('{"{": "\\"{", "b": ["b", "b", "[{"],\n"b": 1}', "b", 2),
    ],
)
def test_a_key_that_stands_twice_is_refused(text, key, line, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(text)
    for load, what in (
        (OpenSchema.load, "schema"),
        (Schema.load, "schema"),
        (OpenSchema.load_kinds, "kinds"),
    ):
        with pytest.raises(SchemaError) as caught:
            load(path)
        said = f"{what} {str(path)!r}: the key '{key}' stands twice in one object, again in line {line}; remove one"
        assert str(caught.value) == said
    path.write_text(
        '{"fields": [{"name": "a", "type": "string"}, {"name": "b", "type": "string"}]}'
    )
    with pytest.raises(
        SchemaError, match='"levels" to'
    ):  # the same key in two objects is none twice
        OpenSchema.load(path)


def test_files_are_read_as_schemas_are(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"age": "integer"}', encoding="utf-8-sig")
    assert OpenSchema.load_kinds(path).names == ("age",)
    path.write_text(json.dumps({"fields": [AGE]}))
    assert OpenSchema.load(path).resolved({}) == Schema.load(path)
    for content in (b"{", b"\xff", b"[" * 10**5, b"3"):
        path.write_bytes(content)
        with pytest.raises(SchemaError) as mine:
            OpenSchema.load(path)
        with pytest.raises(SchemaError) as other:
            Schema.load(path)
        assert str(mine.value) == str(other.value)
        with pytest.raises(SchemaError, match="kinds"):
            OpenSchema.load_kinds(path)
    for missing in (tmp_path / "none.json", "a\0b"):
        with pytest.raises(DataFileError) as mine:
            OpenSchema.load(missing)
        with pytest.raises(DataFileError) as other:
            Schema.load(missing)
        assert str(mine.value) == str(other.value)


def test_an_open_column_can_be_made_by_hand():
    column = OpenColumn(
        name="x", type="integer", open_parts={"bounds"}, declared={"name": "x", "type": "integer"}
    )
    assert column.resolved(minimum=1, maximum=2).size == 3
    with pytest.raises(SchemaError, match="minimum is not filled in"):
        OpenColumn(
            name="x", type="integer", open_parts={"bins"}, declared={"name": "x", "type": "integer"}
        )


def test_of_a_kind_that_a_rule_names_nothing_is_learnt_that_can_be_done_without():
    rule = {"forbid": {"sex": ["m"], "age": {"maximum": 9}}}
    kinds = {"sex": {"type": "categorical", "constraints": {"enum": ["m", "f"]}}, "job": "boolean"}
    age = {"type": "integer", "constraints": {"minimum": 0, "maximum": 99}, "synthdp": {"bins": 10}}
    schema = OpenSchema.from_kinds({**kinds, "age": age, "synthdp": {"constraints": [rule]}})
    assert [column.name for column in schema.open_columns] == ["job"]
    with pytest.raises(SchemaError, match="'age', whose domain is derived"):
        OpenSchema.from_kinds({**kinds, "age": "integer", "synthdp": {"constraints": [rule]}})


@pytest.mark.parametrize("kind", ["string", "boolean", "integer", "number", "date"])
@pytest.mark.parametrize("enum", [None, ["a", "b"]])
def test_words_for_missing_are_never_learnt_away(kind, enum):
    """Nothing that noise says makes a level of a word that is declared to be none."""
    if enum and kind != "string":
        enum = {"integer": [1, 2], "number": [1, 2]}.get(kind)
    field = {"type": "categorical" if kind == "string" else kind, "missingValues": ["", "k.A."]}
    schema = OpenSchema.from_dict(
        schema_of_kinds({"x": field | ({"constraints": {"enum": enum}} if enum else {})})
    )
    (column,) = schema.columns
    closed = column.template if isinstance(column, OpenColumn) else column
    assert "missing" not in getattr(column, "open_parts", ())
    assert not closed.required
    # each row is in one cell, and the words are in that of "missing"
    codes = closed.encode(pd.Series(["k.A.", "", "never declared"], dtype=object))
    assert codes.shape == (3,)
    assert codes[0] == codes[1] == closed.missing_code


@pytest.mark.parametrize("words", [[""], ["", ""]])
def test_an_empty_cell_is_no_word_for_missing(words):
    field = {"type": "integer", "missingValues": words}
    (column,) = OpenSchema.from_dict(schema_of_kinds({"x": field})).columns
    assert "missing" in column.open_parts
