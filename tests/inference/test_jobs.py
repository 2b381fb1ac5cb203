"""Parts of a piece of work, done by one thread or by several at a time."""

import os
import threading

import numpy as np
import pytest
from helpers.homes import home

from synthdp.core import Coarsening, Domain, LinearMeasurement, ParameterError
from synthdp.inference import (
    FitStatus,
    GraphicalModelEngine,
    PseudoMarginalModel,
    RecordMoves,
    RefinedModel,
    RowNetwork,
    each,
    sweep,
    thread_count,
)


@pytest.mark.parametrize("n_jobs", [1, 2, 9, -1])
def test_what_becomes_of_parts_is_in_order(n_jobs):
    assert each(lambda part: part * part, range(7), n_jobs=n_jobs) == [0, 1, 4, 9, 16, 25, 36]
    assert each(str, [], n_jobs=n_jobs) == []


def test_parts_are_worked_at_at_the_same_time():
    both_are_there = threading.Barrier(2, timeout=60)
    assert each(lambda _: both_are_there.wait() >= 0, range(2), n_jobs=2) == [True, True]


def test_an_error_in_a_part_is_that_of_the_whole():
    with pytest.raises(ZeroDivisionError):
        each(lambda part: 1 / part, [1, 0, 2], n_jobs=2)


def test_all_cores_are_as_many_as_there_are():
    assert thread_count(-1) == os.cpu_count()
    assert thread_count(np.int64(3)) == 3


@pytest.mark.parametrize("n_jobs", [0, -2, 1.0, "2", True, None])
def test_what_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ParameterError, match=r"n_jobs is .*; give a whole number from 1, or -1"):
        thread_count(n_jobs)


DOMAIN = Domain(("a", "b", "c"), (4, 4, 2))


def loop():
    """A model whose rows are moved: three pairs that make a loop."""
    joint = np.random.default_rng(3).dirichlet(np.full(32, 0.5)).reshape(DOMAIN.shape)
    return PseudoMarginalModel(
        domain=DOMAIN,
        tables={
            ("a", "b"): joint.sum(axis=2),
            ("a", "c"): joint.sum(axis=1),
            ("b", "c"): joint.sum(axis=0),
        },
        messages={},
        constraints=[],
        total=3000.0,
        status=FitStatus(ended="optimal", n_iterations=0, loss=0.0),
    )


def refined(model):
    coarsening = Coarsening({"a": np.array([0, 0, 1, 2, 3])})
    shares = {"a": np.array([0.4, 0.6, 1.0, 1.0, 1.0])}
    domain = Domain(DOMAIN.attributes, (5, 4, 2))
    return RefinedModel(inner=model, domain=domain, coarsening=coarsening, shares=shares)


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("wrapped", [lambda model: model, refined], ids=["plain", "refined"])
def test_a_seed_draws_the_same_rows_with_any_number_of_threads(wrapped, n_jobs, monkeypatch):
    monkeypatch.setattr(home(RecordMoves), "_BLOCK_ROWS", 500)
    monkeypatch.setattr(home(RowNetwork), "_BLOCK_ROWS", 300)
    model, threads = wrapped(loop()), set()

    def kept(*args):
        threads.add(threading.get_ident())
        return sweep(*args)

    monkeypatch.setattr(home(RecordMoves), "sweep", kept)
    one = model.sample(4000, seed=1)
    assert len(threads) == 1
    np.testing.assert_array_equal(model.sample(4000, seed=1, n_jobs=n_jobs), one)
    assert n_jobs == -1 or len(threads) > 1


def test_models_of_one_thread_refuse_what_is_no_number_of_them():
    counts = LinearMeasurement(("a",), np.array([30.0, 10.0, 5.0, 5.0]), stddev=1.0)
    tree = GraphicalModelEngine().estimate(DOMAIN, [counts])
    np.testing.assert_array_equal(tree.sample(50, seed=1, n_jobs=2), tree.sample(50, seed=1))
    with pytest.raises(ParameterError, match="n_jobs is 0"):
        tree.sample(50, seed=1, n_jobs=0)
