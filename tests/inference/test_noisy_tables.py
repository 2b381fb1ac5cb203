"""What noisy tables say of a marginal, against generalised least squares over the cells of the full
table.
"""

from itertools import chain, combinations

import numpy as np
import pytest
from oracles.inference import marginal_of, random_cliques

from synthdp.core import Coarsening, Domain, LinearMeasurement, subsets
from synthdp.inference import NoisyTables

DOMAIN = Domain(("a", "b", "c"), (4, 3, 3))
EVERY = list(subsets(DOMAIN.attributes))
TOTAL = 500.0
NONE = Coarsening({})
HALVES = Coarsening({"a": np.array([0, 0, 1, 1])})
ENDS = Coarsening({"a": np.array([0, 1, 1, 0])})
THIRDS = Coarsening({"a": np.array([0, 1, 2, 2])})
BOTH = Coarsening({"a": np.array([1, 0, 0, 1]), "c": np.array([0, 1, 1])})


def noisy(rng, clique, stddev, coarsening=None):
    """A noisy marginal of a random table, over merged levels if any."""
    joint = TOTAL * rng.dirichlet(np.ones(DOMAIN.size())).reshape(DOMAIN.shape)
    counts = (coarsening or NONE).apply(clique, marginal_of(joint, DOMAIN, clique))
    return LinearMeasurement(
        clique, counts + stddev * rng.normal(size=counts.shape), stddev, coarsening
    )


def sums(clique, coarsening):
    """The matrix that takes the cells of the full table to a marginal, over merged levels if any."""
    cells = np.indices(DOMAIN.shape).reshape(len(DOMAIN), -1)
    shape = coarsening.domain(DOMAIN).project(clique).shape
    levels = {name: cells[DOMAIN.index(name)] for name in clique}
    merged = [
        coarsening.groups[name][own] if name in coarsening.groups else own
        for name, own in levels.items()
    ]
    place = np.ravel_multi_index(merged, shape) if clique else np.zeros(DOMAIN.size(), dtype=int)
    return (np.arange(int(np.prod(shape)))[:, None] == place).astype(float), shape


def least_squares(measurements, clique, coarsening, *, total=None):
    """Estimate of a merged marginal and its variance, each cell; of a full table with a given
    total, if any.
    """
    matrix = np.vstack([sums(m.clique, m.coarsening or NONE)[0] for m in measurements])
    scale = np.concatenate([np.sqrt(m.variance).ravel() for m in measurements])[:, None]
    target = np.concatenate([m.values.ravel() for m in measurements])[:, None] / scale
    asked, shape = sums(clique, coarsening)
    free = np.eye(DOMAIN.size()) - (0.0 if total is None else 1.0 / DOMAIN.size())
    start = np.full((DOMAIN.size(), 1), 0.0 if total is None else total / DOMAIN.size())
    inverse = np.linalg.pinv(matrix @ free / scale, rcond=1e-9)
    cells = start + free @ inverse @ (target - matrix @ start / scale)
    variance = np.sum((asked @ free @ inverse) ** 2, axis=1)
    return (asked @ cells).reshape(shape), variance.reshape(shape)


def check(estimate, measurements, clique, coarsening):
    """Counts are the best that all measurements say; their variance is that of the ones that show
    all of the clique.
    """
    expected, _ = least_squares(measurements, clique, coarsening, total=TOTAL)
    np.testing.assert_allclose(estimate.counts, expected, atol=1e-6)
    _, variance = least_squares(
        [m for m in measurements if set(clique) <= set(m.clique)], clique, coarsening
    )
    np.testing.assert_allclose(estimate.variance, variance, rtol=1e-6)


@pytest.mark.parametrize(
    "coarsening", [None, THIRDS, BOTH], ids=["all levels", "one merged", "two merged"]
)
@pytest.mark.parametrize("max_whole", [1, 6])
def test_one_merging_is_least_squares(coarsening, max_whole):
    merging = coarsening or NONE
    for seed in range(12):
        rng = np.random.default_rng(seed)
        cliques = [
            clique
            for clique in random_cliques(rng, DOMAIN, most=5)
            if merging is NONE or "a" in clique
        ]
        if not cliques:
            continue
        measurements = [
            noisy(rng, clique, 10 * rng.choice([1.0, 1.0, 20.0]), coarsening) for clique in cliques
        ]
        tables = NoisyTables(DOMAIN, measurements, EVERY, total=TOTAL, max_whole=max_whole)
        for clique in EVERY:
            estimates = tables.estimates(clique)
            assert len(estimates) == any(set(clique) <= set(other) for other in cliques)
            for number, own in estimates.items():
                assert 0 <= number < len(tables)
                check(own, measurements, clique, merging)


def test_conflicting_mergings_do_not_mix():
    rng = np.random.default_rng(0)
    measured = {
        m: [noisy(rng, ("a", "b"), 3.0, m), noisy(rng, ("c", "a"), 5.0, m)]
        for m in (THIRDS, HALVES, ENDS)
    }
    plain = [noisy(rng, ("a",), 2.0), noisy(rng, ("a", "b"), 4.0)]
    tables = NoisyTables(
        DOMAIN, [*plain, *chain(*measured.values())], EVERY, total=TOTAL, max_whole=6
    )
    estimates = list(tables.estimates(("a", "b")).values())
    for own, coarsening in zip(estimates[:3], (HALVES, ENDS, THIRDS), strict=True):
        np.testing.assert_array_equal(own.coarsening.groups["a"], coarsening.groups["a"])
        check(own, measured[coarsening], ("a", "b"), coarsening)
    check(estimates[3], plain, ("a", "b"), NONE)
    assert [own.counts.shape for own in tables.estimates(("a", "c")).values()] == [
        (2, 3),
        (2, 3),
        (3, 3),
    ]


def test_plain_measurements_are_one_family_whatever_came_before():
    """Of a column that nobody merges, a count of its own sharpens the pairs that hold it."""
    rng = np.random.default_rng(5)
    first, plain = (
        noisy(rng, ("a", "b"), 3.0, HALVES),
        [noisy(rng, ("c",), 2.0), noisy(rng, ("a", "c"), 9.0)],
    )
    tables = NoisyTables(DOMAIN, [first, *plain], EVERY, total=TOTAL, max_whole=6)
    (estimate,) = tables.estimates(("a", "c")).values()
    check(estimate, plain, ("a", "c"), NONE)


def test_plain_and_merged_of_one_attribute_are_apart_even_where_both_merge_others():
    """``c`` is merged in one and not in the other, which both merge ``a`` alike."""
    rng = np.random.default_rng(1)
    only_a = Coarsening({"a": BOTH.groups["a"]})
    first, second = noisy(rng, ("a", "c"), 3.0, only_a), noisy(rng, ("a", "c"), 3.0, BOTH)
    for given in ([first, second], [second, first]):
        estimates = NoisyTables(DOMAIN, given, EVERY, total=TOTAL, max_whole=6).estimates(
            ("a", "c")
        )
        for own, measurement in zip(estimates.values(), (second, first), strict=True):
            check(own, [measurement], ("a", "c"), measurement.coarsening)


def test_a_merging_of_other_attributes_is_none():
    rng = np.random.default_rng(2)
    elsewhere = LinearMeasurement(("b",), rng.normal(166, 5, 3), 4.0, HALVES)
    plain = noisy(rng, ("b", "a"), 3.0)
    tables = NoisyTables(DOMAIN, [elsewhere, plain], EVERY, total=TOTAL, max_whole=6)
    for clique in (("b",), ("a", "b"), ("a",)):
        ((number, estimate),) = tables.estimates(clique).items()
        assert number == len(tables) - 1
        check(estimate, [elsewhere, plain], clique, NONE)


def test_coarse_comes_before_fine_and_all_levels_last_whatever_was_measured_beside():
    """Also where what merges one attribute coarsely merges others finely, or not at all."""
    domain = Domain(("a", "b", "c", "d"), (12, 12, 12, 12))
    groups = {size: np.arange(12) * size // 12 for size in (2, 3, 4, 6)}

    def ones(clique, **sizes):
        coarsening = (
            Coarsening({name: groups[size] for name, size in sizes.items()}) if sizes else None
        )
        return LinearMeasurement(
            clique, np.ones([sizes.get(name, 12) for name in clique]), 1.0, coarsening
        )

    measurements = [
        ones(("a", "b"), a=3, b=6),
        ones(("a", "b"), a=2, b=2),
        ones(("c", "d"), c=6, d=6),
        ones(("b", "c"), b=3),
        ones(("a", "d"), a=4),
        ones(("d",)),
    ]
    for shift in range(6):
        given = [*measurements[shift:], *measurements[:shift]]
        cliques = [*combinations("abcd", 1), *combinations("abcd", 2)]
        tables = NoisyTables(domain, given, cliques, total=144.0, max_whole=6)
        last, expected = (
            len(tables) - 1,
            {"a": [2, 3, 4], "b": [2, 3, 6], "c": [6, 12], "d": [6, 12]},
        )
        for name, sizes in expected.items():
            estimates = tables.estimates((name,))
            assert [own.counts.size for own in estimates.values()] == sizes
            assert list(estimates) == sorted(estimates)
            assert (last in estimates) == (sizes[-1] == 12)
        assert [own.counts.shape for own in tables.estimates(("a", "b")).values()] == [
            (2, 2),
            (3, 6),
        ]
        assert tables.estimates(("a", "c")) == {}


def test_equal_mergings_of_several_families_are_averaged_by_their_precision():
    """Two mergings of ``a``, one of ``c``; ``b`` is merged nowhere, and counted alone, too."""
    rng = np.random.default_rng(3)
    merged_c = {"c": BOTH.groups["c"]}
    mergings = [Coarsening({**BOTH.groups}), Coarsening({**HALVES.groups, **merged_c})]
    measurements = [
        noisy(rng, ("a", "b", "c"), stddev, m)
        for stddev, m in zip((3.0, 8.0), mergings, strict=True)
    ]
    alone = noisy(rng, ("b",), 11.0)
    tables = NoisyTables(
        DOMAIN, [measurements[0], alone, measurements[1]], EVERY, total=TOTAL, max_whole=6
    )
    (estimate,) = tables.estimates(("c",)).values()
    check(estimate, measurements, ("c",), Coarsening(merged_c))
    ((number, estimate),) = tables.estimates(("b",)).items()
    assert number == len(tables) - 1
    check(estimate, [*measurements, alone], ("b",), NONE)
    assert len(tables.estimates(("a", "b"))) == 2


def test_noise_by_the_cell_counts_as_its_mean():
    rng = np.random.default_rng(4)
    stddev = rng.uniform(1, 3, (2, 3))
    measurement = LinearMeasurement(("a", "b"), rng.normal(80, 1, (2, 3)), stddev, HALVES)
    tables = NoisyTables(DOMAIN, [measurement], EVERY, total=TOTAL, max_whole=6)
    for clique, cells in ((("a", "b"), 1), (("a",), 3), (("b",), 2)):
        (estimate,) = tables.estimates(clique).values()
        np.testing.assert_allclose(
            estimate.counts, marginal_of(measurement.values, DOMAIN.project("ab"), clique)
        )
        np.testing.assert_allclose(estimate.variance, cells * np.mean(stddev**2))
