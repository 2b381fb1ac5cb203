"""Coverage: how often intervals hold what they are about, and how wide they are, beside naive ones.

Run ``python benchmarks/intervals.py`` from the repository root after installing the package. Each
run draws a table (its number is the seed), releases it with fresh noise, and makes intervals;
docs/inference.md has what came of it. Designs:

- ``three``: 2,000 records of three binary columns, the marginal of all three measured (mechanism
  gaussian, delta n^-2); the coefficients (2, -1), intercept 0, of a logistic regression of y on x1
  and x2 that made the records. Naive is the same regression on one synthetic table as if its rows
  were records.
- ``ten``: the same among ten binary columns of 20,000 records, by mechanism auto with the default
  workload.
- ``unmeasured``: as three, but of each column alone (mechanism independent).
- ``adult``: counts of all columns and of 20 pairs of discretised Adult, released by auto. The table
  is always the same, and the noise is not. ``adult-measured``: the same, but no model of pairs is
  fitted, which intervals of what was measured do not need. ``adult-pairs``: all pairs, measured by
  mechanism gaussian. Counts are looked at at .95 only.

A line a quantity says how many runs (or counts) there were, how many had an interval, how many of
these held the truth at the levels .05 to .95, and the mean width at .95. Binomial limits at 400
runs are 93 and 97 %. Results are kept in ``benchmarks/results/intervals.csv``; runs that are there
are not run again without ``--fresh``.
"""

import argparse
import os
import warnings
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from common.folders import SHARED_DATA
from common.processes import ONE_THREAD
from common.results import FOLDER, Row, read_rows, write_rows
from scipy.special import expit, ndtr, ndtri, stdtr

from synthdp.core import CautionWarning, load_json
from synthdp.data import CodedSource, encode
from synthdp.inference import Engine, FitProblem, GraphicalModelEngine, Model
from synthdp.release import (
    Release,
    RunSettings,
    Synthesis,
    design,
    logistic_regression,
    numbers,
    summed_to,
)
from synthdp.schema import Schema

KEY = ("design", "epsilon", "run", "quantity", "method")
NUMBERS = ("counts", "given", "at .05", "at .25", "at .5", "at .75", "at .9", "at .95", "width")
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95)
COEFFICIENTS = {"intercept": 0.0, "x1": 2.0, "x2": -1.0}
N_PAIRS = 20


class ColumnsOnly(Engine):
    """Fits single columns: intervals of measured marginals need no model, and runs without one are
    quick.
    """

    name = "columns-only"

    def fit(self, problem: FitProblem) -> Model:
        columns = {name: m for m in problem.measurements for name in m.clique}
        seen = [summed_to(measurement, (name,)) for name, measurement in columns.items()]
        return GraphicalModelEngine().estimate(
            problem.domain, seen, constraints=problem.constraints
        )


def main() -> None:
    options = _options()
    os.environ |= ONE_THREAD
    rows = {} if options.fresh else read_rows(options.results, KEY)
    done = {key[:3] for key in rows}
    jobs = [(name, options.epsilon, run) for name in options.designs for run in range(options.runs)]
    jobs = [job for job in jobs if (job[0], f"{job[1]:g}", str(job[2])) not in done]
    pool = ProcessPoolExecutor(options.processes, initializer=os.nice, initargs=(10,))
    with pool if options.processes > 1 else nullcontext() as workers:
        run = partial(_run, options.data, options.m)
        for number, found in enumerate(workers.map(run, jobs) if workers else map(run, jobs), 1):
            rows |= {tuple(row[name] for name in KEY): row for row in found}
            if number % 10 == 0 or number == len(jobs):
                write_rows(options.results, rows.values(), (*KEY, *NUMBERS))
    epsilon = f"{options.epsilon:g}"
    _print(
        [
            row
            for row in rows.values()
            if row["design"] in options.designs and row["epsilon"] == epsilon
        ]
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How often intervals hold what they are about.")
    parser.add_argument(
        "--designs", nargs="+", default=["three", "ten", "unmeasured"], choices=tuple(DESIGNS)
    )
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--m", type=int, default=20, help="replicates")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--data",
        type=Path,
        default=SHARED_DATA,
        help="the folder with the folder of discretised Adult",
    )
    parser.add_argument("--results", type=Path, default=FOLDER / "intervals.csv")
    parser.add_argument("--fresh", action="store_true", help="run again what is there")
    return parser.parse_args()


class Run(NamedTuple):
    """What a design needs to know."""

    epsilon: float
    number: int
    m: int
    data: Path


def _run(data: Path, m: int, job: tuple[str, float, int]) -> list[Row]:
    name, epsilon, number = job
    warnings.simplefilter("ignore", CautionWarning)
    found = []
    for quantity, method, reached, widths in DESIGNS[name](Run(epsilon, number, m, data)):
        given = np.isfinite(reached)
        levels = [int((reached[given] <= level).sum()) for level in LEVELS]
        if name.startswith("adult"):  # looked at at one level only
            levels[:-1] = [np.nan] * len(levels[:-1])
        cells = [reached.size, int(given.sum()), *levels]
        texts = [*map(str, cells), f"{widths[given].mean() if given.any() else np.nan:.6g}"]
        key = (name, f"{epsilon:g}", str(number), quantity, method)
        found.append(dict(zip((*KEY, *NUMBERS), (*key, *texts), strict=True)))
    return found


Found = Iterator[tuple[str, str, np.ndarray, np.ndarray]]
"""A quantity, the method, and for each of its values the level of the interval that just holds it,
and the width.
"""


def three(run: Run) -> Found:
    yield from _regression(_records(2000, 3, run.number), "gaussian", run)


def unmeasured(run: Run) -> Found:
    yield from _regression(_records(2000, 3, run.number), "independent", run)


def ten(run: Run) -> Found:
    yield from _regression(_records(20_000, 10, run.number), "auto", run)


def _records(n_rows: int, n_columns: int, run: int) -> pd.DataFrame:
    """Binary columns: two fair coins, an outcome that they explain, and noisy copies of one before."""
    generator = np.random.default_rng([n_rows, n_columns, run])
    columns = {"x1": generator.integers(0, 2, n_rows), "x2": generator.integers(0, 2, n_rows)}
    odds = COEFFICIENTS["x1"] * columns["x1"] + COEFFICIENTS["x2"] * columns["x2"]
    for i in range(3, n_columns):
        copied = generator.random(n_rows) < 0.6
        columns[f"x{i}"] = np.where(
            copied, columns[f"x{(i - 1) // 2}"], generator.integers(0, 2, n_rows)
        )
    return pd.DataFrame(columns | {"y": (generator.random(n_rows) < expit(odds)).astype(np.int64)})


def _regression(frame: pd.DataFrame, mechanism: str, run: Run) -> Found:
    workload = {"marginals": [{"columns": list(frame)}]} if mechanism == "gaussian" else None
    schema = Schema.from_dict(dict.fromkeys(frame, 2))
    made = Release(
        schema=schema,
        settings=RunSettings(
            epsilon=run.epsilon,
            delta=len(frame) ** -2.0,
            mechanism=mechanism,
            workload=workload,
            adjacency="add-remove",
        ),
    ).of(CodedSource(encode(frame, schema)))
    found = made.replicates(run.m, seed=run.number).regression("y", ["x1", "x2"], kind="logistic")
    table = made.sample(seed=run.number)
    naive = logistic_regression(design(table[["x1", "x2"]], {}).values, numbers(table["y"]))
    for i, (name, truth) in enumerate(COEFFICIENTS.items()):
        row = found.loc[name]
        reached = 2 * stdtr(min(row["df"], 1e9), abs(row["estimate"] - truth) / row["stderr"]) - 1
        given = np.isfinite(row["high"])
        yield (
            name,
            "replicates",
            np.array([reached if given else np.nan]),
            np.array([row["high"] - row["low"]]),
        )
        error = np.sqrt(naive.variances[i])
        reached = 2 * ndtr(abs(naive.values[i] - truth) / error) - 1
        yield name, "naive", np.array([reached]), np.array([2 * ndtri(0.975) * error])


def adult(run: Run) -> Found:
    made, counts = _released(run, mechanism="auto")
    yield from _counts(made, counts, run.number)


def adult_measured(run: Run) -> Found:
    made, counts = _released(run, mechanism="auto", engine=ColumnsOnly())
    yield from (found for found in _counts(made, counts, run.number) if found[1] == "measured")


def adult_pairs(run: Run) -> Found:
    made, counts = _released(run, mechanism="gaussian", workload="2-way", engine=ColumnsOnly())
    yield from _counts(made, counts, run.number)


def _released(
    run: Run, *, mechanism: str, workload: str | None = None, engine: Engine | None = None
) -> tuple[Synthesis, Any]:
    """A release of Adult, and its exact counts."""
    source, schema, counts = _adult(run.data)
    settings = RunSettings(
        epsilon=run.epsilon,
        delta=1e-9,
        mechanism=mechanism,
        workload=workload,
        engine=engine,
        adjacency="add-remove",
    )
    return Release(schema=schema, settings=settings).of(source), counts


def _counts(made: Synthesis, counts: Any, run: int) -> Found:
    generator = np.random.default_rng(run)
    pairs = list(combinations(made.schema.names, 2))
    chosen = [pairs[i] for i in generator.choice(len(pairs), N_PAIRS, replace=False)]
    parts: dict[str, list[tuple[np.ndarray, np.ndarray]]] = defaultdict(list)
    for clique in [*((name,) for name in made.schema.names), *chosen]:
        truth = counts(clique).ravel()
        held = made.marginal(clique, interval=LEVELS[-1])
        is_held = ((held["low"] <= truth) & (truth <= held["high"])).to_numpy()
        reached = np.where(is_held, LEVELS[-1], 1.0)
        width = (held["high"] - held["low"]).to_numpy()
        for basis in ("measured", "model"):
            for what, where in (("with records", truth > 0), ("empty", truth == 0)):
                chosen_cells = where & (held["basis"] == basis).to_numpy()
                if chosen_cells.any():
                    name = f"{len(clique)}-way, {what}"
                    parts[f"{name}|{basis}"].append((reached[chosen_cells], width[chosen_cells]))
    for key, found in parts.items():
        quantity, basis = key.split("|")
        yield quantity, basis, *map(np.concatenate, zip(*found, strict=True))


@cache
def _adult(data: Path) -> tuple[CodedSource, Schema, Any]:
    folder = data / "adult-discretized"
    if not (folder / "adult.csv").exists():
        raise SystemExit(f"{folder} holds no adult.csv; name the folder with --data")
    schema = Schema.from_dict(load_json(folder / "domain.json", "schema"))
    source = CodedSource(encode(pd.read_csv(folder / "adult.csv"), schema))
    return source, schema, cache(source.counts)


DESIGNS = {
    "three": three,
    "ten": ten,
    "unmeasured": unmeasured,
    "adult": adult,
    "adult-measured": adult_measured,
    "adult-pairs": adult_pairs,
}


def _print(rows: list[Row]) -> None:
    sums: dict[tuple[str, ...], list[list[float]]] = defaultdict(list)
    for row in rows:
        sums[row["design"], row["quantity"], row["method"]].append(
            [float(row[name]) for name in NUMBERS]
        )
    levels = " ".join(f"{level:6g}" for level in LEVELS)
    print(
        f"{'design':12} {'quantity':22} {'method':11} {'counts':>7} {'given':>7} {levels} {'width':>8}"
    )
    for key, found in sums.items():
        table = np.array(found)
        counts, given = table[:, 0].sum(), table[:, 1].sum()
        shares = table[:, 2:8].sum(axis=0) / given if given else np.full(len(LEVELS), np.nan)
        width = np.nansum(table[:, 8] * table[:, 1]) / given if given else np.nan
        print(f"{key[0]:12} {key[1]:22} {key[2]:11} {counts:7.0f} {given:7.0f}", end=" ")
        print(*(f"{share:6.3f}" for share in shares), f"{width:8.4g}")


if __name__ == "__main__":
    main()
