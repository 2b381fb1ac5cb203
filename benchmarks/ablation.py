"""What each part of `auto` is worth: errors without it, over those with all of them.

Run ``python benchmarks/ablation.py`` from the repository root after installing the package. Tables
are those of ``mechanisms.py``, delta 1e-9, one thread. Errors are mean total variation distances of
a drawn table over all triples and pairs of columns; every run has new noise, so ratios of a few
runs are good to some per cent.
"""

import argparse
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

from common.folders import SHARED_DATA
from common.processes import ONE_THREAD

os.environ |= ONE_THREAD  # before numpy is loaded

import numpy as np

from mechanisms import DATA_SETS, DELTA, EPSILONS, FILES, loaded, mean_error
from synthdp.core import all_k_way
from synthdp.data import CodedSource, CodedTable
from synthdp.mechanisms import Auto
from synthdp.mechanisms.auto import batch_plan, candidates, dependence, resolutions
from synthdp.release import Release, RunSettings
from synthdp.schema import Schema

ALL = "all parts"
VARIANTS: Mapping[str, tuple[Mapping[str, Any], str, list[tuple[object, str, object]]]] = {
    ALL: ({}, "layered-consistency", []),
    "no scores: columns only": ({"max_noise_share": 1e-9}, "layered-consistency", []),
    "second scores of pairs only": ({"max_candidates": 1}, "layered-consistency", []),
    "one batch": ({"first_share": 0.99}, "layered-consistency", []),
    "no wide cliques": ({}, "layered-consistency", [(batch_plan, "_MAX_COLUMNS", 3)]),
    "no levels merged": ({}, "layered-consistency", [(resolutions, "_MOST_GROUPS", ())]),
    "scores at all levels": ({}, "layered-consistency", [(resolutions, "_BLUR", 1e9)]),
    "all levels count alike": ({}, "layered-consistency", [(resolutions, "_RARE", 0.0)]),
    "a short search for cliques": ({}, "layered-consistency", [(batch_plan, "_MAX_ROUNDS", 8)]),
    "pairs only as parts of triples": (
        {},
        "layered-consistency",
        [(candidates, "_PAIRS_SHARE", 0.0)],
    ),
    "no prior of dependences": ({}, "layered-consistency", [(dependence, "_PRIOR_COUNT", 1e-6)]),
    "measured however useless": ({}, "layered-consistency", [(batch_plan, "_MIN_GAIN", 1e-9)]),
    "bounded by a junction tree": ({}, "graphical-model", []),
    "engine local-consistency": ({}, "local-consistency", []),
}
"""Parameters of the mechanism, its engine, and constants that are replaced."""


def main() -> None:
    parser = argparse.ArgumentParser(description="What each part of auto is worth.")
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--data-sets", nargs="+", choices=DATA_SETS)
    parser.add_argument(
        "--epsilons", nargs="+", type=float, default=(0.3, 1.0, 10.0), metavar=f"one of {EPSILONS}"
    )
    parser.add_argument("--variants", nargs="+", choices=tuple(VARIANTS), default=tuple(VARIANTS))
    parser.add_argument("--seeds", type=int, default=3, help="number of runs of each")
    options = parser.parse_args()
    there = [
        name for name in DATA_SETS if name not in FILES or (options.data / FILES[name]).exists()
    ]
    print(
        f"{'data set':<10}{'epsilon':>8}  {'variant':<28}",
        *(f"{name:>9}" for name in ("3-way", "2-way", "ratio 3", "ratio 2")),
        f"{'cpu s':>8}",
        sep="",
    )
    for data_set in options.data_sets or there:
        table, schema = loaded(options, data_set)
        for epsilon in options.epsilons:
            whole: np.ndarray | None = None
            for name in dict.fromkeys((ALL, *options.variants)):
                runs = np.mean(
                    [
                        list(run(table, schema, epsilon, name, seed))
                        for seed in range(options.seeds)
                    ],
                    axis=0,
                )
                whole = runs if whole is None else whole
                ratios = runs[:2] / whole[:2]
                cells = (
                    *(f"{value:9.4f}" for value in runs[:2]),
                    *(f"{value:9.3f}" for value in ratios),
                )
                print(
                    f"{data_set:<10}{epsilon:8g}  {name:<28}",
                    *cells,
                    f"{runs[2]:8.1f}",
                    sep="",
                    flush=True,
                )


def run(
    table: CodedTable, schema: Schema, epsilon: float, variant: str, seed: int
) -> Iterator[float]:
    """Mean errors of triples and pairs of one drawn table, and the seconds that it took."""
    parameters, engine, constants = VARIANTS[variant]
    mechanism, start = Auto(**parameters), time.process_time()
    with ExitStack() as replaced:
        for module, name, value in constants:
            replaced.enter_context(mock.patch.object(module, name, value))
        settings = RunSettings(
            epsilon=epsilon, delta=DELTA, mechanism=mechanism, engine=engine, workload="3-way"
        )
        model = Release(schema=schema, settings=settings).of(CodedSource(table)).model
    drawn = CodedSource(CodedTable(table.domain, model.sample(table.columns[0].size, seed=seed)))
    seconds = time.process_time() - start
    for k in (3, 2):
        cliques = all_k_way(table.domain.attributes, k)
        yield mean_error(CodedSource(table).counts_of(cliques), drawn.counts_of(cliques))
    yield seconds


if __name__ == "__main__":
    main()
