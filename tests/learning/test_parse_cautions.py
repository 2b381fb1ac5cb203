"""Values that were not read: ordinary spellings are read right, or a caution names the column and
the way out.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.homes import home

import synthdp
from synthdp.core import Coarsening, LinearMeasurement, UnreadColumnError, with_caution_code
from synthdp.learning import learn_columns, levels_without_records, missing_caution, unread_cautions
from synthdp.schema import OpenSchema, Schema

N_ROWS = 4000
OF_SEX = {"sex": ["levels"]}
RIGHT = None
"""Nothing need be said."""

BOUNDS = {"constraints": {"minimum": 0, "maximum": 9999}}
AROUND_0 = {"constraints": {"minimum": -9999, "maximum": 9999}}
DATES = {"constraints": {"minimum": "2000-01-01", "maximum": "2009-12-31"}}
TRUTHS = "trueValues, falseValues, missingValues"
NUMBERS = "decimalChar, groupChar, bareNumber, missingValues"
INTEGERS = (
    "decimalChar, groupChar, bareNumber, synthdp.width for zeros in front, or type 'number' for fractions, "
    "missingValues"
)
FORMAT = (
    "format, such as '%d.%m.%Y', or type 'integer' for numbers of days or seconds, "
    "or type 'datetime' for times of day and time zones, missingValues"
)
LEVELS = "list the levels as they are spelt there: constraints.enum"

# spellings of the records; what the field declares besides its type; what is said
SPELLINGS = {
    "yes and no": (["yes", "no"], "boolean", {}, RIGHT),
    "Y and N": (["Y", "N"], "boolean", {}, RIGHT),
    "1.0 and 0.0": (["1.0", "0.0"], "boolean", {}, RIGHT),
    "ja and nein": (["ja", "nein"], "boolean", {}, TRUTHS),
    "ja and nein, declared": (["ja", "nein"], "boolean", {"trueValues": ["ja"], "falseValues": ["nein"]}, RIGHT),
    "yes and no, declared otherwise": (["yes", "no"], "boolean", {"trueValues": ["1"], "falseValues": ["0"]}, TRUTHS),
    "points": (["1234.50", "7.25"], "number", BOUNDS, RIGHT),
    "commas": (["1234,50", "7,25"], "number", BOUNDS, NUMBERS),
    "commas, declared": (["1234,50", "7,25"], "number", BOUNDS | {"decimalChar": ","}, RIGHT),
    "groups": (["1,234.50", "7.25"], "number", BOUNDS, NUMBERS),
    "groups, declared": (["1,234.50", "7.25"], "number", BOUNDS | {"groupChar": ","}, RIGHT),
    "groups of integers": (["1 234", "7"], "integer", BOUNDS, INTEGERS),
    "groups of integers, declared": (["1 234", "7"], "integer", BOUNDS | {"groupChar": " "}, RIGHT),
    "currencies": (["$12.50", "-$7"], "number", AROUND_0, NUMBERS),
    "currencies, declared": (["$12.50", "-$7"], "number", AROUND_0 | {"bareNumber": False}, RIGHT),
    "percentages": (["12 %", "7 %"], "integer", BOUNDS, INTEGERS),
    "percentages, declared": (["12 %", "7 %"], "integer", BOUNDS | {"bareNumber": False}, RIGHT),
    "school years": (["2001/02", "2003/04"], "year", BOUNDS, "type, missingValues"),
    "ISO dates": (["2001-02-03", "2004-05-06"], "date", DATES, RIGHT),
    "days first": (["03.02.2001", "06.05.2004"], "date", DATES, FORMAT),
    "days first, declared": (["03.02.2001", "06.05.2004"], "date", DATES | {"format": "%d.%m.%Y"}, RIGHT),
    "levels": (["a", "b"], "string", {"constraints": {"enum": ["a", "b"]}}, RIGHT),
    "other levels": (["A", "B"], "string", {"constraints": {"enum": ["a", "b"]}}, "constraints.enum, synthdp.other"),
    "many others": (
        ["A", "B", "a"], "string", {"constraints": {"enum": ["a", "b"]}, "synthdp": {"other": "z"}}, LEVELS
    ),
    "some others": (
        ["A", "b", "a"], "string", {"constraints": {"enum": ["a", "b"]}, "synthdp": {"other": "z"}}, RIGHT
    ),
    "gaps": (["a", "", ""], "string", {"constraints": {"enum": ["a"]}, "synthdp": {"other": "z"}}, RIGHT),
    "levels with commas": (["0,5", "1,5"], "number", {"constraints": {"enum": [0.5, 1.5]}}, NUMBERS),
}  # fmt: skip


def release_of(values, kind, properties, *, mechanism="independent", anyway=False, **more):
    """A release of a column whose records take the given values in turn, at little noise."""
    field = {"name": "it", "type": kind} | properties
    field["constraints"] = field.get("constraints", {}) | more
    frame = pd.DataFrame({"it": [values[row % len(values)] for row in range(N_ROWS)]})
    schema = OpenSchema.from_dict({"fields": [field]})
    run = {"epsilon": 5.0, "delta": 1e-6, "mechanism": mechanism, "anyway": anyway}
    return synthdp.synthesize(frame, schema, **run)


def cautions_of(*case, **more):
    """What is said of it where the run goes on whatever is not read."""
    return release_of(*case, anyway=True, **more).certificate["cautions"]


@pytest.mark.parametrize("case", SPELLINGS)
def test_a_spelling_is_read_or_a_caution_names_column_share_and_way_out(case):
    values, kind, properties, expected = SPELLINGS[case]
    found = cautions_of(values, kind, properties)
    if expected is RIGHT:
        assert found == []
        return
    (caution,) = found
    assert caution.startswith("column 'it': about ")
    assert " % of the records " in caution
    assert "if that is not so in your table, " in caution
    assert expected in caution
    assert not any(
        value in caution for value in values if len(value) > 3
    )  # nothing is read off the records


IN_PART = {"groups", "groups of integers", "many others"}
"""Of these enough is read, or found among other values, to go on."""


@pytest.mark.parametrize(("mechanism", "required"), [("auto", False), ("independent", True)])
@pytest.mark.parametrize("case", SPELLINGS)
def test_a_run_stops_where_nothing_is_read_and_says_the_same(case, mechanism, required):
    values, kind, properties, expected = SPELLINGS[case]
    more = {"mechanism": mechanism, "required": required}
    if expected is RIGHT or case in IN_PART:
        assert release_of(values, kind, properties, **more).can_sample
        return
    with pytest.raises(UnreadColumnError) as caught:
        release_of(values, kind, properties, **more)
    text = str(caught.value)
    assert re.match(r"column 'it': about (99|100) % of its values could not be read, ", text)
    assert "; declare how it is written: " in text
    assert expected in text
    assert "go on all the same with anyway=True (--anyway)" in text
    assert not any(value in text for value in values if len(value) > 3)


@pytest.mark.parametrize(
    "case", ["ja and nein", "commas", "percentages", "days first", "other levels"]
)
def test_a_required_column_of_which_nothing_was_read_is_named_as_well(case):
    values, kind, properties, expected = SPELLINGS[case]
    (caution,) = cautions_of(values, kind, properties, required=True)
    assert caution.startswith("column 'it': about ")
    assert " % of the records have no value, or one that is " in caution
    assert "or leave out constraints.required if values may be missing" in caution
    assert expected in caution


def test_a_column_that_was_learnt_to_have_no_gaps_is_told_how_to_declare_them(monkeypatch):
    """Noise hid 4 % of empty cells, and the caution told people to leave out what they had not said."""
    hidden = {"required": True}
    monkeypatch.setattr(home(learn_columns), "learnt_missing", lambda *_: hidden)
    texts = np.resize(["a", "b", "b", *["a"] * 21, ""], N_ROWS)
    frame = pd.DataFrame({"it": texts})
    run = {"epsilon": 5.0, "delta": 1e-6, "mechanism": "independent"}
    field = {"type": "boolean", "trueValues": ["a"], "falseValues": ["b"]}
    required = {"name": "it", "constraints": {"required": True}} | field
    (learnt,), (declared,) = (
        synthdp.synthesize(frame, schema, **run).certificate["cautions"]
        for schema in (
            OpenSchema.from_kinds({"it": field}),
            OpenSchema.from_dict({"fields": [required]}),
        )
    )
    assert "leave out" not in learnt
    assert "or set constraints.required to false if values may be missing" in learnt
    assert "or leave out constraints.required if values may be missing" in declared


LEARNT = {
    "truths": (["ja", "nein"], "boolean", TRUTHS),
    "numbers": (["1234,5", "7,25", "3"], "number", NUMBERS),
    "dates": (["03.02.2001", "06.05.2004", "2001-05-05"], "date", FORMAT),
    "required numbers": (
        ["1234,5", "7,25", "3"],
        {"type": "number", "constraints": {"required": True}},
        NUMBERS,
    ),
    "required dates": (
        ["03.02.2001", "2001-05-05"],
        {"type": "date", "constraints": {"required": True}},
        FORMAT,
    ),
    "a tree": (
        ["1234,5", "7,25", "3"],
        {"type": "number", "constraints": {"required": True}, "synthdp": {"binning": "privtree"}},
        NUMBERS,
    ),
}


@pytest.mark.parametrize("case", LEARNT)
def test_learnt_columns_are_named_likewise(case):
    values, kind, expected = LEARNT[case]
    frame = pd.DataFrame({"it": [values[row % len(values)] for row in range(N_ROWS)]})
    schema = OpenSchema.from_kinds({"it": kind})
    run = {"epsilon": 5.0, "delta": 1e-6, "mechanism": "independent", "anyway": True}
    found = synthdp.synthesize(frame, schema, **run).certificate["cautions"]
    told = [caution for caution in found if expected in caution]
    assert told
    assert all("column 'it': about " in caution for caution in told)


def test_it_is_said_on_stderr_and_kept_in_the_certificate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("it\n" + '"1,5"\n' * N_ROWS, encoding="utf-8")
    field = {"name": "it", "type": "number"} | BOUNDS
    Path("schema.json").write_text(json.dumps({"fields": [field]}), encoding="utf-8")
    budget = ("--epsilon", "5", "--delta", "1e-6")
    outcome = invoke(
        "run",
        "in.csv",
        "--schema",
        "schema.json",
        *budget,
        "-o",
        "out.csv",
        "--mechanism",
        "independent",
        "--anyway",
    )
    assert outcome.code == 0, outcome.err
    (line,) = outcome.notes
    assert line.startswith("synthdp: caution: column 'it': about ")
    (caution,) = json.loads(Path("out.csv.privacy.json").read_text())["cautions"]
    assert line == f"synthdp: caution: {with_caution_code(caution)}"


# --- from counts alone ----------------------------------------------------------------------------

SCHEMA = Schema.from_dict(
    {
        "fields": [
            {"name": "smoker", "type": "boolean"},
            {
                "name": "sex",
                "type": "string",
                "constraints": {"enum": ["F", "M"], "required": True},
            },
            {
                "name": "town",
                "type": "string",
                "constraints": {"enum": ["a"], "required": True},
                "synthdp": {"other": "z"},
            },
        ]
    }
)


def said(counts, stddev=1.0, clique=("smoker",), coarsening=None):
    return unread_cautions(
        SCHEMA, [LinearMeasurement(clique, np.array(counts, dtype=float), stddev, coarsening)]
    )


@pytest.mark.parametrize(
    ("counts", "stddev", "is_said"),
    [
        ([500, 290, 210], 0.5, True),
        ([500, 310, 190], 0.5, False),  # 19 %
        ([500, 290, 210], 5.0, False),  # 10 records above 20 %: noise would do that
        ([500, 200, 300], 5.0, True),
        ([0, 0, 0], 5.0, False),
        ([-9, -3, 20], 10.0, False),
        ([-900, -300, 200], 1.0, False),
    ],
)
def test_a_share_is_told_if_it_is_large_beyond_doubt(counts, stddev, is_said):
    assert bool(said(counts, stddev)) == is_said


def test_the_share_is_the_noisy_one():
    assert "about 63 % of the records" in said([200, 170, 630])[0]
    assert "about 100 % of the records" in said([-2, 0, 630])[0]


def test_tables_are_summed_and_the_least_noisy_one_speaks():
    pair = np.array([[400.0, 300.0], [100.0, 0.0], [100.0, 100.0]])  # 20 % are missing
    assert said(pair, 1.0, ("smoker", "sex")) == []
    assert len(said(pair.T, 1.0, ("sex", "smoker"))) == 0
    wrong = LinearMeasurement(("smoker",), np.array([0.0, 0.0, 1000.0]), 1.5)
    right = LinearMeasurement(("smoker", "sex"), pair, 1.0)
    assert unread_cautions(SCHEMA, [right, wrong]) == []
    assert (
        len(unread_cautions(SCHEMA, [right, LinearMeasurement(("smoker",), wrong.values, 1.4)]))
        == 1
    )


def test_merged_levels_speak_only_where_the_level_is_alone():
    together, alone = (
        Coarsening({"smoker": np.array([0, 1, 1])}),
        Coarsening({"smoker": np.array([0, 0, 1])}),
    )
    assert said([100, 900], coarsening=together) == []
    assert "about 90 %" in said([100, 900], coarsening=alone)[0]


def test_levels_of_required_columns_speak_only_of_nearly_all():
    assert said([950, 50], clique=("sex",)) == []
    assert said([996, 4], 40.0, clique=("sex",)) == []  # that it is above 98 % is not beyond doubt
    assert "'sex'" in said([996, 4], clique=("sex",))[0]
    assert said([4, 996], clique=("sex",)) == []


def test_a_rarer_level_is_not_taken_for_none():
    """Of 1,000 records 40 have another level, which noise hides now and then."""
    rng = np.random.default_rng(1)
    tables = rng.normal([960.0, 40.0], 20.0, (500, 2))
    assert (tables[:, 1] < 5).sum() > 10
    assert not any(said(table, 20.0, clique=("sex",)) for table in tables)


def test_other_speaks_from_half_of_all_on():
    assert said([520, 480], clique=("town",)) == []
    assert "became 'z'" in said([400, 600], clique=("town",))[0]


def test_what_was_not_measured_is_not_spoken_of():
    assert unread_cautions(SCHEMA, []) == []
    assert said([4, 996], clique=("town",)) == said([[2, 498], [2, 498]], clique=("sex", "town"))


@pytest.mark.parametrize(
    ("missing", "stddev", "is_said"), [(995, 1, True), (950, 1, False), (995, 60, False)]
)
def test_of_learnt_columns_counts_with_and_without_a_value_speak(missing, stddev, is_said):
    assert (
        bool(missing_caution(SCHEMA["smoker"], missing, 1000 - missing, (stddev, stddev)))
        == is_said
    )


# --- levels without records -----------------------------------------------------------------------


def table_of(name, counts, stddev):
    return LinearMeasurement((name,), np.array(counts, dtype=float), stddev)


@pytest.mark.parametrize(
    ("counts", "stddev", "is_unused"),
    [
        ([900, 100, 3], 5.0, True),
        ([900, 100, -30], 5.0, True),
        ([900, 100, 40], 5.0, False),
        ([900, 100, 0], 90.0, False),  # noise could hide a quarter of the records
    ],
)
def test_a_level_of_the_rest_is_unused_if_only_noise_is_left_for_it(counts, stddev, is_unused):
    field = {"name": "sex", "type": "string", "constraints": {"enum": ["F", "M"], "required": True}}
    schema = Schema.from_dict({"fields": [field | {"synthdp": {"other": "z"}}]})
    found = levels_without_records(schema, [table_of("sex", counts, stddev)], OF_SEX)
    assert found == ({"sex": (2,)} if is_unused else {})
    assert levels_without_records(schema, [table_of("sex", counts, stddev)], {}) == {}
    assert levels_without_records(schema, [], OF_SEX) == {}
    declared = Schema.from_dict({"fields": [field | {"synthdp": {"other": "M"}}]})
    assert levels_without_records(declared, [table_of("sex", [900, 0], 5.0)], OF_SEX) == {}


def test_all_measurements_together_tell_whether_a_level_is_unused():
    field = {"name": "sex", "type": "string", "constraints": {"enum": ["F", "M"], "required": True}}
    schema = Schema.from_dict({"fields": [field | {"synthdp": {"other": "z"}}]})
    tables = [table_of("sex", [900, 100, 12], 5.0)] * 4
    assert levels_without_records(schema, tables[:1], OF_SEX) == {"sex": (2,)}
    assert levels_without_records(schema, tables, OF_SEX) == {}


def test_a_level_that_a_rule_names_stays():
    fields = [
        {
            "name": name,
            "type": "string",
            "constraints": {"enum": ["F", "M"], "required": True},
            "synthdp": {"other": "z"},
        }
        for name in ("sex", "mate")
    ]
    rules = {"constraints": [{"forbid": {"sex": ["F"], "mate": ["F"]}}]}
    schema = Schema.from_dict({"fields": fields, "synthdp": rules})
    assert (
        levels_without_records(
            schema, [table_of("sex", [900, 100, 3], 5.0)], OF_SEX | {"mate": ["levels"]}
        )
        == {}
    )
