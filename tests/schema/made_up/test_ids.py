"""Ids by sequence, pattern and UUID: unique, repeatable, and no format string does anything but
write a number.
"""

from itertools import pairwise
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from hypothesis import given
from hypothesis import strategies as st

from synthdp.core import SchemaError
from synthdp.schema import IdColumn, Pattern, uuids

EMPTY = pd.DataFrame(index=range(5))
HOUSES = ["a", "b", "a", None, "b", "a", None]


def ids(n_rows=5, seed=0, **settings):
    column = IdColumn(name="id", type="string" if "pattern" in settings else "integer", **settings)
    return column.values(pd.DataFrame(index=range(n_rows)), seed)


def test_ids_are_numbers_in_sequence():
    found = ids()
    assert (found.tolist(), found.dtype) == ([1, 2, 3, 4, 5], np.int64)
    assert ids(3, start=0).tolist() == [0, 1, 2]
    assert ids(2, start=10**15).tolist() == [10**15, 10**15 + 1]
    assert ids(0).tolist() == []


PATTERNS = {
    "P-{:04d}": ["P-0001", "P-0002"],
    "{:06d}": ["000001", "000002"],
    "{0:x}/2026": ["1/2026", "2/2026"],
    "{}": ["1", "2"],
    "{{{:02d}}} 100%": ["{01} 100%", "{02} 100%"],
    "é{:d}": ["é1", "é2"],
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_writes_the_number(pattern):
    assert ids(2, pattern=pattern) == PATTERNS[pattern]


def test_a_pattern_that_is_too_short_grows():
    assert ids(3, pattern="P{:02d}", start=99) == ["P99", "P100", "P101"]


REFUSED = {
    "{0.__class__}": "asks for more",
    "{0[0]}": "asks for more",
    "{x}": "asks for more",
    "{1}": "asks for more",
    "{!r}": "asks for more",
    "{:{}}": "asks for more",
    "{:1<4d}": "asks for more",  # 1 and 11 would be one
    "{:6d}": "asks for more",
    "{:,}": "asks for more",
    "{:e}": "asks for more",
    "{:099d}": "asks for more",
    "{:0٣d}": "asks for more",
    "P": "has 0 numbers",
    "": "has 0 numbers",
    "{}{}": "has 2 numbers",
    "P{": "is no format string",
    "{:d}\0": "holds a NUL",
    "{:d}\ud800": "lone surrogate",
    7: "is not a text",
}


@pytest.mark.parametrize("pattern", REFUSED)
def test_a_pattern_is_one_number_and_nothing_else(pattern):
    with pytest.raises(SchemaError, match=REFUSED[pattern]) as caught:
        Pattern.parse(pattern, column="id")
    assert "schema: column 'id': synthdp.pattern" in str(caught.value)
    assert "\n" not in str(caught.value)


AROUND = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0{}"), max_size=3)


@given(
    AROUND,
    AROUND,
    st.sampled_from(["", ":d", ":03d", ":x", ":04X", ":o"]),
    st.sets(st.integers(0, 10**6)),
)
def test_different_numbers_are_different_texts(before, after, spec, numbers):
    pattern = Pattern.parse(f"{before}{{{spec}}}{after}", column="id")
    assert len(set(pattern.written(numbers))) == len(numbers)
    assert Pattern.parse(str(pattern), column="id") == pattern


def test_uuids_are_version_4_and_repeat_with_their_seed_only():
    found = uuids(2000, np.random.default_rng(0))
    assert {
        (UUID(text).version, UUID(text).variant, str(UUID(text)) == text) for text in found
    } == {(4, "specified in RFC 4122", True)}
    assert len(set(found)) == 2000
    assert found == uuids(2000, np.random.default_rng(0))
    assert set(found).isdisjoint(uuids(2000, np.random.default_rng(1)))
    one, other = (
        IdColumn(name=name, type="string", pattern="uuid").values(EMPTY, 0) for name in ("a", "b")
    )
    assert set(one).isdisjoint(other)


def test_more_uuids_than_are_made_at_a_time(monkeypatch):
    monkeypatch.setattr(home(IdColumn), "_BLOCK_ROWS", 3)
    assert len({UUID(text) for text in uuids(7, np.random.default_rng(0))}) == 7


def test_ids_are_numbered_within_other_columns():
    table = pd.DataFrame({"house": HOUSES})
    assert IdColumn(name="id", per=("house",)).values(table, 0).tolist() == [1, 1, 2, 1, 2, 3, 2]
    column = IdColumn(name="id", type="string", pattern="{:02d}", start=7, per=("house",))
    assert column.values(table, 0) == ["07", "07", "08", "07", "08", "09", "08"]
    assert not column.is_unique


def test_many_ids_do_not_repeat():
    table = pd.DataFrame({"house": np.arange(10**5) % 1000})
    for pattern in ("P{:03d}", "{:x}"):
        assert (
            len(set(IdColumn(name="id", type="string", pattern=pattern).values(table, 0))) == 10**5
        )
    numbers = IdColumn(name="id", per=("house",)).values(table, 0)
    assert all(before + 1 == after for before, after in pairwise(numbers[::1000]))


WRONG = {
    "type": ({"type": "number"}, "of type 'number'; use string, or integer"),
    "a pattern of integers": ({"pattern": "{:d}"}, "integers but have a pattern"),
    "below 0": ({"start": -1}, "synthdp.start is -1; give a whole number from 0"),
    "too large": ({"start": 10**15 + 1}, "synthdp.start is 1000000000000001"),
    "no whole number": ({"start": 1.5}, "synthdp.start is 1.5"),
    "true": ({"start": True}, "synthdp.start is True"),
    "a first UUID": (
        {"type": "string", "pattern": "uuid", "start": 2},
        "synthdp.start is for ids that are numbers",
    ),
    "UUIDs within": (
        {"type": "string", "pattern": "uuid", "per": ("a",)},
        "synthdp.per is for ids that are numbers",
    ),
    "within itself": ({"per": ("id",)}, "synthdp.per names the column itself"),
}


@pytest.mark.parametrize("case", WRONG)
def test_settings_that_contradict_each_other_are_refused(case):
    settings, expected = WRONG[case]
    with pytest.raises(SchemaError, match=expected):
        IdColumn(name="id", **settings)
