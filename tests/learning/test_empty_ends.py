"""What learning has room for beyond the records is not drawn, once measurements leave nothing but
noise for it.
"""

import json
from fractions import Fraction

import jsonschema
import numpy as np
import pandas as pd
import pytest
from helpers.learning import learnt_alone

import synthdp
from synthdp.core import Coarsening, LinearMeasurement, ParameterError
from synthdp.learning import empty_ends, levels_without_records
from synthdp.release import SCHEMA_FILE, Synthesis
from synthdp.report import certificate_text
from synthdp.schema import Schema

NOISE = 30.0
COUNTS = [12.0, 510.0, 20.0, 480.0, 260.0, 31.0, -12.0]
FIELD = {
    "name": "visits",
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 6, "required": True},
}
LEARNT = {"visits": ["bins", "bounds"]}


def schema_with(rules=(), **more):
    own = {"synthdp": {"constraints": list(rules)}} if rules else {}
    return Schema.from_dict({"fields": [FIELD, *more.values()], **own})


def measured(counts=COUNTS, stddev=NOISE, name="visits", merged=None):
    return LinearMeasurement((name,), np.array(counts, dtype=float), stddev, merged)


def release(learnt=LEARNT):
    certificate = {"domain": {"derived": learnt}, "cautions": []}
    return Synthesis(
        schema=schema_with(), measurements=[measured()], model=None, certificate=certificate
    )


def test_outermost_bins_of_nothing_but_noise_are_not_drawn_and_inner_ones_are():
    synthesis = release()
    assert synthesis.unused == {"visits": (0, 5, 6)}
    assert set(synthesis.sample(3000, seed=1)["visits"]) == {1, 2, 3, 4}
    assert set(release({}).sample(3000, seed=1)["visits"]) >= {0, 5}
    counts = synthesis.marginal(["visits"])
    assert (counts[[0, 5, 6]] == 0).all()
    assert counts.sum() == pytest.approx(synthesis.model.total)
    with pytest.raises(ParameterError, match="no records but noise"):
        synthesis.sample(5, where={"visits": {"minimum": 5}})
    assert set(synthesis.sample(200, seed=1, where={"visits": {"minimum": 4}})["visits"]) == {4}


def test_noise_alone_seldom_draws_an_end_out_and_seldom_hides_a_level():
    rng = np.random.default_rng(1)
    true = np.array([0, 0, 500, 400, 300, 150, 0, 0, 0])
    found = [empty_ends(true + rng.normal(0, NOISE, 9), np.full(9, NOISE**2)) for _ in range(400)]
    assert np.mean([5 in each for each in found]) < 0.02
    assert np.mean([len({0, 1, 6, 7, 8} - {*each}) for each in found]) < 1


def test_where_noise_could_hide_many_records_nobody_can_say_that_a_bin_has_none():
    assert empty_ends(np.array([500.0, 20.0]), np.full(2, 90.0**2)) == []
    assert empty_ends(np.array([20.0, -5.0]), np.full(2, 90.0**2)) == []
    assert empty_ends(np.array([500.0, 20.0]), np.array([900.0, np.inf])) == []


def test_a_tail_that_shows_only_as_a_whole_stays():
    counts = np.array([900.0, 800.0, 700.0, 80.0, 85.0, 80.0, 75.0, 5.0])
    assert empty_ends(counts, np.full(8, NOISE**2)) == [7]


def test_bins_that_no_measurement_tells_apart_stay_and_all_measurements_count():
    merged = Coarsening({"visits": np.array([0, 1, 2, 3, 4, 5, 5])})
    only = measured([12.0, 510.0, 20.0, 480.0, 260.0, 19.0], merged=merged)
    assert levels_without_records(schema_with(), [only], LEARNT) == {"visits": (0,)}
    both = levels_without_records(schema_with(), [only, measured()], LEARNT)
    assert both == {"visits": (0, 5, 6)}
    # Of many measurements noise is so small that few records show.
    many = levels_without_records(schema_with(), [measured()] * 100, LEARNT)
    assert many == {"visits": (6,)}


@pytest.mark.parametrize("learnt", [{}, {"visits": ["bins"]}, {"visits": ["missing"]}])
def test_bins_between_declared_bounds_are_drawn(learnt):
    assert levels_without_records(schema_with(), [measured()], learnt) == {}


OPTIONAL = {**FIELD, "constraints": {**FIELD["constraints"], "required": False}}


@pytest.mark.parametrize(
    ("missing", "required", "stddev", "unused"),
    [
        (80.0, False, NOISE, (0, 7)),
        (100.0, False, NOISE, (0,)),
        (-10.0, True, NOISE, (0,)),  # there is no such level
        (10.0, False, 90.0, (0,)),  # more than a tenth of the records might hide there
    ],
)
def test_missing_values_of_nothing_but_noise_are_not_drawn(missing, required, stddev, unused):
    schema = Schema.from_dict({"fields": [FIELD if required else OPTIONAL]})
    counts = [12.0, 510.0, 480.0, 260.0, 300.0, 310.0, 400.0]
    only = measured(counts if required else [*counts, missing], stddev)
    found = levels_without_records(schema, [only], {"visits": ["bins", "bounds"]})
    assert found.get("visits", ()) == unused
    assert levels_without_records(schema, [only], {}) == {}


def test_gaps_that_noise_alone_made_are_in_no_table_and_the_certificate_says_so():
    """Of declared bounds nobody said whether values are missing; of 3,000 none is."""
    fields = [
        {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
        for name in "abcdef"
    ]
    rng = np.random.default_rng(0)
    table = pd.DataFrame({field["name"]: rng.integers(100, size=3000) for field in fields})
    n_told = 0
    for _ in range(4):
        synthesis = synthdp.synthesize(table, {"fields": fields}, epsilon=2.0, delta=1e-6)
        told = synthesis.certificate["domain"]["not_drawn"]
        drawn = synthesis.sample(3000, seed=0)
        assert all(drawn[name].notna().all() for name, codes in told.items() if "missing" in codes)
        n_told += sum("missing" in codes for codes in told.values())
        assert "missing" in certificate_text(synthesis.certificate)
    # Noise passes three standard deviations once in 700 columns.
    assert n_told >= 12


def test_bins_that_a_rule_may_need_are_drawn():
    other = FIELD | {"name": "nights"}
    schema = schema_with([{"forbid": {"visits": [0], "nights": [0]}}], nights=other)
    assert levels_without_records(schema, [measured()], LEARNT) == {}


def test_the_certificate_names_them():
    synthesis = synthdp.synthesize(
        pd.DataFrame({"visits": np.resize([1, 2, 3, 4], 2000)}),
        kinds={"visits": "integer"},
        epsilon=2.0,
        delta=1e-6,
    )
    domain = {**synthesis.certificate["domain"], "not_drawn": {"visits": ["0", "5 .. 6"]}}
    certificate = {**synthesis.certificate, "domain": domain}
    jsonschema.validate(certificate, json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
    text = certificate_text(certificate, is_whole=True)
    assert "visits: 0, 5 .. 6 (noise alone was measured there)" in text


def drawn_beyond(values, low, high, *, seed, share, stddev=NOISE):
    """Which share of rows lies beyond the records, if bins are measured with that noise, and whether
    a caution says so.
    """
    learnt = learnt_alone(
        "integer", values, epsilon=1.0, seed=seed, share=share, min_mass=8 * stddev
    )
    column = learnt.column
    schema = Schema((column,))
    true = np.bincount(column.encode(values), minlength=column.size).astype(float)
    counts = true + np.random.default_rng(seed).normal(0, stddev, len(true))
    told = [LinearMeasurement(("x",), counts, stddev)]
    synthesis = Synthesis(
        schema=schema,
        measurements=told,
        model=None,
        certificate={"domain": {"derived": {"x": ["bounds", "bins"]}}, "cautions": []},
    )
    rows = synthesis.sample(2000, seed=1)["x"].dropna().astype(float)
    return ((rows < low) | (rows > high)).mean(), bool(learnt.cautioned(schema, told))


def test_few_values_are_drawn_beyond_the_last_even_where_learning_hardly_saw_them():
    """Bins held the last value and others that no record has: 3 to 13 % of rows of a column in
    twenty lay beyond 1 to 5, and nobody was told.
    """
    items = pd.Series(np.random.default_rng(3).binomial(4, 0.5, 2000) + 1)
    silent = 0
    for seed in range(40):
        beyond, is_said = drawn_beyond(items, 1, 5, seed=seed, share=Fraction(1, 160))
        silent += beyond > 0.01 and not is_said
    assert silent == 0


def test_codes_apart_from_all_other_values_are_found_as_they_are():
    """99 stood in a cell from 71 to 127, and was drawn as all of these in twelve of twelve columns."""
    rng = np.random.default_rng(4)
    answers = pd.Series(np.where(rng.random(2500) < 0.06, 99, rng.binomial(6, 0.5, 2500) + 1))
    spread = 0
    for seed in range(12):
        column = learnt_alone(
            "integer", answers, epsilon=1.0, seed=seed, share=Fraction(1, 2), min_mass=100
        ).column
        codes = column.encode(pd.Series(["99"] * 300))
        drawn = column.decode(codes, np.random.default_rng(1)).astype(float)
        spread += ((drawn - 99).abs() > 9).mean() > 0.2
    assert spread <= 7


def test_a_level_that_measurements_show_alone_is_said_no_longer_to_hide_others():
    """Of a constant column that was measured precisely nothing is left to say."""
    values = pd.Series(np.full(1400, 2013))
    seen = 0
    for seed in range(8):
        learnt = learnt_alone("year", values, epsilon=1.0, seed=seed, share=Fraction(1, 32))
        if "one value is told" not in learnt.caution:
            continue
        seen += 1
        column = learnt.column
        true = np.bincount(column.encode(values), minlength=column.size).astype(float)
        schema = Schema((column,))
        told = [LinearMeasurement(("x",), true + 3.0, 5.0)]
        assert learnt.cautioned(schema, told) == ""
        true[0 if true[0] == 0 else -1] += 400.0  # others there are, on either side
        told = [LinearMeasurement(("x",), true, 5.0)]
        assert "have; declare its bounds" in learnt.cautioned(schema, told)
    assert seen


def test_a_lone_number_whose_decimals_noise_hides_is_judged_on_the_grid_that_is_left():
    """It was looked for on the finer grid, and beyond all bins: such runs failed after they had
    paid.
    """
    values = pd.Series(np.full(1000, 7.0))
    said = set()
    for seed in range(60):
        learnt = learnt_alone("number", values, epsilon=0.3, seed=seed, share=Fraction(1, 4))
        column = learnt.column
        true = np.bincount(column.encode(values), minlength=column.size).astype(float)
        measured = [LinearMeasurement(("x",), true, 5.0)]
        said.add(learnt.cautioned(Schema((column,)), measured))
    assert any("decimals were not told" in caution for caution in said)


def test_numbers_of_all_digits_among_whole_ones_are_not_written_whole_without_a_word():
    """A quarter were thirds, and all came out as 0."""
    rng = np.random.default_rng(8)
    values = np.where(rng.random(1500) < 0.25, rng.integers(1, 3, 1500) / 3, 0.0)
    for seed in range(8):
        learnt = learnt_alone(
            "number", values, epsilon=1.0, seed=seed, share=Fraction(1, 16), min_mass=60
        )
        decimals = learnt.column.field()["synthdp"].get("decimals", 0)
        assert decimals > 0 or learnt.caution
        if "one value is told" in learnt.caution:  # a bin of whole numbers has thirds as well
            counts = np.zeros(learnt.column.size)
            counts[learnt.column.encode(pd.Series(["0"]))] = 1500.0
            told = [LinearMeasurement(("x",), counts, 5.0)]
            assert learnt.cautioned(Schema((learnt.column,)), told) == learnt.caution


def test_numbers_of_fewer_decimals_than_are_written_are_called_so():
    """Seven in ten had one decimal, and all were written with four."""
    rng = np.random.default_rng(9)
    values = np.where(
        rng.random(3000) < 0.7, rng.normal(50, 9, 3000).round(1), rng.normal(50, 9, 3000).round(4)
    )
    plain = rng.normal(50, 9, 3000).round(4)
    for seed in range(6):
        mixed, even = (
            learnt_alone("number", each, epsilon=1.0, seed=seed, share=Fraction(1, 8), min_mass=60)
            for each in (values, plain)
        )
        own = mixed.column.field()["synthdp"]
        if own["decimals"] == 4 and not own.get("heaping"):
            assert "have fewer than the 4 decimals" in mixed.caution
        assert "decimals that are written" not in even.caution
