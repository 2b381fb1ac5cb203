"""Records that are given to be completed: their forms, what is refused, and that they stay as they
are.
"""

import numpy as np
import pandas as pd
import pytest

import synthdp
from synthdp.core import LinearMeasurement, ParameterError, SchemaError
from synthdp.schema import Schema

BOUNDS = {"minimum": 0, "maximum": 99, "required": True}
FIELDS = [
    {"name": "cat", "type": "string", "constraints": {"enum": ["a", "b"], "required": True}},
    {"name": "town", "type": "string", "constraints": {"enum": ["A", "B"], "required": True}}
    | {"synthdp": {"other": "else"}},
    {"name": "age", "type": "integer", "constraints": BOUNDS, "synthdp": {"bins": 5}},
    {
        "name": "pay",
        "type": "number",
        "constraints": {"minimum": 0, "maximum": 10},
        "synthdp": {"decimals": 1},
    },
    {"name": "born", "type": "date", "format": "%d.%m.%Y"}
    | {
        "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"},
        "synthdp": {"parts": ["weekday"]},
    },
    {"name": "member", "type": "boolean", "trueValues": ["yes"], "falseValues": ["no"]},
    {"name": "rooms", "type": "integer", "constraints": {"enum": [1, 2, 3]}},
]


@pytest.fixture(scope="module")
def synthesis():
    """``age`` follows ``cat``: a goes with the lower bins."""
    schema = Schema.from_dict({"fields": FIELDS, "missingValues": ["", "NA"]})
    counts = [
        LinearMeasurement((name,), np.full(size, 1000 / size), 0.01)
        for name, size in zip(schema.domain.attributes, schema.domain.shape, strict=True)
    ]
    together = np.array([[400.0, 50.0, 30.0, 15.0, 5.0], [5.0, 15.0, 30.0, 50.0, 400.0]])
    return synthdp.from_measurements(
        schema, [*counts[3:], LinearMeasurement(("cat", "age"), together, 0.01)]
    )


@pytest.mark.parametrize(
    "given",
    [
        {"cat": ["a", "b"]},
        {"cat": np.array(["a", "b"])},
        {"cat": pd.Series(["a", "b"], index=[7, 7])},
        [{"cat": "a"}, {"cat": "b"}],
        pd.Series(["a", "b"], name="cat"),
        pd.DataFrame({"cat": ["a", "b"]}),
        pd.DataFrame({"cat": pd.Categorical(["a", "b"])}, index=[3, 1]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_every_form_gives_the_same(given, synthesis):
    expected = synthesis.sample(given=pd.DataFrame({"cat": ["a", "b"]}), seed=3)
    pd.testing.assert_frame_equal(
        synthesis.sample(given=given, seed=3).astype({"cat": expected["cat"].dtype}), expected
    )


def test_several_columns_in_records_and_lists(synthesis):
    records = [{"age": 3, "pay": None}, {"age": 70, "pay": 2.5}]
    for given in (records, [{"age": 3}, records[1]], {"age": [3, 70], "pay": (None, 2.5)}):
        table = synthesis.sample(given=given, seed=0)
        assert (table["age"].tolist(), table["pay"][1]) == ([3, 70], 2.5)
        assert table.dtypes.to_dict() == synthesis.sample(2, seed=0).dtypes.to_dict()


def assert_refused(synthesis, given, error, message):
    """Rows that are given are refused in one line that begins with the message."""
    with pytest.raises(error) as raised:
        synthesis.sample(given=given)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("cat", "given is a str; give a DataFrame, a Series, a dict of lists"),
        (5, "given is a int; give a DataFrame"),
        ([1, 2], "given is a list; give a DataFrame"),
        ({"cat": "a"}, "given: column 'cat' is no list of values; give a DataFrame"),
        ({"cat": 1}, "given: column 'cat' is no list of values"),
        ({"cat": ["a"], "age": [1, 2]}, "given: its columns differ in length"),
        (pd.Series(["a"]), "given: the Series has no name"),
        ({}, "given: it has no columns"),
        ([], "given: it has no columns"),
        (
            pd.DataFrame([["a", "b"]], columns=["cat", "cat"]),
            "given: two columns have the same name",
        ),
    ],
    ids=str,
)
def test_other_forms_are_refused(given, message, synthesis):
    assert_refused(synthesis, given, ParameterError, message)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"kat": ["a"]},
            "given: there is no column 'kat'; there are 'cat', 'town', 'age', 'pay', 'born'",
        ),
        (
            {"born:weekday": ["Monday"]},
            "given: column 'born:weekday' is a part of 'born'; give 'born' in its place",
        ),
        (
            {"cat": ["a", "c"]},
            "given: column 'cat': value 1 (from 0) is 'c', which is none of its levels; correct it",
        ),
        (
            {"cat": [None, "NA"]},
            "given: column 'cat': value 1 (from 0) is 'NA', which says that it is missing",
        ),
        (
            {"age": [3, 4, 100]},
            "given: column 'age': value 2 (from 0) is 100, which is no number between 0 and 99",
        ),
        (
            {"age": ["old"]},
            "given: column 'age': value 0 (from 0) is 'old', which is no number between 0 and 99",
        ),
        (
            {"pay": [-0.1]},
            "given: column 'pay': value 0 (from 0) is -0.1, which is no number between 0",
        ),
        (
            {"born": ["2020-02-03"]},
            "given: column 'born': value 0 (from 0) is '2020-02-03', which is no date between",
        ),
        (
            {"born": ["31.02.2020"]},
            "given: column 'born': value 0 (from 0) is '31.02.2020', which is no date between",
        ),
        (
            {"born": ["01.01.2021"]},
            "given: column 'born': value 0 (from 0) is '01.01.2021', which is no date between",
        ),
        (
            {"member": ["maybe"]},
            "given: column 'member': value 0 (from 0) is 'maybe', which is none of its levels",
        ),
        (
            {"rooms": [4]},
            "given: column 'rooms': value 0 (from 0) is 4, which is none of its levels",
        ),
    ],
    ids=str,
)
def test_values_outside_the_schema_are_refused_with_their_place(given, message, synthesis):
    assert_refused(synthesis, given, SchemaError, message)


def test_what_a_schema_reads_as_other_stays_as_it_is(synthesis):
    table = synthesis.sample(given={"town": ["A", "Nowhere", "else"]}, seed=0)
    assert table["town"].tolist() == ["A", "Nowhere", "else"]


def test_given_texts_are_kept_in_a_table_of_texts_and_read_in_one_of_values(synthesis):
    given = {
        "cat": ["a"],
        "age": ["7.0"],
        "pay": ["2.50"],
        "born": ["03.02.2020"],
        "member": ["yes"],
        "rooms": ["2"],
    }
    texts = synthesis.sample(given=given, text=True)
    assert texts[list(given)].iloc[0].tolist() == [values[0] for values in given.values()]
    values = synthesis.sample(given=given)
    assert values[list(given)].iloc[0].tolist() == [
        "a",
        7,
        2.5,
        pd.Timestamp("2020-02-03"),
        True,
        2,
    ]
    assert values.dtypes.to_dict() == synthesis.sample(2, seed=0).dtypes.to_dict()


@pytest.mark.parametrize(
    ("column", "values"), [("age", ["07"]), ("born", pd.to_datetime(["2020-02-03T01:30"]))]
)
def test_given_values_that_the_column_does_not_read_are_refused(column, values, synthesis):
    with pytest.raises(SchemaError, match=f"given: column '{column}': value 0 .* which is no"):
        synthesis.sample(given=pd.DataFrame({column: values}))


def test_given_values_are_written_as_the_column_writes_its_own(synthesis):
    given = {
        "age": [7],
        "pay": [2.75],
        "born": [pd.Timestamp("2020-02-03")],
        "member": [True],
        "rooms": ["NA"],
    }
    texts = synthesis.sample(given=pd.DataFrame(given), text=True)
    assert texts[list(given)].iloc[0].tolist() == ["7", "2.75", "03.02.2020", "yes", "NA"]


def test_given_and_where_together(synthesis):
    where = {"age": {"minimum": 35, "maximum": 50}, "born:weekday": ["Monday", "Sunday"]}
    given = pd.DataFrame({"cat": ["a"] * 3000 + ["b"] * 3000})
    table = synthesis.sample(given=given, where=where, seed=0)
    assert table["cat"].tolist() == given["cat"].tolist()
    assert table["age"].between(35, 50).all()
    assert set(table["age"]) == set(range(35, 51))
    assert table["born"].dropna().dt.day_of_week.isin([0, 6]).all()
    # of the bins 20 to 39 and 40 to 59 a quarter and 11 of 20 lie inside
    low, high = 50 * 5 / 20, 30 * 11 / 20
    assert (table["age"][:3000] < 40).mean() == pytest.approx(low / (low + high), abs=0.06)
    low, high = 15 * 5 / 20, 30 * 11 / 20
    assert (table["age"][3000:] < 40).mean() == pytest.approx(low / (low + high), abs=0.06)
    with pytest.raises(
        ParameterError, match="where: column 'cat' is in given, where it stays as it is"
    ):
        synthesis.sample(given=given, where={"cat": ["a"]})
    with pytest.raises(ParameterError, match="where: column 'born:weekday' is in given"):
        synthesis.sample(given={"born": ["03.02.2020"]}, where={"born:weekday": ["Monday"]})


def test_empty_cells_are_completed_row_by_row(synthesis):
    """A given ``cat`` decides the age that is drawn beside it, and a given age the ``cat``."""
    n = 2000
    given = pd.DataFrame(
        {
            "cat": ["a", "b", None, ""] * n,
            "age": [None, np.nan, 90, 10] * n,
            "pay": [2.5, None, None, 0.5] * n,
        }
    )
    table = synthesis.sample(given=given, seed=0)
    assert table.notna()[["cat", "age"]].to_numpy().all()
    assert table.dtypes.to_dict() == synthesis.sample(2, seed=0).dtypes.to_dict()
    kinds = [table[start::4] for start in range(4)]
    assert [set(kinds[0]["cat"]), set(kinds[1]["cat"]), set(kinds[2]["age"]), set(kinds[3]["age"])] == [
        {"a"}, {"b"}, {90}, {10},
    ]  # fmt: skip
    assert [set(kinds[0]["pay"]), set(kinds[3]["pay"])] == [{2.5}, {0.5}]
    assert kinds[1]["pay"].nunique() > 50
    assert (kinds[0]["age"] < 20).mean() == pytest.approx(0.8, abs=0.06)
    assert (kinds[1]["age"] >= 80).mean() == pytest.approx(0.8, abs=0.06)
    assert (kinds[2]["cat"] == "b").mean() == pytest.approx(400 / 405, abs=0.03)
    assert (kinds[3]["cat"] == "a").mean() == pytest.approx(400 / 405, abs=0.03)


def test_rows_and_columns_of_nothing_but_empty_cells_are_drawn_whole(synthesis):
    table = synthesis.sample(
        given={"cat": ["a", "", None], "born": [None] * 3, "age": [1, None, ""]}, seed=1
    )
    assert table.loc[0, ["cat", "age"]].tolist() == ["a", 1]
    assert table.dtypes.to_dict() == synthesis.sample(2, seed=0).dtypes.to_dict()
    inside = synthesis.sample(given=[{"cat": "a"}, {}], where={"age": {"maximum": 19}}, seed=1)
    assert len(inside) == 2
    assert (inside["age"] < 20).all()


def test_a_spelt_out_missing_value_is_given_and_an_empty_cell_is_not(synthesis):
    table = synthesis.sample(given={"pay": ["NA", ""] * 500, "member": ["NA", " "] * 500}, seed=0)
    assert table[["pay", "member"]][::2].isna().to_numpy().all()
    assert table[["pay", "member"]][1::2].notna().any().all()


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("cat", pd.Categorical(["b", None, "a"])),
        ("cat", pd.array(["b", None, "a"], dtype="string")),
        ("age", pd.array([7, None, 9], dtype="Int64")),
        ("member", [True, None, False]),
        (
            "born",
            pd.to_datetime(["2020-02-03", None, "2020-03-04"])
            .tz_localize("UTC")
            .tz_convert("Europe/Berlin"),
        ),
    ],
    ids=["categories", "texts", "nullable", "objects", "zoned"],
)
def test_values_of_any_dtype_stay_beside_drawn_ones(column, values, text, synthesis):
    frame = pd.DataFrame({column: values})
    table = synthesis.sample(given=frame, seed=0, text=text)
    whole = synthesis.sample(given=frame.dropna(), seed=0, text=text)
    assert table[column][[0, 2]].tolist() == whole[column].tolist()
    assert text or table[column].dtype == whole[column].dtype or column in ("cat", "member")


def test_a_blank_text_that_is_a_level_is_given():
    field = {"name": "note", "type": "string", "constraints": {"enum": ["", "x"], "required": True}}
    schema = Schema.from_dict({"fields": [field], "missingValues": ["NA"]})
    found = synthdp.from_measurements(
        schema, [LinearMeasurement(("note",), np.array([5.0, 95.0]), 1.0)]
    )
    assert found.sample(given={"note": [""] * 40})["note"].tolist() == [""] * 40


def test_checks_hold_in_rows_that_are_given_in_part():
    dates = [
        {
            "name": name,
            "type": "date",
            "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"},
        }
        | {"synthdp": {"bins": 4}}
        for name in ("start", "end")
    ]
    schema = Schema.from_dict(
        {"fields": dates, "synthdp": {"constraints": [{"check": "start < end"}]}}
    )
    even = [
        LinearMeasurement((name,), np.full(schema.domain[name], 100.0), 1.0)
        for name in ("start", "end")
    ]
    found = synthdp.from_measurements(schema, even)
    given = pd.DataFrame(
        {
            "start": ["2020-05-31", "", "", "2020-03-01"] * 250,
            "end": ["", "2020-06-01", "", ""] * 250,
        }
    )
    table = found.sample(given=given, seed=0)
    both = table.dropna()
    assert len(both) > 400
    assert (both["start"] < both["end"]).all()
    assert (table["start"][::4] == pd.Timestamp("2020-05-31")).all()
    assert (table["end"][1::4] == pd.Timestamp("2020-06-01")).all()
    broken = pd.DataFrame(
        {"start": ["", "2020-05-31", "2020-06-02"], "end": ["2020-05-30", "", "2020-06-01"]}
    )
    with pytest.raises(
        SchemaError, match=r"given: record 2 \(from 0\) breaks the check 'start < end'"
    ):
        found.sample(given=broken)
