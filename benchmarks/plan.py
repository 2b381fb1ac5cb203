"""How far off a plan is: the errors that ``synthdp plan`` tells to expect, and those that runs of
`auto` have.

Run ``python benchmarks/plan.py`` from the repository root after installing the package. Tables are
those of ``mechanisms.py`` and the sample in ``data/``; delta 1e-9, one thread. Errors are mean
total variation distances of a drawn table over all columns and all pairs. "expected" is from the
domain and the number of rows alone, "ratio" the error over it.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from common.folders import SHARED_DATA
from common.processes import ONE_THREAD

os.environ |= ONE_THREAD  # before numpy is loaded

import numpy as np

from mechanisms import DATA_SETS, DELTA, FILES, loaded, mean_error
from synthdp.cli import expected_accuracy
from synthdp.core import all_k_way
from synthdp.data import CodedSource, CodedTable, read_coded
from synthdp.privacy import Adjacency
from synthdp.release import Release, RunSettings
from synthdp.schema import Schema

SAMPLE = Path(__file__).resolve().parents[1] / "data"
HEADER = ("table", "epsilon", "columns", "expected", "ratio", "pairs", "expected", "ratio")


def main() -> None:
    options = _options()
    print(f"{HEADER[0]:<8}", *(f"{name:>9}" for name in HEADER[1:]))
    ratios = []
    for data_set in options.data_sets:
        table, schema = _loaded(options, data_set)
        for epsilon in options.epsilons:
            cells: list[float] = []
            for error, expected in _compared(table, schema, epsilon, options.seeds):
                cells += [error, expected, error / expected]
            ratios += cells[2::3]
            print(f"{data_set:<8} {epsilon:>9g}", *(f"{cell:>9.4f}" for cell in cells), flush=True)
    print(f"\nratios: {min(ratios):.2f} to {max(ratios):.2f}, median {np.median(ratios):.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How far off a plan is.")
    parser.add_argument(
        "--data", type=Path, default=SHARED_DATA, help="the folder with the data sets' folders"
    )
    parser.add_argument(
        "--data-sets", nargs="+", choices=(*DATA_SETS, "census"), help="default: all that are there"
    )
    parser.add_argument("--epsilons", nargs="+", type=float, default=(0.1, 1.0, 10.0))
    parser.add_argument("--seeds", type=int, default=3, help="number of runs of each")
    options = parser.parse_args()
    lacking = [data_set for data_set in FILES if not (options.data / FILES[data_set]).exists()]
    options.data_sets = options.data_sets or [
        name for name in (*DATA_SETS, "census") if name not in lacking
    ]
    return options


def _loaded(options: argparse.Namespace, data_set: str) -> tuple[CodedTable, Schema]:
    """A data set's records and schema; of the sample without rules, which a plan does not know of."""
    if data_set != "census":
        return loaded(options, data_set)
    declared = Schema.load(SAMPLE / "census.schema.json")
    schema = Schema(declared.columns)
    return read_coded(SAMPLE / "census.csv", schema), schema


def _compared(
    table: CodedTable, schema: Schema, epsilon: float, n_runs: int
) -> Iterator[tuple[float, float]]:
    """Errors of columns, then of pairs, each with what is expected of it."""
    n_rows, truth = table.columns[0].size, CodedSource(table)
    cliques = {k: all_k_way(table.domain.attributes, k) for k in (1, 2)}
    errors: dict[int, list[float]] = {1: [], 2: []}
    for seed in range(n_runs):
        release = Release(
            schema=schema,
            settings=RunSettings(
                epsilon=epsilon, delta=DELTA, mechanism="auto", adjacency=Adjacency.ADD_REMOVE
            ),
        )
        drawn = CodedSource(
            CodedTable(table.domain, release.of(CodedSource(table)).model.sample(n_rows, seed=seed))
        )
        for k, found in errors.items():
            found.append(mean_error(truth.counts_of(cliques[k]), drawn.counts_of(cliques[k])))
    budget = release.ledger
    expected = expected_accuracy(table.domain, rho=budget.budget, rows=n_rows, unit=budget.unit)
    assert expected.pairs is not None
    yield float(np.mean(errors[1])), expected.columns
    yield float(np.mean(errors[2])), expected.pairs


if __name__ == "__main__":
    main()
