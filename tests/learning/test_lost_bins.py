"""Learnt bins that gave way to rules are said to have, and no others."""

import pytest

from synthdp.learning import lost_bins
from synthdp.schema import OpenSchema

EDGES = [0, 1, 4, 9, 16, 25, 36, 49]


def opened(derive, **constraints):
    own = {"derive": derive}
    field = {"name": "x", "type": "integer", "constraints": constraints, "synthdp": own}
    (column,) = OpenSchema.from_dict({"fields": [field]}).open_columns
    return column


def closed(edges):
    return opened(["bins"], minimum=0, maximum=49).resolved(edges=edges)


@pytest.mark.parametrize(
    ("kept", "is_lost"),
    [
        (EDGES, False),
        ([0, 1, 4, 16, 25, 49], False),  # two of six went
        ([0, 1, 4, 7, 10, 49], True),  # four of six
        ([0, 10, 20, 30, 40, 49], True),
    ],
)
def test_bins_are_lost_if_most_of_their_edges_are(kept, is_lost):
    column = opened(["bins"], minimum=0, maximum=49)
    found = lost_bins([column], {"x": closed(EDGES)}, [closed(kept)])
    assert len(found) == is_lost
    assert all(text.startswith("column 'x': what was learnt of its bins") for text in found)


def test_nothing_is_said_of_what_was_not_learnt_or_whose_bounds_may_be_widened():
    equal = closed([0, 10, 20, 30, 40, 49])
    bounded = opened(["bins"], minimum=0, maximum=49)
    assert not lost_bins([bounded], {}, [equal])
    assert not lost_bins([bounded], {"x": closed(EDGES)}, [])  # the run ended before
    assert not lost_bins([bounded], {"x": bounded.resolved()}, [equal])  # equal ones were learnt
    unbounded = opened(["bounds"])
    assert not lost_bins([unbounded], {"x": closed(EDGES)}, [equal])
