"""Declared bounds without bins: bins follow the records, and heavy values are drawn as themselves."""

import json
import re
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from helpers.flows import Frozen, held, learnt_from
from helpers.homes import home

import synthdp
from synthdp.core import SchemaError
from synthdp.learning import (
    ColumnHistogram,
    Density,
    column_budgets,
    learn_density,
    quantile_edges,
)
from synthdp.privacy import Accounting
from synthdp.schema import OpenSchema, Schema

N_ROWS = 20_000
BUDGET = {"epsilon": 3.0, "delta": 1e-6}


def field(name, kind, low, high, **own):
    bounds = {"minimum": low, "maximum": high, "required": True}
    more = {"synthdp": own} if own else {}
    return {"name": name, "type": kind, "constraints": bounds} | more


FIELDS = [
    field("gain", "integer", 0, 99_999),
    field("rate", "number", 0, 36),
    field("start", "date", "2000-01-01", "2029-12-31"),
    {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"], "required": True}},
]


def records():
    """Nine of ten gains are 0, and some the top code; a rate and a first of January are frequent."""
    rng = np.random.default_rng(0)
    gains = np.where(rng.random(N_ROWS) < 0.9, 0, rng.integers(1, 20_000, N_ROWS))
    gains[:400] = 99_999
    gains[400:1000] = 15_024
    rates = np.clip(rng.normal(12, 3, N_ROWS), 0, 36).round(2)
    rates[rng.random(N_ROWS) < 0.1] = 9.99
    days = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, N_ROWS), unit="D")
    starts = pd.Series(days)
    starts[rng.random(N_ROWS) < 0.1] = pd.Timestamp("2020-01-01")
    return pd.DataFrame(
        {
            "gain": gains,
            "rate": rates,
            "start": starts.dt.strftime("%Y-%m-%d"),
            "sex": rng.choice(["f", "m"], N_ROWS),
        }
    ).sample(frac=1.0, random_state=0, ignore_index=True)


@pytest.fixture(scope="module")
def frame():
    return records()


@pytest.fixture(scope="module")
def synthesis(frame):
    return synthdp.synthesize(frame, {"fields": FIELDS}, mechanism="independent", **BUDGET)


@pytest.mark.parametrize(
    ("name", "value"),
    [("gain", 0), ("gain", 15_024), ("gain", 99_999), ("rate", 9.99), ("start", "2020-01-01")],
)
def test_heavy_values_are_drawn_as_themselves(name, value, frame, synthesis):
    drawn = synthesis.sample(N_ROWS, seed=0)[name]
    if name == "start":
        drawn = drawn.dt.strftime("%Y-%m-%d")
    assert (drawn == value).mean() == pytest.approx((frame[name] == value).mean(), rel=0.15)


@pytest.mark.parametrize(("name", "value"), [("gain", 0), ("gain", 15_024), ("rate", 9.99)])
def test_heavy_values_are_found_where_bounds_are_learnt(name, value, frame):
    kinds = {"gain": "integer", "rate": "number", "start": "date", "sex": "categorical"}
    synthesis = synthdp.synthesize(frame, kinds=kinds, mechanism="independent", **BUDGET)
    drawn = synthesis.sample(N_ROWS, seed=0)[name]
    assert (drawn == value).mean() == pytest.approx((frame[name] == value).mean(), rel=0.2)
    # a threshold, and a part of delta, is for the levels alone
    of = {event["column"] for event in synthesis.certificate["events"] if event.get("delta")}
    assert of == {"sex"}


@pytest.mark.parametrize("is_heavy", [False, True])
@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_cell_at_the_end_of_what_is_dense_is_like_its_dense_side(at_the_end, is_heavy):
    """Of a point that noise lifts a little, not even its cell says more than those beside it."""
    of_cells = np.array([0, 0, 2800, 3900, 3900, 3900, 0] if at_the_end else [3900] * 7, float)
    of_cells[3] += 600 * is_heavy
    cells = 200 * np.arange(8)
    counts = np.full(200, 3900 / 200)
    counts[77] = 260 + 600 * is_heavy  # of a noise of 85
    coarse = ColumnHistogram(cells, of_cells, 60.0, 0.0)
    fine = ColumnHistogram(np.arange(600, 801), counts, 85.0, 0.0)
    found = home(learn_density).heavy_values([coarse, fine], 1, 3.0)
    assert list(found) == ([677] if is_heavy else [])


def test_a_crowded_cell_is_no_heavy_value():
    """All records lie in a few cells of a wide octave, evenly on a thousand points of it."""
    rng = np.random.default_rng(0)
    values = (-122_500 + rng.integers(0, 1000, N_ROWS)) / 1000
    frame = pd.DataFrame({"long": values, "sex": rng.choice(["f", "m"], N_ROWS)})
    kinds = {"long": "number", "sex": "categorical"}
    for _ in range(5):
        synthesis = synthdp.synthesize(
            frame, kinds=kinds, mechanism="independent", epsilon=1.0, delta=1e-6
        )
        drawn = synthesis.sample(N_ROWS, seed=0)["long"]
        assert drawn.value_counts().max() < N_ROWS / 100
        assert drawn.between(-123, -121).mean() > 0.98


def test_what_is_drawn_lies_on_the_column_s_grid_between_its_bounds(synthesis):
    drawn = synthesis.sample(N_ROWS, seed=1)
    assert drawn["rate"].between(0, 36).all()
    assert np.array_equal(drawn["rate"].round(2), drawn["rate"])
    assert drawn["gain"].between(0, 99_999).all()
    assert drawn["start"].between("2000-01-01", "2029-12-31").all()


def test_declared_bounds_stay_and_bins_hold_records(frame, synthesis):
    for declared, column in zip(FIELDS[:3], synthesis.schema.columns, strict=False):
        limits = column.field()["constraints"]
        assert [limits[key] for key in ("minimum", "maximum")] == [
            declared["constraints"][key] for key in ("minimum", "maximum")
        ]
        counts = np.bincount(column.encode(frame[column.name]), minlength=column.size)
        assert 4 < column.size <= 40
        assert np.median(counts) > 40  # most equally wide bins of "gain" hold none


def test_it_is_charged_and_costs_a_small_share_of_the_column_s_own_budget(synthesis):
    certificate = synthesis.certificate
    budget = certificate["accounting"]["rho_budget"]
    spent = {field["name"]: 0.0 for field in FIELDS}
    for event in certificate["events"]:
        if "column" in event:
            spent[event["column"]] += event["rho"]
    assert all(
        0 < spent[name] <= budget / 4 / len(FIELDS) * (1 + 1e-9) for name in spent if name != "sex"
    )
    assert spent["sex"] == 0
    assert certificate["domain"]["derived"]["gain"] == ["bins"]
    assert certificate["accounting"]["failure_delta"] == 0  # it takes no threshold, and no delta


def test_bins_that_are_asked_for_are_equally_wide_and_cost_nothing():
    fields = [
        field("gain", "integer", 0, 99_999, bins=10),
        field("rate", "number", 0, 36, edges=[0, 9, 36], decimals=1)
        | {"constraints": {"required": True}},
        field("start", "date", "2000-01-01", "2029-12-31", bins=30),
        FIELDS[3],
        field("few", "integer", 1, 4),
    ]
    schema = OpenSchema.from_dict({"fields": fields})
    assert not schema.is_open
    assert schema.resolved({})["gain"].field()["synthdp"] == {"bins": 10}


def test_bins_of_what_rules_name_are_learnt_too():
    fields = [*FIELDS, field("age", "integer", 0, 110)]
    rule = {"forbid": {"age": {"maximum": 54}, "sex": ["m"]}}
    for rules in ([rule], [{"check": "gain >= age"}], [rule, {"check": "gain >= age"}]):
        schema = OpenSchema.from_dict({"fields": fields, "synthdp": {"constraints": rules}})
        assert {column.name for column in schema.open_columns} == {"gain", "rate", "start", "age"}


def test_a_schema_that_is_closed_is_as_it_was(tmp_path):
    """Where nothing can be learnt, bins that nobody names are equally wide."""
    mapping = {"fields": FIELDS}
    assert Schema.from_dict(mapping).domain.shape == (32, 32, 32, 2)
    counts = np.full(32, 10.0)
    measured = synthdp.LinearMeasurement(("gain",), counts, 1.0)
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(mapping))
    for schema in (mapping, path, Schema.from_dict(mapping)):
        fitted = synthdp.from_measurements(schema, [measured])
        assert fitted.schema["gain"].field()["synthdp"] == {"bins": 32}
    assert not OpenSchema.from_dict(mapping, learns_bins=False).is_open
    assert not OpenSchema.from_schema(Schema.from_dict(mapping)).is_open
    written = OpenSchema.from_dict(mapping).to_dict()
    assert written["fields"][0]["synthdp"] == {
        "derive": ["bins"],
        "binning": "quantiles",
        "bins": 32,
    }
    assert OpenSchema.from_dict(written) == OpenSchema.from_dict(mapping)


def test_columns_whose_records_noise_hides_have_equally_wide_bins_and_one_of_each_bound():
    frame = records()[:30]
    synthesis = synthdp.synthesize(
        frame, {"fields": FIELDS}, mechanism="independent", epsilon=0.1, delta=1e-6
    )
    assert [column.size for column in synthesis.schema.columns] == [32, 32, 32, 2]
    for column in synthesis.schema.columns[:-1]:
        widths = np.diff(column.drawn_starts)
        if column.axis.can_be_added:
            assert widths[0] == widths[-1] == 1
            widths = widths[1:-1]
        assert widths.max() <= 1.2 * widths.min()
    assert not any("bins" in caution for caution in synthesis.cautions)


def test_what_many_records_have_at_a_bound_stays_there_though_noise_hides_it_from_learning():
    """Two fifths at 0 were spread over the first of 32 equal bins."""
    rng = np.random.default_rng(5)
    names = [f"gain{i}" for i in range(20)]
    gains = np.where(rng.random((2000, 20)) < 0.4, 0, rng.integers(300, 3000, (2000, 20)))
    limits = {"minimum": 0, "maximum": 5000, "required": True}
    fields = [{"name": name, "type": "integer", "constraints": limits} for name in names]
    synthesis = synthdp.synthesize(
        pd.DataFrame(gains, columns=names),
        {"fields": fields},
        epsilon=1,
        delta=1e-9,
        mechanism="independent",
    )
    drawn = synthesis.sample(4000, seed=1)
    assert abs((drawn == 0).to_numpy().mean() - 0.4) < 0.06


def test_a_heavy_value_below_the_last_few_records_stands_alone():
    """What lies above 50 is too little for a bin, and was joined to the value."""
    density = Density(np.array([0, 1, 50, 51, 100]), np.array([5000.0, 1200.0, 400.0, 30.0]))
    edges = quantile_edges(density, 32, 200.0).tolist()
    assert edges[-3:] == [50, 51, 100]


def test_a_top_code_that_few_records_have_is_found():
    """It is a cell of its own from the first question on; a value nobody could guess is not."""
    rng = np.random.default_rng(0)
    gains = np.where(rng.random(N_ROWS) < 0.9, 0, rng.integers(1, 20_000, N_ROWS))
    gains[:250] = 99_999
    frame = pd.DataFrame({"gain": gains, "sex": rng.choice(["f", "m"], N_ROWS)})
    for _ in range(5):
        synthesis = synthdp.synthesize(
            frame, {"fields": FIELDS[::3]}, mechanism="independent", epsilon=1.0, delta=1e-6
        )
        assert synthesis.schema["gain"].code_texts[-1] == "99999"


def test_few_records_get_few_bins():
    frame = records()[:2000]
    synthesis = synthdp.synthesize(
        frame, {"fields": FIELDS}, mechanism="independent", epsilon=0.5, delta=1e-6
    )
    assert all(2 <= column.size <= 24 for column in synthesis.schema.columns)


def test_bins_cost_columns_a_part_of_their_own_share():
    """The more columns there are beside a declared one, the less its bins cost."""
    schema = OpenSchema.from_dict({"fields": FIELDS})
    few = {each.column.name: each.total for each in column_budgets(schema, rho=1, delta=0)}
    more = [*FIELDS, *(FIELDS[3] | {"name": f"c{number}"} for number in range(4))]
    schema = OpenSchema.from_dict({"fields": more})
    many = {each.column.name: each.total for each in column_budgets(schema, rho=1, delta=0)}
    assert all(many[name] < few[name] <= 1 / 4 for name in few)


def test_a_last_edge_that_repeats_is_a_bin_of_one_value():
    own = {"edges": [0, 10, 99_999, 99_999]}
    whole = {"name": "gain", "type": "integer", "constraints": {"required": True}, "synthdp": own}
    for kind in ("integer", "number"):
        column = Schema.from_dict({"fields": [whole | {"type": kind}]})["gain"]
        assert column.encode(pd.Series([0, 10, 99_998, 99_999, 10**6])).tolist() == [0, 1, 1, 2, 2]
        drawn = column.decode(np.full(5, 2), np.random.default_rng(0))
        assert drawn.tolist() == [99_999] * 5
        assert column.field()["synthdp"]["edges"] == own["edges"]
    dates = {"edges": ["2020-01-01", "2020-05-01", "2020-12-31", "2020-12-31"]}
    column = Schema.from_dict({"fields": [whole | {"type": "date", "synthdp": dates}]})["gain"]
    days = pd.Series(["2020-12-30", "2020-12-31", "2021-01-01"])
    assert column.encode(days).tolist() == [1, 2, 2]
    own = {"edges": [0, 10, 10, 99]}
    with pytest.raises(SchemaError, match="not increasing: 10 comes before 10"):
        Schema.from_dict({"fields": [whole | {"synthdp": own}]})


def test_an_engine_learns_bins_as_rows_in_memory_do(frame):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.from_df(frame[["gain", "rate", "sex"]])
    fields = [FIELDS[0], FIELDS[1], FIELDS[3]]
    synthesis = synthdp.synthesize(relation, {"fields": fields}, mechanism="independent", **BUDGET)
    assert "edges" in synthesis.schema["gain"].field()["synthdp"]
    drawn = synthesis.sample(N_ROWS, seed=0)
    assert (drawn["gain"] == 99_999).mean() == pytest.approx(400 / N_ROWS, rel=0.2)


def test_an_engine_that_cannot_say_which_values_there_are_has_equally_wide_bins(frame, tmp_path):
    ibis = pytest.importorskip("ibis")
    with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        frame.to_sql("people", connection, index=False)
        connection.commit()
    fields = [FIELDS[0], FIELDS[1], FIELDS[3]]
    backend = ibis.sqlite.connect(tmp_path / "people.db")
    try:
        table = backend.table("people").select("gain", "rate", "sex")
        synthesis = synthdp.synthesize(table, {"fields": fields}, mechanism="independent", **BUDGET)
    finally:
        backend.disconnect()
    assert synthesis.schema["gain"].field()["synthdp"] == {"bins": 32}
    assert "domain" not in synthesis.certificate


BOUNDED = [
    ("number", lambda rng, n: rng.normal(50, 10, n).round(1), 0, 60),
    ("integer", lambda rng, n: rng.integers(0, 200, n), 20, 199),
    ("date", lambda rng, n: np.datetime64("2020-01-01") + rng.integers(0, 900, n), "2020-01-01", "2021-12-31"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "draw", "low", "high"), BOUNDED, ids=[each[0] for each in BOUNDED]
)
def test_records_beyond_declared_bounds_are_said_with_their_share(kind, draw, low, high):
    values = pd.Series(draw(np.random.default_rng(2), 3_000))
    low_, high_ = (pd.Timestamp(low), pd.Timestamp(high)) if kind == "date" else (low, high)
    share = float(((values < low_) | (values > high_)).mean())
    bounds = {"minimum": low, "maximum": high}
    few = {"fields": [{"name": "x", "type": kind, "constraints": bounds}]}
    budget = BUDGET | {"epsilon": 1.0, "mechanism": "independent"}
    (said,) = synthdp.synthesize(pd.DataFrame({"x": values}), few, **budget).cautions
    assert re.search(r"lie beyond its bounds \(.*\) and are clipped to them", said)
    assert "widen constraints." in said
    assert float(said.partition("about ")[2].split()[0]) == pytest.approx(100 * share, abs=4)
    inside = pd.DataFrame({"x": values[(values >= low_) & (values <= high_)]})
    released = synthdp.synthesize(inside, few, **budget)
    assert not any("beyond its bounds" in each for each in released.cautions)


def test_a_column_of_which_all_lies_beyond_its_bounds_says_a_hundred_per_cent():
    """Two digits of a whole were written as 1e+02 %."""
    values = pd.DataFrame({"x": np.random.default_rng(3).normal(500, 10, 3_000).round(1)})
    bounds = {"minimum": 0, "maximum": 60}
    few = {"fields": [{"name": "x", "type": "number", "constraints": bounds}]}
    said = synthdp.synthesize(values, few, **BUDGET | {"epsilon": 50.0}).cautions
    assert any("about 100 % of the records lie beyond its bounds" in each for each in said), said


def test_values_that_a_change_of_units_left_beside_what_was_meant_keep_their_shares():
    """Half of whole knots in miles per hour are a float below or above 1.15078 times the knots."""
    rng = np.random.default_rng(0)
    knots = rng.choice(np.arange(3, 19), N_ROWS)
    miles = knots * 1.15078
    frame = pd.DataFrame({"wind": [repr(mile) for mile in miles.tolist()]})
    assert np.mean([len(text) > 12 for text in frame["wind"]]) > 0.3
    schema = OpenSchema.from_dict({"fields": [field("wind", "number", 0, 1500)]})
    synthesis = synthdp.synthesize(frame, schema, epsilon=10.0, delta=1e-6)
    drawn = synthesis.sample(N_ROWS, seed=1)["wind"].astype(float)
    for value in np.unique(miles):
        is_it = np.isclose(drawn, value, rtol=1e-9, atol=0).mean()
        assert is_it == pytest.approx(np.isclose(miles, value, atol=0).mean(), abs=0.01)


def test_a_number_a_slip_below_an_edge_is_taken_for_the_edge():
    edges = {"edges": [-9, -3, 0, 3, 9]}
    column = Schema.from_dict({"fields": [{"name": "x", "type": "number", "synthdp": edges}]})["x"]
    below = [repr(float(np.nextafter(edge, -np.inf))) for edge in (-3.0, 3.0)]
    well_below = ["-3.000000001", "2.999999999"]
    assert column.encode(pd.Series(below)).tolist() == [1, 3]
    assert column.encode(pd.Series(well_below)).tolist() == [0, 2]


DAYS = {"minimum": "2019-12-30", "maximum": "2020-02-01"}


@pytest.mark.parametrize(
    ("kind", "constraints", "own", "n_bins"),
    [
        ("integer", {"minimum": 0, "maximum": 9}, {"bins": 2}, 2),
        ("integer", {"minimum": 0, "maximum": 9}, {"bins": 2, "binning": "privtree"}, 2),
        ("number", {"minimum": 0, "maximum": 9}, {"bins": 3}, 3),
        ("date", DAYS, {}, 32),
        ("date", DAYS, {"bins": 5}, 5),
    ],
)
def test_of_what_noise_hides_there_are_no_more_bins_than_were_asked_for(
    kind, constraints, own, n_bins
):
    field = {"type": kind, "constraints": constraints | {"required": True}}
    schema = OpenSchema.from_kinds({"x": field | ({"synthdp": own} if own else {})})
    table = held(pd.DataFrame({"x": pd.Series([], dtype=object)}), schema)
    settings = {"delta": 1e-6, "accounting": Accounting.ZCDP, "randomness": Frozen(0)}
    closed = learnt_from(table, schema, epsilon=0.001, **settings).schema
    assert closed.domain.shape == (n_bins,)
    assert closed.domain.shape <= schema.largest_domain.shape
