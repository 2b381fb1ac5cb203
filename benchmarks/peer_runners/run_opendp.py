"""OpenDP: the contingency table of its extra ``mbi``, by AIM or MST."""

import sys
from fractions import Fraction
from typing import Any

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
            cuts[name] = upper_edges(column)
    context = dp.Context.compositor(
        data=pl.from_pandas(job.frame()).lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=job.rho),
    )
    rho = job.rho if sys.argv[2] == "aim" else _accepted_by_mst(job)
    query = context.query(rho=rho).select(*job.columns)
    table = query.contingency_table(keys=keys, cuts=cuts, algorithm=algorithm).release()
    rows = table.synthesize(rows=job.n_rows).to_pandas()
    return Answer(
        _within_bounds(rows, job),
        [f"{BINS} equal bins between public bounds", "ends clipped to the bounds"],
    )


def upper_edges(column: dict[str, Any]) -> list[float]:
    """Edges between equal bins, each of which belongs to the bin below; of integers they are such."""
    edges = np.linspace(column["minimum"], column["maximum"], BINS + 1)[1:-1]
    if column["type"] == "integer":
        return sorted({int(edge) for edge in np.ceil(edges) - 1.0})
    return edges.tolist()


def _accepted_by_mst(job: Job) -> float:
    """The largest of rho, and of what is a little less, that its MST takes.

    It gives each of its choices an equal part, and refuses the budget if the parts, rounded up as
    they are added, come to more than the whole; for most budgets they do, by one rounding.
    """
    n_choices = len(job.columns) - 1
    for step in range(1000):
        rho = job.rho * (1.0 - 1e-9 * step)
        for_pairs = _just_below(rho - rho * 0.5)
        for_choices = _just_below(for_pairs - for_pairs * 0.9)
        each = float(np.nextafter(for_choices / n_choices, -np.inf))
        if _sum_rounded_up([each] * n_choices) <= for_choices:
            return rho
    return job.rho  # of some numbers of columns it takes none, and says so


def _just_below(number: float) -> float:
    return float(np.nextafter(np.nextafter(number, -np.inf), -np.inf))


def _sum_rounded_up(numbers: list[float]) -> float:
    total = 0.0
    for number in numbers:
        exact = Fraction(total) + Fraction(number)
        total += number
        if Fraction(total) < exact:
            total = float(np.nextafter(total, np.inf))
    return total


def _within_bounds(rows: pd.DataFrame, job: Job) -> pd.DataFrame:
    for name, column in job.columns.items():
        if "levels" not in column:
            values = pd.to_numeric(rows[name], errors="coerce")
            values = values.clip(column["minimum"], column["maximum"])
            rows[name] = values.round() if column["type"] == "integer" else values
    return rows[list(job.columns)]


if __name__ == "__main__":
    run("opendp", synthesize)
