"""A table of any library in memory in one line, and back: read right and alike, or a caution that
names the column.
"""

import warnings
from datetime import date, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from helpers.reach import reachable

import synthdp
from synthdp.core import CautionWarning, ParameterError, SchemaError
from synthdp.report import certificate_text
from synthdp.schema import OpenSchema

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

N_ROWS = 2000
GENERATOR = np.random.default_rng(7)
CODES = GENERATOR.integers(0, 5, N_ROWS)
TEXTS = pd.Series(list("abcde"), dtype=object).take(CODES).to_numpy()
GAPS = np.where((CODES == 0) & (np.arange(N_ROWS) % 2 == 0), None, CODES)
MOMENTS = pd.Series(
    pd.Timestamp("2020-01-01") + pd.to_timedelta(GENERATOR.integers(0, 10**7, N_ROWS), unit="s")
)
SIZES = pd.Categorical(TEXTS, categories=list("edcba"), ordered=True)
ARROW = {
    "int8": pa.int8(), "float": pa.float32(), "bool": pa.bool_(), "string": pa.string(), "large": pa.large_string(),
    "dictionary": pa.dictionary(pa.int8(), pa.string()), "decimal": pa.decimal128(10, 2), "date": pa.date32(),
    "moment": pa.timestamp("ms"), "zoned": pa.timestamp("us", "Europe/Berlin"), "duration": pa.duration("s"),
}  # fmt: skip


def arrow_values():
    days = [moment.date() for moment in MOMENTS]
    moments = [moment.to_pydatetime().replace(microsecond=0) for moment in MOMENTS]
    content = {
        "int8": CODES.tolist(), "float": (CODES / 4).tolist(), "bool": (CODES > 2).tolist(), "string": TEXTS.tolist(),
        "large": TEXTS.tolist(), "dictionary": TEXTS.tolist(), "decimal": [Decimal(int(c)) / 4 for c in CODES],
        "date": days, "moment": moments, "zoned": moments, "duration": [timedelta(seconds=int(c)) for c in CODES],
    }  # fmt: skip
    return pa.table({name: pa.array(content[name], kind) for name, kind in ARROW.items()})


ALIKE = {
    "bool": CODES > 2,
    "int8": CODES.astype("int8"),
    "uint16": CODES.astype("uint16"),
    "float32": (CODES / 4).astype("float32"),
    "object": TEXTS,
    "Int64": pd.array(GAPS, dtype="Int64"),
    "boolean": pd.array(
        np.where([value is None for value in GAPS], None, CODES > 2), dtype="boolean"
    ),
    "Float32": pd.array(CODES / 4, dtype="Float32"),
    "string": pd.array(TEXTS, dtype=pd.StringDtype("python")),
    "datetime64[s]": MOMENTS.astype("datetime64[s]"),
    "datetime64[ns]": MOMENTS.astype("datetime64[ns]"),
    "zoned": MOMENTS.astype("datetime64[ns]").dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"),
    "timedelta": pd.Series(pd.to_timedelta(CODES * 90, unit="s")).astype("timedelta64[us]"),
    "months": MOMENTS.dt.to_period("M"),
    "weeks": MOMENTS.dt.to_period("W-WED"),
    "hours": MOMENTS.dt.to_period("h"),
    "sparse": pd.arrays.SparseArray(CODES / 4),
    "int16[pyarrow]": pd.array(CODES, dtype=pd.ArrowDtype(pa.int16())),
    "string[pyarrow]": pd.array(TEXTS, dtype=pd.ArrowDtype(pa.string())),
}
"""Columns whose dtype comes back as it was."""

LEVELLED = {
    "category": pd.Categorical(TEXTS),
    "ordered": SIZES,
    "category of numbers": pd.Categorical(CODES * 10),
    "cut": pd.cut(CODES, [-1, 1, 3, 5]),
    "interval": pd.arrays.IntervalArray.from_breaks(range(6)).take(CODES),
}
"""Columns that come back as categories, of which released levels and `other` are left."""


def released(data, kinds="dtypes", **more):
    settings = {"epsilon": 500.0, "delta": 1e-6, "mechanism": "independent"} | more
    return synthdp.synthesize(data, kinds=kinds, **settings)


@pytest.fixture(scope="module")
def frame():
    columns = {
        name: pd.Series(values).reset_index(drop=True)
        for name, values in (ALIKE | LEVELLED).items()
    }
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def synthesis(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "epsilon is 500")
        return released(frame)


@pytest.fixture(scope="module")
def drawn(synthesis):
    return synthesis.sample(N_ROWS, seed=1)


@pytest.mark.parametrize("name", ALIKE)
def test_what_comes_back_looks_like_what_went_in(name, frame, drawn):
    assert drawn[name].dtype == frame[name].dtype
    share = frame[name].isna().mean()
    assert abs(drawn[name].isna().mean() - share) < 0.1
    if frame[name].nunique() <= 5:
        for value in frame[name].dropna().unique():
            assert abs((drawn[name] == value).mean() - (frame[name] == value).mean()) < 0.1
    else:
        before, after = (sorted(each[name].map(moment_of)) for each in (frame, drawn))
        middle = abs(after[N_ROWS // 2] - before[N_ROWS // 2])
        assert middle < (before[-1] - before[0]) / 5


def moment_of(value):
    return value.start_time if isinstance(value, pd.Period) else value


@pytest.mark.parametrize("name", LEVELLED)
def test_categories_come_back_with_their_order(name, frame, drawn):
    found = drawn[name].cat
    before = frame[name] if name != "interval" else frame[name].astype("category").cat.as_ordered()
    assert found.categories.tolist() == [*before.cat.categories, "other"]
    assert found.ordered == before.cat.ordered
    assert drawn[name].isna().mean() < 0.1
    assert (drawn[name] == "other").mean() < 0.1


def test_nothing_is_lost_without_a_word(synthesis, drawn):
    assert [caution for caution in synthesis.cautions if "epsilon" not in caution] == []
    assert max(np.mean(pd.isna(drawn[name].to_numpy(dtype=object))) for name in drawn) < 0.2
    assert drawn.index.equals(pd.RangeIndex(N_ROWS))


def test_the_certificate_says_that_the_dtypes_were_taken_for_public(synthesis, frame):
    assert "taken to be public" in synthesis.certificate["kinds"]
    assert synthesis.certificate["kinds"] in certificate_text(synthesis.certificate)
    one = released(frame[["object"]], {"object": str})
    assert "kinds" not in one.certificate
    assert one.sample(3).dtypes["object"] == pd.Series(["a"]).dtype


def test_a_saved_synthesis_keeps_the_dtypes_that_were_declared_public(synthesis, drawn, tmp_path):
    synthesis.save(tmp_path / "it.synthdp")
    loaded = synthdp.load(tmp_path / "it.synthdp")
    told = [
        name for name in drawn if name not in ("cut", "interval")
    ]  # these are categories that no text says
    pd.testing.assert_frame_equal(loaded.sample(N_ROWS, seed=1)[told], drawn[told])
    assert loaded.cautions == synthesis.cautions


def test_texts_and_given_values_stay_what_they_are(synthesis):
    assert all(isinstance(value, str) for value in synthesis.sample(3, text=True)["int8"])
    given = synthesis.sample(given={"category": ["a", "unheard of"], "int8": [1, 2]})
    assert given["category"].tolist() == ["a", "unheard of"]
    assert given["ordered"].dtype.ordered
    again = synthesis.sample(given=pl.DataFrame({"category": ["a", "unheard of"], "int8": [1, 2]}))
    assert again["category"].tolist() == ["a", "unheard of"]


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_tables_of_polars_and_arrow_come_back_as_such(kind):
    table = arrow_values()
    data = table if kind == "pyarrow" else pl.from_arrow(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "epsilon is 500")
        synthesis = released(data)
    drawn = synthesis.sample(N_ROWS, seed=2)
    assert type(drawn) is type(data)
    assert drawn.schema == data.schema
    quarters = {Decimal(n) / 4 for n in range(5)}
    assert np.mean([value in quarters for value in drawn["decimal"].to_numpy().tolist()]) > 0.9
    moments = [value.as_py() if kind == "pyarrow" else value for value in drawn["zoned"]]
    assert {str(moment.tzinfo) for moment in moments} == {"Europe/Berlin"}
    assert type(synthesis.sample(2, text=True)) is type(data)


def test_an_enumeration_of_polars_keeps_its_order():
    data = pl.DataFrame({"it": pl.Series(TEXTS.tolist(), dtype=pl.Enum(list("edcbaz")))})
    drawn = released(data, {**data.schema}).sample(10)
    assert drawn.schema["it"] == pl.Enum([*"edcba", "other"])


# --- what is public, and what is not --------------------------------------------------------------


def test_dtypes_of_the_output_do_not_tell_neighbours_apart_unless_they_are_public():
    """One missing value makes integers floats and one odd entry makes objects of them: nobody may
    see that.
    """
    whole = pd.DataFrame({"it": CODES})
    gap = pd.DataFrame({"it": [*CODES.tolist(), None]})
    odd = pd.DataFrame({"it": [*CODES.tolist(), "x"]})
    schema = {
        "fields": [{"name": "it", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}]
    }
    drawn = [
        synthdp.synthesize(each, schema, epsilon=1, delta=1e-6).sample(5)
        for each in (whole, gap, odd)
    ]
    assert {str(each["it"].dtype) for each in drawn} == {"Int64"}
    bounds = {"type": "integer", "constraints": {"required": True}}
    for kinds in (
        {"it": bounds},
        {"it": bounds | {"type": int}},
        {"it": bounds | {"type": np.int8}},
    ):
        dtypes = {str(released(each, kinds).sample(9)["it"].dtype) for each in (whole, gap, odd)}
        assert len(dtypes) == 1, kinds


def test_a_category_that_was_not_released_is_nowhere_in_the_synthesis():
    values = pd.Categorical([*TEXTS, "SECRET"], categories=["SECRET", *"abcde"], ordered=True)
    data = pd.DataFrame({"it": values, "cut": pd.cut([*CODES.tolist(), 77], [-1, 4, 77])})
    synthesis = released(data, epsilon=1.0)
    assert synthesis.sample(5)["it"].cat.categories.tolist() == [*"abcde", "other"]
    for thing in reachable(synthesis):
        assert not isinstance(thing, str) or "SECRET" not in thing
        assert not isinstance(thing, pd.Index | np.ndarray) or "SECRET" not in map(str, thing)
        assert not isinstance(thing, pd.Interval) or thing.right != 77


@pytest.mark.parametrize("dtype", [np.int64, np.bool_])
def test_what_cannot_be_missing_costs_nothing_to_find_out(dtype):
    synthesis = released(pd.DataFrame({"it": (CODES > 2).astype(dtype)}))
    assert synthesis.schema["it"].required
    opened = OpenSchema.from_kinds(
        {"it": bool, "other": dtype}
    )  # a type in kinds is no promise of what the table holds
    assert [column.name for column in opened.open_columns] == ["it", "other"]


# --- cautions -------------------------------------------------------------------------------------

WRONG = {
    "epoch": (
        MOMENTS.astype("datetime64[s]").astype("int64"),
        "datetime",
        "pandas.to_datetime(.., unit='s')",
    ),
    "dates as texts": (
        MOMENTS.dt.strftime("%d.%m.%Y"),
        "date",
        "declare how it is written: format",
    ),
    "numbers of dates": (MOMENTS, "number", "decimalChar, groupChar, bareNumber, missingValues"),
    "objects that are dates": (
        pd.Series([date(2020, 1, 1)] * N_ROWS, dtype=object),
        "categorical",
        "say by its type",
    ),
    "times of day": (pd.Series([time(1)] * N_ROWS, dtype=object), "categorical", "say by its type"),
    "lists": (pd.Series([[1]] * N_ROWS, dtype=object), "categorical", "or 'ignore'"),
    "periods": (MOMENTS.dt.to_period("M"), "number", "decimalChar"),
    "intervals": (pd.Series(LEVELLED["cut"]), "number", "decimalChar"),
    "durations": (pd.Series(ALIKE["timedelta"]), "date", "declare how it is written: format"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_read_is_told_once_with_the_column_and_the_way_out(case):
    values, kind, way_out = WRONG[case]
    with pytest.warns(CautionWarning) as caught:
        synthesis = released(pd.DataFrame({"it": values}), {"it": kind}, epsilon=20.0, anyway=True)
    texts = [str(warning.message) for warning in caught]
    assert len(set(texts)) == len(texts)
    assert set(texts) <= set(synthesis.cautions)
    assert any("column 'it'" in text and way_out in text for text in texts), texts
    assert {warning.filename for warning in caught} == {__file__}
    assert synthesis.certificate["cautions"] == list(synthesis.cautions)


def test_an_epsilon_that_protects_against_little_is_a_warning_too():
    with pytest.warns(CautionWarning, match="epsilon is 50, above 10") as caught:
        synthesis = released(pd.DataFrame({"it": TEXTS}), {"it": str}, epsilon=50.0)
    assert len(caught) == len(synthesis.cautions) == 1


def test_a_filter_that_makes_errors_of_cautions_does_not_lose_what_was_paid_for():
    rescued = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "epsilon is 500")
        with pytest.raises(CautionWarning):
            released(
                pd.DataFrame({"it": TEXTS}),
                {"it": "integer"},
                epsilon=9.0,
                anyway=True,
                rescue=rescued.append,
            )
    (synthesis,) = rescued
    assert len(synthesis.sample(5)) == 5


# --- wrong use ------------------------------------------------------------------------------------

REFUSED = [
    ({"kinds": None}, ParameterError, "neither schema nor kinds is given; .*kinds='dtypes'"),
    ({"schema": {"it": 2}}, ParameterError, "schema and kinds are both given; give one"),
    ({"kinds": {"it": "text"}}, SchemaError, "column 'it'"),
    ({"kinds": {"other": "integer"}}, SchemaError, "its header has 0 of the 1"),
    ({"kinds": 5}, SchemaError, "kinds: give a JSON object"),
    ({"data": pd.DataFrame({0: [1]})}, SchemaError, "column names are not all texts"),
    (
        {"data": pd.DataFrame({"it": [1j]})},
        SchemaError,
        "column 'it': its dtype complex128 says no kind",
    ),
    (
        {"data": {"it": [1]}},
        ParameterError,
        r"data is a dict; make a table of it: pandas.DataFrame\(data\)",
    ),
]


@pytest.mark.parametrize(
    ("wrong", "error", "message"), REFUSED, ids=[str(case[2])[:30] for case in REFUSED]
)
def test_wrong_use_is_one_line_with_the_way_out(wrong, error, message):
    right = {"data": pd.DataFrame({"it": [1, 2]}), "kinds": "dtypes"}
    with pytest.raises(error, match=message) as caught:
        synthdp.synthesize(**right | wrong, epsilon=1, delta=1e-6)
    assert "\n" not in str(caught.value)


def test_the_dtypes_of_a_frame_are_kinds():
    data = pd.DataFrame({"it": CODES.astype("int8")})
    assert released(data, data.dtypes).sample(2).dtypes["it"] in (np.dtype("int8"), pd.Int8Dtype())


def test_a_column_may_have_any_name():
    data = pd.DataFrame({"self": pd.cut(CODES, [-1, 1, 5]), "frame": TEXTS})
    synthesis = released(data)
    assert synthesis.sample(2).dtypes["self"] == "category"
    assert synthesis.sample(given={"self": ["(1, 5]"]})["self"].tolist() == ["(1, 5]"]
    assert data["self"].dtype == "category"


def test_the_column_of_persons_needs_no_kind():
    data = pd.DataFrame({"person": pd.Series([[n] for n in range(N_ROWS)]).map(str), "it": TEXTS})
    synthesis = released(data, unit="person", max_rows_per_unit=1)
    assert synthesis.sample(2).columns.tolist() == ["it"]
