"""A mechanism on a wide made-up table: seconds, peak memory, and how many planted dependencies it
found.

Run ``python benchmarks/scale.py`` from the repository root after installing the package. Each
column has 2 to 20 levels and depends on an earlier one (one in five: on two) with a strength
between 0.2 and 0.8. What is planted are the pairs of a column and one that it depends on (two
parents are independent of each other); a pair is found when it lies inside a measured clique.

With ``--growth`` what it costs is measured against rows, columns and epsilon, one of them at a time
and each run in a fork (so this needs Linux): CPU seconds of the release, and the megabytes that the
process took for table and release together, medians over seeds, for single runs may take far longer
("longest"). "exponent" is the slope of a straight line through the logarithms: 1 is in proportion.
It is drawn, too, if matplotlib is installed.
"""

import argparse
import time
from collections.abc import Mapping
from functools import cache, partial
from itertools import combinations
from pathlib import Path

import numpy as np
from common.drawing import draw_growth
from common.made_up import schema_of, wide
from common.processes import Result, in_a_fork, peak_mb
from common.results import FOLDER

from synthdp.data import CodedSource, CodedTable
from synthdp.privacy import Adjacency
from synthdp.release import Release, RunSettings, Synthesis

ALONE = {"mechanism": "clique-tree", "rows": 1_000_000, "columns": 100, "seeds": 1}
MIDDLE = {"mechanism": "auto", "rows": 100_000, "columns": 32, "seeds": 3}
"""With ``--growth``: what stays as it is while something else grows."""

GROWING = {
    "rows": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "columns": (10, 18, 32, 56, 100),
    "epsilon": (0.1, 0.3, 1.0, 3.0, 10.0),
}
COSTS = ("cpu s", "MB")


def main() -> None:
    options = _options()
    if options.growth:
        _print_growth(options)
        return
    print(
        f"{'seed':>4}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}{'measured':>10}{'found':>9}{'planted':>9}"
    )
    for seed in range(options.seeds):
        table, planted = wide(options.columns, options.rows, seed)
        wall, cpu = time.perf_counter(), time.process_time()
        measured = [
            measurement.clique
            for measurement in _released(options, table, options.epsilon).measurements
        ]
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        pairs = {frozenset(pair) for clique in measured for pair in combinations(clique, 2)}
        found = sum(frozenset(pair) in pairs for pair in planted)
        peak = peak_mb()
        n_wide = sum(len(clique) > 1 for clique in measured)
        print(
            f"{seed:4}{wall:9.1f}{cpu:9.1f}{peak:9.0f}{n_wide:10}{found / len(planted):9.1%}{len(planted):9}"
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Time, memory and planted dependencies found on a wide table."
    )
    for name, alone in ALONE.items():
        said = f"default: {alone}; with --growth: {MIDDLE[name]}"
        parser.add_argument(f"--{name}", type=type(alone), help=said)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--engine", help="default: the one that the mechanism is meant for")
    parser.add_argument(
        "--growth", action="store_true", help="costs against rows, columns and epsilon instead"
    )
    parser.add_argument(
        "--limit", type=int, default=900, help="with --growth: CPU seconds for each run"
    )
    parser.add_argument(
        "--plot", type=Path, default=FOLDER / "growth.png", help="with --growth: where it is drawn"
    )
    options = parser.parse_args()
    for name, value in (MIDDLE if options.growth else ALONE).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def _released(options: argparse.Namespace, table: CodedTable, epsilon: float) -> Synthesis:
    release = Release(
        schema=schema_of(table.domain),
        settings=RunSettings(
            epsilon=epsilon,
            delta=options.delta,
            mechanism=options.mechanism,
            engine=options.engine,
            adjacency=Adjacency.ADD_REMOVE,
        ),
    )
    return release.of(CodedSource(table))


def _print_growth(options: argparse.Namespace) -> None:
    """Print and draw the costs of each setting, and how they grow."""
    middle = {name: getattr(options, name) for name in GROWING}
    print(
        f"{options.mechanism}: {middle['rows']} rows, {middle['columns']} columns, epsilon {middle['epsilon']:g}"
    )
    print(
        f"unless said; median of {options.seeds} runs, and CPU seconds of the longest that ended by itself"
    )
    _released(options, wide(6, 1000, 0)[0], 1.0)  # imports what the mechanism imports when it runs
    runs_of = cache(partial(_runs, options))
    growth: dict[str, dict[str, dict[float, float]]] = {cost: {} for cost in COSTS}
    for name, values in GROWING.items():
        print(f"\n{name:>9}", *(f"{heading:>9}" for heading in (*COSTS, "longest")))
        lines: dict[str, dict[float, float]] = {cost: {} for cost in COSTS}
        for value in values:
            runs = runs_of(**(middle | {name: value}))
            for cost in COSTS if runs else ():
                lines[cost][value] = float(np.median([run[cost] for run in runs]))
            figures = (
                [lines[cost][value] for cost in COSTS] + [max(run["cpu s"] for run in runs)]
                if runs
                else []
            )
            print(
                f"{value:>9g}",
                *(f"{figure:>9.3g}" for figure in figures) if runs else ("no run ended",),
                flush=True,
            )
        print(f"{'exponent':>9}", *(f"{exponent(line):>9.2f}" for line in lines.values()))
        for cost, line in lines.items():
            growth[cost][
                f"{name} {values[0]:g} to {values[-1]:g}: exponent {exponent(line):.2f}"
            ] = line
    draw_growth(growth, options.plot)


def exponent(costs: Mapping[float, float]) -> float:
    """The ``b`` for which costs are closest to ``a * x**b``, by least squares of logarithms; NaN if
    there are too few.

    >>> round(exponent({1: 5.0, 10: 50.0, 100: 500.0}), 9)
    1.0
    """
    if len(costs) < 2:
        return float("nan")
    return float(np.polyfit(np.log(list(costs)), np.log(list(costs.values())), 1)[0])


def _runs(options: argparse.Namespace, *, rows: int, columns: int, epsilon: float) -> list[Result]:
    """`COSTS` of the runs of a setting that ended by themselves."""
    runs = (
        in_a_fork(partial(_costs, options, rows, columns, epsilon, seed), cpu_seconds=options.limit)
        for seed in range(options.seeds)
    )
    return [run for run in runs if "note" not in run]


def _costs(
    options: argparse.Namespace, rows: int, columns: int, epsilon: float, seed: int
) -> Result:
    before = peak_mb()
    table, _ = wide(columns, rows, seed)
    start = time.process_time()
    _released(options, table, epsilon)
    return dict(zip(COSTS, (time.process_time() - start, peak_mb() - before), strict=True))


if __name__ == "__main__":
    main()
