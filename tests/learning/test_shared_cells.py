"""Histograms of records in several cells: by what they are divided, and how well that is known."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.flows import held

from synthdp.learning import ColumnHistogram, SearchGrid, in_records, learn_density, support_of
from synthdp.privacy import NoisyHistogram
from synthdp.schema import OpenSchema

COARSE, FINE = np.arange(0, 1025, 256), np.arange(0, 1025, 8)


def histogram(starts, counts, stddev, **options):
    return ColumnHistogram(
        np.asarray(starts), np.asarray(counts, dtype=float), stddev, 12.0, 8.0, 4.0, **options
    )


def a_pair(rng, factor, *, stddev=10.0, most_cells=16, n_held=4):
    """One record in 10 at each of some coarse cells, and fine cells with so many times as many."""
    held_cells = np.arange(4) < n_held
    coarse = 1000.0 * held_cells + rng.normal(0, 10, 4)
    fine = factor * np.repeat(1000.0 / 32 * held_cells, 32) + rng.normal(0, stddev, 128)
    return histogram(FINE, fine, stddev, most_cells=most_cells), histogram(COARSE, coarse, 10.0)


@pytest.mark.parametrize("factor", [1.0, 1.3, 2.0, 3.9])
@pytest.mark.parametrize("n_held", [1, 4])
def test_the_factor_is_found_as_well_as_it_is_said_to_be(factor, n_held):
    rng = np.random.default_rng(int(10 * factor) + n_held)
    errors = []
    for _ in range(200):
        fine, coarse = a_pair(rng, factor, n_held=n_held)
        found = in_records(fine, coarse)
        assert 1 <= found.factor <= 4
        np.testing.assert_allclose(found.counts * found.factor, fine.counts)
        errors.append((found.factor / factor - 1) / found.factor_error)
    at_an_end = factor in (1.0, 3.9)
    # Sums of all cells and of those that stand out are of the same noise: it is a little too sure.
    assert np.sqrt(np.square(errors).mean()) < (2.0 if at_an_end else 1.6)
    assert np.abs(np.mean(errors)) < (1.5 if at_an_end else 0.6)


def test_all_that_is_counted_is_divided_by_it():
    fine, coarse = a_pair(np.random.default_rng(1), 2.0)
    fine = replace(fine, infinite=6.0, clipped=2.0)
    found = in_records(fine, coarse)
    for name in ("stddev", "missing", "below", "above", "infinite", "clipped"):
        assert getattr(found, name) * found.factor == pytest.approx(getattr(fine, name))
    assert found.starts is fine.starts


def test_a_histogram_of_records_in_one_cell_is_as_it_was():
    fine, coarse = a_pair(np.random.default_rng(2), 2.0, most_cells=1)
    assert in_records(fine, coarse) is fine


def test_finer_cells_have_no_smaller_factor_and_the_same_cells_the_same():
    rng = np.random.default_rng(3)
    fine, coarse = a_pair(rng, 1.5)
    coarse = replace(coarse, factor=3.0, factor_error=0.1)
    assert in_records(fine, coarse).factor >= 3.0
    again = in_records(replace(fine, most_cells=16), replace(fine, factor=1.7, factor_error=0.2))
    assert (again.factor, again.factor_error) == (1.7, 0.2)


@pytest.mark.parametrize("stddev", [10.0, 1e6])
def test_where_noise_hides_all_the_factor_is_any(stddev):
    fine, coarse = a_pair(np.random.default_rng(4), 2.0, stddev=stddev, n_held=0)
    found = in_records(fine, coarse)
    # As likely in each octave from 1 to 4: the mean of that is 3 / log 4.
    assert found.factor == pytest.approx(3 / np.log(4), rel=0.25)
    assert 0.2 < found.factor_error < 0.5


def test_of_coarse_cells_only_those_that_are_divided_tell_it():
    """Beyond the ends of the finer histogram its records are in two cells, whatever they are."""
    fine, coarse = a_pair(np.random.default_rng(5), 2.0)
    starts = np.array([-512, -256, *COARSE, 1280])
    wider = histogram(starts, [5e4, 5e4, *coarse.counts, 5e4], 10.0)
    assert in_records(fine, wider).factor == in_records(fine, coarse).factor


def in_few_cells(rng, n_hidden):
    """Two fine cells with records in an octave of 64, and some more that no cell shows."""
    fine = np.zeros(64)
    fine[60:62] = 100, 660 - n_hidden
    fine[:50] += n_hidden / 50
    starts = np.linspace(1024, 2048, 65).astype(np.int64)
    found = histogram(starts, fine + rng.normal(0, 14, 64), 14.0, most_cells=16)
    return in_records(found, histogram([1024, 2048], [760 + rng.normal(0, 20)], 20.0))


def test_empty_cells_do_not_hide_how_many_records_there_are():
    """Their noise together is a sixth of all records."""
    rng = np.random.default_rng(7)
    found = [in_few_cells(rng, 0) for _ in range(100)]
    factors = np.array([each.factor for each in found])
    assert np.sqrt(np.square(factors - 1).mean()) < 0.1
    assert np.mean([each.factor_error for each in found]) < 0.1


def test_records_that_no_cell_shows_are_not_ruled_out():
    rng = np.random.default_rng(8)
    shown, hidden = ([in_few_cells(rng, n_hidden) for _ in range(100)] for n_hidden in (0, 250))
    errors = [np.mean([each.factor_error for each in found]) for found in (shown, hidden)]
    assert errors[1] > 1.3 * errors[0]


class Shares:
    """Answers without noise worth a word, of records with two rows each; what was asked is kept."""

    def __init__(self, frame):
        self._source = held(frame, OpenSchema.from_kinds({"x": "integer"})).source
        self._n_rows = len(frame)
        self.asked = []

    def histogram(self, grid, starts, *, rho, shared=False):
        del rho
        self.asked.append((len(starts), shared))
        counts = self._source.histogram(grid, starts).astype(float)
        # One record is two rows in cells of their own.
        counts *= 2**-0.5 if shared else 0.5
        most = 2 if shared else 1
        return NoisyHistogram(starts, counts[0], counts[1], counts[2:], 0.5, most)


def test_where_values_lie_is_asked_of_one_row_and_how_of_all():
    rng = np.random.default_rng(6)
    values = rng.integers(2000, 3000, 40_000)
    kernel = Shares(pd.DataFrame({"x": values}))
    axis = SearchGrid.from_column(OpenSchema.from_kinds({"x": "integer"}).open_columns[0])
    learnt = learn_density(kernel, axis, rho=Fraction(1), seeks_values=True)
    assert [shared for _, shared in kernel.asked] == [
        False,
        *[True] * (len(kernel.asked) - 1),
    ]
    assert len(kernel.asked) > 1
    # In records, not in rows, and not in shares of them.
    assert learnt.density.mass.sum() == pytest.approx(20_000, rel=0.02)
    assert learnt.present == pytest.approx(20_000)
    assert learnt.stddev == pytest.approx(0.5 / 2**0.5, rel=0.01)
    assert learnt.density.starts[[0, -1]] == pytest.approx([2000, 3000], abs=20)


def test_bounds_are_less_sure_where_the_factor_is():
    """Fine cells that may hold fewer records than they seem leave some that lie further out."""
    fine = histogram(FINE, [300.0] * 16 + [0.0] * 112, 4.0)
    coarse = histogram([*COARSE[:2].tolist(), 1024], [4800.0, 0.0], 4.0)
    first = histogram([-1024, 0, 1024, 2048], [0.0, 4800.0, 0.0], 4.0)
    certain, vague = (
        support_of(first, [coarse, replace(fine, factor_error=error)], {}, over_zero=False)
        for error in (0.0, 0.2)
    )
    assert certain.stop <= vague.stop
    assert vague.above.posterior.probabilities[0] < certain.above.posterior.probabilities[0]
