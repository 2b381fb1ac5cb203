"""Ordinary exports: what a column holds is read right, or a caution names the column and the way
out.

A made-up table in which every usual way of writing numbers, truth values, dates and gaps has a
column, given with the kinds file that its owner would write, with and without saying how values are
written. What is lost must be told: no column of what comes out may be missing by more than a fifth
of what was meant, nor off, without a word. Dialects are in ``test_dialects.py``.
"""

import csv
import json
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke

import synthdp
from synthdp.learning import MANY

N_ROWS = 2000
EPSILON = 2000.0
"""So much that noise is nothing: whether a value is read does not depend on it."""

LITTLE = 0.04
"""More than draws at random make of a share of missing values: eight standard deviations of so many
rows.
"""

RIGHT = None
NUMBERS, TRUTHS, YEARS = "decimalChar, groupChar, bareNumber", "trueValues, falseValues", "type"
FORMAT = "format, such as '%d.%m.%Y"
GAPS = "missingValues"
INFINITE = "if they are not, put numbers in their place, or list inf and -inf in missingValues"


def amount(row):
    """Two decimals, up to 49,975.01, most with five digits."""
    return round((row * 7919 % N_ROWS) * 25 + 0.01, 2)


def signed(row):
    return amount(row) if row % 2 else -amount(row)


def count(row):
    return row % 90


def large(row):
    return 1000 * (row + 1)


def truth(row):
    return row % 3 == 0


def moment(row):
    return datetime(2015, 1, 1) + timedelta(days=row * 37 % 2900, hours=row % 24, minutes=row % 60)  # noqa: DTZ001


def seconds(row):
    return (moment(row) - datetime(1970, 1, 1)) // timedelta(seconds=1)  # noqa: DTZ001


def year(row):
    return moment(row).year


def odd(row):
    """A number of which every other record has none."""
    return count(row) if row % 2 else None


def odd_day(row):
    return moment(row) if moment(row).day % 2 else None


def known(row):
    """A truth value of which nobody knows that it is false."""
    return True if row % 2 else None


def marked(group, point):
    """Two decimals, with marks."""
    return lambda number: f"{number:,.2f}".translate({ord(","): group, ord("."): point})


def bracketed(number):
    """As accountants write what is below zero."""
    return f"({-number})" if number < 0 else f"{number}"


def either(true, false):
    return lambda value: true if value else false


def dated(pattern):
    return lambda value: value.strftime(pattern)


def gaps(mark, write=str):
    """A value, or what stands for none."""
    return lambda value: mark if value is None else write(value)


NBSP = "\N{NO-BREAK SPACE}"
BARE = {"bareNumber": False}
GERMAN = {"decimalChar": ",", "groupChar": "."}

# what is meant, how it is written, of what kind its owner says it is and what else, what is said to
# the owner
WAYS = {
    "plain": (amount, "{:.2f}".format, "number", {}, RIGHT),
    "scientific": (amount, "{:.6e}".format, "number", {}, RIGHT),
    "comma": (amount, marked("", ","), "number", {}, NUMBERS),
    "comma, declared": (amount, marked("", ","), "number", {"decimalChar": ","}, RIGHT),
    "1,234.56": (amount, marked(",", "."), "number", {}, NUMBERS),
    "1,234.56, declared": (amount, marked(",", "."), "number", {"groupChar": ","}, RIGHT),
    "1.234,56": (amount, marked(".", ","), "number", {}, NUMBERS),
    "1.234,56, declared": (amount, marked(".", ","), "number", GERMAN, RIGHT),
    "1 234,56": (amount, marked(NBSP, ","), "number", {}, NUMBERS),
    "1 234,56, declared": (amount, marked(NBSP, ","), "number", {"decimalChar": ",", "groupChar": " "}, RIGHT),
    "1'234.56": (amount, marked("'", "."), "number", {}, NUMBERS),
    "1'234.56, declared": (amount, marked("'", "."), "number", {"groupChar": "'"}, RIGHT),
    "dollars": (amount, "${:.2f}".format, "number", {}, NUMBERS),
    "dollars, declared": (amount, "${:,.2f}".format, "number", {"groupChar": ",", **BARE}, RIGHT),
    "euros, declared": (amount, lambda number: marked(".", ",")(number) + " EUR", "number", GERMAN | BARE, RIGHT),
    "in brackets": (signed, bracketed, "number", {}, NUMBERS),
    "in brackets, declared": (signed, bracketed, "number", BARE, RIGHT),
    "percent": (count, "{}%".format, "integer", {}, NUMBERS),
    "percent, declared": (count, "{} %".format, "integer", BARE, RIGHT),
    "grouped integers": (large, "{:,}".format, "integer", {}, NUMBERS),
    "grouped integers, declared": (large, "{:,}".format, "integer", {"groupChar": ","}, RIGHT),
    "integers with decimals": (count, "{}.0".format, "integer", {}, RIGHT),
    "leading zeros": (count, "{:05d}".format, "integer", {}, NUMBERS),
    "leading zeros, declared": (count, "{:05d}".format, "integer", {"synthdp": {"width": 5}}, RIGHT),
    "plus signs": (count, "{:+}".format, "integer", {}, RIGHT),
    "padded": (count, "{:>9}".format, "integer", {}, RIGHT),
    "true": (truth, either("true", "false"), "boolean", {}, RIGHT),
    "TRUE": (truth, either("TRUE", "FALSE"), "boolean", {}, RIGHT),
    "Yes": (truth, either("Yes", "No"), "boolean", {}, RIGHT),
    "Y": (truth, either("Y", "N"), "boolean", {}, RIGHT),
    "T": (truth, either("T", "F"), "boolean", {}, RIGHT),
    "1": (truth, either("1", "0"), "boolean", {}, RIGHT),
    "1.0": (truth, either("1.0", "0.0"), "boolean", {}, RIGHT),
    "on": (truth, either("on", "off"), "boolean", {}, RIGHT),
    "ja": (truth, either("ja", "nein"), "boolean", {}, TRUTHS),
    "ja, declared": (truth, either("ja", "nein"), "boolean", {"trueValues": ["ja"], "falseValues": ["nein"]}, RIGHT),
    "WAHR": (truth, either("WAHR", "FALSCH"), "boolean", {}, TRUTHS),
    "x or nothing": (truth, either("x", ""), "boolean", {}, TRUTHS),
    "x or nothing, declared": (
        truth, either("x", ""), "boolean", {"trueValues": ["x"], "falseValues": [""], "missingValues": ["NA"]}, RIGHT
    ),
    "-1 for true": (truth, either("-1", "0"), "boolean", {}, TRUTHS),
    "infinite": (odd, gaps("inf"), "number", {}, INFINITE),
    "minus infinite": (odd, gaps("-inf"), "integer", {}, INFINITE),
    "infinite, declared": (odd, gaps("inf"), "number", {"missingValues": ["", "inf"]}, RIGHT),
    "2 for false": (truth, either("1", "2"), "boolean", {}, TRUTHS),
    "ISO dates": (moment, dated("%Y-%m-%d"), "date", {}, RIGHT),
    "ISO dates at midnight": (moment, dated("%Y-%m-%d 00:00:00"), "date", {}, RIGHT),
    "ISO dates with a time": (moment, dated("%Y-%m-%d %H:%M:01"), "date", {}, FORMAT),
    "20200131": (moment, dated("%Y%m%d"), "date", {}, FORMAT),
    "20200131, declared": (moment, dated("%Y%m%d"), "date", {"format": "yyyymmdd"}, RIGHT),
    "2020/01/31": (moment, dated("%Y/%m/%d"), "date", {}, FORMAT),
    "2020-1-31": (moment, lambda value: f"{value.year}-{value.month}-{value.day}", "date", {}, FORMAT),
    "2020-1-31, declared": (
        moment, lambda value: f"{value.year}-{value.month}-{value.day}", "date", {"format": "%Y-%m-%d"}, RIGHT
    ),
    "31/01/2020": (moment, dated("%d/%m/%Y"), "date", {}, FORMAT),
    "31/01/2020, declared": (moment, dated("%d/%m/%Y"), "date", {"format": "%d/%m/%Y"}, RIGHT),
    "31/01/2020, months first": (moment, dated("%d/%m/%Y"), "date", {"format": "%m/%d/%Y"}, FORMAT),
    "01/31/2020": (moment, dated("%m/%d/%Y"), "date", {}, FORMAT),
    "01/31/2020, declared": (moment, dated("%m/%d/%Y"), "date", {"format": "%m/%d/%Y"}, RIGHT),
    "31.01.20, declared": (moment, dated("%d.%m.%y"), "date", {"format": "%d.%m.%y"}, RIGHT),
    "31-Jan-2020, declared": (moment, dated("%d-%b-%Y"), "date", {"format": "%d-%b-%Y"}, RIGHT),
    "ISO moments": (moment, dated("%Y-%m-%dT%H:%M:%S"), "datetime", {}, RIGHT),
    "zoned moments": (moment, dated("%Y-%m-%dT%H:%M:%S+02:00"), "datetime", {}, FORMAT),
    "zoned moments, declared": (
        moment, dated("%Y-%m-%dT%H:%M:%S+00:30"), "datetime", {"format": "%Y-%m-%dT%H:%M:%S%z"}, RIGHT
    ),
    "moments with Z": (moment, dated("%Y-%m-%dT%H:%M:%SZ"), "datetime", {}, RIGHT),
    "fractions of seconds": (moment, dated("%Y-%m-%d %H:%M:%S.%f"), "datetime", {}, RIGHT),
    "31.01.2020 23:59": (moment, dated("%d.%m.%Y %H:%M"), "datetime", {}, FORMAT),
    "31.01.2020 23:59, declared": (moment, dated("%d.%m.%Y %H:%M"), "datetime", {"format": "%d.%m.%Y %H:%M"}, RIGHT),
    "AM, declared": (moment, dated("%m/%d/%Y %I:%M %p"), "datetime", {"format": "%m/%d/%Y %I:%M %p"}, RIGHT),
    "weeks": (moment, dated("%G-W%V"), "date", {}, FORMAT),
    "year and month": (moment, dated("%Y-%m"), "date", {}, FORMAT),
    "year and month, declared": (moment, dated("%Y-%m"), "date", {"format": "%Y-%m"}, RIGHT),
    "epoch seconds": (seconds, str, "datetime", {}, FORMAT),
    "epoch seconds, declared": (seconds, str, "integer", {}, RIGHT),
    "Excel's days": (lambda row: 43000 + row % 2900, str, "date", {}, FORMAT),
    "years": (year, str, "year", {}, RIGHT),
    "school years": (year, "{}/17".format, "year", {}, YEARS),
    "gaps": (odd, gaps(""), "integer", {}, RIGHT),
    "NA": (odd, gaps("NA"), "integer", {}, GAPS),
    "NA, declared": (odd, gaps("NA"), "integer", {"missingValues": ["", "NA"]}, RIGHT),
    "N/A": (odd, gaps("N/A"), "number", {}, GAPS),
    "a dash": (odd, gaps("-"), "number", {}, GAPS),
    "a point": (odd, gaps("."), "number", {}, GAPS),
    "gaps of dates": (odd_day, gaps("", dated("%Y-%m-%d")), "date", {}, RIGHT),
    "NULL for dates": (odd_day, gaps("NULL", dated("%Y-%m-%d")), "date", {}, GAPS),
    "gaps of truths": (known, gaps("NULL", either("yes", "no")), "boolean", {}, GAPS),
}  # fmt: skip


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """All ways as one table in a file, released; with the cautions of each column."""
    folder = tmp_path_factory.mktemp("exports")
    with (folder / "in.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(WAYS)
        writer.writerows(
            [write(mean(row)) for mean, write, *_ in WAYS.values()] for row in range(N_ROWS)
        )
    kinds = {name: {"type": kind, **more} for name, (_, _, kind, more, _) in WAYS.items()}
    (folder / "kinds.json").write_text(json.dumps(kinds))
    files = (
        "--kinds",
        folder / "kinds.json",
        "-o",
        folder / "out.csv",
        "--save",
        folder / "m.synthdp",
    )
    budget = (
        f"--epsilon={EPSILON}",
        "--delta=1e-6",
        "--mechanism",
        "independent",
        "--json",
        "--anyway",
    )
    outcome = invoke("run", folder / "in.csv", *files, *budget)
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["cautions"], synthdp.load(folder / "m.synthdp").sample(
        5 * N_ROWS, seed=1
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_way_of_writing_is_read_right_or_a_caution_names_column_and_way_out(way, release):
    expected = WAYS[way][-1]
    cautions, table = release
    said = [caution for caution in cautions if caution.startswith(f"column {way!r}: about ")]
    if expected is RIGHT:
        assert not said
        assert is_close(table[way], meant(way))
    elif expected is INFINITE:
        (caution,) = said
        assert caution.endswith(expected)
        assert is_close(table[way], meant(way))
    else:
        (caution,) = said
        assert (
            f"if that is not so in your table, declare how it is written: {expected}" in caution
            or (expected == GAPS and caution.endswith(GAPS))
        )


def meant(way):
    return pd.Series([WAYS[way][0](row) for row in range(N_ROWS)])


def is_close(drawn, meant):
    """Whether as much is missing as was meant to be, and the mean is the same up to a thirtieth of
    the range.
    """
    if abs(drawn.isna().mean() - meant.isna().mean()) > LITTLE:
        return False
    drawn, meant = (
        values.astype("datetime64[s]").astype(np.int64)
        if values.dtype.kind == "M"
        else values.astype(np.float64)
        for values in (drawn.dropna(), meant.dropna())
    )
    return abs(drawn.mean() - meant.mean()) < (meant.max() - meant.min()) / 30


def test_marks_beside_gaps_are_said_once_and_what_is_drawn_for_them(release):
    said = [caution for caution in release[0] if caution.startswith("column 'x or nothing': ")]
    assert len(said) == 1
    assert "about 33 % of the records have a value that is neither true nor false" in said[0]
    assert "drawn rows have no value in its place, as nearly all others have none" in said[0]
    assert release[1]["x or nothing"].isna().mean() > 0.99


def test_nothing_is_missing_or_off_without_a_word(release):
    cautions, table = release
    missing = pd.Series(
        {way: table[way].isna().mean() - meant(way).isna().mean() for way in WAYS}
    ).abs()
    lost = missing[missing > MANY].index
    assert len(lost) >= 20
    kinds = {way: (table[way].dtype.kind == "M") == (meant(way).dtype.kind == "M") for way in WAYS}
    off = [way for way in WAYS if not (kinds[way] and is_close(table[way], meant(way)))]
    assert set(off) > set(lost)
    for name in off:
        assert any(caution.startswith(f"column {name!r}: about ") for caution in cautions), name
