"""A small table whose three columns hang together, for runs in which models are compared."""

import numpy as np
import pandas as pd

LEVELS = {"a": 3, "b": 4, "c": 2}
SCHEMA = {
    "fields": [
        {"name": name, "type": "integer", "constraints": {"enum": list(range(n)), "required": True}}
        for name, n in LEVELS.items()
    ]
}


def people(n, seed=3):
    rng = np.random.default_rng(seed)
    a = rng.integers(3, size=n)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(4, size=n))
    return pd.DataFrame({"a": a, "b": b, "c": (a > 0).astype(int)})
