"""Learning one column, and how near to its values what was learnt comes."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
from helpers.flows import Frozen, held, learnt_from

from synthdp.learning import learn_columns
from synthdp.privacy import Accounting, Adjacency, PrivacyLedger, PrivateValues
from synthdp.schema import OpenSchema, Schema

N_ROWS = 4000
BIG = {"epsilon": 10.0, "delta": 1e-6, "min_mass": 20.0}
DAYS = pd.Timestamp("1990-01-01")


def random():
    return np.random.default_rng(7)


def learn(kind, values, **settings):
    """The closed column of one kind, the codes of the values, and the field's bounds and own keys."""
    schema = OpenSchema.from_kinds({"x": kind})
    frame = pd.DataFrame({"x": pd.Series(list(values), dtype=object)})
    table = held(frame, schema)
    accounting = Accounting.ZCDP if "privtree" in str(kind) else Accounting.GDP
    learnt = learnt_from(
        table, schema, **{"accounting": accounting, "randomness": Frozen(1)} | BIG | settings
    )
    assert learnt.ledger.spent <= learnt.ledger.budget
    assert (
        Schema.from_dict(json.loads(json.dumps(learnt.schema.to_dict()))).to_dict()
        == learnt.schema.to_dict()
    )
    most = schema.largest_domain
    assert all(learnt.schema.domain.size((name,)) <= most.size((name,)) for name in most.attributes)
    (column,) = learnt.schema.table_columns
    field = column.field()
    return (
        column,
        table.encode(learnt.schema).columns[0],
        field.get("constraints", {}) | field.get("synthdp", {}),
    )


def learnt_alone(kind, values, *, epsilon, seed, share, min_mass=20):
    """What is learnt of a column for a share of the budget, with noise from a seed."""
    schema = OpenSchema.from_kinds({"x": kind})
    ledger = PrivacyLedger(
        epsilon=epsilon,
        delta=1e-9,
        adjacency=Adjacency.ADD_REMOVE,
        accounting=Accounting.GDP,
        failure_delta=2.5e-10,
    )
    source = held(pd.DataFrame({"x": values}), schema).source
    (learnt,) = learn_columns(
        schema,
        PrivateValues(source, ledger, randomness=Frozen(seed)),
        rho=ledger.budget * share,
        delta=Fraction(1, 10**11),
        min_mass=min_mass,
        report=lambda *_: None,
    )
    return learnt


def decoded(column, codes):
    return column.decode(codes, np.random.default_rng(3)).dropna()


def distance(values, column, codes):
    """Kolmogorov-Smirnov distance of values and what their codes decode to."""
    back = decoded(column, codes)
    if back.dtype.kind == "M":
        values, back = (
            pd.to_datetime(pd.Series(side)).astype("datetime64[s]").astype(np.int64)
            for side in (values, back)
        )
    one, other = (np.sort(np.asarray(side, dtype=float)) for side in (values, back))
    steps = np.concatenate([one, other])
    shares = [np.searchsorted(side, steps, side="right") / len(side) for side in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())
