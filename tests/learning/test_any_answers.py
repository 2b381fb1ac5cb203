"""Learning ends within its budget, in a schema that can be used, whatever the kernel's noise
answers.
"""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
from helpers.homes import home
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import MAX_POINT, SchemaError
from synthdp.learning import column_budgets, learn_columns, takes_thresholds
from synthdp.privacy import FrequentValues, NoisyHistogram
from synthdp.schema import OpenSchema, Schema

budgets = home(column_budgets)

SHAPES = {
    "nothing": lambda n, _: np.zeros(n),
    "all equal": lambda n, rng: np.full(n, 1e15 * rng.integers(-1, 2)),
    "in turns": lambda n, _: np.where(np.arange(n) % 2, 1e12, -1e12),
    "noise": lambda n, rng: np.round(rng.normal(0, 5, n)),
    "heavy tails": lambda n, rng: np.round(np.clip(10 * rng.standard_cauchy(n), -1e15, 1e15)),
    "one": lambda n, rng: np.eye(1, n, int(rng.integers(n)))[0] * 10.0 ** rng.integers(0, 16),
    "some": lambda n, rng: np.where(rng.random(n) < 0.2, 10.0 ** rng.integers(0, 16, n), rng.normal(0, 5, n)),
    "both ends": lambda n, rng: np.concatenate([[1e5], rng.normal(0, 5, n - 1)])[:n] + 1e5 * np.eye(1, n, n - 1)[0],
    "rising": lambda n, rng: np.arange(n) * 10.0 * (-1) ** rng.integers(0, 2),
}  # fmt: skip
POINTS = [-MAX_POINT, -(10**6), -1, 0, 1, 40, 2000, 9999, 2**40, MAX_POINT]


class AnyAnswers:
    """Answers like `PrivateValues`, but of no records at all: whatever noise could be drawn; adds
    up what it costs.
    """

    def __init__(self, shapes, stddev, seed):
        self._shapes, self._stddev, self._rng = shapes, stddev, np.random.default_rng(seed)
        self.rho = self.delta = Fraction(0)

    def _counts(self, n):
        return SHAPES[self._shapes[self._rng.integers(len(self._shapes))]](n, self._rng)

    def histogram(self, _grid, starts, *, rho, **_options):
        starts = np.array(starts, dtype=np.int64)
        assert rho > 0
        assert (np.diff(starts) > 0).all()
        self.rho += rho
        (missing, below), counts = self._counts(2), self._counts(max(len(starts), 1))
        return NoisyHistogram(starts, float(missing), float(below), counts, self._stddev)

    def frequent(self, _grid, *, rho, delta):
        assert min(rho, delta) > 0
        self.rho, self.delta = self.rho + rho, self.delta + delta
        values = sorted(
            self._rng.choice(POINTS, self._rng.integers(len(POINTS)), replace=False).tolist()
        )
        counts = dict(zip(values, np.abs(self._counts(len(POINTS))) + 20, strict=False))
        return FrequentValues(counts, float(self._counts(1)[0]), self._stddev, 20)

    def split_tree(self, _grid, first, stop, *, rho):
        assert -MAX_POINT <= first < stop <= MAX_POINT
        self.rho += rho
        inner = self._rng.integers(first, stop, self._rng.choice([0, 1, 9, 900]))
        return np.unique(
            [first, *inner, *range(first, min(first + int(self._rng.integers(9)), stop)), stop]
        )


RANGES = {
    "integer": [(0, 0), (0, 1), (-5, 10**15), (3, 1000)],
    "number": [(0, 1e-9), (0.25, 0.75), (-1e12, 1e12)],
    "year": [(1900, 1901), (1900, 2100)],
    "date": [("2000-01-01", "2000-01-02"), ("0001-01-01", "9999-12-31")],
    "datetime": [("2000-01-01", "2000-01-02"), ("1900-01-01", "2100-12-31")],
}


@st.composite
def kinds(draw):
    """Kinds in which more or less is declared; some contradict themselves."""
    kind = draw(st.sampled_from(sorted(RANGES)))
    bounds = draw(st.none() | st.sampled_from(RANGES[kind]))
    own = draw(
        st.fixed_dictionaries(
            {"binning": st.sampled_from(["quantiles", "privtree", "equal-width"])},
            optional={"bins": st.sampled_from([1, 2, 32, 1000])}
            | ({"decimals": st.sampled_from([-200, -1, 0, 2, 15])} if kind == "number" else {}),
        )
    )
    own |= {"edges": "derive"} if draw(st.booleans()) else {}
    constraints = {} if bounds is None else dict(zip(("minimum", "maximum"), bounds, strict=True))
    constraints |= draw(st.sampled_from([{}, {"required": True}, {"required": "derive"}]))
    return {"type": kind, "constraints": constraints, "synthdp": own}


@settings(max_examples=examples(120), deadline=None)
@given(
    kinds(),
    st.lists(st.sampled_from(sorted(SHAPES)), min_size=1, max_size=3),
    st.sampled_from([1e-3, 5.0, 1e9]),
    st.integers(0, 2**32),
)
def test_no_answer_costs_more_or_closes_to_what_is_refused(kind, shapes, stddev, seed):
    try:
        schema = OpenSchema.from_kinds({"x": kind})
    except SchemaError:
        return
    if not schema.is_open:
        return
    answers, delta = AnyAnswers(shapes, stddev, seed), Fraction(takes_thresholds(schema), 1000)
    with patch.object(budgets, "MIN_COLUMNS", 1):  # all of it for the one column
        found = list(
            learn_columns(
                schema, answers, rho=Fraction(1), delta=delta, min_mass=10, report=lambda *_: None
            )
        )
    assert answers.rho <= 1
    assert answers.delta <= delta
    closed = schema.resolved({learnt.column.name: learnt.column for learnt in found})
    assert Schema.from_dict(closed.to_dict()).to_dict() == closed.to_dict()
    assert closed.domain.shape[0] <= schema.largest_domain.shape[0]
