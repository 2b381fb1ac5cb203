"""Released numbers, moments and durations in dtypes of numpy and pandas, clipped to what these can
hold.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""How many of each unit of moments and durations are a second."""

_LAST = 2**63 - 2**10
"""The largest float below 2**63 is the last count of units that int64 and floats both hold."""

_MARGIN = 2 * 86_400
"""So many seconds before the ends, moments have a local time in every zone."""


def numbers(values: pd.Series, dtype: Any) -> pd.Series:
    """Numbers or truth values in a dtype; in pandas' nullable sibling if values may be missing and
    it cannot say so.
    """
    plain = np.dtype(getattr(dtype, "numpy_dtype", dtype))
    nullable = isinstance(values.dtype, pd.api.extensions.ExtensionDtype)
    if isinstance(dtype, np.dtype) and plain.kind in "biu" and nullable:
        if plain.kind == "b":
            dtype = "boolean"
        else:
            dtype = plain.name.replace("i", "I", 1).replace("uI", "UI", 1)
    if plain.kind == "f":
        ends = np.finfo(plain)
        values = values.clip(float(ends.min), float(ends.max))
    elif plain.kind != "b":
        whole = np.iinfo(plain)
        values = values.clip(max(whole.min, -(2**63)), min(whole.max, 2**63 - 1))
    return values.astype(dtype)


def moments(values: pd.Series, unit: str) -> pd.Series:
    """Moments in a unit, NaT where missing."""
    seconds = values.to_numpy(dtype="datetime64[s]")
    limit = (2**63 - 1) // PER_SECOND[unit] - _MARGIN
    counted = np.clip(seconds.astype(np.int64), -limit, limit) * PER_SECOND[unit]
    return pd.Series(_unless_missing(counted, np.isnat(seconds)).view(f"datetime64[{unit}]"))


def durations(values: pd.Series, unit: str) -> pd.Series:
    """Seconds as durations in a unit, NaT where missing."""
    seconds = values.to_numpy(dtype=np.float64, na_value=np.nan)
    missing = np.isnan(seconds)
    limit = _LAST / PER_SECOND[unit]
    counted = np.round(np.clip(np.where(missing, 0.0, seconds), -limit, limit) * PER_SECOND[unit])
    counted = np.clip(counted, -_LAST, _LAST).astype(np.int64)
    return pd.Series(_unless_missing(counted, missing).view(f"timedelta64[{unit}]"))


def _unless_missing(counted: NDArray[np.int64], missing: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.where(missing, np.iinfo(np.int64).min, counted)
