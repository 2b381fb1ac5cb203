"""Parts of dates: attributes of the model that agree with the dates that are written."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import synthdp
from synthdp.cli import schema_findings
from synthdp.core import SchemaError
from synthdp.data import decode, encode
from synthdp.schema import DateColumn, IntegerColumn, Schema, Shape

READERS = {
    "weekday": lambda dates: dates.dt.day_of_week,
    "month": lambda dates: dates.dt.month - 1,
    "hour": lambda dates: dates.dt.hour,
}
"""Brute force: the position of each date's part."""

POSSIBLE = {
    "year": [], "quarter": [], "week": [], "month": ["month"], "day": ["weekday", "month"],
    "hour": ["weekday", "month", "hour"], "minute": ["weekday", "month", "hour"],
    "second": ["weekday", "month", "hour"],
}  # fmt: skip


def dates(**options):
    given_options = {
        "minimum": dt.date(2019, 1, 1),
        "maximum": dt.date(2020, 12, 31),
        "parts": ("weekday", "month"),
    }
    return DateColumn(name="seen", **given_options | options)


@st.composite
def columns(draw):
    resolution = draw(st.sampled_from(["month", "day", "hour", "minute", "second"]))
    parts = draw(st.lists(st.sampled_from(POSSIBLE[resolution]), min_size=1, unique=True))
    low = dt.datetime.fromisoformat("1969-11-11") + dt.timedelta(
        seconds=draw(st.integers(0, 10**8))
    )
    high = low + dt.timedelta(seconds=draw(st.sampled_from([0, 59, 4000, 10**5, 10**7])))
    starts = sorted(
        {
            low,
            *draw(
                st.lists(
                    st.datetimes(low, high).map(lambda m: m.replace(microsecond=0)), max_size=4
                )
            ),
        }
    )
    weights = [draw(st.sampled_from([0, 1, 5])) for _ in starts]
    shape = draw(st.none() | st.just(Shape(starts=tuple(starts), weights=tuple(weights))))
    return dates(
        minimum=low, maximum=high, type="datetime", resolution=resolution, parts=tuple(parts), shape=shape,
        required=draw(st.booleans()),
    )  # fmt: skip


@settings(deadline=None, max_examples=examples(75))
@given(columns(), st.integers(0, 2**32))
def test_dates_and_their_parts_survive(column, seed):
    schema = Schema((column,))
    rng = np.random.default_rng(seed)
    codes = [rng.integers(each.size, size=60) for each in schema.columns]
    typed = decode(codes, schema, np.random.default_rng(seed))
    text = decode(codes, schema, np.random.default_rng(seed), text=True)
    assert typed.columns.tolist() == ["seen"]
    assert encode(typed, schema).columns[0].tolist() == codes[0].tolist()  # whatever the parts say
    coded = encode(typed, schema).columns
    assert [each.tolist() for each in encode(text, schema).columns] == [
        each.tolist() for each in coded
    ]
    present = typed["seen"].notna().to_numpy()
    for part, part_codes in zip(column.parts, coded[1:], strict=True):
        assert part_codes[present].tolist() == READERS[part](typed["seen"][present]).tolist()
        assert (part_codes[~present] == schema[f"seen:{part}"].n_levels).all()
    # codes of real dates are the codes of the dates that are drawn for them
    again = decode(coded, schema, np.random.default_rng(seed + 1))
    assert [each.tolist() for each in encode(again, schema).columns] == [
        each.tolist() for each in coded
    ]
    assert Schema.from_dict(schema.to_dict()) == schema


@settings(deadline=None, max_examples=examples(100))
@given(
    columns(),
    st.lists(
        st.none() | st.text(max_size=3) | st.floats() | st.datetimes() | st.dates(), max_size=9
    ),
)
def test_encoding_is_total_and_clips_parts_with_their_dates(column, values):
    schema = Schema((column,))
    series = pd.Series(values, dtype=object)
    coded = encode(pd.DataFrame({"seen": series}), schema).columns
    for each, codes in zip(schema.columns, coded, strict=True):
        assert each.encode(series).tolist() == codes.tolist()  # a column by itself says the same
        assert codes.tolist() == [int(each.encode(series.iloc[[i]])[0]) for i in range(len(series))]
        assert each.knows(series).tolist() == column.knows(series).tolist()
    assert (
        encode(decode(coded, schema, np.random.default_rng(0)), schema).columns[0].tolist()
        == coded[0].tolist()
    )


def test_values_outside_the_bounds_have_the_parts_of_the_bounds():
    schema = Schema((dates(required=True),))
    frame = pd.DataFrame({"seen": ["1999-05-05", "2019-01-01", "2020-12-31", "2042-05-05", "?"]})
    _, weekday, month = encode(frame, schema).columns
    assert weekday.tolist() == [
        1,
        1,
        3,
        3,
        1,
    ]  # 1 January 2019 was a Tuesday, 31 December 2020 a Thursday
    assert month.tolist() == [0, 0, 11, 11, 0]


def test_all_agree_where_the_bin_holds_such_a_day():
    column = dates(
        required=True, edges=(dt.date(2019, 1, 1), dt.date(2019, 6, 12), dt.date(2020, 12, 31))
    )
    schema = Schema((column,))
    days = pd.Series(pd.date_range("2019-01-01", "2020-12-31"))
    held = set(
        zip(*(each.tolist() for each in encode(days.to_frame("seen"), schema).columns), strict=True)
    )
    every = np.array([(b, w, m) for b in range(2) for w in range(7) for m in range(12)] * 5)
    drawn = decode(every, schema, np.random.default_rng(0))
    coded = np.array(encode(drawn, schema).columns).T
    for asked, got in zip(every.tolist(), coded.tolist(), strict=True):
        assert asked[0] == got[0]
        if tuple(asked) in held:
            assert asked == got
        else:
            assert asked[1] == got[1]  # no such month in the bin: at least the first part agrees
    assert any(tuple(asked) not in held for asked in every.tolist())


def test_a_missing_part_asks_for_nothing_and_a_missing_date_stays_missing():
    schema = Schema((dates(),))
    n, (date, weekday, _) = 3000, schema.columns
    codes = [np.full(n, 4), np.full(n, weekday.n_levels), np.full(n, 12)]
    drawn = decode(codes, schema, np.random.default_rng(0))["seen"]
    assert drawn.dt.day_of_week.nunique() == 7
    codes = [np.full(n, date.n_levels), np.zeros(n, int), np.zeros(n, int)]
    assert decode(codes, schema, np.random.default_rng(0))["seen"].isna().all()


def test_a_shape_weighs_the_days_that_agree():
    monday = dt.date(2019, 1, 7)
    shape = Shape(starts=(dt.date(2019, 1, 1), monday, dt.date(2019, 1, 8)), weights=(0, 3, 722))
    column = dates(bins=2, shape=shape, required=True, parts=("weekday",))
    n = 20_000
    drawn = decode(
        [np.zeros(n, int), np.zeros(n, int)], Schema((column,)), np.random.default_rng(0)
    )["seen"]
    assert (drawn.dt.day_of_week == 0).all()
    # 52 Mondays in the first half, one day weighs 722 / 723 beside its 51 others and the 7th of
    # January 3
    days = pd.date_range("2019-01-08", "2019-12-31")
    share = 3 / (
        3 + (days.day_of_week == 0).sum() * 722 / len(pd.date_range("2019-01-08", "2020-12-31"))
    )
    assert abs((drawn == pd.Timestamp(monday)).mean() - share) < 7 * np.sqrt(share / n)
    tuesdays = decode(
        [np.zeros(n, int), np.ones(n, int)], Schema((column,)), np.random.default_rng(0)
    )["seen"]
    assert tuesdays.min() == pd.Timestamp("2019-01-08")  # the first of January weighs nothing


def test_a_shape_may_cut_a_part_in_two():
    shape = Shape(
        starts=(dt.date(2019, 1, 1), dt.date(2019, 1, 20), dt.date(2019, 2, 3)), weights=(0, 5, 0)
    )
    schema = Schema((dates(bins=2, shape=shape, required=True, parts=("month",)),))
    n = 2000
    for month, first, last in ((0, "2019-01-20", "2019-01-31"), (1, "2019-02-01", "2019-02-02")):
        drawn = decode([np.zeros(n, int), np.full(n, month)], schema, np.random.default_rng(0))[
            "seen"
        ]
        assert (drawn.min(), drawn.max()) == (pd.Timestamp(first), pd.Timestamp(last))


def test_without_parts_nothing_is_drawn_otherwise():
    plain = dates(parts=(), required=True)
    codes = np.arange(32).repeat(9)
    old = plain.decode(codes, np.random.default_rng(3))
    assert (
        old.tolist() == decode([codes], Schema((plain,)), np.random.default_rng(3))["seen"].tolist()
    )


def test_names_domain_and_tables():
    age = IntegerColumn(name="age", minimum=0, maximum=9, required=True)
    hours = dates(type="datetime", resolution="hour", parts=("hour", "weekday"))
    schema = Schema((age, hours))
    assert schema.names == ("age", "seen", "seen:hour", "seen:weekday")
    assert schema.table_names == ("age", "seen")
    assert schema.domain.shape == (10, 33, 25, 8)
    assert [column.source for column in schema.columns] == ["age", "seen", "seen", "seen"]
    assert schema["seen:weekday"].labels.tolist()[:2] == ["Monday", "Tuesday"]
    assert schema["seen:hour"].labels.tolist()[:2] == [0, 1]
    assert [field["name"] for field in schema.to_dict()["fields"]] == ["age", "seen"]
    assert schema.to_dict()["fields"][1]["synthdp"]["parts"] == ["hour", "weekday"]
    turned = schema.reordered(["seen", "age"])
    assert turned.names == ("seen", "seen:hour", "seen:weekday", "age")
    assert Schema(turned.columns) == turned
    with pytest.raises(SchemaError, match="the table has 'seen:hour', the schema has not"):
        schema.check_header(["age", "seen", "seen:hour"])
    assert not [finding for finding in schema_findings(schema) if finding.severity == "warning"]


def field(**own):
    constraints = {"minimum": "2020-01-01", "maximum": "2020-12-31"}
    return {"name": "seen", "type": "datetime", "constraints": constraints, "synthdp": own}


@pytest.mark.parametrize("resolution", POSSIBLE)
@pytest.mark.parametrize("part", READERS)
def test_a_resolution_must_be_able_to_say_its_parts(resolution, part):
    made = field(resolution=resolution, parts=[part])
    if part in POSSIBLE[resolution]:
        assert Schema.from_dict({"fields": [made]}).names == ("seen", f"seen:{part}")
    else:
        with pytest.raises(
            SchemaError, match=f"'seen'.*'{part}', which dates by {resolution} cannot say"
        ):
            Schema.from_dict({"fields": [made]})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([field(parts="weekday")], "give a list of parts"),
        ([field(parts=["year"])], "'year'; give one of 'weekday', 'month', 'hour'"),
        ([field(parts=[["month"]])], "give one of 'weekday', 'month', 'hour'"),
        ([field(parts=["month", "month"])], "'month' twice"),
        ([field(parts=["hour"]) | {"type": "date"}], "dates by day cannot say"),
        (
            [field(parts=["month"]), {"name": "seen:month", "type": "boolean"}],
            "'seen:month', as another column is",
        ),
        (
            [
                field(parts=["hour"])
                | {"constraints": {"minimum": "0001-01-01", "maximum": "2020-01-01"}}
            ],
            "hours at most",
        ),
        (
            [
                field(parts=["month"], resolution="month"),
                {"name": "x", "type": "integer", "synthdp": {"parts": []}},
            ],
            "'x'",
        ),
    ],
)
def test_contradictions_are_refused_in_one_line(fields, expected):
    with pytest.raises(SchemaError, match=expected) as caught:
        Schema.from_dict({"fields": fields})
    assert "\n" not in str(caught.value)


def test_rules_are_about_columns_of_the_table():
    rule = {"forbid": {"seen:month": [1], "x": [True]}}
    boolean = {"name": "x", "type": "boolean"}
    with pytest.raises(SchemaError, match="no column 'seen:month'"):
        Schema.from_dict(
            {"fields": [field(parts=["month"]), boolean], "synthdp": {"constraints": [rule]}}
        )


@pytest.fixture(scope="module")
def synthesis():
    """A week in which Saturdays are for one group, measured without noise to speak of."""
    fields = [field(resolution="day", parts=["weekday"], bins=4), {"name": "x", "type": "boolean"}]
    schema = Schema.from_dict(
        {"fields": [fields[0], fields[1] | {"constraints": {"required": True}}]}
    )
    days = pd.Series(pd.date_range("2020-01-01", "2020-12-31"))
    frame = pd.DataFrame({"seen": days, "x": days.dt.day_of_week == 5})
    counts = np.zeros(schema.domain.shape)
    np.add.at(counts, encode(frame, schema).columns, 10)
    index = pd.MultiIndex.from_product(
        [column.labels for column in schema.columns], names=schema.names
    )
    table = pd.Series(counts.ravel(), index=index, name="count")
    return synthdp.from_measurements(schema, [(table, 1.0)])


def test_the_model_keeps_what_depends_on_the_weekday(synthesis):
    table = synthesis.sample(seed=0)
    assert table.columns.tolist() == ["seen", "x"]
    assert ((table["seen"].dt.day_of_week == 5) == table["x"]).mean() > 0.99
    marginal = synthesis.marginal(["seen:weekday", "x"])
    assert marginal["Saturday", True] == pytest.approx(520, rel=0.02)
    again = synthdp.from_measurements(synthesis.schema, [(marginal, 1.0)])
    assert again.marginal(["seen:weekday"])["Monday"] == pytest.approx(520, rel=0.02)


def test_slices_and_completions(synthesis):
    saturdays = synthesis.sample(200, seed=0, where={"seen:weekday": ["Saturday"], "x": [True]})
    assert (saturdays["seen"].dt.day_of_week == 5).all()
    known = pd.DataFrame(
        {"seen": pd.to_datetime(["2020-05-02", "2020-05-04"] * 50)}
    )  # a Saturday, a Monday
    completed = synthesis.sample(seed=0, given=known)
    assert completed.columns.tolist() == ["seen", "x"]
    assert completed["seen"].tolist() == known["seen"].tolist()
    assert completed["x"].tolist() == [True, False] * 50
    with pytest.raises(SchemaError, match="'seen:weekday' is a part of 'seen'; give 'seen'"):
        synthesis.sample(seed=0, given=pd.DataFrame({"seen:weekday": ["Monday"]}))


def test_saving_showing_and_certificates(synthesis, tmp_path):
    from synthdp.cli import describe

    path = tmp_path / "model.synthdp"
    synthesis.save(path)
    loaded = synthdp.load(path)
    assert loaded.schema == synthesis.schema
    pd.testing.assert_frame_equal(loaded.sample(50, seed=1), synthesis.sample(50, seed=1))
    assert "seen:weekday" in describe(str(path))[1]
    assert [column["name"] for column in synthesis.certificate["schema"]["columns"]] == [
        "seen",
        "seen:weekday",
        "x",
    ]
