"""Numbers in synthetic tables: rank correlations, and what can be learnt from them, by mechanism and
epsilon.

Run ``python benchmarks/fidelity.py`` from the repository root after installing the package with its
test extra, which has scikit-learn. Two tables come with scikit-learn, ``diabetes`` (442 records)
and ``breast-cancer`` (569), and ``survey`` (6,000) is made up (``common/made_up.py``). Numbers are
put in 32 equally wide bins between public bounds, the round numbers in
``common/numeric_tables.py``: nothing is learnt from the records. ``adult``, discretised, is looked
for in ``../shared/data`` or where ``--data`` says, and run if asked for.

Each run draws 70 % of the records (its seed says which), releases them at delta 1e-9 and decodes as
many rows from the model. "Spearman" is the mean absolute error of the rank correlations of all
pairs of numeric columns, against those 70 %; 0 stands for the correlation of a column that became
constant. "AUC" is the area under the curve of boosted trees (`HistGradientBoostingClassifier`),
trained on the synthetic rows and tested on the other 30 % of the real ones. The row "real" says
what real rows give: the correlations of the other 30 %, and trees trained on the 70 %. The noise
has no seed.

``--own-units`` instead judges what is written in the units of the records, so that nobody is graded
in bins of their own choosing (``common/own_units.py``): raw Adult by its levels and bounds,
``characters`` (7,152 x 8 and one of ten classes) and ``loans`` (round amounts, rates, dates). Rows
come from a schema that declares levels and bounds and no bins, or from kinds alone. "AUC of real
and drawn" is that of boosted trees that tell the two apart, .5 if they cannot; "KS" and
"Wasserstein" (in standard deviations) are means over the numbers and dates; "heavy" is the mean
relative error of the shares of all single values that .5 % of the records or more have;
"prediction" is the area under the curve, or with ten classes the share that a forest predicts, on
records that are held out.

``--workloads default target`` also gives each mechanism the workload of the column that is predicted
(``synthdp run --target``). Results are kept in ``benchmarks/results/fidelity.csv``: what is there
is not run again without ``--fresh``. A run is ended after ``--limit`` CPU seconds.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from common.folders import SHARED_DATA
from common.numeric_tables import NUMERIC_TABLES, NumericTable
from common.own_units import OWN_UNITS_TABLES, OwnUnitsJudge, OwnUnitsTable
from common.processes import Result, add_worker, in_a_fork, peak_mb, results_of
from common.results import FOLDER, Row, Rows, means, read_rows, write_rows

from synthdp import synthesize
from synthdp.core import SynthdpError
from synthdp.data import CodedSource, encode
from synthdp.privacy import Adjacency
from synthdp.release import MECHANISMS, Release, RunSettings

EPSILONS, DELTA, TRAINING_SHARE = (1.0, 10.0), 1e-9, 0.7
WORKLOADS = ("default", "target")
KEY = ("data set", "mechanism", "workload", "epsilon", "seed")
FIGURES = ("Spearman", "AUC")
NUMBERS = (*FIGURES, "cpu s", "peak MB")
WAYS = ("schema", "kinds", "schema mst", "schema target")
"""What is declared, by which mechanism other than ``auto``, or with the column to predict."""
REAL = tuple(f"real {name}" for name in FIGURES)


def main() -> None:
    options = _options()
    if options.worker:
        _work(options, *options.worker)
        return
    if options.own_units:
        _own_units(options)
        return
    runs = [
        (workload, f"{epsilon:g}", str(seed))
        for workload in options.workloads
        for epsilon in options.epsilons
        for seed in range(options.seeds)
    ]
    rows = read_rows(options.results, KEY)
    for data_set in options.data_sets:
        for mechanism in options.mechanisms:
            missing = [
                run for run in runs if options.fresh or (data_set, mechanism, *run) not in rows
            ]
            for row in _apart(options, data_set, mechanism, missing) if missing else ():
                rows[tuple(row[name] for name in KEY)] = row
                write_rows(options.results, rows.values(), (*KEY, *NUMBERS, *REAL, "note"))
    for data_set in options.data_sets:
        _print_table(
            data_set, options.mechanisms, {key: row for key, row in rows.items() if key[2:] in runs}
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Correlations of numbers, and what can be learnt from synthetic rows."
    )
    without_files = tuple(NUMERIC_TABLES)[:-1]
    parser.add_argument(
        "--data",
        type=Path,
        default=SHARED_DATA,
        help="the folder with the folder of discretised Adult",
    )
    parser.add_argument(
        "--data-sets", nargs="+", default=without_files, choices=tuple(NUMERIC_TABLES)
    )
    parser.add_argument(
        "--mechanisms", nargs="+", default=tuple(MECHANISMS), choices=tuple(MECHANISMS)
    )
    parser.add_argument("--workloads", nargs="+", default=WORKLOADS[:1], choices=WORKLOADS)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=5, help="number of runs of each")
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds for each run")
    parser.add_argument("--fresh", action="store_true", help="run again what is in the results")
    parser.add_argument("--results", type=Path, default=FOLDER / "fidelity.csv", help="CSV file")
    parser.add_argument(
        "--own-units",
        nargs="*",
        metavar="DATA SET",
        choices=tuple(OWN_UNITS_TABLES),
        help="judge rows in the units of the records; without names: all of them",
    )
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS, help="with --own-units")
    add_worker(parser, "WORKLOAD/EPSILON/SEED")
    options = parser.parse_args()
    if options.own_units is not None:
        options.own_units = options.own_units or tuple(OWN_UNITS_TABLES)
        if "raw-adult" in options.own_units and not (options.data / "adult/adult.csv").exists():
            parser.error(f"{options.data} holds no adult/adult.csv; name the folder with --data")
        return options
    if "adult" in options.data_sets and not (options.data / "adult-discretized/adult.csv").exists():
        parser.error(
            f"{options.data} holds no adult-discretized/adult.csv; name the folder with --data"
        )
    return options


def _apart(
    options: argparse.Namespace, data_set: str, mechanism: str, runs: Iterable[tuple[str, ...]]
) -> Iterator[Row]:
    """Results of the runs as they come, from a process of their own."""
    command = [sys.executable, __file__, "--data", str(options.data), "--limit", str(options.limit)]
    command += ["--worker", data_set, mechanism, "--runs", *map("/".join, runs)]
    print(f"running {mechanism} on {data_set} ...", file=sys.stderr)
    for found in results_of(command):
        yield {name: str(value) for name, value in found.items()}


def _work(options: argparse.Namespace, data_set: str, mechanism: str) -> None:
    """All runs of one mechanism on one data set, each in a fork; a line of JSON for each."""
    table = NUMERIC_TABLES[data_set](options.data)
    split = cache(partial(Split, table))
    for run in options.runs:
        workload, epsilon, seed = run.split("/")
        target = table.target if workload == "target" else None
        one = partial(_one, split(int(seed)), mechanism, target, float(epsilon), int(seed))
        key = dict(zip(KEY, (data_set, mechanism, workload, epsilon, seed), strict=True))
        print(json.dumps(key | in_a_fork(one, cpu_seconds=options.limit)), flush=True)


class Split:
    """A table's records, some to train on and the others to test on, and how well tables do against
    them.
    """

    def __init__(self, table: NumericTable, seed: int) -> None:
        order, cut = (
            np.random.default_rng(seed).permutation(len(table.frame)),
            int(TRAINING_SHARE * len(table.frame)),
        )
        self.table = table
        self.training, self._test = (
            table.frame.iloc[rows].reset_index(drop=True) for rows in (order[:cut], order[cut:])
        )
        self._truth = self._correlations(self.training)
        real = self._error(self._test), self.area(self.training)
        self.real = dict(zip(REAL, real, strict=True))

    def figures(self, synthetic: pd.DataFrame) -> Result:
        """`FIGURES` of a synthetic table."""
        return dict(zip(FIGURES, (self._error(synthetic), self.area(synthetic)), strict=True))

    def area(self, frame: pd.DataFrame) -> float:
        """Train on a table, test on the records that are held out; a table with one class teaches
        nothing.
        """
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.metrics import roc_auc_score

        classes = frame[self.table.target]
        if classes.nunique() < 2:
            return 0.5
        model = HistGradientBoostingClassifier(random_state=0).fit(self._features(frame), classes)
        scores = model.predict_proba(self._features(self._test))[:, 1]
        return float(roc_auc_score(self._test[self.table.target] == model.classes_[1], scores))

    def _features(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Numbers as they are, and codes of texts."""
        columns = {
            column.name: column
            for column in self.table.schema.columns
            if column.name != self.table.target
        }
        return pd.DataFrame(
            {
                name: frame[name] if name in self.table.numbers else column.encode(frame[name])
                for name, column in columns.items()
            }
        )

    def _error(self, frame: pd.DataFrame) -> float:
        return float(np.abs(self._correlations(frame) - self._truth).mean())

    def _correlations(self, frame: pd.DataFrame) -> np.ndarray:
        matrix = frame[self.table.numbers].corr(method="spearman").fillna(0.0).to_numpy()
        return matrix[np.triu_indices(len(matrix), 1)]


def _one(split: Split, mechanism: str, target: str | None, epsilon: float, seed: int) -> Result:
    """Costs and figures of one run."""
    schema = split.table.schema
    settings = partial(RunSettings, epsilon=epsilon, delta=DELTA, adjacency=Adjacency.ADD_REMOVE)
    try:
        start = time.process_time()
        release = Release(schema=schema, settings=settings(mechanism=mechanism, target=target))
        synthesis = release.of(CodedSource(encode(split.training, schema)))
        costs = {"cpu s": time.process_time() - start, "peak MB": peak_mb()}
        synthetic = synthesis.sample(len(split.training), seed=seed)
    except (SynthdpError, MemoryError) as error:
        return split.real | {"note": f"{type(error).__name__}: {error!s:.100}"}
    return split.figures(synthetic) | costs | split.real | {"note": ""}


def _print_table(data_set: str, mechanisms: Iterable[str], rows: Rows) -> None:
    """Print a row for the real records, and for each mechanism, workload and epsilon."""
    mine = {key: row for key, row in rows.items() if key[0] == data_set and key[1] in mechanisms}
    print(f"\n{data_set}, delta {DELTA}: mean (standard deviation) of the runs that ended")
    print(
        f"{'mechanism':<12} {'workload':<8} {'epsilon':>7} {'runs':>4}",
        *(f"{name:>18}" for name in NUMBERS),
        " notes",
    )
    real = {
        row["seed"]: tuple(float(row[name]) for name in REAL)
        for row in mine.values()
        if row.get(REAL[0])
    }
    if real:
        print(
            f"{'real':<12} {'':<8} {'':>7} {len(real):>4}",
            *(f"{cell:>18}" for cell in means(real.values())),
        )
    for setting in dict.fromkeys(
        key[1:4] for key in sorted(mine, key=lambda key: (*key[1:3], float(key[3])))
    ):
        here = [row for key, row in mine.items() if key[1:4] == setting]
        ended = [[float(row[name]) for name in NUMBERS] for row in here if row.get("cpu s")]
        cells = means(ended) if ended else ["-"] * len(NUMBERS)
        notes = "; ".join(dict.fromkeys(row["note"] for row in here if row.get("note")))
        first = "{:<12} {:<8} {:>7}".format(*setting)
        print(first, f"{len(ended):>4}", *(f"{cell:>18}" for cell in cells), f" {notes}".rstrip())


def _own_units(options: argparse.Namespace) -> None:
    """Print the figures of rows in the units of the records."""
    for data_set in options.own_units:
        table = OWN_UNITS_TABLES[data_set](options.data)
        judge = OwnUnitsJudge(table)
        # in a fork: trees that start threads before a fork would hang in it
        real = in_a_fork(judge.real_figures, cpu_seconds=options.limit)
        found = {("real", ""): [real]}
        for way in options.ways:
            for epsilon in options.epsilons:
                runs = [
                    in_a_fork(
                        partial(_drawn, table, judge, way, epsilon, seed),
                        cpu_seconds=options.limit,
                    )
                    for seed in range(options.seeds)
                ]
                found[way, f"{epsilon:g}"] = [run for run in runs if "note" not in run]
        print(f"\n{data_set}, delta {DELTA}: mean of the runs that ended")
        print(f"{'':<24}", *(f"{way:>14}" for way, _ in found))
        print(f"{'epsilon':<24}", *(f"{epsilon:>14}" for _, epsilon in found))
        for name in real | {"cpu s": 0.0}:
            cells = ([run[name] for run in runs if name in run] for runs in found.values())
            texts = (f"{np.mean(values):.4f}" if values else "-" for values in cells)
            print(f"{name:<24}", *(f"{text:>14}" for text in texts), flush=True)


def _drawn(
    table: OwnUnitsTable, judge: OwnUnitsJudge, way: str, epsilon: float, seed: int
) -> Result:
    """The figures of one release."""
    declared, _, how = way.partition(" ")
    start = time.process_time()
    synthesis = synthesize(
        table.frame,
        table.schema if declared == "schema" else None,
        kinds=table.kinds if declared == "kinds" else None,
        epsilon=epsilon,
        delta=DELTA,
        mechanism="mst" if how == "mst" else "auto",
        target=table.target if how == "target" else None,
    )
    rows = synthesis.sample(len(table.frame), seed=seed)
    cost = time.process_time() - start
    return judge.figures(rows) | {"cpu s": cost}


if __name__ == "__main__":
    main()
