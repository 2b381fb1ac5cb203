"""Counting all marginals of a table: synthdp, pandas, polars and DuckDB on the same codes, in one
run.

Run ``python benchmarks/counting.py --rows 1e6 1e7 --widths 2 3`` alone on the machine. The table
has Adult's numbers of levels, skewed margins and a common factor. Seconds are CPU seconds of one
run each, with one thread where a library can be told; pandas, and polars and DuckDB, if they are
installed, count each marginal by a GROUP BY of its own.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from synthdp.core import Domain
from synthdp.data import CodedSource, CodedTable

SIZES = (85, 9, 100, 16, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
SKEWS = (1, 4, 1, 2, 2, 1.5, 1, 1.5, 6, 1.6, 20, 40, 1.5, 15, 2.5)
"""A share of ``q**(1 / skew)`` of the rows lies in the lowest share ``q`` of the levels."""


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU seconds of counting all marginals.")
    parser.add_argument("--rows", type=float, nargs="+", default=[1e5, 1e6, 1e7])
    parser.add_argument("--widths", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--only", nargs="+", choices=sorted(COUNTERS), default=sorted(COUNTERS))
    options = parser.parse_args()
    print(f"{'rows':>10}{'width':>7}{'marginals':>11}", *(f"{name:>10}" for name in options.only))
    for n_rows in map(int, options.rows):
        table = made_up(n_rows)
        for width in options.widths:
            cliques = list(combinations(table.domain.attributes, width))
            seconds = [spent(partial(COUNTERS[name], table, cliques)) for name in options.only]
            print(
                f"{n_rows:10}{width:7}{len(cliques):11}",
                *(f"{second:10.2f}" for second in seconds),
                flush=True,
            )


def made_up(n_rows: int) -> CodedTable:
    generator = np.random.default_rng(0)
    factor = generator.random(n_rows, dtype=np.float32)
    columns = []
    for size, skew in zip(SIZES, SKEWS, strict=True):
        own = generator.random(n_rows, dtype=np.float32)
        uniform = np.where(generator.random(n_rows, dtype=np.float32) < 0.3, factor, own)
        columns.append(np.minimum(size * uniform**skew, size - 1).astype(np.uint8))
    return CodedTable(
        Domain.from_sizes({f"c{i}": size for i, size in enumerate(SIZES)}), tuple(columns)
    )


def spent(count: Callable[[], int]) -> float:
    start = time.process_time()
    try:
        count()
    except ImportError:
        return float("nan")
    return time.process_time() - start


def by_synthdp(table: CodedTable, cliques: list[tuple[str, ...]]) -> int:
    return sum(int(counts.sum()) for counts in CodedSource(table).counts_of(cliques))


def by_polars(table: CodedTable, cliques: list[tuple[str, ...]]) -> int:
    import polars as pl

    lazy = pl.DataFrame(dict(zip(table.domain.attributes, table.columns, strict=True))).lazy()
    return sum(lazy.group_by(clique).agg(pl.len()).collect().height for clique in cliques)


def by_duckdb(table: CodedTable, cliques: list[tuple[str, ...]]) -> int:
    import duckdb
    import pyarrow as pa

    rows = pa.table(dict(zip(table.domain.attributes, map(pa.array, table.columns), strict=True)))
    connection = duckdb.connect()
    connection.register("arrow_rows", rows)
    connection.execute("CREATE TABLE rows AS SELECT * FROM arrow_rows")
    queries = (f"SELECT {', '.join(clique)}, count(*) FROM rows GROUP BY ALL" for clique in cliques)
    return sum(len(connection.execute(query).fetchnumpy()["count_star()"]) for query in queries)


def by_pandas(table: CodedTable, cliques: list[tuple[str, ...]]) -> int:
    frame = pd.DataFrame(dict(zip(table.domain.attributes, table.columns, strict=True)), copy=False)
    return sum(len(frame.groupby(list(clique), sort=False).size()) for clique in cliques)


COUNTERS = {"synthdp": by_synthdp, "pandas": by_pandas, "polars": by_polars, "duckdb": by_duckdb}


if __name__ == "__main__":
    main()
