"""What `synthdp.evaluate` costs: time and memory of a whole evaluation, stage by stage.

Run ``python benchmarks/evaluation.py`` from the repository root after installing the package with
its test extra. ``adult`` is looked for in ``../shared/data`` or where ``--data`` says; half of it
is held against the other half. ``made-up`` has 15 columns, 5 of numbers, and ``--rows`` rows;
``wide`` has 100 columns and a twentieth of the rows. Each is evaluated in a process of one thread:
"wall" and "cpu" are seconds, "peak" is MB, the tables included.
"""

import argparse
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from common.folders import SHARED_DATA
from common.processes import ONE_THREAD, in_a_process

from synthdp import evaluate

DATA_SETS = ("adult", "made-up", "wide")


def main() -> None:
    options = _options()
    if options.worker:
        _evaluate(*_tables(options.worker, options.data, options.rows))
        return
    print(
        f"{'data set':10} {'rows':>9} {'columns':>7} {'wall':>7} {'cpu':>7} {'peak':>7}  slowest stages (cpu)"
    )
    for name in options.data_sets:
        command = [
            sys.executable,
            __file__,
            "--worker",
            name,
            "--data",
            str(options.data),
            "--rows",
            str(options.rows),
        ]
        found = in_a_process(command, wall_seconds=1200, environment=ONE_THREAD)
        if "note" in found:
            print(f"{name:10} {found['note']}")
            continue
        figures = "{rows:>9,} {columns:>7} {wall:>7.1f} {cpu:>7.1f} {peak:>7.0f}  {stages}".format(
            **found
        )
        print(f"{name:10} {figures}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time and memory of evaluations.")
    parser.add_argument(
        "--data", type=Path, default=SHARED_DATA, help="the folder with the folder of Adult"
    )
    parser.add_argument("--data-sets", nargs="+", default=DATA_SETS, choices=DATA_SETS)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the made-up table")
    parser.add_argument("--worker", choices=DATA_SETS, help=argparse.SUPPRESS)
    return parser.parse_args()


def _tables(name: str, folder: Path, n_rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    if name == "adult":
        table = pd.read_csv(folder / "adult/adult.csv")
        return table.iloc[::2], table.iloc[1::2]
    rng = np.random.default_rng(0)
    if name == "wide":
        n_rows = max(n_rows // 20, 100)
    kinds = (10, 5) if name == "made-up" else (80, 20)
    return _made_up(n_rows, *kinds, rng), _made_up(n_rows, *kinds, rng)


def _made_up(n_rows: int, n_levels: int, n_numbers: int, rng: np.random.Generator) -> pd.DataFrame:
    """Columns that all depend on one hidden number: of 2 to 12 levels, and numbers of two decimals."""
    hidden = rng.normal(size=n_rows)
    columns: dict[str, object] = {}
    for place in range(n_levels):
        codes = np.clip(
            (hidden + rng.normal(size=n_rows)) * (1 + place % 6) / 2 + 1 + place % 6,
            0,
            1 + 2 * (place % 6),
        )
        columns[f"level {place}"] = np.array([f"level {code}" for code in range(13)], dtype=object)[
            codes.astype(int)
        ]
    for place in range(n_numbers):
        columns[f"number {place}"] = np.round(50 + 10 * hidden + 5 * rng.normal(size=n_rows), 2)
    return pd.DataFrame(columns)


class Clock:
    """A report that keeps the processor's seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage, self._since = "", time.process_time()

    def __call__(self, stage: str, _done: int, _most: int) -> None:
        now = time.process_time()
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now


def _evaluate(real: pd.DataFrame, synthetic: pd.DataFrame) -> None:
    start, cpu, clock = time.perf_counter(), time.process_time(), Clock()
    evaluate(real, synthetic, by=real.columns[0], report=clock)
    clock("", 0, 0)
    slowest = sorted(clock.seconds.items(), key=lambda found: -found[1])[:5]
    result = {
        "rows": len(real),
        "columns": len(real.columns),
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "stages": ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in slowest),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
