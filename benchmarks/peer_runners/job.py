"""What a runner is asked, and what it answers: the only words that peers and the benchmark share.

A runner is a script that is run as ``python run_NAME.py job.json`` in an environment that has its
peer and pandas, and need not have synthdp. It reads the table, writes as many synthetic rows as the
job asks for, and says what that took.
"""

import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

_PER_MB = 2.0**20 if sys.platform == "darwin" else 2.0**10
"""Units of ``ru_maxrss`` in a megabyte."""


@dataclass(frozen=True)
class Job:
    """One run.

    Parameters
    ----------
    table
        CSV file of the records.
    columns
        What is public of each: ``{"levels": [...]}``, or ``{"type": "integer" or "number",
        "minimum": ..., "maximum": ...}``.
    epsilon, delta
        The guarantee, for adding or removing one record.
    n_rows
        Number of rows to write.
    settings
        ``"default"`` or ``"best"``: what the peer's documentation recommends for quality.
    target
        The column that is to be predicted, for peers that can be told.
    output
        CSV file of the rows.
    limit
        CPU seconds after which the run is ended.
    """

    table: str
    columns: dict[str, dict[str, Any]]
    epsilon: float
    delta: float
    seed: int
    n_rows: int
    settings: str
    target: str
    output: str
    limit: int = 900

    @property
    def rho(self) -> float:
        """The zCDP whose epsilon and delta these are [CKS20, corollary 13]."""
        low, high = 0.0, self.epsilon + 1.0
        for _ in range(200):
            middle = (low + high) / 2.0
            if _delta_of(middle, self.epsilon) <= self.delta:
                low = middle
            else:
                high = middle
        return low

    def levels(self, name: str) -> list[str] | None:
        """The public levels of a column; None if it holds numbers."""
        return self.columns[name].get("levels")

    def frame(self) -> pd.DataFrame:
        """The records: text, and numbers as their type says."""
        types = {name: _dtype(column) for name, column in self.columns.items()}
        return pd.read_csv(self.table, dtype=types, keep_default_na=False)[list(self.columns)]


@dataclass
class Answer:
    """Synthetic rows, and what there is to say of how they came about.

    Parameters
    ----------
    rows
        The synthetic rows, columns as in the job.
    remarks
        What was handed over or read that is not private, or not the peer's own default.
    """

    rows: pd.DataFrame
    remarks: list[str] = field(default_factory=list)


def run(package: str, synthesize: Callable[[Job], Answer]) -> None:
    """Read the job, time its synthesis on one core, write rows, and print the answer as JSON."""
    job = Job(**json.loads(Path(sys.argv[1]).read_text()))
    if hasattr(os, "sched_setaffinity"):  # macOS pins nothing
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    resource.setrlimit(resource.RLIMIT_CPU, (job.limit, job.limit + 5))
    started, cpu = time.perf_counter(), time.process_time()
    answer = synthesize(job)
    figures = {
        "seconds": time.perf_counter() - started,
        "cpu s": time.process_time() - cpu,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _PER_MB,
        "version": _version(package),
        "remarks": "; ".join(answer.remarks),
    }
    answer.rows.to_csv(job.output, index=False)
    print(json.dumps(figures))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "a checkout"


def _dtype(column: dict[str, Any]) -> str:
    if "levels" in column:
        return "str"
    return "int64" if column["type"] == "integer" else "float64"


def _delta_of(rho: float, epsilon: float) -> float:
    """The smallest delta that a Renyi order gives, on a grid of orders."""
    if rho == 0.0:
        return 0.0
    best = 0.0
    for step in range(1, 4000):
        order = 1.0 + 1.01**step / 1e3
        exponent = (order - 1.0) * (order * rho - epsilon) + order * math.log1p(-1.0 / order)
        best = min(best, exponent - math.log(order - 1.0))
        if order > 1e6:
            break
    return math.exp(best)
