"""Which releases draw a target last of all."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from helpers.private_tables import private_table

import synthdp
from synthdp.core import Workload
from synthdp.inference import LayeredConsistencyEngine, TargetLastModel
from synthdp.mechanisms import Auto, Task
from synthdp.privacy import Accounting

SHAPE = (4, 4, 4, 4, 2)
N_ROWS = 4_000
NAMED = [("x0", "x4"), ("x1", "x4"), ("x2", "x4")]


def release(workload_of):
    rng = np.random.default_rng(0)
    others = [rng.integers(4, size=N_ROWS) for _ in SHAPE[:-1]]
    target = (sum(others) + rng.integers(4, size=N_ROWS) > 7).astype(np.int64)
    table = private_table(
        SHAPE, N_ROWS, rows=(*others, target), epsilon=2.0, accounting=Accounting.GDP
    )
    task = Task(workload=workload_of(table.domain), engine=LayeredConsistencyEngine())
    return Auto().release(table, task)


def test_a_target_is_drawn_last_and_what_rounds_found_stays():
    model = release(lambda domain: Workload.default(domain, target="x4"))
    assert isinstance(model, TargetLastModel)
    assert model.findings["rounds"]
    assert not model.inner.findings
    codes = model.sample(N_ROWS, seed=0)
    kept = model.inner.marginal(("x4",)).values / model.total
    assert np.bincount(codes[4]) / N_ROWS == pytest.approx(kept, abs=0.02)


@pytest.mark.parametrize(
    "workload_of",
    [
        Workload.default,
        lambda domain: Workload.from_cliques(domain, NAMED, are_named=True),
        lambda domain: Workload.all_k_way(domain, len(domain), target="x4"),
    ],
)
def test_other_releases_are_as_they_were(workload_of):
    assert not isinstance(release(workload_of), TargetLastModel)


def test_other_fits_of_what_was_measured_draw_it_last_too():
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(3, size=N_ROWS) for name in "abc"}
    columns["y"] = (sum(columns.values()) > 3).astype(np.int64)
    text = {"type": "string", "constraints": {"enum": ["0", "1", "2"], "required": True}}
    schema = {"fields": [{"name": name, **text} for name in columns]}
    found = synthdp.synthesize(
        pd.DataFrame(columns).astype(str), schema, target="y", epsilon=2, delta=1e-6
    )
    assert isinstance(found.model, TargetLastModel)
    assert isinstance(found.refit("layered-consistency").model, TargetLastModel)
    assert not isinstance(found.refit("graphical-model").model, TargetLastModel)
    assert found.model.as_fitted is found.model.inner
    assert found.model.inner.as_fitted is found.model.inner
    drawn, starts = [], []
    sample, fit = TargetLastModel.sample, LayeredConsistencyEngine.fit

    def starting(engine, problem):
        starts.append(problem.warm_start)
        return fit(engine, problem)

    with (
        patch.object(LayeredConsistencyEngine, "fit", starting),
        patch.object(
            TargetLastModel,
            "sample",
            lambda *args, **more: drawn.append(args) or sample(*args, **more),
        ),
    ):
        assert len(list(found.replicates(2, seed=0))) == 2
    assert len({id(model) for model, *_ in drawn}) == 3  # one for the centre
    assert starts[0] is found.model.inner
