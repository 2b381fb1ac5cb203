"""Every recipe on discretised Adult, NLTCS and Titanic, over epsilon: errors, seconds, memory.

Run ``python benchmarks/mechanisms.py`` from the repository root after installing the package. The
tables are not part of the project: they are looked for in ``../shared/data``, or where ``--data``
says (folders with a table and a ``domain.json``). The workload is all 3-way marginals, delta 1e-9,
engine and accounting are those that the recipe is meant for.

"3-way" and "2-way" are mean total variation distances over all triples and pairs of columns: of the
model, and of a table with as many rows as the real one drawn from it. The noise has no seed: it is new
in every run, and the seed is that of the drawing of rows. "cpu s" is that of the release alone, with
one thread and without start-up, and "sample s" that of the drawing; "peak MB" is the most memory held up
to the end of the release, "start MB" what imports and exact counts held before.

A process for each recipe and data set reads the table, imports what the recipe needs by running it
on a corner of the table, and forks once a run (so this needs Linux). A run is ended after
``--limit`` CPU seconds, errors included. Results are kept in ``benchmarks/results/mechanisms.csv``:
what is there, ended at the limit or not, is not run again without ``--fresh``. They are drawn as
``mechanisms.png`` beside it if matplotlib is installed (``pip install matplotlib``).
"""

import argparse
import csv
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import all_k_way
from synthdp.errors import SynthdpError
from synthdp.evaluation.marginal_error import total_variation
from synthdp.privacy.unit import Adjacency
from synthdp.release.registry import MECHANISMS
from synthdp.release.release import Release
from synthdp.release.synthesis import Synthesis
from synthdp.table.records.codec import CodedTable
from synthdp.table.records.coded_source import CodedSource
from synthdp.table.records.loading import read_coded
from synthdp.table.schema.schema import Schema

FILES = {"adult": "adult-discretized/adult.csv", "nltcs": "nltcs/nltcs.csv", "titanic": "titanic/titanic.csv"}
RECIPES = ("aim", "auto", "clique-tree", "mst", "mwem-pgm", "privbayes", "rap", "gaussian", "independent")
EPSILONS, DELTA, BASELINE, MOST_MEMORY = (0.1, 0.3, 1.0, 3.0, 10.0), 1e-9, "aim", 12 * 10**9
RESULTS = Path(__file__).parent / "results" / "mechanisms.csv"
KEY = ("data set", "recipe", "epsilon", "seed")
ERRORS = ("model 3-way", "table 3-way", "model 2-way", "table 2-way")
NUMBERS = (*ERRORS, "cpu s", "sample s", "peak MB", "start MB")
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

Row = dict[str, str]
Rows = dict[tuple[str, ...], Row]


def main() -> None:
    options = _options()
    if options.worker:
        _work(options, *options.worker)
        return
    rows = _read(options.results)
    seeds = [str(seed) for seed in range(options.seeds)]
    epsilons = [f"{epsilon:g}" for epsilon in options.epsilons]
    for data_set in options.data_sets:
        for recipe in options.recipes:
            runs = [(epsilon, seed) for epsilon in epsilons for seed in seeds]
            missing = [run for run in runs if options.fresh or (data_set, recipe, *run) not in rows]
            for row in _apart(options, data_set, recipe, missing) if missing else ():
                rows[tuple(row[name] for name in KEY)] = row
                _write(options.results, rows.values())
    wanted = {key: row for key, row in rows.items() if key[3] in seeds and key[2] in epsilons}
    settings = [(data_set, epsilon) for data_set in options.data_sets for epsilon in epsilons]
    means = _print_table(options.recipes, settings, wanted)
    _print_summary(options.recipes, settings, means)
    _draw(options, wanted)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Every recipe on three tables, over epsilon.")
    default = Path(__file__).resolve().parents[2] / "shared/data"
    parser.add_argument("--data", type=Path, default=default, help="the folder with the data sets' folders")
    parser.add_argument("--data-sets", nargs="+", default=tuple(FILES), choices=tuple(FILES))
    parser.add_argument("--recipes", nargs="+", default=RECIPES, choices=tuple(MECHANISMS))
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=5, help="number of runs of each")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds for each run")
    parser.add_argument("--fresh", action="store_true", help="run again what is in the results")
    parser.add_argument("--results", type=Path, default=RESULTS, help="CSV file; the plot is written beside it")
    parser.add_argument("--worker", nargs=2, metavar=("DATA SET", "RECIPE"), help="--runs in this process, as JSON")
    parser.add_argument("--runs", nargs="+", metavar="EPSILON/SEED", help="with --worker: what to run")
    options = parser.parse_args()
    for file in (options.data / FILES[data_set] for data_set in options.data_sets):
        if not file.exists():
            parser.error(f"{file} is not there; name the folder of the data sets with --data")
    return options


def _apart(options: argparse.Namespace, data_set: str, recipe: str, runs: Iterable[tuple[str, str]]) -> Iterator[Row]:
    """Results of the runs as they come, from a process of their own."""
    command = [sys.executable, __file__, "--data", str(options.data), "--limit", str(options.limit)]
    command += ["--worker", data_set, recipe, "--runs", *map("/".join, runs)]
    print(f"running {recipe} on {data_set} ...", file=sys.stderr)
    with subprocess.Popen(command, env=os.environ | ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            row = {name: str(value) for name, value in json.loads(line).items()}
            print(f"  {row['epsilon']} {row['seed']}: {row.get('cpu s') or row['note']:.6}", file=sys.stderr)
            yield row
    if process.returncode != 0:
        raise SystemExit(f"{recipe} on {data_set} stopped; what ended is in {options.results}")


def _work(options: argparse.Namespace, data_set: str, recipe: str) -> None:
    """All runs of one recipe on one data set, each in a fork; a line of JSON for each."""
    file = options.data / FILES[data_set]
    schema = Schema.from_dict(json.loads((file.parent / "domain.json").read_text()))
    table = read_coded(file, schema)
    cliques = [clique for k in (3, 2) for clique in all_k_way(table.domain.attributes, k)]
    truth = list(CodedSource(table).counts_of(cliques))
    _warm_up(table, schema, recipe)
    for run in options.runs:
        epsilon, seed = run.split("/")
        key = dict(zip(KEY, (data_set, recipe, epsilon, seed), strict=True))
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit + 5))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
            print(json.dumps(key | _one(table, schema, recipe, float(epsilon), int(seed), truth)), flush=True)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != 0:
            note = f"> {options.limit} s" if code == -signal.SIGXCPU else f"failed ({code})"
            print(json.dumps(key | {"note": note}), flush=True)


def _warm_up(table: CodedTable, schema: Schema, recipe: str) -> None:
    """Import what the recipe imports when it runs."""
    names = schema.names[:4]
    few = Schema(tuple(column for column in schema.columns if column.name in names))
    corner = CodedTable(table.domain.project(names), tuple(column[:100] for column in table.columns[:4]))
    released = _released(corner, few, recipe, 1.0)
    released.model.marginals(all_k_way(names, 2))
    released.model.sample(10, seed=0)


def _released(table: CodedTable, schema: Schema, recipe: str, epsilon: float) -> Synthesis:
    release = Release(
        schema=schema,
        epsilon=epsilon,
        delta=DELTA,
        mechanism=recipe,
        workload="3-way",
        adjacency=Adjacency.ADD_REMOVE,
    )
    return release.of(CodedSource(table))


def _one(
    table: CodedTable, schema: Schema, recipe: str, epsilon: float, seed: int, truth: Sequence[NDArray[np.int64]]
) -> dict[str, float | str]:
    """Costs and errors of one run."""
    row: dict[str, float | str] = {"start MB": _peak_mb()}
    try:
        start = time.process_time()
        model = _released(table, schema, recipe, epsilon).model
        row |= {"cpu s": time.process_time() - start, "peak MB": _peak_mb()}
        start = time.process_time()
        drawn = model.sample(table.columns[0].size, seed=seed)
        row["sample s"] = time.process_time() - start
        source = CodedSource(CodedTable(table.domain, drawn))
        for k in (3, 2):
            cliques = all_k_way(table.domain.attributes, k)
            true = [counts for counts in truth if counts.ndim == k]
            row[f"model {k}-way"] = _error(true, (marginal.values for marginal in model.marginals(cliques)))
            row[f"table {k}-way"] = _error(true, source.counts_of(cliques))
    except (SynthdpError, MemoryError) as error:
        return {"note": f"{type(error).__name__}: {error!s:.100}"}
    return row | {"note": ""}


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _error(truth: Iterable[NDArray[np.int64]], found: Iterable[NDArray[np.number]]) -> float:
    return float(np.mean([total_variation(left, right) for left, right in zip(truth, found, strict=True)]))


def _print_table(
    recipes: Iterable[str], settings: Sequence[tuple[str, str]], rows: Rows
) -> dict[tuple[str, str, str], dict[str, float]]:
    """Print a row for each recipe and setting; returns the means of those where a run ended."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    print(f"all 3-way marginals, delta {DELTA}: mean (standard deviation) of the runs that ended")
    print(f"{'recipe':<12} {'data set':<8} {'epsilon':>7} {'runs':>4}", *(f"{name:>18}" for name in NUMBERS), " notes")
    for recipe in recipes:
        for data_set, epsilon in settings:
            mine = [row for key, row in rows.items() if key[:3] == (data_set, recipe, epsilon)]
            ended = [[float(row[name]) for name in NUMBERS] for row in mine if row.get("cpu s")]
            cells = ["-"] * len(NUMBERS)
            if ended:
                means, spreads = np.mean(ended, axis=0), np.std(ended, axis=0)
                cells = [f"{mean:.4g} ({spread:.2g})" for mean, spread in zip(means, spreads, strict=True)]
                found[recipe, data_set, epsilon] = dict(zip(NUMBERS, means.tolist(), strict=True))
            notes = "; ".join(dict.fromkeys(row["note"] for row in mine if row.get("note")))
            first = f"{recipe:<12} {data_set:<8} {epsilon:>7} {len(ended):>4}"
            print(first, *(f"{cell:>18}" for cell in cells), f" {notes}".rstrip())
    return found


def _print_summary(
    recipes: Iterable[str],
    settings: Sequence[tuple[str, str]],
    means: dict[tuple[str, str, str], dict[str, float]],
) -> None:
    """Print how each recipe compares with the baseline where both have runs that ended."""
    print(f"\nagainst {BASELINE}: ratios of means, over data sets and epsilons where runs of both ended")
    print(
        f"{'recipe':<12} {'settings':>8}", *(f"{name:>13}" for name in ("3-way (geo.)", "3-way (mean)", "cpu (geo.)"))
    )
    for recipe in recipes:
        both = [setting for setting in settings if (recipe, *setting) in means and (BASELINE, *setting) in means]
        if not both:
            print(f"{recipe:<12} {0:>8}")
            continue
        mine, theirs = ([means[name, *setting] for setting in both] for name in (recipe, BASELINE))
        errors, seconds = (
            np.array([one[name] / other[name] for one, other in zip(mine, theirs, strict=True)])
            for name in ("model 3-way", "cpu s")
        )
        figures = np.exp(np.log(errors).mean()), errors.mean(), np.exp(np.log(seconds).mean())
        worst = f"worst 3-way {errors.max():.3g} ({', '.join(both[errors.argmax()])})"
        print(f"{recipe:<12} {len(both):>8}", *(f"{figure:>13.3f}" for figure in figures), f" {worst}")


def _draw(options: argparse.Namespace, rows: Rows) -> None:
    """Draw 3-way error of the model over epsilon, a panel for each data set, a line for each recipe."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        print("\nno plot: it needs matplotlib (pip install matplotlib)")
        return
    mpl.use("Agg")
    from matplotlib import pyplot

    n_panels = len(options.data_sets)
    figure, panels = pyplot.subplots(1, n_panels, figsize=(4.6 * n_panels, 4.8), layout="constrained", squeeze=False)
    lines = {}
    for panel, data_set in zip(panels[0], options.data_sets, strict=True):
        for i, recipe in enumerate(options.recipes):
            errors: dict[float, list[float]] = defaultdict(list)
            for (one, other, epsilon, _), row in rows.items():
                if (one, other) == (data_set, recipe) and row.get("cpu s"):
                    errors[float(epsilon)].append(float(row["model 3-way"]))
            if x := sorted(errors):
                means, lowest, highest = ([end(errors[epsilon]) for epsilon in x] for end in (np.mean, min, max))
                (lines[recipe],) = panel.plot(x, means, "o-" if i < 10 else "s--", color=f"C{i % 10}", markersize=3)
                panel.fill_between(x, lowest, highest, alpha=0.15, color=f"C{i % 10}", linewidth=0)
        panel.set(xscale="log", yscale="log", title=data_set, xlabel="epsilon")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(lambda y, _: f"{y:g}" if f"{y:e}"[0] in "235" else "")
    panels[0, 0].set_ylabel("mean total variation distance, all triples (model)")
    figure.legend(lines.values(), lines, loc="outside lower center", ncols=3 * n_panels, frameon=False)
    file = options.results.with_suffix(".png")
    figure.savefig(file, dpi=150)
    print(f"\ndrawn: {file}")


def _read(results: Path) -> Rows:
    lines = results.read_text().splitlines() if results.exists() else []
    return {tuple(row[name] for name in KEY): row for row in csv.DictReader(lines)}


def _write(results: Path, rows: Iterable[Row]) -> None:
    results.parent.mkdir(exist_ok=True)
    with results.open("w", newline="") as file:
        writer = csv.DictWriter(file, (*KEY, *NUMBERS, "note"))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
