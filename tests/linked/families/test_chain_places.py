"""Chains keep to what was released of each place, however many rows they have."""

import numpy as np
import pandas as pd

import synthdp
from synthdp.linked import Package, views_of

# Two steps of a chain that no release shows by themselves.
from synthdp.linked.families.chain_places import in_order, later_in_order

N, YEARS = 250, 20


def stays():
    """Homes that open in one year and close in another one, and up to 24 stays between the two."""
    rng = np.random.default_rng(0)
    number, start = rng.integers(2, 25, N), rng.integers(0, 8, N)
    end = np.minimum(start + rng.integers(1, 12, N), YEARS - 1)
    home = np.repeat(np.arange(N), number)
    year = start[home] + np.floor(rng.random(len(home)) * (end - start + 1)[home]).astype(int)
    return {
        "homes": pd.DataFrame({"id": np.arange(N)}),
        "stays": pd.DataFrame({"home": home, "year": year}),
    }


def package(most=24):
    link = {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}
    year = {
        "name": "year",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": YEARS - 1, "required": True},
        "synthdp": {"bins": YEARS},
    }
    key, home = ({"name": name, "type": "integer"} for name in ("id", "home"))
    return {
        "resources": [
            {"name": "homes", "schema": {"fields": [key], "primaryKey": "id"}},
            {
                "name": "stays",
                "schema": {"fields": [home, year], "foreignKeys": [link]},
                "synthdp": {"max_children": most, "order": "year"},
            },
        ]
    }


def apart(one, other):
    return 0.5 * float(np.abs(one / one.sum() - other / other.sum()).sum())


def test_dates_of_long_chains_do_not_run_ahead_of_what_was_released():
    """Drawn each given the one before alone, they end up a fifth in later years."""
    synthesis = synthdp.synthesize(stays(), package(), epsilon=30, delta=1e-6)
    released = np.asarray(synthesis.marginal(["stays.year"])).ravel()
    drawn = np.bincount(synthesis.sample(N, seed=0)["stays"]["year"], minlength=YEARS)
    assert apart(drawn, released) < 0.17


def test_families_that_are_given_are_not_drawn_towards_those_that_are_not():
    """Homes that opened late, and are all there are, have late stays only."""
    frames = stays()
    first = frames["stays"].groupby("home")["year"].min().reindex(range(N))
    frames["homes"]["late"] = np.where(first >= 4, "yes", "no")
    content = package()
    late = {"name": "late", "type": "string", "constraints": {"enum": ["no", "yes"]}}
    content["resources"][0]["schema"]["fields"].append(late)
    synthesis = synthdp.synthesize(frames, content, epsilon=100, delta=1e-6)
    given = pd.DataFrame({"late": ["yes"] * 200})
    years = synthesis.sample(given={"homes": given}, seed=0)["stays"]["year"]
    true = frames["stays"]["year"][
        frames["homes"]["late"].iloc[frames["stays"]["home"]].eq("yes").to_numpy()
    ]
    assert abs(years.mean() - true.mean()) < 1.5 < true.mean() - frames["stays"]["year"].mean()


def test_levels_are_put_in_order_and_as_many_rows_have_each():
    rng = np.random.default_rng(1)
    rows = rng.random((3, 5, 4)) * rng.integers(0, 2, (3, 1, 4))
    ordered = in_order(rows)
    assert ordered.min() > -1e-9
    np.testing.assert_allclose(ordered.sum(axis=2), rows.sum(axis=2), atol=1e-12)
    np.testing.assert_allclose(ordered.sum(axis=1), rows.sum(axis=1), atol=1e-12)
    for below, most in zip(ordered.cumsum(axis=1), ordered.sum(axis=1), strict=True):
        shares = below[:, most > 0] / most[most > 0]
        assert (np.diff(shares, axis=1) < 1e-9).all()
    np.testing.assert_allclose(in_order(ordered), ordered, atol=1e-9)


def test_later_rows_are_no_lower_than_the_first_and_have_each_level_as_often_as_released():
    rng = np.random.default_rng(2)
    firsts, counts = rng.integers(0, 3, 4000), rng.integers(1, 6, 4000)
    few, many = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.2, 0.1, 0.5, 0.2])
    values = later_in_order(firsts, counts, np.stack([few, few, few, few, many, many]), rng)
    owners = np.repeat(np.arange(4000), counts)
    places = np.cumsum(counts) - counts
    assert (values[places] == firsts).all()
    assert (values >= firsts[owners]).all()
    later, number = np.delete(values, places), np.delete(counts[owners], places)
    for shares, which in ((few, number < 4), (many, number > 3)):
        np.testing.assert_allclose(np.bincount(later[which]) / which.sum(), shares, atol=0.03)


def test_places_are_codes_without_rounding():
    positions, counts = np.array([1, 2, 23, 5, 9]), np.array([24, 24, 24, 6, 10])
    later = views_of(Package.from_dict(package()))["later stays"]
    places = later.places(positions, counts)
    codes = later.position_codes(positions, counts)
    assert (np.abs(places - codes) <= 0.5).all()
    short = views_of(Package.from_dict(package(most=5)))["later stays"]
    assert short.places(np.array([1, 2, 4]), np.array([5, 5, 5])).tolist() == [0, 1, 3]
    assert views_of(Package.from_dict(package()))["stays"].places(positions, counts) is None
