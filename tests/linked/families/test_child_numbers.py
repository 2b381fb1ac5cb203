"""Numbers of children that noise hides do not multiply rows, whatever bound is declared."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import synthdp
from synthdp.core import Coarsening, LinearMeasurement
from synthdp.linked import Package, SeenNumbers, views_of
from synthdp.linked.linked_certificate import generous

N = 3000
NUMBERS = np.random.default_rng(0).geometric(0.4, N).clip(0, 9)


def package(most, **own):
    yes = {"type": "boolean", "constraints": {"required": True}}
    link = {"fields": "buyer", "reference": {"resource": "buyers", "fields": "id"}}
    buyers = {"fields": [{"name": "id"}, {"name": "new", **yes}], "primaryKey": "id"}
    orders = {"fields": [{"name": "buyer"}, {"name": "paid", **yes}], "foreignKeys": [link]}
    return {
        "resources": [
            {"name": "buyers", "schema": buyers},
            {"name": "orders", "schema": orders, "synthdp": {"max_children": most, **own}},
        ]
    }


def frames(numbers=NUMBERS):
    buyer = np.repeat(np.arange(len(numbers)), numbers)
    return {
        "buyers": pd.DataFrame({"id": np.arange(len(numbers)), "new": numbers > 2}),
        "orders": pd.DataFrame({"buyer": buyer, "paid": buyer % 3 > 0}),
    }


def seen(most, noise, numbers=NUMBERS, groups=None):
    """What noise of a scale shows, of counts and, if there are groups, of counts of these."""
    view = views_of(Package.from_dict(package(most)))["buyers"]
    rng = np.random.default_rng(1)
    counts = np.bincount(numbers, minlength=most + 1).astype(float)
    clique = ("number of orders",)
    measured = [LinearMeasurement(clique, counts + rng.normal(0, noise, most + 1), noise)]
    if groups is not None:
        merging = Coarsening({clique[0]: groups})
        merged = merging.apply(clique, counts)
        exact = LinearMeasurement(clique, merged + rng.normal(0, 1, len(merged)), 1.0, merging)
        measured.append(exact)
    return SeenNumbers(view, measured)


def mean(counts):
    return counts @ np.arange(len(counts)) / counts.sum()


@pytest.mark.parametrize("most", [14, 90, 1000])
def test_whatever_the_bound_the_mean_is_that_of_the_rows(most):
    (counts,) = seen(most, 10).counts
    assert mean(counts.values) == pytest.approx(NUMBERS.mean(), rel=0.05)
    assert (counts.values >= 0).all()


def test_of_a_panel_all_have_the_one_number_of_rows():
    found = seen(400, 20, numbers=np.full(N, 36))
    assert mean(found.counts[0].values) == pytest.approx(36, rel=0.02)
    assert found.counts[0].values[36] > 0.9 * N
    assert found.ends == {"number of orders": 37}


@pytest.mark.parametrize(("deviations", "is_seen"), [(5.0, False), (9.0, True)])
def test_numbers_far_beyond_all_others_must_stand_out_more(deviations, is_seen):
    """Noise puts four deviations somewhere among so many pools, and there it multiplies rows."""
    counts = np.bincount(NUMBERS, minlength=1001).astype(float)
    width = 80  # within one pool
    counts[300 : 300 + width] += deviations * 10 / np.sqrt(width)
    view = views_of(Package.from_dict(package(1000)))["buyers"]
    found = SeenNumbers(view, [LinearMeasurement(("number of orders",), counts, 10.0)])
    assert (found.ends["number of orders"] > 300) == is_seen
    if not is_seen:
        assert mean(found.counts[0].values) == pytest.approx(NUMBERS.mean(), rel=0.05)


def test_counts_of_merged_numbers_are_made_use_of():
    groups = np.minimum(np.arange(91), 3)
    merged, alone = (seen(90, 60, groups=each).counts[0].values for each in (groups, None))
    true = np.bincount(NUMBERS, minlength=91)
    assert abs(merged[:3] - true[:3]).sum() < 0.5 * abs(alone[:3] - true[:3]).sum()


def test_numbers_that_were_not_counted_one_by_one_are_left_alone():
    view = views_of(Package.from_dict(package(4)))["buyers"]
    merging = Coarsening({"number of orders": np.array([0, 0, 1, 1, 1])})
    measured = LinearMeasurement(("number of orders",), np.array([5.0, 9.0]), 1.0, merging)
    assert not SeenNumbers(view, [measured]).counts


def test_rules_on_numbers_go_first():
    """Noise shows none of the numbers that rules ask for: then they are not ruled out."""
    view = views_of(Package.from_dict(package(9, min_children=5)))["buyers"]
    counts = np.where(np.arange(10) < 2, 500.0, 0.0)
    assert not SeenNumbers(
        view, [LinearMeasurement(("number of orders",), counts, 1.0)]
    ).constraints


@pytest.mark.filterwarnings("ignore::synthdp.CautionWarning")
@pytest.mark.parametrize("most", [20, 600])
@pytest.mark.parametrize("engine", ["auto", "graphical-model"])
def test_a_generous_bound_multiplies_no_rows(most, engine):
    release = synthdp.synthesize(frames(), package(most), epsilon=1, delta=1e-6, engine=engine)
    drawn = release.sample(seed=0)
    rate = len(drawn["orders"]) / len(drawn["buyers"])
    assert rate == pytest.approx(NUMBERS.mean(), rel=0.15)
    cautions = " ".join(release.cautions)
    assert ("its max_children is 600" in cautions) == (most == 600)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([0, 900, 500, 100], "noise shows no row with more than about 3 of 'orders'"),
        ([0, 10, 5, 0], "noise hides how many of 'orders' a row has.*next to none are drawn"),
    ],
)
def test_bounds_are_said_to_be_far_above_what_noise_shows(numbers, said):
    view = views_of(Package.from_dict(package(60)))["buyers"]
    counts = np.pad(np.array(numbers, np.float64), (0, 57))
    part = SimpleNamespace(measurements=[LinearMeasurement(("number of orders",), counts, 20.0)])
    ((label, text),) = generous({"buyers": view}, {"buyers": part})
    assert label == "buyers"
    assert re.match(said, text)
    assert "its max_children is 60" in text


def test_given_families_may_have_more_rows_than_noise_shows():
    release = synthdp.synthesize(
        frames(np.full(N, 3)), package(60), epsilon=1, delta=1e-6, mechanism="independent"
    )
    buyers = pd.DataFrame({"id": ["a", "b"]})
    orders = pd.DataFrame({"buyer": ["a"] * 40 + ["b"], "paid": True})
    drawn = release.sample(given={"buyers": buyers, "orders": orders}, seed=0)
    assert drawn["orders"]["buyer"].value_counts().to_dict() == {"a": 40, "b": 1}


@pytest.mark.parametrize("later", [False, True])
def test_what_rows_below_weigh_says_how_many_there_are(later):
    """Of numbers that the root hides in noise, and rows below that were counted nearly without."""
    numbers = np.where(np.arange(N) % 3 > 0, NUMBERS, 0)
    views = views_of(Package.from_dict(package(9)))
    below = views["later orders" if later else "orders"]
    units = [
        rows * below.weights[below.class_of(np.array([max(rows, 1)]))[0]]
        for rows in (np.maximum(np.arange(10) - 1, 0) if later else np.minimum(np.arange(10), 1))
    ]
    true = np.bincount(numbers, minlength=10)
    roots = LinearMeasurement(("buyers.new",), np.array([N / 2, N / 2]), 1.0)
    paid = LinearMeasurement(("orders.paid",), np.array([0.0, true @ units]), 1.0)
    rng, off = np.random.default_rng(1), []
    for _ in range(20):
        own = LinearMeasurement(("number of orders",), true + rng.normal(0, 60, 10), 60.0)
        alone, both = (
            SeenNumbers(views["buyers"], [own, roots], hanging).counts[0].values
            for hanging in ([], [(below, [paid])])
        )
        assert not both[alone == 0].any()
        off.append(
            [abs(N * (each @ units) / each.sum() / (true @ units) - 1) for each in (alone, both)]
        )
    mean_alone, mean_both = np.mean(off, axis=0)
    assert mean_both < 0.8 * mean_alone


def measured_twice(true, noise, rng):
    """Each number of children with noise, and how many roots there are nearly without."""
    own = LinearMeasurement(("number of orders",), true + rng.normal(0, noise, len(true)), noise)
    roots = LinearMeasurement(("buyers.new",), np.array([true.sum() / 2, true.sum() / 2]), 0.5)
    return [own, roots]


def test_numbers_that_noise_hides_follow_those_beside_them():
    """Their mean is closer than that of the counts themselves, as far as numbers go."""
    most, noise = 250, 15.0
    true = np.bincount(np.random.default_rng(2).geometric(0.5, 8000), minlength=most + 1)
    view = views_of(Package.from_dict(package(most)))["buyers"]
    rng, off = np.random.default_rng(1), []
    for _ in range(30):
        measured = measured_twice(true.astype(float), noise, rng)
        found = SeenNumbers(view, measured)
        (numbers,) = found.counts
        assert numbers.values.sum() == pytest.approx(8000, abs=5)
        plain = measured[0].values[: found.ends["number of orders"]]
        off.append([mean(each) / mean(true) - 1 for each in (numbers.values, plain)])
    closer, plain = np.sqrt(np.square(off).mean(axis=0))
    assert closer < 0.6 * plain


def test_numbers_of_less_than_half_a_row_are_none():
    view = views_of(Package.from_dict(package(60)))["buyers"]
    counts = np.zeros(61)
    counts[36] = 400.0
    rng = np.random.default_rng(1)
    found = SeenNumbers(view, measured_twice(counts, 3.0, rng))
    (numbers,) = found.counts
    assert numbers.values[36] == pytest.approx(400, abs=15)
    assert numbers.values.sum() == pytest.approx(400, abs=1)
    others = np.delete(numbers.values, 36)
    assert (others == 0).sum() > 40
    assert others[others > 0].min(initial=1) >= 0.5


def test_rows_below_make_no_number_seen_that_was_not():
    """They say that some roots have no row: what hangs on these was fitted as if all had four."""
    views = views_of(Package.from_dict(package(9)))
    below = views["orders"]
    true = np.where(np.arange(10) == 4, 400.0, 0.0)
    own, roots = measured_twice(true, 2.0, np.random.default_rng(1))
    unit = below.weights[below.class_of(np.array([1]))[0]]
    fewer = LinearMeasurement(("orders.paid",), np.array([0.0, 300.0 * unit]), 0.1 * unit)
    alone, both = (
        SeenNumbers(views["buyers"], [own, roots], hanging).counts[0].values
        for hanging in ([], [(below, [fewer])])
    )
    assert alone[0] == 0
    assert both[0] == 0
    assert both[4] > 300


def test_numbers_each_below_the_noise_are_told_by_those_around():
    true = np.random.default_rng(0).normal(50, 15, N).round().clip(0, 120).astype(int)
    counts = np.bincount(true, minlength=121).astype(float)
    view = views_of(Package.from_dict(package(120)))["buyers"]
    off = []
    for seed in range(5):
        found = SeenNumbers(view, measured_twice(counts, 20.0, np.random.default_rng(seed)))
        off.append(0.5 * abs(found.counts[0].values - counts).sum() / N)
    assert np.mean(off) < 0.15  # counts that are cut at 0 have .24


def with_groups(most, true, noise, groups, pooled_noise, rng):
    """Each number of children with noise, and groups of them with less."""
    clique = ("number of orders",)
    merging = Coarsening({clique[0]: groups})
    merged = merging.apply(clique, true)
    return [
        LinearMeasurement(clique, true + rng.normal(0, noise, most + 1), noise),
        LinearMeasurement(
            clique, merged + rng.normal(0, pooled_noise, len(merged)), pooled_noise, merging
        ),
    ]


def test_what_was_measured_of_numbers_together_is_kept_to():
    """Drawn to those beside it, each number was as it should be, and many together were not."""
    most = 60
    numbers = np.random.default_rng(5).lognormal(2.2, 0.7, 2000).astype(int).clip(0, most)
    true = np.bincount(numbers, minlength=most + 1).astype(float)
    groups = np.searchsorted([1, 2, 4, 8, 16, 32], np.arange(most + 1), side="right")
    view = views_of(Package.from_dict(package(most)))["buyers"]
    rng, off = np.random.default_rng(1), []
    for _ in range(20):
        measured = with_groups(most, true, 40.0, groups, 2.0, rng)
        values = SeenNumbers(view, measured).counts[0].values
        off.append(
            abs(np.bincount(groups, values) - np.bincount(groups, true)).sum() / len(numbers)
        )
    assert np.mean(off) < 0.03


def test_numbers_that_only_a_pool_shows_are_seen():
    """A sixth of the rows have 30 to 111 others, each number of which noise hides."""
    most = 500
    rng = np.random.default_rng(1)
    numbers = np.append(rng.integers(1, 16, 1000), (30 * (112 / 30) ** rng.random(200)).astype(int))
    true = np.bincount(numbers, minlength=most + 1).astype(float)
    groups = np.searchsorted([4, 8, 30, 112], np.arange(most + 1), side="right")
    view = views_of(Package.from_dict(package(most)))["buyers"]
    means = [
        mean(SeenNumbers(view, with_groups(most, true, 30.0, groups, 20.0, rng)).counts[0].values)
        for _ in range(20)
    ]
    # As far as they are seen: to twice the first of them.
    assert np.mean(means) > 0.7 * numbers.mean()
    assert np.max(means) < 1.2 * numbers.mean()


def test_few_families_with_many_rows_each_have_more_than_none():
    """Noise hides each number and each pool, but not that next to no family has none."""
    numbers = np.random.default_rng(3).normal(20, 4, 300).round().clip(1, 34).astype(int)
    true = np.bincount(numbers, minlength=35).astype(float)
    view = views_of(Package.from_dict(package(34)))["buyers"]
    rng = np.random.default_rng(1)
    means = [
        mean(SeenNumbers(view, measured_twice(true, 28.0, rng)).counts[0].values) for _ in range(20)
    ]
    assert np.median(means) == pytest.approx(20, rel=0.25)
