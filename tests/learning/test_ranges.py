"""Learnt ranges: noise far away does not stretch them, few others do not vanish, and they end where
records do.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.flows import Frozen, held
from helpers.learning import decoded, learn, random
from sklearn import datasets

from synthdp.learning import (
    ASTRONOMIC,
    ColumnHistogram,
    SearchGrid,
    learn_decimals,
    learn_density,
    occupied_cells,
    standing_out,
    support_of,
    tail_masses,
)
from synthdp.privacy import NoisyHistogram
from synthdp.schema import OpenSchema, octaves

LOW = {"epsilon": 1.0, "delta": 1e-9, "share": 0.1}
"""About what one of three columns gets of a run at epsilon 1."""


class Noisy:
    """Answers in place of the kernel: exact counts with noise of a generator, which is quick."""

    def __init__(self, values, seed):
        self._frame, self._rng, self.spent = (
            pd.DataFrame({"x": values}),
            np.random.default_rng(seed),
            Fraction(0),
        )

    def histogram(self, grid, starts, *, rho, **_options):
        kind = "number" if grid.of != "values" or grid.decimals else "integer"
        source = held(self._frame, OpenSchema.from_kinds({"x": kind})).source
        exact, sigma = source.histogram(grid, starts), float(1 / (2 * rho)) ** 0.5
        self.spent += rho
        counts = exact + self._rng.normal(0, sigma, len(exact)).round()
        return NoisyHistogram(starts, counts[0], counts[1], counts[2:], sigma)


def ends(found):
    edges = found.get("edges") or [found["minimum"], found["maximum"]]
    return edges[0], edges[-1]


def test_noise_in_an_empty_histogram_never_stands_out_as_far_as_a_range_reaches():
    """In 20,000 empty histograms 1e-6 each makes 0.02 alarms; 5 of them come once in 1e11 such
    tests.
    """
    rng = np.random.default_rng(11)
    alarms = [
        standing_out(rng.normal(0, 9, 123), 9.0, false_alarm=ASTRONOMIC).any()
        for _ in range(20_000)
    ]
    assert sum(alarms) < 5


@pytest.mark.parametrize(
    "place", [("diabetes", "bmi"), ("breast_cancer", "mean radius"), ("wine", "proline")]
)
def test_no_range_of_small_real_tables_is_astronomic_or_collapsed(place):
    name, column = place
    values = getattr(datasets, f"load_{name}")(as_frame=True).frame[column].to_numpy()
    size = max(np.abs(values).max(), np.ptp(values))
    for seed in range(12):
        settings = {"epsilon": 2.0, "delta": 1e-9, "randomness": Frozen(seed)}
        low, high = ends(learn("number", values, **settings)[2])
        assert max(high - values.max(), values.min() - low) < 10 * size
        assert low < high


def test_a_column_that_is_mostly_zero_keeps_the_rest():
    rng = random()
    rain = np.where(rng.random(1461) < 0.57, 0, rng.gamma(0.7, 8, 1461)).round(1)
    for seed in range(12):
        column, codes, found = learn("number", rain, **LOW | {"randomness": Frozen(seed)})
        low, high = ends(found)
        assert low == 0
        assert 1 < high < 10 * rain.max()
        assert (decoded(column, codes) > 0).mean() > 0.25


@pytest.mark.parametrize("other", [1, 7])
def test_the_few_others_of_a_column_have_room_even_if_noise_hides_them(other):
    values = np.where(np.arange(300) % 4, 0, other)
    for seed in range(12):
        column, _, _ = learn(
            "integer", values, epsilon=0.5, delta=1e-9, share=0.05, randomness=Frozen(seed)
        )
        assert column.n_levels > 1


def test_a_constant_of_many_records_is_one_value():
    column, codes, _ = learn("integer", [5] * 4000)
    assert (column.n_levels, set(decoded(column, codes))) == (1, {5})


def test_dates_end_where_records_do():
    """Ten years of visits until June 2024, learnt with noise that a decade's cells can hide."""
    days = random().integers(0, 3400, 6000)
    dates = pd.Timestamp("2015-03-01") + pd.to_timedelta(days, unit="D")
    late = []
    for seed in range(8):
        column, codes, _ = learn(
            "date", dates.strftime("%Y-%m-%d"), **LOW | {"randomness": Frozen(seed)}
        )
        late.append(float((decoded(column, codes) > dates.max()).mean()))
    assert np.mean(late) < 0.02


def test_the_end_of_a_stretch_takes_in_the_records_that_are_missing():
    counts = np.concatenate(
        [np.full(50, 30.0), np.zeros(50)]
    )  # 30 records a cell drown in noise of 40
    coarse = ColumnHistogram(np.array([0, 1000]), np.array([1500.0]), 60.0, 0.0)
    rng, found = np.random.default_rng(2), []
    for _ in range(200):
        fine = ColumnHistogram(np.arange(0, 1001, 10), counts + rng.normal(0, 40, 100), 40.0, 0.0)
        found.append(support_of(coarse, [coarse, fine], {}, over_zero=True).stop)
    assert 400 <= np.median(found) <= 650


def test_tails_are_short_unless_it_is_beyond_doubt_that_they_are_not():
    cells = octaves()[octaves() >= 1] - 1
    counts = np.zeros(len(cells) - 1)
    assert tail_masses(counts, cells, 30.0, 200.0, width=1).size <= 2
    counts[:9] = 70.0
    assert tail_masses(counts, cells, 78.0, 628.0, width=1).size <= 2  # 8 to 1 is too little
    assert 7 <= tail_masses(counts, cells, 30.0, 628.0, width=1).size <= 10
    assert tail_masses(counts, cells, 30.0, 628.0, width=1).sum() == pytest.approx(628)


@pytest.mark.parametrize(
    "values", [random().integers(0, 90, 4000), random().lognormal(6, 1, 4000).round(2)]
)
def test_numbers_that_are_never_negative_stay_so(values):
    kind = "number" if values.dtype.kind == "f" else "integer"
    for seed in range(15):
        assert ends(learn(kind, values, **LOW | {"randomness": Frozen(seed)})[2])[0] >= 0


def test_records_on_the_other_side_of_0_are_found_if_they_are_many():
    values = random().normal(0.2, 1, 4000).round(2)
    for seed in range(8):
        low, high = ends(learn("number", values, **LOW | {"randomness": Frozen(seed)})[2])
        assert -30 < low < -0.5 < 0.5 < high < 30


def test_a_tail_crosses_0_only_beyond_doubt():
    edges = np.array(
        [0, 4, 6, 7, 8, 9, 11, 15, 23]
    )  # cells of 4 to 7, 2 and 3, 1, 0, and four below
    counts = np.array([20.0, 10.0, 5.0, 5.0, 0.0, 0.0, 20.0, 0.0])
    assert tail_masses(counts, edges, 30.0, 60.0, width=8, to_zero=4).size <= 4
    below = np.array([10.0, 10.0, 0.0, 10.0, 60.0, 90.0, 150.0, 150.0])
    assert tail_masses(below, edges, 30.0, 480.0, width=8, to_zero=4).size == 8


def test_both_tails_are_found_together():
    counts = np.array([0.0, 40.0, 50.0, 900.0, 50.0, 0.0, 0.0, 0.0])
    starts = np.arange(9)
    coarse = ColumnHistogram(starts[[0, -1]], np.array([1050.0]), 20.0, 0.0)
    fine = ColumnHistogram(starts, counts, 15.0, 0.0)
    begin, stop, *_ = support_of(coarse, [coarse, fine], {}, over_zero=True)
    assert (begin, stop) == (1, 5)


def test_one_tail_beside_what_stands_out_or_several():
    counts = np.array([900.0, 90.0, 0.0, 90.0, 0.0, 0.0])
    assert occupied_cells(counts, 20.0, reach=1, most_tails=1, false_alarm=1e-9) == (0, 1)
    assert occupied_cells(counts, 20.0, reach=2, false_alarm=1e-9) == (0, 3)


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        (random().integers(0, 900, 3000) / 100, 2),
        (
            np.append(random().integers(0, 900, 3000) / 100, random().random(60)),
            2,
        ),  # a few artefacts of floats
        (random().integers(0, 900, 3000).astype(float), 0),
        (
            np.arange(9000) + np.repeat([0, 0.5, 0.25, 0.0625], [8280, 330, 315, 75]),
            1,
        ),  # 3.7 % have one decimal, 3.5 % two, and 0.8 % four
    ],
)
def test_decimals_are_those_that_one_in_twenty_has(values, decimals):
    for seed in range(8):
        assert learn_decimals(Noisy(values, seed), "x", rho=Fraction(1, 500))[0] == decimals


def test_fractions_that_noise_nearly_hides_are_asked_for_again():
    """What a tenth of the numbers has must not become 0 because no number of decimals stands out."""
    amounts = np.repeat([0, 0.5, 0.25], [3000, 200, 160])
    whole = np.repeat([0.0, 1.0, 7.0], [3000, 200, 160])
    found, none = (
        [learn_decimals(Noisy(values, seed), "x", rho=Fraction(1, 4000))[0] for seed in range(40)]
        for values in (amounts, whole)
    )
    assert sum(decimals in (1, 2) for decimals in found) > 27
    assert set(none) == {0}


def test_no_number_of_decimals_is_taken_from_noise():
    """Nothing stands out of 40 records: the grid then has room for small and large numbers."""
    found = {
        learn_decimals(Noisy(random().random(40), seed), "x", rho=Fraction(1, 5000))
        for seed in range(20)
    }
    assert {each[:5] for each in found} == {(8, None, False, 0.0, 0.0)}


def test_what_is_spent_is_never_more_than_was_given():
    values = {
        "mostly 0": np.where(np.arange(900) % 3, 0, 40),
        "few": np.arange(60),
        "none": np.zeros(0, dtype=int),
    }
    for data in values.values():
        for seed in range(6):
            learn(
                "integer", data, epsilon=0.3, delta=1e-9, randomness=Frozen(seed)
            )  # which asserts it


def test_the_first_look_is_asked_again_only_where_it_shows_nothing():
    asked = []

    def histogram(_grid, starts, *, rho, **_options):
        asked.append(rho)
        return NoisyHistogram(starts, 0.0, 0.0, np.zeros(len(starts)), 10.0)

    (column,) = OpenSchema.from_kinds({"x": "integer"}).open_columns
    source = type("Empty", (), {"histogram": staticmethod(histogram)})()
    grid = SearchGrid.from_column(column)
    learnt = learn_density(source, grid, rho=Fraction(1), seeks_values=False)
    assert asked[:3] == [Fraction(1, 5)] * 3
    assert sum(asked) == 1
    assert not learnt.stands_out


@pytest.mark.parametrize(
    ("first", "stop"), [(0, 109), (0, 5), (50, 109), (50, 60), (0, 1), (108, 109)]
)
def test_each_cell_of_a_look_has_the_noise_of_one_answer(first, stop):
    """An outermost cell that adds up two answers stands out by chance far more often than its noise
    says.
    """

    class Ones:
        def histogram(self, _grid, starts, **_options):
            n_cells = len(starts) + 1
            return NoisyHistogram(
                starts, 1.0, 1.0 if len(starts) else 0.0, np.ones(n_cells - (len(starts) > 0)), 1.0
            )

    axis = SearchGrid.from_column(OpenSchema.from_kinds({"x": "integer"}).open_columns[0])
    starts = axis.coarse_edges[first : stop + 1]
    look = ColumnHistogram.measured(Ones(), axis, starts, rho=Fraction(1))
    assert look.counts.tolist() == [1.0] * (len(starts) - 1)
    assert (look.below, look.above) == (float(first > 0), float(stop < len(axis.coarse_edges) - 1))


def test_years_that_are_written_as_numbers_are_found_in_the_thousand_they_lie_in():
    """Cells of 1024 to 2047 that are as many as records show are twenty years wide: what they hold is
    looked into with what is left, and not with a twentieth of the budget.
    """
    column = OpenSchema.from_kinds({"x": "integer"}).columns[0]
    axis = SearchGrid.from_column(column, decimals=0)
    years = np.repeat(np.arange(1980, 1988), 75)
    off = []
    for seed in range(12):
        source = Noisy(years, seed)
        found = learn_density(source, axis, rho=Fraction(35, 10_000), seeks_values=True)
        starts = found.density.starts
        off.append(max(abs(int(starts[0]) - 1980), abs(int(starts[-1]) - 1988)))
        assert source.spent <= Fraction(35, 10_000)
    assert np.count_nonzero(np.array(off) <= 1) >= 9
