"""Columns that are not read at all: a run stops before the table is measured, unless they are
empty, or it is told.
"""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.flows import held
from helpers.odd_values import ODD_VALUES, objects

import synthdp
from synthdp.core import INFINITE, Grid, UnreadColumnError
from synthdp.data import held_column
from synthdp.learning import BEYOND_DOUBT, is_empty, unread_share
from synthdp.privacy import NoisyHistogram
from synthdp.schema import SPELLINGS, OpenSchema

N_ROWS = 3000
RUN = {"epsilon": 2.0, "delta": 1e-6, "mechanism": "independent"}
AGE = [str(20 + row % 50) for row in range(N_ROWS)]


def days(pattern):
    return (
        (pd.Timestamp("2010-01-01") + pd.to_timedelta(np.arange(N_ROWS) % 900, "D"))
        .strftime(pattern)
        .tolist()
    )


def gaps(values, share):
    return ["" if row % 100 < 100 * share else value for row, value in enumerate(values)]


FRACTIONS = [f"{row % 90}.37" for row in range(N_ROWS)]
UNREAD = {
    "days first": ("date", days("%d.%m.%Y"), "format, such as '%d.%m.%Y', or type 'integer'"),
    "compact": ("date", days("%Y%m%d"), "format, such as '%d.%m.%Y', or type 'integer'"),
    "times of day": ("date", days("%Y-%m-%dT10:%M:01"), "type 'datetime' for times of day"),
    "zoned midnights": ("date", days("%Y-%m-%dT00:00:00+01:00"), "times of day and time zones"),
    "offsets": ("datetime", days("%Y-%m-%dT10:00:00+02:00"), "format"),
    "fractions": ("integer", FRACTIONS, "type 'number' for fractions"),
    "zeros in front": (
        "integer",
        [f"0{row % 90:04d}" for row in range(N_ROWS)],
        "synthdp.width for zeros in front",
    ),
    "commas": ("number", [f"{row % 90},37" for row in range(N_ROWS)], "decimalChar"),
    "other words": ("boolean", ["ja", "nein"] * (N_ROWS // 2), "trueValues, falseValues"),
    "declared bounds": (
        {"type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        FRACTIONS,
        "bareNumber",
    ),
    "by a tree": ({"type": "integer", "synthdp": {"binning": "privtree"}}, FRACTIONS, "bareNumber"),
    "required": ({"type": "integer", "constraints": {"required": True}}, FRACTIONS, "bareNumber"),
    "many gaps": ("integer", gaps(FRACTIONS, 0.5), "bareNumber"),
    "numbers that are listed": (
        {"type": "integer", "constraints": {"enum": [1, 2]}},
        FRACTIONS,
        "constraints.enum",
    ),
}
READ = {
    "dates": ("date", days("%Y-%m-%d")),
    "dates, mostly missing": ("date", gaps(days("%Y-%m-%d"), 0.97)),
    "numbers": ("number", FRACTIONS),
    "numbers, mostly missing": ("number", gaps(FRACTIONS, 0.97)),
    "whole numbers, half of them not": (
        "integer",
        [value[: 2 + row % 2 * 3] for row, value in enumerate(FRACTIONS)],
    ),
    "words": ("boolean", ["yes", "no", ""] * (N_ROWS // 3)),
    "words, mostly missing": ("boolean", gaps(["yes", "no"] * (N_ROWS // 2), 0.97)),
    "the same": ("integer", ["7"] * N_ROWS),
    "nothing": ("integer", [""] * N_ROWS),
    "no dates": ("date", [""] * N_ROWS),
    "no words": ("boolean", [""] * N_ROWS),
    "blanks where NA is missing": ({"type": "number", "missingValues": ["NA"]}, [" "] * N_ROWS),
    "no number": ({"type": "number", "constraints": {"minimum": 0, "maximum": 1}}, [None] * N_ROWS),
}


def release(kind, values, **settings):
    frame = pd.DataFrame({"it": pd.Series(values, dtype=object), "age": AGE})
    return synthdp.synthesize(frame, kinds={"it": kind, "age": "integer"}, **RUN | settings)


LEARNING = {"histogram", "partition selection", "tree"}


@pytest.mark.parametrize("case", UNREAD)
def test_a_run_stops_where_a_column_is_not_read(case):
    kind, values, way_out = UNREAD[case]
    with pytest.raises(UnreadColumnError) as caught:
        release(kind, values)
    message, learnt = str(caught.value), caught.value.learnt
    assert message.startswith("column 'it': about ")
    assert way_out in message
    assert "anyway=True (--anyway)" in message
    assert "\n" not in message
    assert [column.name for column in learnt.schema.open_columns] == ["it"]
    assert {event["event"] for event in learnt.certificate["events"]} <= LEARNING


@pytest.mark.parametrize("case", READ)
def test_no_run_stops_where_a_column_is_read_or_empty(case):
    kind, values = READ[case]
    release(kind, values)


@pytest.mark.parametrize("kind", ["integer", "date", "categorical"])
def test_an_empty_column_is_called_empty(kind):
    synthesis = release(kind, [""] * N_ROWS)
    assert (
        "column 'it': its values are missing, or nearly all of them are; ignore it if it is empty"
        in synthesis.cautions
    )
    assert not any(
        "'it': no level" in caution or "told from noise" in caution
        for caution in synthesis.cautions
    )
    assert synthesis.sample(N_ROWS, seed=1)["it"].isna().mean() > 0.97


def test_no_level_of_an_empty_column_is_made_up():
    for _ in range(5):
        synthesis = release("categorical", [""] * N_ROWS, epsilon=10.0)
        assert synthesis.sample(N_ROWS, seed=1)["it"].isna().all()


def test_values_that_are_all_different_are_called_ids_or_ignored():
    way_out = "for ids say type 'id', which makes them up, or 'ignore'"
    texts = [f"id-{row:05d}" for row in range(N_ROWS)]
    (caution,) = [each for each in release("categorical", texts).cautions if "'it'" in each]
    assert "no level has enough records to be found" in caution
    assert caution.endswith(way_out)
    large = [str(10**17 + row) for row in range(N_ROWS)]
    (caution,) = [each for each in release("integer", large).cautions if "'it'" in each]
    assert caution.endswith(way_out)


def test_a_run_goes_on_anyway_with_its_journal(tmp_path):
    kind, values, _ = UNREAD["days first"]
    pd.DataFrame({"it": values, "age": AGE}).to_csv(tmp_path / "in.csv", index=False)
    (tmp_path / "kinds.json").write_text(json.dumps({"it": kind, "age": "integer"}))
    budget = (
        "--epsilon",
        "2",
        "--delta",
        "1e-6",
        "--mechanism",
        "independent",
        "--journal",
        tmp_path / "j",
    )
    run = (
        "run",
        tmp_path / "in.csv",
        "--kinds",
        tmp_path / "kinds.json",
        "-o",
        tmp_path / "out.csv",
        *budget,
    )
    stopped = invoke(*run)
    assert stopped.code == 1
    assert stopped.err.startswith("synthdp: column 'it': about ")
    assert not (tmp_path / "out.csv").exists()
    assert not list(tmp_path.glob("out.csv.rescued*"))  # the journal has it all
    before = (tmp_path / "j").read_bytes()
    gone_on = invoke(*run, "--anyway")
    assert gone_on.code == 0, gone_on.err
    assert (tmp_path / "j").read_bytes().startswith(before)
    assert (tmp_path / "out.csv").exists()


def test_anyway_is_a_truth_value():
    with pytest.raises(synthdp.SynthdpError, match="anyway is 'yes'; give True or False"):
        release("integer", AGE, anyway="yes")


def histogram(missing, unread, read, stddev):
    return NoisyHistogram(
        np.array([1]), float(missing), float(unread), np.array([float(read)]), stddev
    )


def test_only_many_unread_values_beside_few_that_are_read_are_beyond_doubt():
    assert unread_share(histogram(0, 1000, 0, 20.0)) == 1.0
    assert unread_share(histogram(9000, 1000, 100, 20.0)) == pytest.approx(10 / 11)
    assert unread_share(histogram(0, 1000, 200, 20.0)) == 0.0
    assert unread_share(histogram(0, 140, 0, 20.0)) == 0.0
    assert (
        unread_share(histogram(9000, 0, 0, 20.0))
        == unread_share(histogram(0, 0, 1000, 20.0))
        == 0.0
    )
    assert unread_share(histogram(0, 1000, -300, 20.0)) == 1.0
    assert is_empty(1000.0, 30.0, 20.0)
    assert not is_empty(1000.0, 150.0, 20.0)
    assert not is_empty(60.0, 0.0, 20.0)


@pytest.mark.fresh_noise
def test_noise_does_not_stop_a_run_over_an_empty_column():
    counts = np.random.default_rng().normal(0, 1, (20_000, 2))
    stopped = [bool(unread_share(histogram(0, *pair, 1.0))) for pair in counts.tolist()]
    assert sum(stopped) <= 4  # each with a probability of 3e-7
    assert BEYOND_DOUBT >= 5


KINDS = [
    "integer",
    "number",
    "year",
    "date",
    "datetime",
    "boolean",
    {"type": "integer", "constraints": {"enum": [1]}},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_each_record_is_in_one_cell_whatever_the_others_are(kind):
    (column,) = OpenSchema.from_kinds({"x": kind}).columns
    grid, starts = Grid(column="x", of="reading"), np.arange(1, 1 + len(SPELLINGS))

    def counts(values):
        held = held_column(column)
        held.add(objects(values))
        return held.histogram(grid, starts).tolist()

    alone = [counts([value]) for value in ODD_VALUES]
    assert all(sum(each) == 1 and min(each) == 0 for each in alone)
    assert counts(ODD_VALUES) == np.sum(alone, axis=0).tolist()


def test_blanks_and_missing_values_are_missing_and_other_texts_are_unread():
    (column,) = OpenSchema.from_kinds(
        {"x": {"type": "integer", "missingValues": ["", "NA"]}}
    ).columns
    held = held_column(column)
    held.add(objects(["", " ", None, "NA", " NA ", np.nan, "x", "1.5", "?", [], "1", 2]))
    assert held.histogram(Grid(column="x", of="reading"), np.array([1])).tolist() == [6, 4, 2]
    assert held.histogram(Grid(column="x"), np.array([2])).tolist() == [10, 1, 1]


@pytest.mark.parametrize("spelling", SPELLINGS, ids="/".join)
def test_truth_values_come_out_as_most_of_them_are_spelt(spelling):
    true, false = spelling
    odd = "no" if spelling[0] == "1" else "0"
    values = [true if row % 3 else false for row in range(N_ROWS - 50)] + [odd] * 50
    synthesis = release("boolean", values, epsilon=10.0)
    written = (
        synthesis.schema.table_columns[0]
        .decode_text(np.array([0, 1]), np.random.default_rng(0))
        .tolist()
    )
    assert written == [false, true]
    again = OpenSchema.from_dict(synthesis.schema.to_dict()).resolved({}).table_columns[0]
    assert again == synthesis.schema.table_columns[0]
    assert again.encode(pd.Series(["yes", "FALSE", 1, False])).tolist() == [1, 0, 1, 0]


def test_truth_values_are_not_spelt_as_missing_ones():
    values = ["1", "0"] * (N_ROWS // 2)
    synthesis = release({"type": "boolean", "missingValues": ["", "0"]}, values, epsilon=10.0)
    assert synthesis.schema.table_columns[0].written == ("false", "true")


def test_a_spelling_may_be_declared():
    def column(**field):
        return OpenSchema.from_dict({"fields": [{"name": "x", "type": "boolean"} | field]}).columns[
            0
        ]

    assert column(synthdp={"spelling": ["Y", "N"]}).written == ("N", "Y")
    for spelling in ("YN", ["Y"], ["Y", 0], [1, 0], ["N", "Y"], ["maybe", "N"]):
        with pytest.raises(synthdp.SynthdpError, match=r"synthdp\.spelling"):
            column(synthdp={"spelling": spelling})
    with pytest.raises(synthdp.SynthdpError, match="goes with no trueValues or falseValues"):
        column(synthdp={"spelling": ["Y", "N"]}, trueValues=["Y"], falseValues=["N"])


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_each_record_is_in_one_cell_and_infinite_ones_in_their_own(kind):
    """So a record changes one cell by one, and what is asked costs what it did."""
    schema = OpenSchema.from_kinds({"x": kind})
    values = [3, 4, np.inf, -np.inf, None, "?", "inf", 1e300]
    grid = Grid(column="x", has_infinite=True)
    starts = np.array([0, 4, INFINITE])

    def cells(some):
        frame = pd.DataFrame({"x": pd.Series(some, dtype=object)})
        return held(frame, schema).source.histogram(grid, starts)

    assert cells(values).tolist() == [2, 0, 1, 2, 3]
    assert held(pd.DataFrame({"x": pd.Series(values, dtype=object)}), schema).source.histogram(
        Grid(column="x"), starts[:-1]
    ).tolist() == [5, 0, 1, 2]
    for place in range(len(values)):
        neighbour = values[:place] + values[place + 1 :]
        assert np.abs(cells(values) - cells(neighbour)).sum() == 1


@pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")
def test_an_empty_column_of_levels_is_said_to_be_empty_once_it_was_measured():
    """Learning alone told it from one of rare values in one run of three, and the caution said that
    all are "other" of a column that came out blank.
    """
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.integers(0, 50, 1000), "e": [""] * 1000, "f": [""] * 1000})
    table["f"] = np.where(np.arange(1000) < 600, rng.integers(10**9, size=1000).astype(str), "")
    schema = {
        "fields": [
            {
                "name": "a",
                "type": "integer",
                "constraints": {"minimum": 0, "maximum": 49, "required": True},
            },
            {"name": "e", "type": "string", "synthdp": {"derive": True}},
            {"name": "f", "type": "string", "synthdp": {"derive": True}},
        ]
    }
    for _ in range(4):
        found = synthdp.synthesize(table, schema, epsilon=2.0, delta=1e-6, mechanism="mst")
        empty, rare = sorted(each for each in found.cautions if "'a'" not in each)
        assert empty.startswith("column 'e': its values are missing")
        assert rare.startswith("column 'f': no level has enough records")
