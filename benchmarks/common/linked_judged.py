"""A description by which linked tables are judged in values, whatever bins they were made with."""

from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd

from common.linked_sets import Tables
from synthdp.linked import Package

N_BINS = 10
"""Bins of a column of numbers, each with about as many true rows."""


def in_deciles(package: Package, true: Tables) -> Package:
    """The package without rules, its numbers in bins that hold about a tenth of the true rows each.

    It is read off the true tables, and good for judging only.
    """
    content: dict[str, Any] = deepcopy(dict(package.content))
    content["synthdp"] = {"root": package.root.name}
    for resource in content["resources"]:
        if resource["name"] not in true:
            continue
        for key in ("unique", "increasing", "limits"):
            resource.get("synthdp", {}).pop(key, None)
        resource["schema"].pop("synthdp", None)
        keys = package[resource["name"]].keys
        for field in resource["schema"]["fields"]:
            if field["type"] in ("integer", "number") and field["name"] not in keys:
                _split(field, true[resource["name"]][field["name"]])
    return Package.from_dict(content)


def _split(field: dict[str, Any], values: pd.Series) -> None:
    numbers = pd.to_numeric(values).dropna().to_numpy(np.float64)
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, N_BINS + 1), method="nearest"))
    plain = edges.astype(np.int64).tolist() if field["type"] == "integer" else edges.tolist()
    required = {"required": field.get("constraints", {}).get("required", False)}
    field["constraints"] = {**required, "minimum": plain[0], "maximum": plain[-1]}
    field["synthdp"] = {"edges": plain}
