"""Learning never fails: whatever the values, the settings and the noise, a valid schema comes out
within the budget.
"""

import json
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
from helpers.flows import Frozen, held, learnt_from
from helpers.seldom import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synthdp.core import SchemaError
from synthdp.privacy import Accounting
from synthdp.schema import OpenSchema, Schema

DIRT = [
    None, float("nan"), float("inf"), -float("inf"), 0, -0.0, 1, True, False, 2**70, -(2**53) - 1, 1e300, -1e-300,
    5e-324, "", " ", "NA", "a", "A", "\0", "\ud800", "1", "1.0", "01", "1e5", "-7.25", "0.1234567890123456789",
    "nan", "inf", "true", "2020-02-29", "0001-01-01", "9999-12-31", "2020-02-29T23:59:59", "31.12.99", "x" * 2000,
    b"bytes", (), [1], {"a": 1}, Decimal("1.5"), Decimal("NaN"), date(2020, 2, 29), datetime(1, 1, 1), pd.NaT, pd.NA,  # noqa: DTZ001
    pd.Timestamp("2020-01-01T12:00"), np.float32(0.1), np.int8(-3), 1 + 2j, object,
]  # fmt: skip

BOUNDS = {
    "integer": [(0, 9), (-5, -5), (3, 4), (-(2**53), 2**53), (0, 10**6)],
    "year": [(1900, 2030), (2000, 2000)],
    "number": [
        (0.0, 1.0),
        (-1e300, 1e300),
        (0.0, 1e-300),
        (1e14, 1e14 + 1),
        (2.5, 2.5),
        (-3.0, 1e15),
        (0.0, 1e-9),
    ],
    "date": [
        ("2020-01-01", "2020-01-01"),
        ("0001-01-01", "9999-12-31"),
        ("2019-12-30", "2020-02-01"),
    ],
    "datetime": [
        ("2020-01-01T00:00:00", "2020-01-01T00:00:01"),
        ("1969-12-31T23:00:00", "2038-01-01T00:00:00"),
    ],
}
RESOLUTIONS = {
    "date": ["year", "quarter", "month", "week", "day"],
    "datetime": ["year", "month", "day", "hour", "minute", "second"],
}


@st.composite
def kinds(draw):
    """A kind with options, most of which contradict nothing."""
    kind = draw(
        st.sampled_from(["string", "boolean", "integer", "year", "number", "date", "datetime"])
    )
    field, own = {"type": kind}, {}
    if kind in BOUNDS and draw(st.booleans()):
        field["constraints"] = dict(
            zip(("minimum", "maximum"), draw(st.sampled_from(BOUNDS[kind])), strict=True)
        )
    if draw(st.booleans()):
        field["constraints"] = field.get("constraints", {}) | {"required": draw(st.booleans())}
    if kind in BOUNDS and draw(st.booleans()):
        own["bins"] = draw(st.integers(2, 40))
        if draw(st.booleans()):
            own["binning"] = draw(st.sampled_from(["quantiles", "privtree", "equal-width"]))
    if kind == "number" and draw(st.booleans()):
        own["decimals"] = draw(st.integers(-4, 9))
    if kind in RESOLUTIONS and draw(st.booleans()):
        own["resolution"] = draw(st.sampled_from(RESOLUTIONS[kind]))
        if own["resolution"] == "day" and draw(st.booleans()):
            own["parts"] = ["weekday", "month"]
    if kind == "date" and draw(st.booleans()) and "minimum" not in field.get("constraints", {}):
        field["format"] = draw(st.sampled_from(["%d.%m.%y", "%Y%m%d", "%d/%m/%Y"]))
    if kind == "string" and draw(st.booleans()):
        own |= {
            "max_levels": draw(st.integers(3, 9)),
            "other": draw(st.sampled_from(["a", "Z", "so on"])),
        }
    return field | ({"synthdp": own} if own else {})


def columns():
    """Dirty values, or many of few kinds of values, or a heap of numbers on any scale."""
    heaps = st.tuples(
        st.sampled_from([1e-300, 1e-9, 1.0, 1e6, 1e12, 1e15, 1e200]),
        st.sampled_from(["normal", "integers", "constant", "spike"]),
        st.integers(0, 400),
        st.integers(0, 2**31),
    )
    return st.one_of(
        st.lists(st.sampled_from(DIRT), max_size=30),
        st.lists(st.sampled_from(DIRT), max_size=4).map(lambda values: values * 60),
        heaps.map(heap),
    )


def heap(drawn):
    scale, shape, n_rows, seed = drawn
    rng = np.random.default_rng(seed)
    values = {
        "normal": lambda: rng.normal(1, 1, n_rows),
        "integers": lambda: rng.integers(-50, 50, n_rows).astype(float),
        "constant": lambda: np.full(n_rows, 3.0),
        "spike": lambda: np.where(rng.random(n_rows) < 0.5, 0.0, rng.random(n_rows)),
    }[shape]()
    return (values * scale).tolist()


def series(values):
    boxed = np.empty(len(values), dtype=object)
    boxed[:] = values
    return pd.DataFrame({"x": pd.Series(boxed, dtype=object)})


def read_kinds(kind):
    """The open schema of one column; None if the options contradict each other, or leave nothing
    open.
    """
    try:
        schema = OpenSchema.from_kinds({"x": kind})
    except SchemaError:
        return None
    return schema if schema.is_open else None


@settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(kinds(), columns(), st.sampled_from([0.001, 0.1, 1.0, 20.0, 1000.0]), st.integers(0, 99))
def test_whatever_is_there_closes_within_the_budget(kind, values, epsilon, seed):
    schema = read_kinds(kind)
    if schema is None:
        return
    table = held(series(values), schema)
    learnt = learnt_from(
        table,
        schema,
        epsilon=epsilon,
        delta=1e-6,
        share=0.125,
        share_again=0.125,
        min_mass=10.0,
        randomness=Frozen(seed),
        accounting=Accounting.ZCDP,
    )
    assert_closed(schema, learnt, table)


def assert_closed(schema, learnt, table):
    """It is a schema like any other, within what was announced, and codes and values of it exist."""
    closed, ledger = learnt.schema, learnt.ledger
    assert ledger.spent <= ledger.budget / 4
    assert ledger.failure_delta_spent <= ledger.failure_delta
    written = json.dumps(closed.to_dict())
    assert Schema.from_dict(json.loads(written)).to_dict() == closed.to_dict()
    most = schema.largest_domain
    assert all(closed.domain.size((name,)) <= most.size((name,)) for name in most.attributes)
    codes = table.encode(closed)
    rng = np.random.default_rng(0)
    for column, column_codes in zip(closed.columns, codes.columns, strict=True):
        assert column_codes.max(initial=0) < column.size
        every = np.arange(column.size)
        assert (
            np.array_equal(column.encode(column.decode(every, rng)), every)
            or column.size == 1
            or is_shared(column)
        )


def is_shared(column):
    """Whether its codes are not told apart by its values: a part of a date reads dates."""
    return ":" in column.name
