"""Codes of a table for mechanisms that know counts only: levels, and equal bins of public bounds."""

import numpy as np
import pandas as pd
from job import Job

BINS = 16
"""They leave bins to the user: equal ones between the public bounds."""


def coded(job: Job) -> tuple[pd.DataFrame, dict[str, int]]:
    """The records as codes from 0, and the number of codes of each column."""
    frame = job.frame()
    codes, sizes = {}, {}
    for name, column in job.columns.items():
        levels = job.levels(name)
        if levels is not None:
            codes[name] = pd.Categorical(frame[name], categories=levels).codes.astype(int)
        else:
            low, high = column["minimum"], column["maximum"]
            places = (frame[name] - low) / (high - low) * BINS
            codes[name] = np.clip(places.astype(int), 0, BINS - 1)
        sizes[name] = BINS if levels is None else len(levels)
    return pd.DataFrame(codes), sizes


def decoded(codes: pd.DataFrame, job: Job) -> pd.DataFrame:
    """Levels of codes, and values that are drawn evenly from their bins."""
    rng = np.random.default_rng(job.seed)
    rows = {}
    for name, column in job.columns.items():
        levels = job.levels(name)
        if levels is not None:
            rows[name] = np.array(levels, dtype=object)[codes[name].to_numpy(dtype=int)]
            continue
        low, high = column["minimum"], column["maximum"]
        values = low + (codes[name] + rng.random(len(codes))) * (high - low) / BINS
        rows[name] = np.floor(values).astype(int) if column["type"] == "integer" else values
    return pd.DataFrame(rows)
