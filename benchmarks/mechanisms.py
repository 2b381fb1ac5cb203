"""Every mechanism on five tables, over epsilon: errors, seconds by phase, memory.

Run ``python benchmarks/mechanisms.py`` from the repository root after installing the package.
Discretised Adult, NLTCS and Titanic are not part of the project: they are looked for in
``../shared/data``, or where ``--data`` says (folders with a table and a ``domain.json``), and left
out if they are not there and not asked for. ``visits`` and ``survey`` are made up
(``common/made_up.py``). The workload is all 3-way marginals, delta 1e-9, engine and accounting are
those that the mechanism is meant for.

"3-way" and "2-way" are mean total variation distances over all triples and pairs of columns: of the
model, and of a table with as many rows as the real one drawn from it. The noise has no seed: it is
new in every run, and the seed is that of the drawing of rows. "cpu s" is that of the release alone,
with one thread and without start-up, and "sample s" that of the drawing; "peak MB" is the most
memory held up to the end of the release, "start MB" what imports and exact counts held before.

A process for each mechanism and data set reads or makes the table, imports what the mechanism needs by
running it on a corner of the table, and forks once a run (so this needs Linux). A run is ended
after ``--limit`` CPU seconds, errors included. Results are kept in
``benchmarks/results/mechanisms.csv``: what is there, ended at the limit or not, is not run again
without ``--fresh``. They are drawn as ``mechanisms.png`` beside it if matplotlib is installed
(``pip install matplotlib``).

With ``--whole`` what the command line costs as its users start it, alone in a process, is measured
instead: start-up, reading, release, sampling and writing. It is printed and not kept.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from common.drawing import draw_errors
from common.folders import SHARED_DATA
from common.made_up import MADE_UP
from common.processes import (
    COSTS,
    Phases,
    Result,
    add_worker,
    in_a_fork,
    peak_mb,
    results_of,
    synthdp_run,
)
from common.results import FOLDER, Row, Rows, means, read_rows, write_rows
from numpy.typing import NDArray

from synthdp.core import Report, SynthdpError, all_k_way, silent
from synthdp.data import CodedSource, CodedTable, decode, read_coded
from synthdp.release import MECHANISMS, Release, RunSettings, Synthesis
from synthdp.report import total_variation
from synthdp.schema import Schema

FILES = {
    "adult": "adult-discretized/adult.csv",
    "nltcs": "nltcs/nltcs.csv",
    "titanic": "titanic/titanic.csv",
}
DATA_SETS, TABLE_SEED = (*FILES, *MADE_UP), 0
EPSILONS, DELTA, BASELINE, WORKLOAD = (0.1, 0.3, 1.0, 3.0, 10.0), 1e-9, "aim", "3-way"
KEY = ("data set", "mechanism", "epsilon", "seed")
ERRORS = ("model 3-way", "table 3-way", "model 2-way", "table 2-way")
NUMBERS = (*ERRORS, "cpu s", "sample s", "peak MB", "start MB")


def main() -> None:
    options = _options()
    if options.worker:
        _work(options, *options.worker)
        return
    seeds = [str(seed) for seed in range(options.seeds)]
    epsilons = [f"{epsilon:g}" for epsilon in options.epsilons]
    settings = [(data_set, epsilon) for data_set in options.data_sets for epsilon in epsilons]
    if options.whole:
        _print_whole_runs(options, settings)
        return
    rows = read_rows(options.results, KEY)
    for data_set in options.data_sets:
        for mechanism in options.mechanisms:
            runs = [(epsilon, seed) for epsilon in epsilons for seed in seeds]
            missing = [
                run for run in runs if options.fresh or (data_set, mechanism, *run) not in rows
            ]
            for row in _apart(options, data_set, mechanism, missing) if missing else ():
                rows[tuple(row[name] for name in KEY)] = row
                write_rows(options.results, rows.values(), (*KEY, *NUMBERS, "phases", "note"))
    wanted = {key: row for key, row in rows.items() if key[3] in seeds and key[2] in epsilons}
    found = _print_table(options.mechanisms, settings, wanted)
    _print_phases(options.mechanisms, settings, wanted)
    _print_summary(options.mechanisms, settings, found)
    errors = {data_set: _errors_over_epsilon(data_set, wanted) for data_set in options.data_sets}
    what = "mean total variation distance, all triples (model)"
    draw_errors(errors, options.mechanisms, options.results.with_suffix(".png"), what=what)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Every mechanism on five tables, over epsilon.")
    results = FOLDER / "mechanisms.csv"
    parser.add_argument(
        "--data", type=Path, default=SHARED_DATA, help="the folder with the data sets' folders"
    )
    parser.add_argument(
        "--data-sets", nargs="+", choices=DATA_SETS, help="default: all that are there"
    )
    parser.add_argument(
        "--mechanisms", nargs="+", default=tuple(MECHANISMS), choices=tuple(MECHANISMS)
    )
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=5, help="number of runs of each")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds for each run")
    parser.add_argument("--fresh", action="store_true", help="run again what is in the results")
    parser.add_argument(
        "--whole", action="store_true", help="what the whole command line costs instead"
    )
    parser.add_argument(
        "--results", type=Path, default=results, help="CSV file; the plot is written beside it"
    )
    add_worker(parser, "EPSILON/SEED")
    options = parser.parse_args()
    lacking = [data_set for data_set in FILES if not (options.data / FILES[data_set]).exists()]
    if asked := [data_set for data_set in lacking if data_set in (options.data_sets or ())]:
        parser.error(
            f"{options.data / FILES[asked[0]]} is not there; name the folder of the data sets with --data"
        )
    options.data_sets = options.data_sets or [
        data_set for data_set in DATA_SETS if data_set not in lacking
    ]
    return options


def loaded(options: argparse.Namespace, data_set: str) -> tuple[CodedTable, Schema]:
    """A data set's records and schema, read or made."""
    if data_set in MADE_UP:
        return MADE_UP[data_set](TABLE_SEED)
    file = options.data / FILES[data_set]
    schema = Schema.load(file.with_name("domain.json"))
    return read_coded(file, schema), schema


def _print_whole_runs(options: argparse.Namespace, settings: Iterable[tuple[str, str]]) -> None:
    """Print what the command line costs, a row for each mechanism and setting."""
    print(
        f"the whole command, all 3-way marginals, delta {DELTA}: mean (standard deviation) of {options.seeds} runs"
    )
    print(f"{'mechanism':<12} {'data set':<8} {'epsilon':>7}", *(f"{name:>18}" for name in COSTS))
    for mechanism in options.mechanisms:
        for data_set, epsilon in settings:
            costs = []
            with tempfile.TemporaryDirectory() as folder:
                files = (
                    *_files(options, data_set, Path(folder)),
                    "-o",
                    Path(folder) / "out.csv",
                    "--force",
                )
                for seed in range(options.seeds):
                    budget = ("--epsilon", epsilon, "--delta", DELTA, "--workload", WORKLOAD)
                    costs.append(
                        synthdp_run(
                            *files, *budget, "--mechanism", mechanism, "--seed", seed
                        ).values()
                    )
            cells = means(tuple(each) for each in costs)
            print(f"{mechanism:<12} {data_set:<8} {epsilon:>7}", *(f"{cell:>18}" for cell in cells))


def _files(options: argparse.Namespace, data_set: str, folder: Path) -> tuple[object, ...]:
    """A data set's file and schema as the command line takes them; a made-up one is written into a
    folder.
    """
    if data_set in FILES:
        data = options.data / FILES[data_set]
        return data, "-s", data.with_name("domain.json")
    table, schema = loaded(options, data_set)
    data, public = folder / "in.csv", folder / "schema.json"
    decode(table.columns, schema, np.random.default_rng(0), text=True).to_csv(data, index=False)
    schema.save(public)
    return data, "-s", public


def _apart(
    options: argparse.Namespace, data_set: str, mechanism: str, runs: Iterable[tuple[str, str]]
) -> Iterator[Row]:
    """Results of the runs as they come, from a process of their own."""
    command = [sys.executable, __file__, "--data", str(options.data), "--limit", str(options.limit)]
    command += ["--worker", data_set, mechanism, "--runs", *map("/".join, runs)]
    print(f"running {mechanism} on {data_set} ...", file=sys.stderr)
    for found in results_of(command):
        row = {name: str(value) for name, value in found.items()}
        print(
            f"  {row['epsilon']} {row['seed']}: {row.get('cpu s') or row['note']:.6}",
            file=sys.stderr,
        )
        yield row


def _work(options: argparse.Namespace, data_set: str, mechanism: str) -> None:
    """All runs of one mechanism on one data set, each in a fork; a line of JSON for each."""
    table, schema = loaded(options, data_set)
    cliques = [clique for k in (3, 2) for clique in all_k_way(table.domain.attributes, k)]
    truth = list(CodedSource(table).counts_of(cliques))
    _warm_up(table, schema, mechanism)
    for run in options.runs:
        epsilon, seed = run.split("/")
        key = dict(zip(KEY, (data_set, mechanism, epsilon, seed), strict=True))
        one = partial(_one, table, schema, mechanism, float(epsilon), int(seed), truth)
        print(json.dumps(key | in_a_fork(one, cpu_seconds=options.limit)), flush=True)


def _warm_up(table: CodedTable, schema: Schema, mechanism: str) -> None:
    """Import what the mechanism imports when it runs."""
    names = schema.names[:4]
    few = Schema(tuple(column for column in schema.columns if column.name in names))
    corner = CodedTable(
        table.domain.project(names), tuple(column[:100] for column in table.columns[:4])
    )
    released = _released(corner, few, mechanism, 1.0)
    released.model.marginals(all_k_way(names, 2))
    released.model.sample(10, seed=0)


def _released(
    table: CodedTable, schema: Schema, mechanism: str, epsilon: float, report: Report = silent
) -> Synthesis:
    settings = RunSettings(epsilon=epsilon, delta=DELTA, mechanism=mechanism, workload=WORKLOAD)
    return Release(schema=schema, settings=settings).of(CodedSource(table), report=report)


def _one(
    table: CodedTable,
    schema: Schema,
    mechanism: str,
    epsilon: float,
    seed: int,
    truth: Sequence[NDArray[np.int64]],
) -> Result:
    """Costs and errors of one run."""
    row: Result = {"start MB": peak_mb()}
    try:
        start, phases = time.process_time(), Phases("preparing")
        model = _released(table, schema, mechanism, epsilon, phases).model
        phases("end")
        row |= {
            "cpu s": time.process_time() - start,
            "peak MB": peak_mb(),
            "phases": json.dumps(phases.seconds),
        }
        start = time.process_time()
        drawn = model.sample(table.columns[0].size, seed=seed)
        row["sample s"] = time.process_time() - start
        source = CodedSource(CodedTable(table.domain, drawn))
        for k in (3, 2):
            cliques = all_k_way(table.domain.attributes, k)
            true = [counts for counts in truth if counts.ndim == k]
            row[f"model {k}-way"] = mean_error(
                true, (marginal.values for marginal in model.marginals(cliques))
            )
            row[f"table {k}-way"] = mean_error(true, source.counts_of(cliques))
    except (SynthdpError, MemoryError) as error:
        return {"note": f"{type(error).__name__}: {error!s:.100}"}
    return row | {"note": ""}


def mean_error(truth: Iterable[NDArray[np.int64]], found: Iterable[NDArray[np.number]]) -> float:
    return float(
        np.mean([total_variation(left, right) for left, right in zip(truth, found, strict=True)])
    )


def _print_table(
    mechanisms: Iterable[str], settings: Sequence[tuple[str, str]], rows: Rows
) -> dict[tuple[str, str, str], dict[str, float]]:
    """Print a row for each mechanism and setting; returns the means of those where a run ended."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    print(f"all 3-way marginals, delta {DELTA}: mean (standard deviation) of the runs that ended")
    print(
        f"{'mechanism':<12} {'data set':<8} {'epsilon':>7} {'runs':>4}",
        *(f"{name:>18}" for name in NUMBERS),
        " notes",
    )
    for mechanism in mechanisms:
        for data_set, epsilon in settings:
            mine = [row for key, row in rows.items() if key[:3] == (data_set, mechanism, epsilon)]
            ended = [[float(row[name]) for name in NUMBERS] for row in mine if row.get("cpu s")]
            cells = ["-"] * len(NUMBERS)
            if ended:
                cells = means(ended)
                found[mechanism, data_set, epsilon] = dict(
                    zip(NUMBERS, np.mean(ended, axis=0).tolist(), strict=True)
                )
            notes = "; ".join(dict.fromkeys(row["note"] for row in mine if row.get("note")))
            first = f"{mechanism:<12} {data_set:<8} {epsilon:>7} {len(ended):>4}"
            print(first, *(f"{cell:>18}" for cell in cells), f" {notes}".rstrip())
    return found


def _print_phases(
    mechanisms: Iterable[str], settings: Sequence[tuple[str, str]], rows: Rows
) -> None:
    print("\nCPU seconds of the release by phase: mean of the runs that ended")
    for mechanism in mechanisms:
        for data_set, epsilon in settings:
            mine = [row for key, row in rows.items() if key[:3] == (data_set, mechanism, epsilon)]
            spent = [json.loads(row["phases"]) for row in mine if row.get("phases")]
            phases = dict.fromkeys(phase for each in spent for phase in each)
            averages = (
                f"{phase} {np.mean([each.get(phase, 0.0) for each in spent]):.3f}"
                for phase in phases
            )
            print(f"  {mechanism:<12} {data_set:<8} {epsilon:>7} ", ", ".join(averages))


def _print_summary(
    mechanisms: Iterable[str],
    settings: Sequence[tuple[str, str]],
    found: dict[tuple[str, str, str], dict[str, float]],
) -> None:
    """Print how each mechanism compares with the baseline where both have runs that ended."""
    print(
        f"\nagainst {BASELINE}: ratios of means, over data sets and epsilons where runs of both ended"
    )
    print(
        f"{'mechanism':<12} {'settings':>8}",
        *(f"{name:>13}" for name in ("3-way (geo.)", "3-way (mean)", "cpu (geo.)")),
    )
    for mechanism in mechanisms:
        both = [
            setting
            for setting in settings
            if (mechanism, *setting) in found and (BASELINE, *setting) in found
        ]
        if not both:
            print(f"{mechanism:<12} {0:>8}")
            continue
        mine, theirs = (
            [found[name, *setting] for setting in both] for name in (mechanism, BASELINE)
        )
        errors, seconds = (
            np.array([one[name] / other[name] for one, other in zip(mine, theirs, strict=True)])
            for name in ("model 3-way", "cpu s")
        )
        figures = np.exp(np.log(errors).mean()), errors.mean(), np.exp(np.log(seconds).mean())
        worst = f"worst 3-way {errors.max():.3g} ({', '.join(both[errors.argmax()])})"
        print(
            f"{mechanism:<12} {len(both):>8}",
            *(f"{figure:>13.3f}" for figure in figures),
            f" {worst}",
        )


def _errors_over_epsilon(data_set: str, rows: Rows) -> dict[str, dict[float, list[float]]]:
    """For each mechanism and epsilon the 3-way errors of the models of the runs that ended."""
    errors: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (one, mechanism, epsilon, _), row in rows.items():
        if one == data_set and row.get("cpu s"):
            errors[mechanism][float(epsilon)].append(float(row["model 3-way"]))
    return errors


if __name__ == "__main__":
    main()
