"""Which cells are empty, and what becomes of a column whose empty cells are filled."""

import numpy as np
import pandas as pd
import pytest

from synthdp.schema import empty_cells, filled_cells


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.Series([1, 2]), [False, False]),
        (pd.Series([1.5, np.nan]), [False, True]),
        (
            pd.Series([1, None, pd.NA, pd.NaT, "", " \t", "NA", 0, False], dtype=object),
            [0, 1, 1, 1, 1, 1, 0, 0, 0],
        ),
        (pd.Series(["", None, "x"], dtype="category"), [True, True, False]),
        (pd.Series(["", None, "x"], dtype="string"), [True, True, False]),
        (pd.Series([1, None], dtype="Int64"), [False, True]),
        (pd.Series(pd.to_datetime(["2020-01-01", None])), [False, True]),
        (pd.Series([[None]], dtype=object), [False]),
        (pd.Series([], dtype=object), []),
    ],
    ids=lambda values: str(getattr(values, "dtype", "")),
)
def test_what_is_empty(values, expected):
    assert empty_cells(values).tolist() == list(map(bool, expected))


def test_blank_texts_may_be_values():
    assert empty_cells(pd.Series(["", " ", None], dtype=object), blank=False).tolist() == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("given", "drawn", "expected"),
    [
        (pd.Series([np.nan, 3.0]), pd.Series([1, 2]), pd.Series([1, 3])),
        (pd.Series([np.nan, 3.5]), pd.Series([1, 2]), pd.Series([1, 3.5])),
        (
            pd.Series([np.nan, np.inf]),
            pd.Series([1, 2], dtype="Int64"),
            pd.Series([1.0, np.inf], dtype="Float64"),
        ),
        (
            pd.Series([np.nan, 1e30]),
            pd.Series([1, 2], dtype="Int64"),
            pd.Series([1.0, 1e30], dtype="Float64"),
        ),
        (pd.Series([None, "x"], dtype="category"), pd.Series(["a", "b"]), pd.Series(["a", "x"])),
        (
            pd.Series([np.nan, 7.0]),
            pd.Series(["a", "b"], dtype=object),
            pd.Series(["a", 7.0], dtype=object),
        ),
    ],
)
def test_given_and_drawn_values_share_a_dtype(given, drawn, expected):
    filled = filled_cells(given, drawn, given.notna().to_numpy())
    pd.testing.assert_series_equal(filled, expected)


def test_drawn_moments_are_told_in_the_zone_of_the_given_ones():
    given = pd.Series(pd.to_datetime([None, "2020-07-01 12:00"])).dt.tz_localize("Europe/Berlin")
    filled = filled_cells(
        given,
        pd.Series(pd.to_datetime(["2020-07-01 10:00", "2020-01-01 00:00"])),
        np.array([False, True]),
    )
    assert filled.dt.hour.tolist() == [12, 12]
    assert str(filled.dt.tz) == "Europe/Berlin"
