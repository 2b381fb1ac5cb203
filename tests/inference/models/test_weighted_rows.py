"""The model of weighted rows: what it refuses, and files of the two kinds that it once was."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from oracles.inference import STATUS

from synthdp.core import Constraint, Domain, ParameterError
from synthdp.inference import (
    PseudoMarginalModel,
    SupportReport,
    WeightedRowsModel,
    model_from_state,
    model_to_state,
)

DOMAIN = Domain(("a", "b"), (3, 2))
ROWS = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0]])
WEIGHTS = np.array([0.5, 0.25, 0.25])
COUNTS = [[0.0, 20.0], [10.0, 0.0], [10.0, 0.0]]
ALLOWED = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
LOADED = {"ended": "stalled", "n_iterations": 7, "loss": 1.5, "caution": ""}
PLAIN = {"total": 40.0, "status": {"converged": True, "n_iterations": 7, "loss": 1.5}}
SUPPORT = {
    "missed_share": 0.0,
    "uncovered_share": 0.125,
    "chi_squared": 3.0,
    "least_chi_squared": 2.0,
    "chi_squared_limit": 40.0,
}


def check_rows(model, constraints):
    """The marginals, samples and completed records of `ROWS`."""
    assert (model.domain, model.total, asdict(model.status)) == (DOMAIN, 40.0, LOADED)
    assert model.marginal(("a", "b")).values.tolist() == COUNTS
    drawn = model.sample(8, seed=0)
    assert (
        sorted(zip(*(column.tolist() for column in drawn), strict=True))
        == [(0, 1)] * 4 + [(1, 0)] * 2 + [(2, 0)] * 2
    )
    # No row has a = 2 and b = 1, which the constraint forbids.
    given = {"a": np.full(50, 2)}
    assert set(model.complete(given, seed=0)[1].tolist()) == {0}
    if constraints:
        with pytest.raises(ParameterError, match="given"):
            model.complete({"a": np.array([2]), "b": np.array([1])})


def test_files_of_the_kind_records_load():
    state = {"kind": "records", **PLAIN, "constraints": [["a", "b"]]}
    arrays = {"records": ROWS, "weights": WEIGHTS, "allowed-0": ALLOWED}
    model = model_from_state(state, arrays, DOMAIN)
    check_rows(model, constraints=True)
    assert model.support is None


def test_files_of_records_without_constraints_load():
    model = model_from_state(
        {"kind": "records", **PLAIN}, {"records": ROWS, "weights": WEIGHTS}, DOMAIN
    )
    check_rows(model, constraints=False)


def test_files_of_the_kind_weighted_rows_load():
    state = {
        "kind": "weighted-rows",
        "cliques": [["b"]],
        **PLAIN,
        "support": SUPPORT,
        "constraints": [["a", "b"]],
    }
    arrays = {
        "rows": ROWS,
        "weights": WEIGHTS,
        "allowed-0": ALLOWED,
        "potential-0": np.array([0.5, -0.5]),
    }
    model = model_from_state(state, arrays, DOMAIN)
    check_rows(model, constraints=True)
    assert model.support == SupportReport(**SUPPORT)
    assert model.log_potentials[("b",)].tolist() == [0.5, -0.5]


def test_files_of_pseudo_marginals_with_arrays_by_their_former_name_load():
    state = {
        "kind": "pseudo-marginals",
        "regions": [["a", "b"]],
        "messages": [[[], ["a", "b"]]],
        "constraints": [["a", "b"]],
        **PLAIN,
    }
    arrays = {
        "region-0": np.array(COUNTS) / 40.0,
        "message-0": np.zeros(1),
        "constraint-0": ALLOWED,
    }
    model = model_from_state(state, arrays, DOMAIN)
    assert isinstance(model, PseudoMarginalModel)
    check_rows(model, constraints=True)


@pytest.mark.parametrize(
    "support", [None, SupportReport(**SUPPORT)], ids=["records", "public rows"]
)
def test_models_survive_being_saved(support):
    model = WeightedRowsModel(
        domain=DOMAIN,
        columns=tuple(ROWS.astype(np.int64)),
        weights=WEIGHTS,
        total=40.0,
        status=STATUS,
        constraints=[Constraint(("a", "b"), ALLOWED > 0)],
        support=support,
        log_potentials={} if support is None else {("b",): np.array([0.5, -0.5])},
    )
    state, arrays = model_to_state(model)
    assert all(array.dtype == np.float64 for array in arrays.values())
    again, more = model_to_state(model_from_state(json.loads(json.dumps(state)), arrays, DOMAIN))
    assert again == state
    assert more.keys() == arrays.keys()
    assert all(np.array_equal(more[name], arrays[name]) for name in arrays)


@pytest.mark.parametrize(
    ("columns", "weights"),
    [
        (ROWS[:1].astype(int), WEIGHTS),
        (ROWS.astype(int) + 1, WEIGHTS),
        (ROWS, WEIGHTS),
        (ROWS.astype(int), WEIGHTS[:2]),
        (ROWS.astype(int), WEIGHTS / 2),
        (ROWS.astype(int), np.array([1.5, -0.25, -0.25])),
        (ROWS.astype(int), np.array([np.nan, 0.5, 0.5])),
    ],
)
def test_rows_and_weights_that_do_not_fit_are_refused(columns, weights):
    with pytest.raises(ParameterError, match=r"^(columns|weights): "):
        WeightedRowsModel(
            domain=DOMAIN, columns=tuple(columns), weights=weights, total=1.0, status=STATUS
        )


def test_rounding_keeps_close_what_rows_share_in_whatever_order_they_are_stored():
    """The rows of a level of the first attribute follow each other, and among them those of a level
    of the next.
    """
    rng = np.random.default_rng(0)
    domain = Domain(("coin", "a", "die", "b"), (2, 9, 6, 3))
    shares = [[0.1, 0.9], np.eye(9)[0] * 0.92 + 0.08 / 9, np.full(6, 1 / 6), np.full(3, 1 / 3)]
    columns = [
        rng.choice(size, 4000, p=share) for size, share in zip(domain.shape, shares, strict=True)
    ]
    weights = rng.dirichlet(np.ones(4000))
    model = WeightedRowsModel(
        domain=domain, columns=columns, weights=weights, total=200.0, status=STATUS
    )
    for seed in range(20):
        drawn = model.sample(200, seed=seed)
        counts = np.zeros((6, 3))
        np.add.at(counts, (drawn[2], drawn[3]), 1)
        expected = model.marginal(("die", "b")).values
        assert (np.abs(counts - expected) < 1.0).all()
        assert (np.abs((counts - expected).sum(axis=1)) < 1.0).all()
