"""What is learnt of dates, by trees, and in the whole flow, and what it costs."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.flows import Frozen, held, learnt_from
from helpers.learning import BIG, DAYS, N_ROWS, decoded, distance, learn, random

from synthdp import synthesize
from synthdp.core import ParameterError
from synthdp.privacy import Adjacency
from synthdp.release import DOMAIN_SHARE, Release, RunSettings
from synthdp.schema import OpenSchema

# Dates


def dates(resolution):
    return (
        (DAYS + pd.to_timedelta(random().integers(0, 9000, N_ROWS), "D"))
        .to_period({"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D"}[resolution])
        .start_time
    )


@pytest.mark.parametrize("resolution", ["year", "quarter", "month", "week", "day"])
@pytest.mark.parametrize("pattern", ["%Y-%m-%d", "%d.%m.%y"])
def test_dates_come_back_nearly_as_they_were(resolution, pattern):
    moments = dates(resolution)
    kind = {"type": "date", "synthdp": {"resolution": resolution}} | (
        {} if "Y" in pattern else {"format": pattern}
    )
    column, codes, own = learn(kind, moments.strftime(pattern))
    first, last = (pd.to_datetime(own[key], format=pattern) for key in ("minimum", "maximum"))
    assert abs(first - moments.min()).days < 400
    assert abs(last - moments.max()).days < 400
    back = decoded(column, codes).astype("datetime64[ns]").dt.to_period(moments.to_period("D").freq)
    assert distance(moments, column, codes) < (0.02 if resolution in ("week", "day") else 0.12), (
        back
    )  # inside a unit


def test_dates_between_declared_bounds():
    bounds = {"minimum": "1992-03-05", "maximum": "2010-10-10"}
    moments = dates("day")
    column, codes, own = learn(
        {"type": "date", "constraints": bounds, "synthdp": {"resolution": "month"}},
        moments.strftime("%Y-%m-%d"),
    )
    assert (own["minimum"], own["maximum"], own["edges"][0], own["edges"][-1]) == (
        *bounds.values(),
        *bounds.values(),
    )
    assert pd.to_datetime(decoded(column, codes)).between(*bounds.values()).all()


def test_moments_by_the_hour():
    moments = pd.Timestamp("2020-01-01") + pd.to_timedelta(random().integers(0, 2000, N_ROWS), "h")
    texts = moments.strftime("%Y-%m-%dT%H:%M:%S")
    column, codes, own = learn({"type": "datetime", "synthdp": {"resolution": "hour"}}, texts)
    assert own["resolution"] == "hour"
    assert distance(moments, column, codes) < 0.02
    assert (decoded(column, codes).dt.minute == 0).all()


def test_parts_of_dates_that_are_learnt():
    kind = {"type": "date", "synthdp": {"resolution": "day", "parts": ["weekday"]}}
    schema = OpenSchema.from_kinds({"x": kind})
    moments = dates("week")  # Mondays
    table = held(pd.DataFrame({"x": moments.strftime("%Y-%m-%d").astype(object)}), schema)
    learnt = learnt_from(table, schema, randomness=Frozen(1), **BIG)
    assert learnt.schema.names == ("x", "x:weekday")
    weekdays = table.encode(learnt.schema).columns[1]
    assert (
        weekdays == 0
    ).mean() > 0.98  # the last days beyond the bounds are clipped to another weekday


# Trees


TREE = {"type": "integer", "synthdp": {"binning": "privtree", "bins": 20}}


def test_a_tree_has_narrow_bins_where_the_records_are():
    values = np.concatenate(
        [random().integers(0, 50, N_ROWS), random().integers(0, 100_000, N_ROWS // 10)]
    )
    column, codes, own = learn(TREE, values)
    assert column.size <= 20
    assert len([edge for edge in own["edges"] if edge <= 64]) > 5
    assert distance(values, column, codes) < 0.1


def test_a_tree_takes_zcdp_and_refuses_gdp_in_one_line():
    schema = OpenSchema.from_kinds({"x": TREE})
    asked = {
        "epsilon": 1.0,
        "delta": 1e-6,
        "mechanism": "auto",
        "adjacency": "add-remove",
    }
    with pytest.raises(
        ParameterError, match=r"^accounting is 'gdp' but binning 'privtree' .*; give 'zcdp'$"
    ):
        Release(schema=schema, settings=RunSettings(**asked, accounting="gdp"))
    found = Release(schema=schema, randomness=Frozen(1), settings=RunSettings(**asked)).of(
        held(pd.DataFrame({"x": list(range(99)) * 9}), schema)
    )
    assert found.certificate["accounting"]["currency"] == "zcdp"
    assert found.certificate["accounting"]["rho_left"] >= 0


# The whole flow


KINDS = {"town": "string", "age": "integer", "price": "number", "born": "date", "smokes": "boolean"}


def people(n_rows):
    rng = random()
    return pd.DataFrame(
        {
            "town": rng.choice(["A", "B"], n_rows),
            "age": rng.integers(18, 90, n_rows),
            "price": np.round(rng.gamma(2, 20, n_rows), 2),
            "born": dates("day").strftime("%Y-%m-%d")[:n_rows],
            "smokes": rng.choice([True, False], n_rows),
        }
    )


@pytest.mark.parametrize("mechanism", ["auto", "mst"])
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 100.0])
@pytest.mark.parametrize("n_rows", [0, 1, 2000])
def test_the_domain_costs_its_share_at_most_and_the_rest_goes_to_the_model(
    mechanism, epsilon, n_rows
):
    frame = people(n_rows)
    found = synthesize(
        frame, OpenSchema.from_kinds(KINDS), epsilon=epsilon, delta=1e-6, mechanism=mechanism
    )
    spent = found.certificate["accounting"]
    about_domain = [
        event
        for event in found.certificate["events"]
        if event["event"] in ("histogram", "partition selection")
    ]
    assert sum(event["rho"] for event in about_domain) <= DOMAIN_SHARE * spent["rho_budget"] * (
        1 + 1e-9
    )
    assert sum(event.get("delta", 0.0) for event in about_domain) <= spent["failure_delta"] * (
        1 + 1e-9
    )
    assert spent["failure_delta"] == pytest.approx(DOMAIN_SHARE * 1e-6)
    assert spent["rho_spent"] <= spent["rho_budget"]
    sample = found.sample(50, seed=1)
    assert list(sample.columns) == list(KINDS)
    assert len(sample) == 50


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_the_share_is_the_one_that_is_asked_for(share):
    schema = OpenSchema.from_kinds(KINDS)
    asked = {"epsilon": 1.0, "delta": 1e-6, "mechanism": "independent", "domain_share": share}
    found = synthesize(people(500), schema, **asked)
    events = found.certificate["events"]
    cost = sum(event["rho"] for event in events if event["event"] not in {"marginal", "scores"})
    assert 0.8 * share < cost / found.certificate["accounting"]["rho_budget"] <= share * (1 + 1e-9)


def test_persons_cost_more_noise_and_replaced_records_too():
    schema = OpenSchema.from_kinds({"x": "integer"})
    table = held(pd.DataFrame({"x": [1, 2] * 50}), schema)
    sigmas = []
    for changes in ({}, {"max_rows": 3}, {"adjacency": Adjacency.REPLACE_ONE}):
        event = learnt_from(table, schema, randomness=Frozen(1), **BIG, **changes).ledger.events[0]
        sigmas.append(event.sigma_squared)
    assert sigmas == [sigmas[0], 9 * sigmas[0], 2 * sigmas[0]]
    assert isinstance(sigmas[0], Fraction)
