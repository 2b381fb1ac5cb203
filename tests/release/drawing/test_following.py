"""Densities that a model's bins say."""

import numpy as np
import pandas as pd

from synthdp import synthesize

FIELD = {
    "name": "x",
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 1999, "required": True},
    "synthdp": {"bins": 8},
}


def _drawn(seed: int = 0) -> pd.Series:
    rng = np.random.default_rng(0)
    values = np.clip(rng.exponential(200.0, 20_000), 0, 1999).astype(int)
    frame = pd.DataFrame({"x": values, "sex": rng.integers(0, 2, 20_000)})
    schema = {
        "fields": [
            FIELD,
            {"name": "sex", "type": "integer", "constraints": {"enum": [0, 1], "required": True}},
        ]
    }
    synthesis = synthesize(frame, schema, epsilon=10.0, delta=1e-9)
    assert "shape" not in synthesis.schema["x"].field().get("synthdp", {})
    return synthesis.sample(20_000, seed=seed)["x"]


def test_declared_bins_are_drawn_as_their_neighbours_say() -> None:
    drawn = _drawn()
    inside = drawn[drawn < 250]
    # of an exponential with mean 200 as many as 54 % of the first bin lie in its first 40 %
    assert 0.46 < (inside < 100).mean() < 0.62


def test_rows_of_batches_follow_too() -> None:
    rng = np.random.default_rng(0)
    values = np.clip(rng.exponential(200.0, 20_000), 0, 1999).astype(int)
    synthesis = synthesize(
        pd.DataFrame({"x": values}), {"fields": [FIELD]}, epsilon=10.0, delta=1e-9
    )
    drawn = synthesis.sample_batches(20_000, seed=1).read_all().to_pandas()["x"]
    assert 0.46 < (drawn[drawn < 250] < 100).mean() < 0.62


def test_a_slice_of_a_bin_is_as_large_as_its_density_says() -> None:
    rng = np.random.default_rng(0)
    values = np.clip(rng.exponential(200.0, 20_000), 0, 1999).astype(int)
    synthesis = synthesize(
        pd.DataFrame({"x": values}), {"fields": [FIELD]}, epsilon=10.0, delta=1e-9
    )
    n_rows = len(synthesis.sample(where={"x": {"maximum": 99}}, seed=0))
    assert abs(n_rows / 20_000 - 0.393) < 0.05
