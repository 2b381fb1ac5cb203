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
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common.folders import SHARED_DATA
from common.own_units import OwnUnitsJudge, OwnUnitsTable
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
RUNNERS = Path(__file__).resolve().parent / "peer_runners"
EPSILONS, DELTA = (0.1, 1.0, 10.0), 1e-9
REPOSITORIES = {
    "dpsynth": ("https://github.com/google/dpsynth", "cf8075f"),
    "private-pgm": ("https://github.com/ryan112358/private-pgm", "4d2b3c5"),
    "tab-pe": ("https://github.com/microsoft/DPSDA", "9078c67"),
}
"""Address and commit of what is on no index, by the name of its environment."""


@dataclass(frozen=True)
class Peer:
    """How one system runs.

    Parameters
    ----------
    runner
        Its script in ``peer_runners``.
    arguments
        What the script is called with after the job.
    requirements
        What its environment is installed from, ``CHECKOUT`` for a clone of its repository; none
        runs in the environment of this process.
    is_private
        Whether epsilon means anything to it.
    best
        Whether its documentation recommends other settings than its defaults for quality.
    """

    runner: str
    arguments: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    is_private: bool = True
    best: bool = False

    @property
    def environment(self) -> str:
        """The name of its environment."""
        return self.runner.removeprefix("run_").removesuffix(".py").replace("_", "-")


_DPMM, _OPENDP = ("dpmm==0.1.9",), ("opendp[polars,mbi]==0.16.0", "pandas", "pyarrow")
_SMARTNOISE, _SDV = ("smartnoise-synth==1.0.8",), ("sdv==2.0.0",)
_DPSYNTH = ("CHECKOUT", "etils[epath]")
_PRIVATE_PGM = ("CHECKOUT", "matplotlib", "jax<0.7", "jaxlib<0.7", "numpy<2.4", "pandas<3")
_TAB_PE = ("generalimport", "omegaconf<2.4", "pandas<3", "requests", "scikit-learn", "scipy")
PEERS: Mapping[str, Peer] = {
    "synthdp": Peer("run_synthdp.py", ("default", "schema")),
    "synthdp kinds": Peer("run_synthdp.py", ("default", "kinds")),
    "private-pgm MST": Peer("run_private_pgm.py", ("mst",), _PRIVATE_PGM),
    "private-pgm AIM": Peer("run_private_pgm.py", ("aim",), _PRIVATE_PGM, best=True),
    "dpsynth MST": Peer("run_dpsynth.py", ("mst",), _DPSYNTH),
    "dpsynth AIM-GDP": Peer("run_dpsynth.py", ("aim-gdp",), _DPSYNTH, best=True),
    "dpsynth SWIFT": Peer("run_dpsynth.py", ("swift",), _DPSYNTH),
    "dpmm MST": Peer("run_dpmm.py", ("mst",), _DPMM),
    "dpmm AIM": Peer("run_dpmm.py", ("aim",), _DPMM, best=True),
    "dpmm PrivBayes": Peer("run_dpmm.py", ("privbayes",), _DPMM),
    "OpenDP MST": Peer("run_opendp.py", ("mst",), _OPENDP),
    "OpenDP AIM": Peer("run_opendp.py", ("aim",), _OPENDP),
    "SmartNoise MST": Peer("run_smartnoise.py", ("mst",), _SMARTNOISE),
    "SmartNoise AIM": Peer("run_smartnoise.py", ("aim",), _SMARTNOISE),
    "Tab-PE": Peer("run_tab_pe.py", (), _TAB_PE),
    "SDV copula": Peer("run_sdv.py", (), _SDV, is_private=False),
}


@dataclass
class Environments:
    """Virtual environments of the peers, made when they are first asked for.

    Parameters
    ----------
    folder
        Where they are.
    interpreters
        The Python that makes an environment, where it is not the one of this process.
    checkouts
        Clones of repositories, by environment; the others are made.
    """

    folder: Path
    interpreters: Mapping[str, Path] = field(default_factory=dict)
    checkouts: Mapping[str, Path] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)

    def python(self, peer: Peer) -> str | None:
        """The interpreter that has the peer; None if it could not be installed."""
        if not peer.requirements:
            return sys.executable
        name = peer.environment
        python = self.folder / name / "bin/python"
        if (self.folder / name / "complete").exists():
            return str(python)
        if name not in self._refused:
            self._refused[name] = self._install(name, peer.requirements)
            if self._refused[name]:
                print(f"{name} is left out: {self._refused[name]}", file=sys.stderr)
        return None if self._refused[name] else str(python)

    def variables(self, peer: Peer) -> dict[str, str]:
        """The environment variables of its runs: one thread, and its checkout."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        checkout = {"CHECKOUT": str(self._checkout(peer.environment))}
        return {**os.environ, **threads, **checkout, "PYTHONWARNINGS": "ignore"}

    def _checkout(self, name: str) -> Path:
        return self.checkouts.get(name, self.folder / "checkouts" / name).resolve()

    def _clone(self, name: str) -> str:
        """Clone the repository of an environment that has one; what went wrong, else nothing."""
        if name not in REPOSITORIES or self._checkout(name).exists():
            return ""
        address, commit = REPOSITORIES[name]
        for command in (
            ["git", "clone", "--quiet", address, str(self._checkout(name))],
            ["git", "-C", str(self._checkout(name)), "checkout", "--quiet", commit],
        ):
            result = subprocess.run(command, check=False, capture_output=True, text=True)
            if result.returncode:
                return f"{address} could not be cloned; give a clone: --checkout {name}=FOLDER"
        return ""

    def _install(self, name: str, requirements: Iterable[str]) -> str:
        """Make an environment; the last line of what went wrong, else nothing."""
        if refusal := self._clone(name):
            return refusal
        print(f"making the environment of {name} ...", file=sys.stderr)
        interpreter = self.interpreters.get(name, sys.executable)
        subprocess.run([interpreter, "-m", "venv", "--clear", self.folder / name], check=True)
        asked = [str(self._checkout(name)) if each == "CHECKOUT" else each for each in requirements]
        command = [str(self.folder / name / "bin/pip"), "install", "--quiet", *asked]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        if result.returncode:
            lines = [line for line in result.stderr.splitlines() if "ERROR" in line]
            way_out = (
                f"without an index, make {self.folder / name} elsewhere, with a file 'complete'"
            )
            return f"{(lines or ['pip failed'])[-1]}; {way_out}"
        (self.folder / name / "complete").touch()
        return ""


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
    parser.add_argument("--environments", type=Path, default=FOLDER / "peer-environments")
    parser.add_argument(
        "--python",
        nargs="+",
        type=_named_path,
        default=[],
        metavar="NAME=FILE",
        help="Python of an environment: dpsynth needs 3.12 or 3.13, dpmm 3.10 or 3.11",
    )
    parser.add_argument(
        "--checkout",
        nargs="+",
        type=_named_path,
        default=[],
        metavar="NAME=FOLDER",
        help=f"clones that are here already: {', '.join(REPOSITORIES)}",
    )
    return parser.parse_args()


def _named_path(text: str) -> tuple[str, Path]:
    name, _, path = text.partition("=")
    environments = {peer.environment for peer in PEERS.values()}
    if name not in environments or not Path(path).exists():
        raise argparse.ArgumentTypeError(
            f"{text}: give NAME=PATH, a path that exists, and a name of {', '.join(sorted(environments))}"
        )
    return name, Path(path)


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
            figures = _run(job, peer, python, environments.variables(peer))
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
                    text = "" if epsilon is None else f"{epsilon:g}"
                    yield (table, name, settings, text, str(seed)), peer


def _run(job: Job, peer: Peer, python: str, variables: Mapping[str, str]) -> Row:
    """Figures of one run, or a note that says why there are none."""
    file = Path(job.output).with_name("job.json")
    file.write_text(json.dumps(asdict(job)))
    command = [python, str(RUNNERS / peer.runner), str(file), *peer.arguments]
    result = subprocess.run(
        command, check=False, capture_output=True, text=True, env=dict(variables)
    )
    if result.returncode < 0:
        return {"note": f"ended after {job.limit} CPU s"}
    if result.returncode:
        said = [line for line in result.stderr.splitlines() if any(map(str.isalnum, line))]
        return {"note": (said or ["failed"])[-1][:200]}
    return {name: _text(each) for name, each in json.loads(result.stdout.splitlines()[-1]).items()}


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
        return self.figures(self._held_out) | {"prediction": _text(prediction)}

    def figures(self, drawn: pd.DataFrame) -> Row:
        """Of synthetic rows."""
        figures = self._bins.errors(drawn) | self._own_units.figures(drawn)
        return {name: _text(figures[name]) for name in (*ERRORS, *JUDGED)}


def _print_tables(rows: Rows) -> None:
    for title, frame in means(rows):
        print(f"\n{title}\n{frame.to_string(float_format=lambda each: f'{each:.4g}')}")
    for key, row in rows.items():
        if row.get("note"):
            print("no figures:", *key, row["note"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{np.float64(value):.6g}"


if __name__ == "__main__":
    main()
