"""Merged levels: one code for several levels, and what is written in their place."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import synthdp
from synthdp.core import SchemaError
from synthdp.data import decode, encode
from synthdp.schema import CategoricalColumn, Merged, Schema

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4
).filter(str.strip)


@st.composite
def merged_columns(draw):
    kind = draw(st.sampled_from(["string", "integer", "number"]))
    values = {"string": TEXTS, "integer": st.integers(-99, 99), "number": st.floats(-9e9, 9e9)}[
        kind
    ]
    found = draw(st.lists(values, min_size=2, max_size=8, unique=True))
    n = draw(st.integers(1, len(found) - 1))
    other = draw(st.none() | st.sampled_from(found[:n]))
    weights = draw(
        st.lists(st.floats(1e-300, 1e300), min_size=len(found) - n, max_size=len(found) - n)
    )
    merged = Merged(levels=tuple(found[n:]), weights=tuple(weights))
    required = draw(st.booleans())
    return CategoricalColumn(
        name="x", required=required, levels=tuple(found[:n]), type=kind, other=other, merged=merged
    )


@settings(deadline=None, max_examples=examples(100))
@given(merged_columns(), st.integers(0, 2**32))
def test_what_is_decoded_encodes_to_the_same_codes(column, seed):
    schema = Schema((column,))
    codes = np.repeat(np.arange(column.size, dtype=column.dtype), 5)
    typed = decode([codes], schema, np.random.default_rng(seed))
    text = decode([codes], schema, np.random.default_rng(seed), text=True)
    assert encode(typed, schema).columns[0].tolist() == codes.tolist()
    assert encode(text, schema).columns[0].tolist() == codes.tolist()
    assert column.encode(pd.Series(list(column.merged.levels))).tolist() == [
        column.n_levels - 1
    ] * len(column.merged.levels)
    assert column.knows(typed["x"]).all()
    assert (
        typed.dtypes.tolist()
        == decode([codes[:1]], schema, np.random.default_rng(0)).dtypes.tolist()
    )
    assert len(column.labels) == column.size
    assert column.labels[: column.n_levels].is_unique
    again = Schema.from_dict(schema.to_dict())
    assert again == schema
    assert again.fingerprint == schema.fingerprint


def test_codes_and_labels():
    merged = Merged(levels=("c", "d", "e", "f", "g", "h"), weights=(1,) * 6)
    column = CategoricalColumn(name="x", levels=("a", "b"), other="z", merged=merged)
    assert (column.n_levels, column.size) == (4, 5)
    assert column.encode(pd.Series(["a", "b", "?", "z", "c", " h ", ""])).tolist() == [
        0,
        1,
        2,
        2,
        3,
        3,
        4,
    ]
    assert column.labels.tolist() == ["a", "b", "z", "c | d | e | f | 2 more", None]
    assert column.knows(pd.Series(["h", "i", None])).tolist() == [True, False, True]
    same = CategoricalColumn(
        name="x", levels=("c | d",), merged=Merged(levels=("c", "d"), weights=(1, 1))
    )
    assert same.labels.tolist() == ["c | d", "c | d (merged)", None]


def test_more_than_256_merged_levels_fit_small_codes():
    levels = tuple(f"level {i}" for i in range(1000))
    column = CategoricalColumn(
        name="x", levels=("a",), merged=Merged(levels=levels, weights=(1.0,) * 1000)
    )
    codes = np.array([1] * 5000 + [2, 0], dtype=np.uint8)
    texts = column.decode_text(codes, np.random.default_rng(0))
    assert set(texts[:-2]) <= set(levels)
    assert len(set(texts)) > 900
    assert texts[-2:].tolist() == ["", "a"]


def test_levels_are_drawn_in_proportion_to_their_weights():
    weights, n = (1.0, 3.0, 6.0), 50_000
    column = CategoricalColumn(
        name="x", levels=("a",), merged=Merged(levels=("b", "c", "d"), weights=weights)
    )
    counts = column.decode(np.ones(n, np.uint8), np.random.default_rng(0)).value_counts()
    for level, weight in zip("bcd", weights, strict=True):
        share = weight / 10
        assert abs(counts[level] - n * share) < 7 * math.sqrt(n * share * (1 - share))


def field(**own):
    return {"name": "pay", "type": "string", "constraints": {"enum": ["a", "b"]}, "synthdp": own}


BAD = {
    "no object": (field(merged=["c"]), "give an object of levels and weights, each a list"),
    "no weights": (
        field(merged={"levels": ["c"]}),
        "give an object of levels and weights, each a list",
    ),
    "no list": (field(merged={"levels": "c", "weights": [1]}), "merged.levels is 'c'"),
    "empty": (field(merged={"levels": [], "weights": []}), "merged.levels is empty"),
    "length": (field(merged={"levels": ["c"], "weights": [1, 2]}), "2 entries for 1 levels"),
    "zero": (field(merged={"levels": ["c"], "weights": [0]}), "holds 0; give numbers above 0"),
    "infinite": (field(merged={"levels": ["c"], "weights": [math.inf]}), "holds inf"),
    "known": (
        field(merged={"levels": ["b"], "weights": [1]}),
        "'b' is in synthdp.merged.levels, but a level already",
    ),
    "other": (
        field(other="z", merged={"levels": ["z"], "weights": [1]}),
        "'z' is in synthdp.merged.levels",
    ),
    "twice": (
        field(merged={"levels": ["c", "c"], "weights": [1, 1]}),
        "'c' is in synthdp.merged.levels",
    ),
    "missing": (
        field(merged={"levels": [""], "weights": [1]}),
        "both a level and in missingValues",
    ),
    "number": (field(merged={"levels": [3], "weights": [1]}), "3 is not a text"),
}


@pytest.mark.parametrize("case", BAD)
def test_contradictions_are_refused_in_one_line(case):
    bad, expected = BAD[case]
    with pytest.raises(SchemaError, match=expected) as caught:
        Schema.from_dict({"fields": [bad]})
    assert "'pay'" in str(caught.value)
    assert "\n" not in str(caught.value)


SMOKER = {"name": "smoker", "type": "boolean", "constraints": {"required": True}}


@pytest.mark.parametrize("level", ["c", "d"])
def test_rules_cannot_name_a_merged_level(level):
    columns = [field(merged={"levels": ["c", "d"], "weights": [1, 1]}), SMOKER]
    rule = {"forbid": {"pay": ["a", level], "smoker": [True]}}
    with pytest.raises(SchemaError, match=f"level '{level}' is merged with others"):
        Schema.from_dict({"fields": columns, "synthdp": {"constraints": [rule]}})


def test_rules_may_name_the_other_levels_and_the_merged_ones_together():
    columns = [field(merged={"levels": ["c", "d"], "weights": [1, 1]}), SMOKER]
    rule = {"forbid": {"pay": ["a", "c | d"], "smoker": [True]}}
    schema = Schema.from_dict({"fields": columns, "synthdp": {"constraints": [rule]}})
    assert schema.constraints[0].allowed.tolist() == [
        [True, False],
        [True, True],
        [True, False],
        [True, True],
    ]


def test_rules_cannot_name_a_merged_number_as_text_or_number():
    column = {"name": "n", "type": "integer", "constraints": {"enum": [1]}}
    column |= {"synthdp": {"merged": {"levels": [2, 3], "weights": [1, 1]}}}
    for level in (2, "2"):
        rule = {"forbid": {"n": [level], "smoker": [True]}}
        with pytest.raises(SchemaError, match="merged with others"):
            Schema.from_dict({"fields": [column, SMOKER], "synthdp": {"constraints": [rule]}})


def test_marginals_of_merged_levels_go_in_and_out():
    schema = Schema.from_dict(
        {"fields": [field(merged={"levels": ["c", "d"], "weights": [1, 3]}), SMOKER]}
    )
    frame = pd.DataFrame(
        {"pay": ["a", "b", "c", "d", "d", None] * 50, "smoker": [True, False] * 150}
    )
    coded = encode(frame, schema).columns
    counts = np.zeros(schema.domain.shape)
    np.add.at(counts, tuple(coded), 1)
    index = pd.MultiIndex.from_product(
        [column.labels for column in schema.columns], names=schema.names
    )
    synthesis = synthdp.from_measurements(schema, [(pd.Series(counts.ravel(), index=index), 1.0)])
    assert synthesis.marginal(["pay"])["c | d"] == pytest.approx(150, abs=1)
    again = synthdp.from_measurements(schema, [(synthesis.marginal(["pay", "smoker"]), 1.0)])
    table = again.sample(400, seed=0)
    assert 100 < table["pay"].isin(["c", "d"]).sum() < 300
    assert (table["pay"] == "d").sum() > (table["pay"] == "c").sum()
    again.sample(10, seed=0, where={"pay": ["c | d"]})
    with pytest.raises(SchemaError, match="merged with others"):
        again.sample(10, seed=0, where={"pay": ["c"]})
