"""Values beyond learnt bounds are drawn from tails, which change no code."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest

import synthdp
from synthdp.core import LinearMeasurement
from synthdp.learning import BeyondCount, Density, UnreadCount, passed_bounds, tail_of, with_tails
from synthdp.release import SCHEMA_FILE
from synthdp.report import certificate_text
from synthdp.schema import OpenSchema

NOISE = 5.0
OPEN = {
    "integer": {"minimum": 20, "maximum": 59, "edges": [20, 30, 40, 59]},
    "number": {"edges": [20.0, 30.5, 40.25, 59.0], "decimals": 2},
    "year": {"minimum": 1990, "maximum": 2009, "edges": [1990, 1997, 2003, 2009]},
    "date": {"edges": ["2020-01-01", "2020-05-01", "2020-09-01", "2020-12-31"]},
    "time": {"edges": ["08:00:00", "10:00:00", "12:00:00", "16:59:00"]},
}
FURTHER = {
    "integer": ("3", "88"),
    "number": ("3.75", "88.5"),
    "year": ("1982", "2019"),
    "date": ("2019-11-30", "2021-04-01"),
    "time": ("06:30:00", "18:30:00"),
}


def told(counts, below, above, total=None):
    """What is measured of a column: its bins, of which the outermost hold what is beyond, too."""
    measured = LinearMeasurement(("x",), np.array(counts, dtype=float), NOISE)
    total = float(sum(counts)) if total is None else total
    unread = {"x": UnreadCount(0.0, NOISE, total, BeyondCount(below, above, NOISE))}
    return [measured], unread


def learnt(kind, declared=None, synthdp_schema=None, **own):
    field = {"name": "x", "type": kind, "constraints": {"required": True} | (declared or {})}
    field["synthdp"] = {"derive": True} | own
    opened = OpenSchema.from_dict({"fields": [field]} | (synthdp_schema or {}))
    (column,) = opened.open_columns
    return opened, opened.resolved({"x": column.resolved(**OPEN[kind])})


def drawn(schema, code, n=4000, seed=0):
    column = schema["x"]
    codes = np.full(n, code, dtype=column.dtype)
    return column.decode_text(codes, np.random.default_rng(seed))


@pytest.mark.parametrize("kind", OPEN)
def test_tails_reach_further_on_both_sides_and_change_no_code(kind):
    opened, schema = learnt(kind)
    wider = with_tails(opened, schema, *told([1900, 5000, 1900], 200.0, 300.0))
    before, after = schema["x"], wider["x"]
    assert after.size == before.size
    low, high = before.bounds
    assert after.bounds[0] < low
    assert after.bounds[1] > high
    for code, share in ((0, 200 / 1900), (1, 0.0), (2, 300 / 1900)):
        texts = pd.Series(drawn(wider, code))
        assert (after.encode(texts) == code).all()
        assert (before.encode(texts) == code).all()  # by clipping
        placed = before.with_all_places()
        is_beyond = np.isin(placed.encode(texts), placed.end_codes)
        assert is_beyond.mean() == pytest.approx(share, abs=0.03)
    inside = pd.Series(np.concatenate([drawn(schema, code) for code in range(3)]))
    assert (before.encode(inside) == after.encode(inside)).all()
    for text in FURTHER[kind]:
        values = pd.Series([text])
        assert before.encode(values) == after.encode(values)
    # as it stands in a file it is the same column
    again = type(wider).from_dict(json.loads(json.dumps(wider.to_dict())))
    assert again["x"].field() == after.field()


def test_one_end_moves_and_the_other_stays():
    opened, schema = learnt("integer")
    wider = with_tails(opened, schema, *told([1900, 5000, 1900], 3 * NOISE, 300.0))
    assert wider["x"].bounds[0] == 20
    assert wider["x"].bounds[1] > 59
    assert passed_bounds(schema, wider) == {"x": {"above": 59}}


@pytest.mark.parametrize(
    "reason", ["noise", "declared", "rule", "not counted", "bins merged", "too many"]
)
def test_bounds_stay_where_nothing_is_known_or_something_hangs_on_them(reason):
    rule = {"synthdp": {"constraints": [{"check": "x <= 59"}]}} if reason == "rule" else None
    declared = {"minimum": 20, "maximum": 59} if reason == "declared" else None
    opened, schema = learnt("integer", declared, rule)
    far = {"noise": 3 * NOISE, "too many": 900.0}.get(reason, 300.0)
    measured, unread = told([1900, 5000, 1900], far, far)
    if reason == "not counted":
        unread = {"x": UnreadCount(0.0, NOISE, 8800.0)}
    if reason == "bins merged":
        measured = []
    assert with_tails(opened, schema, measured, unread) is schema


def test_two_ends_that_no_caution_names_both_have_tails():
    """Together they hold a fifth of the records, and neither holds so many that it is cautioned."""
    opened, schema = learnt("integer")
    wider = with_tails(opened, schema, *told([1900, 5000, 1900], 870.0, 870.0))
    low, high = wider["x"].bounds
    assert low < 20
    assert high > 59
    everything = np.concatenate([drawn(wider, 0), drawn(wider, 2)]).astype(int)
    assert ((everything < 20) | (everything > 59)).mean() == pytest.approx(870 / 1900, abs=0.03)


def test_a_declared_bound_is_never_passed():
    opened, schema = learnt("integer", {"maximum": 61})
    wider = with_tails(opened, schema, *told([1900, 5000, 1900], 300.0, 300.0))
    assert wider["x"].bounds[0] < 20
    assert 59 <= wider["x"].bounds[1] <= 61


def test_a_bin_that_is_not_drawn_has_no_tail():
    opened, schema = learnt("integer")
    wider = with_tails(opened, schema, *told([5000, 1900, -20], 300.0, 4 * NOISE))
    assert wider["x"].bounds[0] < 20
    assert wider["x"].bounds[1] == 59


def test_numbers_above_0_stay_there():
    opened, schema = learnt("integer")
    wider = with_tails(opened, schema, *told([300, 1000, 2000], 299.0, 0.0))
    assert wider["x"].bounds == (0, 59)


def test_noise_that_says_more_than_all_leaves_something_between_the_bounds():
    opened, schema = learnt("integer")
    wider = with_tails(opened, schema, *told([400, 10, 25], 0.0, 40.0))
    values = drawn(wider, 2).astype(int)
    assert 0.0 < (values <= 59).mean() < 0.2


def of_quantiles(quantile, left):
    """A density of 900 records as a quantile function has them, from which share on it says."""
    points = quantile(np.linspace(1.0, left, 200_001))
    starts = np.unique(np.linspace(points[0], points[-1], 400).astype(np.int64))
    counts = np.histogram(points, starts)[0]
    return Density(starts, counts / counts.sum() * 900.0)


@pytest.mark.parametrize(
    ("quantile", "reach"),
    [
        (lambda left: -500.0 * np.log(left), 500.0 * np.log(10.0)),  # to a tenth of what is left
        (lambda left: 5000.0 * (1.0 - left), 500.0),  # as wide as so many are before it
    ],
    ids=["exponential", "even"],
)
def test_a_tail_goes_on_as_the_records_before_it(quantile, reach):
    density = of_quantiles(quantile, 0.1)
    tail = tail_of(density, 100.0, 70.0, 10**9)
    assert tail.mass.sum() == pytest.approx(70.0)
    assert tail.starts[0] == density.starts[-1]
    assert tail.starts[-1] - tail.starts[0] == pytest.approx(reach, rel=0.02)
    heights = tail.mass / tail.widths
    last = density.mass[-20:].sum() / density.widths[-20:].sum()
    # nothing jumps but for what beyond a tenth is nearer; it never becomes denser again
    assert heights[0] * 100 / 70 == pytest.approx(last, rel=0.15)
    assert (np.diff(heights) <= 1e-9 * heights[0]).all()
    half = np.interp(35.0, np.cumsum([0.0, *tail.mass]), tail.starts)
    left = 0.5 if reach == 500.0 else 1 - 0.5 * 0.9
    truth = quantile(0.1 * left) - quantile(0.1)
    assert half - tail.starts[0] == pytest.approx(truth, rel=0.1)


def test_a_tail_has_room_and_records():
    density = of_quantiles(lambda left: -500.0 * np.log(left), 0.1)
    stop = int(density.starts[-1])
    assert tail_of(density, 100.0, 70.0, stop) is None
    assert tail_of(density, 0.0, 0.0, 10**9) is None
    assert tail_of(density, 100.0, 70.0, stop + 7).starts.tolist()[-1] == stop + 7
    # of one point nobody knows how it goes on: one further
    lone = Density(np.array([3, 4]), np.array([50.0]))
    assert tail_of(lone, 5.0, 5.0, 10**9).starts.tolist() == [4, 5]


@pytest.fixture(scope="module")
def skewed():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"pay": np.exp(7 + rng.normal(size=4000)).round(2)})
    kinds = {"pay": "number"}
    return frame, synthdp.synthesize(frame, kinds=kinds, epsilon=1.0, delta=1e-6)


def test_amounts_keep_their_mean_and_their_largest_values(skewed):
    frame, release = skewed
    pay, rows = frame["pay"], release.sample(4000, seed=0)["pay"]
    ends = release.certificate["domain"]["tails"]["pay"]
    assert rows.max() > ends["above"]
    share = (pay > ends["above"]).mean()
    assert (rows > ends["above"]).mean() == pytest.approx(share, abs=0.02)
    # clipped, the mean would fall by all that lies beyond
    clipped = pay.clip(upper=ends["above"])
    assert abs(rows.std() - pay.std()) < abs(clipped.std() - pay.std())


def test_the_certificate_says_so_and_a_file_keeps_it(skewed, tmp_path):
    _, release = skewed
    certificate = release.certificate
    jsonschema.validate(certificate, json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
    assert "(how many was measured, which values is a guess)" in certificate_text(
        certificate, is_whole=True
    )
    assert certificate["schema"]["definition"] == release.schema.to_dict()
    release.save(tmp_path / "pay.synthdp")
    again = synthdp.load(tmp_path / "pay.synthdp")
    assert again.schema == release.schema
    assert again.sample(50, seed=1).equals(release.sample(50, seed=1))


def test_a_rescued_run_reaches_as_far(tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"pay": np.exp(7 + rng.normal(size=4000)).round(2)})
    journal = tmp_path / "run.journal"
    release = synthdp.synthesize(
        frame, kinds={"pay": "number"}, epsilon=1.0, delta=1e-6, journal=journal
    )
    rescued = synthdp.from_journal(journal)
    assert rescued.schema == release.schema
    assert rescued.certificate["domain"] == release.certificate["domain"]
    assert "tails" in release.certificate["domain"]
