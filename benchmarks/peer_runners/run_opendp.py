"""OpenDP: the contingency table of its extra ``mbi``, by AIM or MST."""

import sys

import numpy as np
import pandas as pd
from job import Answer, Job, run

BINS = 16
"""It leaves edges of bins to the user: equal ones between the public bounds."""


def synthesize(job: Job) -> Answer:
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    algorithm = dp.mbi.AIM() if sys.argv[2] == "aim" else dp.mbi.MST()
    keys, cuts = {}, {}
    for name, column in job.columns.items():
        if "levels" in column:
            keys[name] = column["levels"]
        else:
            edges = np.linspace(column["minimum"], column["maximum"], BINS + 1)[1:-1]
            cuts[name] = [float(edge) for edge in edges]
    context = dp.Context.compositor(
        data=pl.from_pandas(job.frame()).lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=job.rho),
    )
    # A little less than all: its MST adds its own parts up to more than the whole, by one rounding.
    query = context.query(rho=job.rho * (1.0 - 1e-9)).select(*job.columns)
    table = query.contingency_table(keys=keys, cuts=cuts, algorithm=algorithm).release()
    rows = table.synthesize(rows=job.n_rows).to_pandas()
    return Answer(
        _within_bounds(rows, job),
        [f"{BINS} equal bins between public bounds", "ends clipped to the bounds"],
    )


def _within_bounds(rows: pd.DataFrame, job: Job) -> pd.DataFrame:
    for name, column in job.columns.items():
        if "levels" not in column:
            values = pd.to_numeric(rows[name], errors="coerce")
            values = values.clip(column["minimum"], column["maximum"])
            rows[name] = values.round() if column["type"] == "integer" else values
    return rows[list(job.columns)]


if __name__ == "__main__":
    run("opendp", synthesize)
