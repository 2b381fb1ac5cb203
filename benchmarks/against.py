"""Time and memory of reading and counting, against another checkout of this package.

Run ``python benchmarks/against.py --against CHECKOUT`` from the repository root; ``git worktree add
CHECKOUT COMMIT`` makes one. The sample ``data/census.csv`` is drawn from, with replacement, to the
asked numbers of rows, and stands as CSV, as Parquet and as a data frame. A round is one fresh
process of each checkout after the other, in turn the other way round, so that what else the machine
does meets both. A process reads the table with the declared schema into codes and counts all
marginals of up to two columns; *reads* counts those of one column through ``held_rows``, as where a
schema is open. Seconds are CPU seconds of that alone; memory is the largest that the process had.

Printed are the medians of both, and the ratio of the sums over all rounds. Commits of a house that
was laid out otherwise are understood as far as `HOMES` names where things were.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("csv", "parquet", "frame")
HOMES = {
    "read_coded": ("synthdp.data.loading", "synthdp.table.records.loading"),
    "held_rows": ("synthdp.data.loading", "synthdp.table.records.loading"),
    "encode": ("synthdp.data.records.codec", "synthdp.table.records.codec"),
    "CodedSource": ("synthdp.data.records.coded_source", "synthdp.table.records.coded_source"),
    "OpenSchema": ("synthdp.schema.open_schema", "synthdp.table.schema.open_schema"),
    "Schema": ("synthdp.schema.schema", "synthdp.table.schema.schema"),
    "open_table": ("synthdp.data.tables", "synthdp.table.files.tables"),
}
"""Modules that define a name: today's, and that of earlier commits."""


def main() -> None:
    options = _options()
    if options.child:
        print(json.dumps(_measured(*options.child)))
        return
    if options.against is None:
        raise SystemExit("--against names the checkout to compare with")
    checkouts = {"this": ROOT, "other": options.against.resolve()}
    print(f"{'':<24}{'CPU seconds':>22}{'':>9}{'megabytes':>18}")
    print(f"{'rows source':<24}{'this':>11}{'other':>11}{'ratio':>9}", end="")
    print(f"{'this':>9}{'other':>9}{'ratio':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in map(int, options.rows):
            files = _files(Path(folder), n_rows)
            for source in SOURCES:
                for work in ("count", "read"):
                    found: dict[str, list[list[float]]] = {name: [] for name in checkouts}
                    for turn in range(options.repeats):
                        for name in sorted(checkouts, reverse=turn % 2 == 1):
                            path = files["csv" if source == "csv" else "parquet"]
                            found[name].append(
                                _child(checkouts[name], source, work, path, files["schema"])
                            )
                    _show(f"{n_rows} {source}, {work}", found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    parser.add_argument("--rows", type=float, nargs="+", default=[2e4, 1e6])
    parser.add_argument("--repeats", type=int, default=5, help="processes of each checkout")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    return parser.parse_args()


def _files(folder: Path, n_rows: int) -> dict[str, str]:
    """The sample with so many rows, and its schema without rules."""
    import pandas as pd

    schema = json.loads((ROOT / "data/census.schema.json").read_text())
    schema = {"fields": schema["fields"]}
    paths = {name: folder / f"{n_rows}.{name}" for name in ("csv", "parquet")}
    paths["schema"] = folder / "schema.json"
    paths["schema"].write_text(json.dumps(schema))
    texts = pd.read_csv(ROOT / "data/census.csv", dtype=str, keep_default_na=False)
    texts.sample(n_rows, replace=True, random_state=0).to_csv(paths["csv"], index=False)
    pd.read_csv(paths["csv"], dtype={"district": str, "town": str}).to_parquet(paths["parquet"])
    return {name: str(path) for name, path in paths.items()}


def _child(checkout: Path, source: str, work: str, path: str, schema: str) -> list[float]:
    """Seconds and megabytes of a fresh process that runs a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--child", source, work, path, schema]
    done = subprocess.run(
        command, env=environment, cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{checkout}: {done.stderr.splitlines()[-1:]}")
    seconds, megabytes, file = json.loads(done.stdout)
    if not Path(file).is_relative_to(checkout):
        raise SystemExit(f"{checkout}: {file} was run in its place")
    return [seconds, megabytes]


def _measured(source: str, work: str, path: str, schema_path: str) -> list[Any]:
    """CPU seconds of reading and counting a table, megabytes of the process, and where it is from."""
    import pandas as pd

    import synthdp

    for name in HOMES:  # imports are not what is measured
        _named(name)
    frame = pd.read_parquet(path) if source == "frame" else None
    start = time.process_time()
    content = json.loads(Path(schema_path).read_text())
    if work == "count":
        schema = _named("Schema").from_dict(content)
        table = (
            _named("read_coded")(path, schema) if frame is None else _named("encode")(frame, schema)
        )
        counts = _named("CodedSource")(table)
        names = table.domain.attributes
        cliques = [clique for width in (1, 2) for clique in combinations(names, width)]
        sum(int(each.sum()) for each in counts.counts_of(cliques))
    else:
        schema = _named("OpenSchema").from_dict(content)
        rows = frame if frame is not None else _named("open_table")(path)
        _named("held_rows")(rows, schema)
    seconds = time.process_time() - start
    # Not ru_maxrss: it has what the process had that started this one.
    status = Path("/proc/self/status").read_text()
    megabytes = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    return [seconds, megabytes, str(Path(synthdp.__file__).resolve())]


def _named(name: str) -> Callable[..., Any]:
    """A definition, wherever the checkout has it."""
    for home in HOMES[name]:
        try:
            return getattr(import_module(home), name)
        except ImportError:
            continue
    raise SystemExit(f"{name} is in none of {', '.join(HOMES[name])}: add its module to HOMES")


def _show(what: str, found: dict[str, list[list[float]]]) -> None:
    """Medians of both, and the ratio of their sums."""
    print(f"{what:<24}", end="")
    for index, digits in ((0, 3), (1, 0)):
        of = {name: [each[index] for each in runs] for name, runs in found.items()}
        for name in ("this", "other"):
            print(f"{statistics.median(of[name]):>{11 if index == 0 else 9}.{digits}f}", end="")
        print(f"{sum(of['this']) / sum(of['other']):>9.2f}", end="")
    print(flush=True)


if __name__ == "__main__":
    main()
