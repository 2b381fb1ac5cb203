"""Ordered rows are as far from the row before as in the records, also within bins."""

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home

import synthdp
from synthdp.core import ModelTooLargeError
from synthdp.linked import FittedView, HistoryRelease, Package, views_of

# Steps of drawing, whose ranges no drawn row shows by itself.
from synthdp.linked.families.within_bins import _drawn_gaps as drawn_gaps
from synthdp.linked.families.within_bins import order_within_bins
from synthdp.release import RunSettings
from synthdp.schema import OpenSchema

N, MOST, DAYS = 1500, 8, 2000
WEEK = 7


def visits(seed=0):
    """Of every person every week, or in about two months."""
    rng = np.random.default_rng(seed)
    number = rng.integers(1, MOST + 1, N)
    who = np.repeat(np.arange(N), number)
    place = np.arange(len(who)) - np.repeat(np.cumsum(number) - number, number)
    gap = np.where((rng.random(N) < 0.6)[who], WEEK, rng.integers(30, 90, len(who)))
    start = rng.integers(0, DAYS - 90 * MOST, N)[who]
    before = pd.Series(np.where(place, gap, 0)).groupby(who).cumsum()
    frame = pd.DataFrame({"who": who, "day": start + before})
    frame["ill"] = rng.random(len(who)) < 0.5
    return frame


def schema(**day):
    bounds = {"minimum": 0, "maximum": DAYS - 1, "required": True}
    return {
        "fields": [
            {"name": "day", "type": "integer", "constraints": bounds, "synthdp": {"bins": 32}}
            | day,
            {"name": "ill", "type": "boolean", "constraints": {"required": True}},
        ]
    }


def days_between(frame):
    return frame.groupby("who")["day"].diff().dropna().to_numpy(float)


def apart(one, other):
    """The Kolmogorov-Smirnov distance."""
    at = np.arange(DAYS)
    shares = [np.searchsorted(np.sort(each), at, "right") / len(each) for each in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())


@pytest.mark.parametrize("rules", [(), ({"check": "day >= 0"},)])
def test_rows_are_as_far_from_each_other_as_in_the_records(rules):
    true = visits()
    content = schema() | ({"synthdp": {"constraints": list(rules)}} if rules else {})
    drawn = synthdp.synthesize(
        true, content, epsilon=3, delta=1e-6, unit="who", max_rows_per_unit=MOST, order="day"
    ).sample(N, seed=0)
    found = days_between(drawn)
    assert (found >= 0).all()
    assert drawn["day"].between(0, DAYS - 1).all()
    assert apart(true["day"], drawn["day"]) < 0.08
    if not rules:  # a rule on days settles them one by one
        # By bins of 62 days alone .3 to .5 of them were, and one in 50 a week.
        assert apart(days_between(true), found) < 0.2
        assert (found == WEEK).mean() > 0.6 * (days_between(true) == WEEK).mean()


@pytest.mark.parametrize(
    ("day", "is_asked"),
    [
        ({}, True),
        ({"synthdp": {"bins": DAYS}}, False),
        ({"synthdp": {"bins": 101}}, False),
        ({"type": "number", "synthdp": {"bins": 9, "decimals": 1}}, True),
    ],
)
def test_it_is_asked_where_bins_hold_several_values(day, is_asked):
    views = views_of(_package(schema(**day)))
    assert views["later rows"].gap == ("gap before rows.day" if is_asked else None)
    assert views["rows"].gap is None
    for label, view in views.items():
        has_gap = is_asked and label == "later rows"
        assert ("gap before rows.day" in view.schema.names if view.schema else False) == has_gap
        assert (view.comparing == {"gap before rows.day"}) == has_gap


def _run(content, **settings):
    whose = {"unit": "who", "max_rows_per_unit": MOST, "order": "day"} | settings
    return HistoryRelease(
        schema=OpenSchema.from_dict(content),
        settings=RunSettings(epsilon=1.0, delta=1e-6, **whose),
        header=["who", "day", "ill"],
    )


def _package(content):
    package = _run(content)._run.package
    assert isinstance(package, Package)
    return package


def test_levels_are_single_gaps_and_then_ever_more_of_them():
    starts = views_of(_package(schema()))["later rows"].gaps.starts
    lengths = np.diff(starts)
    assert starts[:33].tolist() == list(range(33))
    assert starts[-1] == DAYS
    assert (lengths[33:-1] / starts[33:-2] < 0.25).all()
    assert len(starts) < 62
    fine = {"type": "number", "synthdp": {"bins": 9, "decimals": 11}}
    starts = views_of(_package(schema(**fine)))["later rows"].gaps.starts
    assert len(starts) == 101
    assert starts[0] == 0
    assert starts[-1] == pytest.approx(DAYS * 10**11, rel=0.01)
    assert (np.diff(starts) > 0).all()


@pytest.mark.parametrize("kind", ["integer", "number", "date", "datetime"])
def test_what_is_counted_is_the_distance_from_the_row_before(kind, recwarn):
    """Of values beyond the bounds that from the bound, whatever they are, and without a word."""
    rng = np.random.default_rng(1)
    points = np.sort(rng.integers(-900, DAYS + 900, (40, 3)), axis=1)
    within = points.clip(0, DAYS - 1)
    if kind in ("date", "datetime"):
        days = pd.Timestamp("2000-01-01") + pd.to_timedelta(points.ravel(), unit="D")
        form = "%Y-%m-%d" if kind == "date" else "%Y-%m-%dT00:00:00"
        written = [each.strftime(form) for each in days]
        low, high = (pd.Timestamp("2000-01-01") + pd.Timedelta(d, "D") for d in (0, DAYS - 1))
        limits = {"minimum": low.strftime(form), "maximum": high.strftime(form)}
        own = {"bins": 32} | ({"resolution": "day"} if kind == "datetime" else {})
    else:
        written = [str(each) for each in points.ravel()]
        limits = {"minimum": 0, "maximum": DAYS - 1}
        own = {"bins": 32} | ({"decimals": 0} if kind == "number" else {})
    written += ["1e300", "-1e300", "x"] if kind == "number" else ["9999", "", "x"]
    who = np.append(np.repeat(np.arange(40), 3), [40, 40, 40])
    table = pd.DataFrame({"who": who, "day": written, "ill": "true"})
    content = schema(type=kind, constraints={**limits, "required": True}, synthdp=own)
    run = _run(content, max_rows_per_unit=3)
    sources = run._read(table, lambda *_: None).counted(run._run.all_views)
    later = sources["later rows"]
    (counts,) = later.counts_of([("gap before rows.day",)])
    starts = views_of(run._run.package)["later rows"].gaps.starts
    wanted = np.histogram(np.diff(within, axis=1), [*starts[:-1], starts[-1] + 1])[0]
    # A family's two later rows weigh one unit each.
    assert np.abs(counts - wanted).sum() <= later.max_rows
    assert counts.sum() == wanted.sum() + later.max_rows
    assert not recwarn.list


def test_gaps_that_are_drawn_fit_between_their_bins():
    release = synthdp.synthesize(
        visits(), schema(), epsilon=1, delta=1e-6, unit="who", max_rows_per_unit=MOST, order="day"
    ).linked
    view = views_of(release.package)["later rows"]
    fitted = FittedView(view, release.parts["later rows"])
    starts = view.gaps.axis.drawn_starts
    rng = np.random.default_rng(4)
    codes = np.sort(rng.integers(0, len(starts) - 1, (500, 2)), axis=1).ravel()
    later = np.arange(1, len(codes), 2)
    shortest, longest = drawn_gaps(fitted, codes, later, rng)
    assert not shortest[::2].any()
    assert (shortest[later] <= starts[codes[later] + 1] - 1 - starts[codes[later - 1]]).all()
    assert (longest[later] >= starts[codes[later]] - starts[codes[later - 1] + 1] + 1).all()


def test_rows_whose_bins_no_model_tables_are_drawn_by_bins_alone(monkeypatch):
    release = synthdp.synthesize(
        visits(), schema(), epsilon=1, delta=1e-6, unit="who", max_rows_per_unit=MOST, order="day"
    )
    model = type(release.linked.parts["later rows"].model)
    marginal = model.marginal

    def limited(self, names):
        if "gap before rows.day" in names:
            raise ModelTooLargeError
        return marginal(self, names)

    monkeypatch.setattr(model, "marginal", limited)
    drawn = release.sample(N, seed=0)
    assert (days_between(drawn) >= 0).all()
    assert apart(days_between(visits()), days_between(drawn)) > 0.2, "gaps do more"


def test_points_lie_in_their_bins_in_order_and_as_far_apart_as_gaps_say_if_they_can():
    points_by_gaps = home(order_within_bins)._points_by_gaps
    rng = np.random.default_rng(2)
    axis = views_of(_package(schema()))["later rows"].ordered_by.axis
    starts = axis.drawn_starts
    number = rng.integers(1, 9, 500)
    places = np.concatenate([np.arange(each) for each in number])
    true = np.concatenate([np.sort(rng.integers(0, 300, each)) + 500 for each in number])
    codes = np.searchsorted(starts[1:-1], true, side="right")
    later = places > 0
    distances = np.where(later, np.diff(true, prepend=0), 0)
    slack = rng.integers(0, 3, len(true)) * later
    gaps = np.stack([np.maximum(distances - slack, 0), distances + slack])
    points = points_by_gaps(axis, codes, places, gaps, np.random.default_rng(3))
    assert (np.searchsorted(starts[1:-1], points, side="right") == codes).all()
    # Some points have all their gaps: those that are true.
    found = np.diff(points, prepend=0)[later]
    assert (found >= gaps[0][later]).all()
    assert (found <= gaps[1][later]).all()
    # Where gaps contradict the bins, rows are in order in their bins all the same.
    points = points_by_gaps(axis, codes, places, 5 * gaps, np.random.default_rng(3))
    assert (np.searchsorted(starts[1:-1], points, side="right") == codes).all()
    assert (np.diff(points, prepend=0)[later] >= 0).all()


def _drawn(frame, field, epsilon):
    content = {"fields": [field, *schema()["fields"][1:]]}
    run = synthdp.synthesize(
        frame, content, epsilon=epsilon, delta=1e-6, unit="who", max_rows_per_unit=5, order="day"
    )
    return run.sample(N, seed=0)["day"], views_of(run.linked.package)["later rows"]


def _any_order(days):
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(N), rng.integers(1, 6, N))
    return pd.DataFrame({"who": who, "day": rng.choice(days, len(who)), "ill": True})


def test_values_that_most_records_have_are_worth_more_than_gaps():
    months = pd.date_range("2010-01-01", periods=120, freq="MS").strftime("%Y-%m-%d").to_numpy()
    bounds = {"minimum": months[0], "maximum": "2019-12-31", "required": True}
    field = {"name": "day", "type": "date", "constraints": bounds}
    days, view = _drawn(_any_order(months), field, 30)
    assert view.gap is not None
    # .78 of them were first days of a month where gaps decided.
    assert (pd.to_datetime(days).dt.day == 1).mean() > 0.85


def test_no_gaps_are_asked_for_where_round_values_are_likelier():
    bounds = {"minimum": 0, "maximum": DAYS, "required": True}
    field = {"name": "day", "type": "integer", "constraints": bounds}
    days, view = _drawn(_any_order(np.arange(0, DAYS, 10)), field, 10)
    assert view.ordered_by.axis.is_heaped
    assert view.gap is None
    assert (days % 10 == 0).mean() > 0.8
