"""Lines of columns: rounding to what is drawn, against a search through all places."""

from datetime import date

import numpy as np
import pytest

from synthdp.schema import DateColumn, IntegerColumn, Line, NumberColumn, Shape

DAY = 86_400
COLUMNS = [
    IntegerColumn(name="x", minimum=-3, maximum=20, bins=4),
    NumberColumn(name="x", minimum=-0.5, maximum=2, bins=3, decimals=1),
    DateColumn(name="x", minimum=date(2000, 1, 20), maximum=date(2000, 6, 10), resolution="month"),
    DateColumn(name="x", minimum=date(2000, 1, 20), maximum=date(2000, 3, 1), resolution="week"),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
@pytest.mark.parametrize("spans", [None, [(0, 2), (4, 5)]], ids=["whole", "kept"])
def test_places_are_rounded_to_those_that_are_drawn(column, spans):
    first = int(column.drawn_starts[0])
    narrow = (
        column
        if spans is None
        else column.narrowed([(first + low, first + high) for low, high in spans])
    )
    line = Line(narrow)
    points = np.arange(first, column.drawn_starts[-1])
    if spans is not None:
        points = points[[0, 1, 4]]
    drawn = line.places(points)
    assert line.ends == (drawn[0], drawn[-1])
    step = DAY if isinstance(column, DateColumn) else 1
    places = np.arange(drawn[0] - 3 * step, drawn[-1] + 3 * step, max(1, step // 2))
    for place, floor, ceil in zip(places, line.floor(places), line.ceil(places), strict=True):
        below, above = drawn[drawn <= place], drawn[drawn >= place]
        assert floor == below[-1] if drawn[0] <= place <= drawn[-1] else floor <= place
        assert ceil == above[0] if drawn[0] <= place <= drawn[-1] else ceil >= place
    assert np.array_equal(line.points(drawn), points)


def test_numbers_between_places_have_a_place_on_either_side():
    line = Line(COLUMNS[1])
    above, below = line.around(np.array([0.29, 0.3, 0.1 + 0.2, -0.45, np.nan]))
    assert above[:4].tolist() == [3, 3, 3, -4]
    assert below[:4].tolist() == [2, 3, 3, -5]


def test_what_is_drawn_between_two_places_follows_the_shape():
    shape = Shape(starts=(0, 4, 6, 8), weights=(4.0, 0.0, 6.0, 2.0))
    column = IntegerColumn(name="x", minimum=0, maximum=9, bins=2, shape=shape).narrowed(
        [(1, 7), (8, 10)]
    )
    line, n = Line(column), 40_000
    drawn = line.draw(np.full(n, 6), np.full(n, 9), np.random.default_rng(0))
    shares = np.bincount(drawn, minlength=10)[6:] / n
    assert shares[1] == 0  # 7 is not kept
    assert np.abs(shares - [3 / 5, 0, 1 / 5, 1 / 5]).max() < 0.017  # seven standard deviations
    assert set(line.draw(np.full(99, 4), np.full(99, 5), np.random.default_rng(0))) == {
        4,
        5,
    }  # weighs nothing: evenly
