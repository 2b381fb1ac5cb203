"""Values that lie together inside of their bins."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from synthdp.data import decode, encode
from synthdp.schema import Schema

N_BINS = 6


def number(name, **more):
    constraints = {"minimum": -4, "maximum": 4, "required": "missing" not in more}
    more.pop("missing", None)
    return {
        "name": name,
        "type": "number",
        "constraints": constraints,
        "synthdp": {"bins": N_BINS, "decimals": 3},
        **more,
    }


def gaussians(correlation, n_rows=6000, seed=0):
    rng = np.random.default_rng(seed)
    one = rng.standard_normal(n_rows)
    other = correlation * one + np.sqrt(1 - correlation**2) * rng.standard_normal(n_rows)
    return pd.DataFrame({"a": one.clip(-4, 4).round(3), "b": other.clip(-4, 4).round(3)})


def written_anew(frame, fields, seed=1):
    """What comes of records of which only the bins are known."""
    schema = Schema.from_dict({"fields": fields})
    codes = [schema[name].encode(frame[name]) for name in frame]
    return codes, decode(codes, schema, np.random.default_rng(seed)), schema


@pytest.mark.parametrize("correlation", [0.999, -0.999, 0.97, -0.97, 0.9])
def test_what_two_columns_have_in_common_is_found_inside_of_their_bins(correlation):
    frame = gaussians(correlation)
    codes, drawn, schema = written_anew(frame, [number("a"), number("b")])
    rng = np.random.default_rng(1)
    apart = {name: schema[name].decode(own, rng) for name, own in zip(frame, codes, strict=True)}
    real, alone, together = (spearmanr(t["a"], t["b"])[0] for t in (frame, apart, drawn))
    assert abs(real - alone) > 0.1
    assert together == pytest.approx(real, abs=0.012)


def test_rows_that_stray_do_not_hide_what_the_others_have_in_common():
    frame = gaussians(0.999)
    frame.loc[:300, "b"] = frame["b"].sample(301, random_state=0).to_numpy()
    _, drawn, _ = written_anew(frame, [number("a"), number("b")])
    # Each by itself .58.
    assert (drawn["b"] - drawn["a"])[301:].std() < 0.28


@settings(max_examples=25, deadline=None)
@given(
    st.floats(-1, 1),
    st.integers(0, 2**32),
    st.sampled_from([1, 2, 499, 500, 2000]),
    st.floats(0, 1),
)
def test_bins_keep_their_values(correlation, seed, n_rows, share_missing):
    frame = gaussians(correlation, n_rows, seed)
    frame["c"] = (frame["a"] + frame["b"]).clip(-4, 4).round(3)
    frame.loc[np.random.default_rng(seed).random(n_rows) < share_missing, "b"] = None
    fields = [number("a"), number("b", missing=True), number("c")]
    codes, drawn, schema = written_anew(frame, fields)
    for own, name in zip(codes, frame, strict=True):
        np.testing.assert_array_equal(schema[name].encode(drawn[name]), own)
        alone = schema[name].decode(own, np.random.default_rng(2))
        assert drawn[name].isna().tolist() == alone.isna().tolist()
    again = encode(drawn, schema)
    assert all(np.array_equal(*pair) for pair in zip(again.columns, codes, strict=True))


def test_columns_that_have_nothing_in_common_are_left_alone():
    """Each is drawn as it is without the others."""
    frame = gaussians(0.3)
    _, both, schema = written_anew(frame, [number("a"), number("b")])
    rng = np.random.default_rng(1)
    for name in frame:
        alone = schema[name].decode(schema[name].encode(frame[name]), rng)
        np.testing.assert_array_equal(both[name], alone)


def test_the_same_number_of_each_value_is_drawn_as_alone():
    frame = gaussians(0.99)
    codes, both, schema = written_anew(frame, [number("a"), number("b")])
    rng = np.random.default_rng(1)
    for name, own in zip(frame, codes, strict=True):
        alone = schema[name].decode(own, rng)
        assert not both[name].equals(alone)
        np.testing.assert_array_equal(np.sort(both[name]), np.sort(alone))


def test_what_a_check_holds_for_is_not_dealt_out_again():
    frame = gaussians(0.999)
    schema = Schema.from_dict(
        {
            "fields": [number("a"), number("b"), number("c"), number("d")],
            "synthdp": {"constraints": [{"check": "a <= b"}]},
        }
    )
    low, high = frame.min(axis=1), frame.max(axis=1)
    table = pd.DataFrame({"a": low, "b": high, "c": low, "d": high})
    codes = [schema[name].encode(table[name]) for name in table]
    drawn = decode(codes, schema, np.random.default_rng(0))
    assert (drawn["a"] <= drawn["b"]).all()
