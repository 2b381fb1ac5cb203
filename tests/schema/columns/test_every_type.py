"""What every type of columns in the registry must do: read, write and write back, be bounded, missing
or unread, drawn, narrowed, drafted; by the column alone. The whole flow is in
tests/test_every_type.py.
"""

import numpy as np
import pandas as pd
import pytest
from helpers.every_type import (
    MISSING_VALUES,
    NOT_READ,
    as_json,
    column_of,
    example,
    is_one_line,
    open_example,
    values_of,
)

from synthdp.core import SchemaError
from synthdp.schema import TYPES, OpenSchema, Schema, draft_from_header, narrowed_schema, type_named

every_type = pytest.mark.parametrize("name", TYPES)
N_ROWS = 300


def columns_of(name):
    return [column_of(example(name)), column_of(example(name, required=True))]


@every_type
def test_a_field_is_a_column_and_a_column_is_a_field(name):
    for column in columns_of(name):
        field = as_json(column.field())
        assert field["type"] == name == column.type_name
        assert column_of(field) == column
        assert column_of(field).field() == field
        assert set(field.get("synthdp", {})) <= set(
            type_named(name).keys(name, has_levels="enum" in field.get("constraints", {}))
        )


@every_type
def test_values_become_codes_and_codes_values(name):
    for column in columns_of(name):
        values, codes = values_of(column, N_ROWS, seed=1)
        texts = column.decode_text(codes, np.random.default_rng(1))
        for written in (values, pd.Series(texts, dtype=object), values.astype(object)):
            assert column.encode(written).tolist() == codes.tolist()
            known = column.knows(written)
            assert known.all()
        assert all(isinstance(text, str) for text in texts)
        spelt = [column.text_of(value) for value in values.astype(object)]
        assert column.encode(pd.Series(spelt, dtype=object)).tolist() == codes.tolist()


@every_type
def test_a_text_is_written_as_it_is_said(name):
    """What is drawn as a value and as a text by the same generator is the same."""
    for column in columns_of(name):
        _, codes = values_of(column, N_ROWS, seed=2)
        typed = column.decode(codes, np.random.default_rng(3))
        texts = column.decode_text(codes, np.random.default_rng(3))
        back = column.typed(pd.Series(texts, dtype=object))
        assert column.encode(back).tolist() == column.encode(typed).tolist()


@every_type
def test_the_dtype_depends_on_the_column_only(name):
    for column in columns_of(name):
        dtypes = {
            column.decode(np.full(3, code), np.random.default_rng(0)).dtype
            for code in range(column.size)
        }
        assert len(dtypes) == 1


@every_type
def test_nothing_is_missing_and_what_is_no_value_is_unread(name):
    for column in columns_of(name):
        placed = column.with_unread_place()
        nothing = [None, float("nan"), pd.NA, pd.NaT, *MISSING_VALUES, "  "]
        odd = [object(), [], {}, (), b"x", 1j, NOT_READ]
        for value in nothing:
            assert placed.encode(pd.Series([value], dtype=object)).tolist() == [placed.missing_code]
        for value in odd:
            assert placed.encode(pd.Series([value], dtype=object)).tolist() == [placed.unread_code]
            assert not placed.knows(pd.Series([value], dtype=object))[0]
        assert (placed.missing_code == placed.unread_code) == column.required
        assert placed.size == column.size + 1
        assert placed.labels[-1] == "(not read)"


@every_type
def test_values_are_read_by_themselves(name):
    column = column_of(example(name)).with_unread_place()
    values, _ = values_of(column_of(example(name)), 20, seed=4)
    mixed = pd.Series([*values.astype(object), None, NOT_READ, 7, "7"], dtype=object)
    alone = [int(column.encode(mixed.iloc[[row]])[0]) for row in range(len(mixed))]
    assert column.encode(mixed).tolist() == alone
    assert column.encode(mixed.iloc[::-1]).tolist() == alone[::-1]


@every_type
def test_what_has_an_order_keeps_it_and_is_clipped(name):
    column = column_of(example(name))
    if (axis := column.axis) is None:
        assert column.codes_of(np.array([], dtype=object)).tolist() == []
        return
    ends = axis.codes_of_numbers(axis.read_numbers(pd.Series(axis.bounds, dtype=object)))
    assert ends.tolist() == [0, column.n_levels - 1]
    assert axis.codes_of_numbers(np.array([-1e15, 1e15])).tolist() == [0, column.n_levels - 1]
    points = np.arange(axis.drawn_starts[0], axis.drawn_starts[-1])[:: max(axis.n_values // 500, 1)]
    values = axis.values_at(points, np.zeros(len(points), dtype=np.bool_))
    numbers = axis.read_numbers(values)
    assert (np.diff(numbers) > 0).all()
    assert (np.diff(column.encode(values).astype(int)) >= 0).all()
    assert axis.points_of(axis.places_of(points)).tolist() == points.tolist()
    assert column.encode(pd.Series(axis.texts_at(points, points < 0))).tolist() == (
        column.encode(values).tolist()
    )


@every_type
def test_conditions_choose_some_values(name):
    column = column_of(example(name))
    schema = Schema((column,))
    value = values_of(column_of(example(name, required=True)), 1, seed=5)[0].astype(object).iloc[0]
    narrow, shares = narrowed_schema(schema, {name: [value]})
    kept = shares[name]
    assert kept.shape == (column.size,)
    assert 0 < kept.sum() <= 1
    assert np.flatnonzero(kept).tolist() == column.encode(pd.Series([value], dtype=object)).tolist()
    drawn = narrow[name].decode(np.repeat(np.flatnonzero(kept), 5), np.random.default_rng(0))
    assert set(column.encode(drawn)) == set(np.flatnonzero(kept))
    _, shares = narrowed_schema(schema, {name: [None]})
    assert np.flatnonzero(shares[name]).tolist() == [column.missing_code]
    with pytest.raises(SchemaError) as refused:
        narrowed_schema(schema, {name: [NOT_READ]})
    assert is_one_line(refused.value)


@every_type
def test_what_is_said_of_it_is_there(name):
    for column in columns_of(name):
        reading = column.reading
        assert column.knows(pd.Series([reading.fits], dtype=object))[0]
        assert column.encode(pd.Series([reading.written], dtype=object)) == column.encode(
            pd.Series([reading.fits], dtype=object)
        )
        for said in (reading.what, column.noun, column.not_read, column.ways_of_writing):
            assert said
        assert len(column.labels) == column.size == column.most_levels
        assert column.template == column
        assert column.rule.kind


@every_type
def test_a_draft_says_what_to_fill_in(name):
    (drafted,) = draft_from_header([name])["fields"]
    to_fill_in = type_named(name).to_fill_in()
    drafted |= {"type": name} | to_fill_in
    if not to_fill_in:
        assert Schema.from_dict({"fields": [drafted]}).names == (name,)
        return
    with pytest.raises(SchemaError, match=name) as refused:
        Schema.from_dict({"fields": [drafted]})
    assert is_one_line(refused.value)


@every_type
def test_what_can_be_learnt_can_be_left_open(name):
    field = open_example(name)
    column = OpenSchema.from_dict({"fields": [field]}).columns[0]
    possible = set(type_named(name).derivable(name, has_levels=False))
    assert set(column.open_parts) == possible
    assert column.template.type_name == name
    assert column.most_levels >= 1
    assert (column.template.axis is None) == (column_of(example(name)).axis is None) or (
        "levels" in possible
    )
    with pytest.raises(SchemaError) as refused:
        OpenSchema.from_dict({"fields": [field | {"synthdp": {"derive": ["everything"]}}]})
    assert is_one_line(refused.value)


@every_type
def test_an_unknown_key_is_refused_with_those_that_there_are(name):
    field = example(name)
    own = field.get("synthdp", {}) | {"nonsense": 1}
    with pytest.raises(SchemaError, match=r"synthdp.nonsense.*it may have") as refused:
        OpenSchema.from_dict({"fields": [field | {"synthdp": own}]})
    assert is_one_line(refused.value)
