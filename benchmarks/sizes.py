"""Growth with rows and columns: seconds and memory, beside pandas, polars and DuckDB used directly,
kept and drawn.

Run ``python benchmarks/sizes.py`` alone on the machine; it takes about an hour, and the table of
100,000,000 rows 8 GB. A piece is run alone by ``--rows`` or ``--columns`` with nothing, or some
sizes, after it, and by ``--only``. Each size is a fork (so this needs Linux) whose figures are kept
in ``benchmarks/results/sizes.csv``; what is printed at the end and drawn is all that is kept.

"counting": all pairs of 15 columns with Adult's numbers of levels (`counting.made_up`), in codes of
a byte, at the start in memory; pandas, polars and DuckDB count each pair by a group-by of its own.
"release": a mechanism, from codes in memory to its fitted model, on made-up columns of 2 to 20 levels
(`common.made_up.wide`), 100,000 rows. Seconds are of the processor, with one thread where a library
can be told; MB is what was held at the same time beyond the table. "exponent" is the slope of a
straight line through the logarithms.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from pathlib import Path

from common.drawing import draw_growth
from common.made_up import schema_of, wide
from common.processes import Result, in_a_fork
from common.results import FOLDER, read_rows, write_rows
from counting import COUNTERS, made_up
from scale import exponent

from synthdp.data import CodedSource
from synthdp.privacy import Adjacency
from synthdp.release import Release, RunSettings

ROWS = (1e5, 1e6, 1e7, 1e8)
COLUMNS = (10, 20, 50, 100, 200, 500)
MECHANISM_NAMES = ("clique-tree", "auto")
N_ROWS = 100_000
COSTS = ("cpu s", "MB")
KEY = ("piece", "what", "size")
PICTURE = Path(__file__).resolve().parents[1] / "docs/pictures/sizes.svg"


def main() -> None:
    options = _options()
    file = options.results / "sizes.csv"
    whole = options.rows is None and options.columns is None
    rows, columns = (ROWS, COLUMNS) if whole else (options.rows or (), options.columns or ())
    for n_rows in map(int, rows):
        for name in _chosen(COUNTERS, options):
            _keep(
                file,
                "counting",
                name,
                n_rows,
                in_a_fork(partial(_counting, name, n_rows), cpu_seconds=options.limit),
            )
    if columns:
        _released("auto", 6, 1000)  # imports what mechanisms import when they run
    for n_columns in map(int, columns):
        for mechanism in _chosen(MECHANISM_NAMES, options):
            found = in_a_fork(
                partial(_released, mechanism, n_columns, N_ROWS), cpu_seconds=options.limit
            )
            _keep(file, "release", mechanism, n_columns, found)
    _tell(file, options.plot)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Seconds and memory by rows and columns, beside other libraries."
    )
    parser.add_argument("--rows", type=float, nargs="*", help="of counting; default: 1e5 to 1e8")
    parser.add_argument("--columns", type=float, nargs="*", help="of releases; default: 10 to 500")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=sorted({*COUNTERS, *MECHANISM_NAMES}),
        help="these counters and mechanisms",
    )
    parser.add_argument(
        "--limit", type=int, default=1200, help="CPU seconds of each; default: 1200"
    )
    parser.add_argument("--results", type=Path, default=FOLDER)
    parser.add_argument("--plot", type=Path, default=PICTURE)
    options = parser.parse_args()
    options.rows = ROWS if options.rows == [] else options.rows
    options.columns = COLUMNS if options.columns == [] else options.columns
    return options


def _chosen(names: Iterable[str], options: argparse.Namespace) -> list[str]:
    return [name for name in names if options.only is None or name in options.only]


def _counting(name: str, n_rows: int) -> Result:
    table = made_up(n_rows)
    pairs = list(combinations(table.domain.attributes, 2))
    return _cost(lambda: COUNTERS[name](table, pairs))


def _released(mechanism: str, n_columns: int, n_rows: int) -> Result:
    table, _ = wide(n_columns, n_rows, 0)
    release = Release(
        schema=schema_of(table.domain),
        settings=RunSettings(
            epsilon=1.0, delta=1e-9, mechanism=mechanism, adjacency=Adjacency.ADD_REMOVE
        ),
    )
    return _cost(lambda: release.of(CodedSource(table)))


def _cost(work: Callable[[], object]) -> Result:
    """`COSTS` of some work: seconds, and the most that is held meanwhile beyond what is held
    before.
    """
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, start = _held("VmRSS"), time.process_time()
    work()
    return dict(zip(COSTS, (time.process_time() - start, _held("VmHWM") - before), strict=True))


def _held(what: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def _keep(file: Path, piece: str, what: str, size: int, found: Result) -> None:
    """Add figures to those that are kept; one that did not end is told and not kept."""
    print(
        f"{piece:10}{what:12}{size:>12}",
        *(f"{cost} {value}" for cost, value in found.items()),
        flush=True,
    )
    if "note" not in found:
        rows = read_rows(file, KEY)
        key = (piece, what, str(size))
        rows[key] = dict(zip(KEY, key, strict=True)) | {
            cost: f"{found[cost]:.4g}" for cost in COSTS
        }
        write_rows(file, rows.values(), [*KEY, *COSTS])


def _tell(file: Path, plot: Path) -> None:
    """Print and draw all that is kept."""
    growth: dict[str, dict[str, dict[float, float]]] = {}
    for row in read_rows(file, KEY).values():
        of_what = {"counting": "rows", "release": "columns"}[row["piece"]]
        for cost in COSTS:
            lines = growth.setdefault(f"{row['piece']}: {cost} by {of_what}", {})
            lines.setdefault(row["what"], {})[float(row["size"])] = float(row[cost])
    named: dict[str, dict[str, dict[float, float]]] = {}
    for title, lines in growth.items():
        print(f"\n{title}")
        for what, found in lines.items():
            costs = dict(sorted(found.items()))
            slope = f"exponent {exponent(costs):.2f}"
            print(f"{what:12}", *(f"{size:>9g}: {cost:<8g}" for size, cost in costs.items()), slope)
            named.setdefault(title, {})[f"{what}: {slope}"] = costs
    if named:
        draw_growth(named, plot, in_multiples=False)


if __name__ == "__main__":
    main()
