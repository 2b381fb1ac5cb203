"""From weights to rows: as many as one part of a family's weight stands for."""

import numpy as np
import pytest
from helpers.families import package

from synthdp.core import Domain
from synthdp.linked import views_of
from synthdp.linked.families import expected_rows


class Known:
    """A model with the same weight in each cell."""

    def __init__(self, view):
        self.domain = Domain(view.steps, [view.schema[name].size for name in view.steps])

    def marginals(self, cliques):
        found = [
            type("Table", (), {"values": np.ones(self.domain.project(clique).shape)})
            for clique in cliques
        ]
        return found[::-1]


def test_rows_are_weights_by_what_a_row_of_their_numbers_of_children_counts():
    view = views_of(package(people=3, visits=3))["later visits"]
    (rows,) = expected_rows.expected_rows(view, Known(view), [view.steps])
    ways = np.outer(np.arange(4), np.maximum(np.arange(4) - 1, 0))
    assert rows.tolist() == (ways / view.grid).tolist()


def test_rows_that_weigh_alike_stand_for_as_many_rows_each():
    view = views_of(package(people=9))["later people"].levelled(4)
    (rows,) = expected_rows.expected_rows(view, Known(view), [view.steps])
    assert rows[2:6].tolist() == pytest.approx([4 / view.grid] * 4)
    assert rows[6:].tolist() == pytest.approx([n / view.grid for n in (5, 6, 7, 8)])


def test_rows_too_light_to_be_counted_are_none():
    """One part of 200 * 199 is less than one of 2 ** 14 units, of which nothing follows."""
    view = views_of(package(people=200, visits=200))["later visits"]
    (rows,) = expected_rows.expected_rows(view, Known(view), [view.steps])
    assert rows[200, 200] == rows[0, 5] == rows[5, 0] == rows[5, 1] == 0
    assert (rows[1, 2], rows[1, 3], rows[3, 2]) == (1 / 2**14, 1 / (2**14 // 2), 1 / (2**14 // 3))
