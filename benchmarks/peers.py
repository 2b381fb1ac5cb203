"""synthdp and its peers on the same open tables, at the same guarantee, by one command.

Run ``python benchmarks/peers.py`` from the repository root after installing the package with its
test extra. For each peer it makes an environment of its own (``--environments``; the first time
takes minutes and some GB: SDV and dpmm bring their stacks along) and runs a small script of
``benchmarks/peer_runners`` there, which reads a CSV file and what is public of its columns and
writes as many rows as the table has. What is not installable here is left out with one line. All
runs are at delta 1e-9, for adding or removing one record, on one core; the noise has no common
seed.

Tables: raw ``adult`` (fetched with its checksum, or from ``--data``; 32,561 x 15), and two files
of the package statsmodels, ``marriages`` (6,366 x 9) and ``health`` (20,190 x 10), of both of which
30 % are held out. Levels and bounds are public and handed to everybody; ``synthdp kinds`` alone
gets no more than the kinds of the columns.

Judged by nobody's own ruler: "2-way", "3-way", "4-way" are mean total variation distances over
levels and 16 equal parts of the public bounds (of more than 1,000 sets a fixed sample);
"prediction" is the area under the curve of boosted trees that are trained on the rows and tested on
records that are held out; "AUC of real and drawn" that of trees which tell the two apart by raw
values (.5 if they cannot); "Spearman" the mean error of rank correlations; "KS" a mean over the
numbers. "cpu s" is release and rows together, without imports. The row ``real`` holds other records
against the records: what sampling alone gives.

Every peer runs by its defaults, and where its documentation recommends other settings for quality,
by these, too (``--settings best``). What was handed over or read that is not private, and what is
not its default, stands in "remarks". The library mbi, the estimator below OpenDP, SmartNoise,
dpsynth and dpmm, has its own mechanisms as scripts in its repository, private-pgm. Tab-PE runs by
its own code, without what only its images and texts need. One's own recipe runs beside them:
``--recipe module:Class``, a module of the folder that you call this from.

What is on no index is cloned from its repository, at a fixed commit. Without a net give the clone:
``--checkout private-pgm=FOLDER``. An environment with a file ``complete`` is taken as it is.

Results are kept in ``benchmarks/results/peers.csv`` (what is there is not run again without
``--fresh``), drawn rows are not kept; ``peers.html`` beside it shows them, with plots if matplotlib
is installed. ``--publish`` writes results into README and docs: ``docs/peers.csv``, the tables, the
plot.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
from common.folders import SHARED_DATA
from common.own_units import OwnUnitsJudge, OwnUnitsTable
from common.peer_environments import (
    PEERS,
    Environments,
    Peer,
    add_environments,
    run,
    text,
)
from common.peer_pages import (
    COLUMNS,
    ERRORS,
    JUDGED,
    KEY,
    REAL,
    blanks,
    means,
    plot,
    published_table,
    replaced_table,
    write_page,
)
from common.peer_tables import PEER_TABLES, TableUnavailableError, public_columns
from common.public_bins import PublicBins
from common.results import FOLDER, Row, Rows, read_rows, write_rows
from peer_runners.job import Job

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = {"README.md": ("adult",), "docs/coming-from.md": ("adult",)}
"""Tables of the results by the page that shows them; README is no page of the site."""
EPSILONS, DELTA = (0.1, 1.0, 10.0), 1e-9


def main() -> None:
    options = _options()
    if options.publish:
        _publish(read_rows(options.results, KEY))
        return
    peers = dict(PEERS)
    for recipe in options.recipe:
        peers[recipe] = Peer("run_synthdp.py", (recipe, "schema"))
    environments = Environments(options.environments, dict(options.python), dict(options.checkout))
    rows = read_rows(options.results, KEY)
    for name in options.tables:
        try:
            table = PEER_TABLES[name](options.data, options.environments / "tables")
        except TableUnavailableError as error:
            print(f"{error}; it is left out", file=sys.stderr)
            continue
        _run_table(
            options,
            name,
            table,
            {each: peers[each] for each in _named(options, peers)},
            environments,
            rows,
        )
    if not rows:
        raise SystemExit("no table could be had, and nothing was run")
    _print_tables(rows)
    write_page(options.results.with_suffix(".html"), rows, __doc__ or "")


def _publish(rows: Rows) -> None:
    """Write results where people read them: a CSV file, a plot, and the tables of the pages."""
    docs = ROOT / "docs"
    write_rows(docs / "peers.csv", map(blanks, rows.values()), COLUMNS)
    (docs / "pictures/peers.svg").write_text(plot(rows), encoding="utf-8")
    for page, tables in PUBLISHED.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for name in tables:
            text = replaced_table(text, published_table(rows, name))
        (ROOT / page).write_text(text, encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="synthdp and its peers, on the same tables.")
    data = SHARED_DATA
    parser.add_argument("--data", type=Path, default=data, help="a folder with adult/adult.csv")
    parser.add_argument("--tables", nargs="+", default=tuple(PEER_TABLES), choices=PEER_TABLES)
    parser.add_argument("--peers", nargs="*", default=tuple(PEERS), choices=PEERS)
    parser.add_argument(
        "--recipe", nargs="+", default=[], metavar="MODULE:CLASS", help="recipes of one's own"
    )
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=3, help="number of runs of each")
    parser.add_argument("--settings", nargs="+", default=("default",), choices=("default", "best"))
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds of each run")
    parser.add_argument("--fresh", action="store_true", help="run again what is in the results")
    parser.add_argument(
        "--publish", action="store_true", help="run nothing; write the results into README and docs"
    )
    parser.add_argument("--results", type=Path, default=FOLDER / "peers.csv", help="CSV file")
    add_environments(parser)
    return parser.parse_args()


def _named(options: argparse.Namespace, peers: Mapping[str, Peer]) -> list[str]:
    return [name for name in peers if name in options.peers or name in options.recipe]


def _run_table(
    options: argparse.Namespace,
    name: str,
    table: OwnUnitsTable,
    peers: Mapping[str, Peer],
    environments: Environments,
    rows: Rows,
) -> None:
    judge = _Judge(table)
    key = (name, REAL, "default", "", "0")
    if key not in rows:
        rows[key] = dict(zip(KEY, key, strict=True)) | judge.real_figures()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        table.frame.to_csv(file, index=False)
        for job_key, peer in _runs(options, name, peers):
            if job_key in rows and not options.fresh:
                continue
            python = environments.python(peer)
            if python is None:
                continue
            _, _, settings, epsilon, seed = job_key
            job = Job(
                table=str(file),
                columns=public_columns(table),
                epsilon=float(epsilon or "inf"),
                delta=DELTA,
                seed=int(seed),
                n_rows=len(table.frame),
                settings=settings,
                target=table.target,
                output=str(Path(folder) / "rows.csv"),
                limit=options.limit,
            )
            figures = run(job, peer, python, environments.variables(peer))
            if "note" not in figures:
                drawn = pd.read_csv(job.output, keep_default_na=False, dtype=judge.types)
                figures |= judge.figures(drawn)
            rows[job_key] = dict(zip(KEY, job_key, strict=True)) | figures
            write_rows(options.results, map(blanks, rows.values()), COLUMNS)
            print(*job_key, figures.get("note") or figures["3-way"], file=sys.stderr)


def _runs(
    options: argparse.Namespace, table: str, peers: Mapping[str, Peer]
) -> Iterable[tuple[tuple[str, ...], Peer]]:
    for seed in range(options.seeds):
        for name, peer in peers.items():
            for settings in options.settings:
                if settings == "best" and not peer.best:
                    continue
                for epsilon in options.epsilons if peer.is_private else (None,):
                    asked = "" if epsilon is None else f"{epsilon:g}"
                    yield (table, name, settings, asked, str(seed)), peer


class _Judge:
    """All figures of drawn rows of one table."""

    def __init__(self, table: OwnUnitsTable) -> None:
        columns = public_columns(table)
        self._frame, self._held_out = table.frame, table.held_out
        self.types = {name: "str" for name, column in columns.items() if "levels" in column}
        self._bins = PublicBins(table.frame, columns)
        self._own_units = OwnUnitsJudge(table)

    def real_figures(self) -> Row:
        """Of records that are held out; predictions are what the records themselves give."""
        prediction = self._own_units.prediction(self._frame)
        return self.figures(self._held_out) | {"prediction": text(prediction)}

    def figures(self, drawn: pd.DataFrame) -> Row:
        """Of synthetic rows."""
        figures = self._bins.errors(drawn) | self._own_units.figures(drawn)
        return {name: text(figures[name]) for name in (*ERRORS, *JUDGED)}


def _print_tables(rows: Rows) -> None:
    for title, frame in means(rows):
        print(f"\n{title}\n{frame.to_string(float_format=lambda each: f'{each:.4g}')}")
    for key, row in rows.items():
        if row.get("note"):
            print("no figures:", *key, row["note"])


if __name__ == "__main__":
    main()
