"""Every recipe on discretised Adult: error of model and table, time by phase, peak memory.

Run ``python benchmarks/recipes.py`` from the repository root after installing the package. The
table is not part of the project: it is looked for in ``../shared/data/adult-discretized``, or
where ``--data`` says (a folder with ``adult.csv`` and ``domain.json``).

For each recipe and seed the command line is run once as its users run it, alone in a process:
that gives wall time, processor time and peak memory of the whole run, start-up included, and the
model and table whose errors are printed. A second run in this process times the phases. The seed
is that of the drawing of rows; the noise has none.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from processes import measured

import synthdp
from synthdp.cliques import all_k_way
from synthdp.evaluation.marginal_error import workload_error
from synthdp.release.release import Release
from synthdp.table.records.coded_source import CodedSource
from synthdp.table.records.loading import read_coded
from synthdp.table.schema.schema import Schema

EPSILON, DELTA = 1.0, 1e-9
RECIPES = ("independent", "mst")
ERRORS = ("model 2-way", "table 2-way", "model 3-way", "table 3-way")
COSTS = ("wall s", "cpu s", "peak MB")


def main() -> None:
    options = _options()
    data = options.data
    schema = Schema.from_dict(json.loads((data / "domain.json").read_text()))
    truth = CodedSource(read_coded(data / "adult.csv", schema))
    rows: dict[str, list[list[float]]] = defaultdict(list)
    phases: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for recipe in options.recipes:
        for seed in range(options.seeds):
            rows[recipe].append(_whole_run(data, schema, truth, recipe, seed))
            for phase, seconds in _phases(data, schema, recipe, seed).items():
                phases[recipe][phase].append(seconds)
    print(f"discretised Adult, epsilon {EPSILON}, delta {DELTA}, {options.seeds} seeds: mean (standard deviation)\n")
    _print_table("recipe", (*ERRORS, *COSTS), rows)
    print("\nwall seconds by phase, in a running process: mean")
    for recipe, timings in phases.items():
        print(f"  {recipe:<12}", ", ".join(f"{phase} {np.mean(seconds):.3f}" for phase, seconds in timings.items()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Error, time and memory of every recipe on discretised Adult.")
    default = Path(__file__).resolve().parents[2] / "shared/data/adult-discretized"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--recipes", nargs="+", default=RECIPES)
    options = parser.parse_args()
    if not (options.data / "adult.csv").exists():
        parser.error(f"{options.data} holds no adult.csv; name the folder with --data")
    return options


def _whole_run(data: Path, schema: Schema, truth: CodedSource, recipe: str, seed: int) -> list[float]:
    """Errors and costs of one run of the command line."""
    with tempfile.TemporaryDirectory() as folder:
        output, model = Path(folder) / "out.csv", Path(folder) / "model.synthdp"
        command = ["run", data / "adult.csv", "-s", data / "domain.json", "-o", output, "--save", model]
        command += ["--epsilon", EPSILON, "--delta", DELTA, "--mechanism", recipe, "--seed", seed]
        costs = measured([str(Path(sys.executable).with_name("synthdp")), *map(str, command)])
        fitted = synthdp.load(model).model
        table = CodedSource(read_coded(output, schema))
    errors = []
    for k in (2, 3):
        workload = all_k_way(schema.names, k)
        errors.append(workload_error(truth.counts, lambda clique: fitted.marginal(clique).values, workload))
        errors.append(workload_error(truth.counts, table.counts, workload))
    return [*errors, *costs]


def _phases(data: Path, schema: Schema, recipe: str, seed: int) -> dict[str, float]:
    """Wall seconds of each phase of one run in this process."""
    spent: dict[str, float] = {}
    current, since = "reading", time.perf_counter()

    def enter(phase: str, _done: int = 0, _most: int = 0) -> None:
        nonlocal current, since
        now = time.perf_counter()
        spent[current] = spent.get(current, 0.0) + now - since
        current, since = phase, now

    coded = read_coded(data / "adult.csv", schema)
    enter("preparing")
    release = Release(
        schema=schema,
        epsilon=EPSILON,
        delta=DELTA,
        mechanism=recipe,
        engine="graphical-model",
        adjacency="add-remove",
    )
    synthesis = release.of(CodedSource(coded), report=enter)
    enter("sampling")
    synthesis.sample(seed=seed, text=True)
    enter("end")
    return spent


def _print_table(first: str, columns: Iterable[str], rows: dict[str, list[list[float]]]) -> None:
    print(f"{first:<12}", *(f"{column:>16}" for column in columns))
    for name, values in rows.items():
        means, spreads = np.mean(values, axis=0), np.std(values, axis=0)
        cells = (f"{mean:.4g} ({spread:.1g})" for mean, spread in zip(means, spreads, strict=True))
        print(f"{name:<12}", *(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main()
