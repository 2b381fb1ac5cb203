"""By which unit moments are kept: learnt where nobody declared it, and as they were where not."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.learning import decoded, distance, learn

from synthdp.learning import column_budgets
from synthdp.schema import OpenSchema

SIZES = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
BOUNDS = {
    "datetime": {"minimum": "2021-01-01T00:00:00", "maximum": "2021-12-31T23:59:59"},
    "time": {"minimum": "00:00:00", "maximum": "23:59:59"},
}


def moments(kind, unit, n_rows=4000):
    """Moments that begin units of time, as texts, with seconds in all of them."""
    rng = np.random.default_rng(4)
    span = 86_400 * (1 if kind == "time" else 365)
    seconds = (span * rng.beta(2, 3, n_rows)).astype(np.int64) // SIZES[unit] * SIZES[unit]
    texts = (np.datetime64("2021-01-01T00:00:00") + seconds).astype(str)
    return [text[-8:] if kind == "time" else text for text in texts]


def seconds_of(values, kind):
    if kind == "time":
        return pd.to_timedelta(pd.Series(values).astype(str)).dt.total_seconds().astype(np.int64)
    return pd.to_datetime(pd.Series(values)).astype("datetime64[s]").astype(np.int64)


@pytest.mark.parametrize("has_bounds", [False, True])
@pytest.mark.parametrize(
    ("kind", "unit"),
    [*(("datetime", unit) for unit in SIZES), *(("time", unit) for unit in [*SIZES][:3])],
)
def test_moments_begin_the_units_that_they_began(kind, unit, has_bounds):
    values = moments(kind, unit)
    bounds = {"constraints": BOUNDS[kind]} if has_bounds else {}
    column, codes, own = learn({"type": kind, "synthdp": {"derive": True}} | bounds, values)
    assert own["resolution"] == unit
    back = decoded(column, codes)
    assert (seconds_of(back, kind) % SIZES[unit] == 0).all()
    if kind == "datetime":
        assert distance(values, column, codes) < 0.03


def test_what_few_moments_have_is_cut_off_and_what_many_have_is_not():
    full, exact = (np.array(moments("datetime", unit)) for unit in ("hour", "second"))
    for share, unit in ((0.02, "hour"), (0.2, "second")):
        values = np.where(np.arange(len(full)) < share * len(full), exact, full)
        assert learn("datetime", values)[2]["resolution"] == unit


def test_a_declared_resolution_is_not_asked_for():
    field = {"type": "datetime", "synthdp": {"derive": True, "resolution": "second"}}
    assert learn(field, moments("datetime", "hour"))[2]["resolution"] == "second"
    for kind, share in ((field, 0), ("date", 0), ("datetime", Fraction(1, 160))):
        (budget,) = column_budgets(
            OpenSchema.from_kinds({"x": kind}), rho=Fraction(1), delta=Fraction(1, 10**9)
        )
        assert budget.for_heaping == share


def test_a_unit_that_the_column_cannot_have_is_not_taken():
    midnights = moments("datetime", "day")
    hours = {"type": "datetime", "synthdp": {"derive": True, "parts": ["hour"]}}
    assert learn(hours, midnights)[2]["resolution"] == "second"
    assert learn("time", ["00:00:00"] * 4000)[2]["resolution"] == "second"
    declared = {"type": "datetime", "synthdp": {"derive": True, "binning": "privtree"}}
    assert learn(declared, midnights)[2]["resolution"] == "second"
