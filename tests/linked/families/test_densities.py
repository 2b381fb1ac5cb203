"""Values of linked rows lie inside their bins as those of single tables do."""

import numpy as np
import pandas as pd
import pytest

import synthdp

HOMES, STAYS = 300, 3


def _package(order: bool) -> dict[str, object]:
    """Homes and their stays; what a stay costs falls steeply, and its bins are four."""
    fields = [
        {"name": "home", "type": "integer"},
        {
            "name": "cost",
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 399, "required": True},
            "synthdp": {"bins": 4},
        },
    ]
    year = {"name": "year", "type": "integer", "synthdp": {"bins": 4}}
    year["constraints"] = {"minimum": 1, "maximum": 4, "required": True}
    homes = {
        "name": "homes",
        "schema": {"fields": [{"name": "home", "type": "integer"}], "primaryKey": ["home"]},
    }
    stays = {
        "name": "stays",
        "schema": {
            "fields": [*fields, year],
            "foreignKeys": [
                {"fields": ["home"], "reference": {"resource": "homes", "fields": ["home"]}}
            ],
        },
        "synthdp": {"max_children": STAYS}
        | ({"order": "year", "increasing": ["year"]} if order else {}),
    }
    return {"resources": [homes, stays]}


@pytest.mark.parametrize("order", [False, True], ids=["no order", "order"])
def test_the_density_goes_on_from_bin_to_bin(order: bool) -> None:
    rng = np.random.default_rng(0)
    n_rows = HOMES * STAYS
    tables = {
        "homes": pd.DataFrame({"home": np.arange(HOMES)}),
        "stays": pd.DataFrame(
            {
                "home": np.repeat(np.arange(HOMES), STAYS),
                "cost": np.minimum(rng.exponential(100.0, n_rows), 399).astype(int),
                "year": np.tile(np.arange(1, STAYS + 1), HOMES),
            }
        ),
    }
    release = synthdp.synthesize(
        tables, _package(order), epsilon=100.0, delta=1e-6, mechanism="independent"
    )
    cost = release.sample(seed=0)["stays"]["cost"].to_numpy()
    inside = cost[cost < 100]
    # Of the first hundred 62 % lie in its first half; 50 % did, when bins were even.
    assert np.mean(inside < 50) > 0.56
