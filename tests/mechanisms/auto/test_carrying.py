"""What earlier tables are still worth: each part is told as precisely as it is still known."""

import itertools
from math import pi

import numpy as np
import pytest

from synthdp.core import Domain, LinearMeasurement
from synthdp.mechanisms import Resolutions, ResolvedClique, carried_tables, earlier_parts

NAMES = "abcde"
DOMAIN = Domain.from_sizes(dict(zip(NAMES, (2, 3, 2, 4, 2), strict=True)))
RESOLUTIONS = Resolutions(DOMAIN, {name: np.full(DOMAIN[name], 1 / DOMAIN[name]) for name in NAMES})
TABLES = ["abcd", "abe", "bcd", "ad", "cde", "ac"]
TOTAL = 1e5


def tables(seed=0):
    chance = np.random.default_rng(seed)
    made = []
    for clique in map(tuple, TABLES):
        values = chance.normal(1e3, 10.0, [DOMAIN[name] for name in clique])
        made.append((LinearMeasurement(clique, values, chance.uniform(5.0, 40.0)), None))
    return earlier_parts(made, RESOLUTIONS, 1.0)


def precisions(measurements):
    """By part the precision that tables tell it with, cells of a table together."""
    told = {}
    for each in measurements:
        for size in range(2, len(each.clique) + 1):
            for part in itertools.combinations(each.clique, size):
                own = 1 / (each.values.size * each.stddev**2)
                told[part] = told.get(part, 0.0) + own
    return told


def moved_by(square):
    """By part a squared distance."""
    return {part: square(part.clique) for each in tables() for part in each.parts}


def limits(earlier, moved):
    """How precisely parts are known once they moved, by adding variances."""
    before = precisions([each.measurement for each in earlier])
    dimensions = {part: np.prod([DOMAIN[name] - 1 for name in part]) for part in before}
    drift = {part.clique: square for part, square in moved.items()}
    return {
        part: 1 / (1 / own + pi / 2 * drift[part] / dimensions[part])
        for part, own in before.items()
    }


def test_what_did_not_move_is_carried_as_it_was():
    earlier = tables()
    carried = carried_tables(earlier, lambda _: 0.0, RESOLUTIONS, total=TOTAL)
    assert [each.clique for each in carried] == list(map(tuple, TABLES))
    for before, now in zip(earlier, carried, strict=True):
        assert np.array_equal(before.measurement.values, now.values)
        assert now.stddev == pytest.approx(before.measurement.stddev)


@pytest.mark.parametrize("seed", range(20))
def test_no_part_is_told_more_precisely_than_it_is_known(seed):
    chance = np.random.default_rng(seed)
    squares = {}

    def square(clique):
        return squares.setdefault(clique, chance.choice([0.0, 1e3, 1e5, 1e7]))

    earlier, moved = tables(seed), moved_by(square)
    carried = carried_tables(earlier, moved.__getitem__, RESOLUTIONS, total=TOTAL)
    told, most = precisions(carried), limits(earlier, moved)
    assert all(own <= most[part] * (1 + 1e-9) for part, own in told.items())


def test_where_one_column_moved_the_others_lose_little():
    earlier, moved = tables(), moved_by(lambda clique: 1e6 * ("d" in clique))
    told = precisions(carried_tables(earlier, moved.__getitem__, RESOLUTIONS, total=TOTAL))
    before, most = precisions([each.measurement for each in earlier]), limits(earlier, moved)
    for part, own in before.items():
        if "d" not in part:
            assert told[part] > 0.9 * own  # the marginals without it are carried in their place
        elif len(part) == 2:
            assert told.get(part, 0.0) < 0.5 * own
    assert sum(told.values()) > 0.8 * sum(most.values())


def test_a_marginal_is_the_mean_of_the_tables_that_it_is_of():
    exact = {
        clique: np.arange(np.prod([DOMAIN[name] for name in clique]), dtype=float).reshape(
            [DOMAIN[name] for name in clique]
        )
        for clique in (("a", "b", "d"), ("a", "b", "e"))
    }
    made = [(LinearMeasurement(clique, values, 10.0), None) for clique, values in exact.items()]
    earlier = earlier_parts(made, RESOLUTIONS, 2.0)
    moved = {
        ResolvedClique(part.clique, part.resolution): 1e9 * bool({"d", "e"} & set(part.clique))
        for each in earlier
        for part in each.parts
    }
    (pair,) = carried_tables(earlier, moved.__getitem__, RESOLUTIONS, total=1e4)
    assert pair.clique == ("a", "b")
    weights = [1 / each.measurement.values.size for each in earlier]  # of one noise a cell
    expected = np.average(
        [2.0 * values.sum(axis=2) for values in exact.values()], axis=0, weights=weights
    )
    assert pair.values == pytest.approx(
        expected, rel=1e-4
    )  # what is carried of the tables is nearly nothing
