"""All singles and pairs of Adult's columns from tables that stay in an engine: seconds of codes and
of counting.

Run ``python benchmarks/sources.py --postgres postgres:///postgres?host=/tmp&user=postgres`` on the
machine of that server, where it makes a table ``adult_million`` and drops it; without an address
Postgres is left out. The rows are those of raw Adult, over and over; the schema is
``schemas/adult.json``. "server s" are the processor seconds of the Postgres session, "client s"
those of this process: the engine's, if it runs here. One thread each.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from synthdp.core import load_json
from synthdp.data import EngineFrame, EngineTable, open_source
from synthdp.schema import OpenSchema

SCHEMA = OpenSchema.from_dict(
    load_json(Path(__file__).with_name("schemas") / "adult.json", "schema")
)
NAME = "adult_million"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Seconds of singles and pairs of Adult's columns in engines."
    )
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared/data/adult"
    )
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--postgres", help="address of a server on this machine")
    parser.add_argument("--only", nargs="+", choices=(*HERE, "postgres"))
    options = parser.parse_args()
    one = pl.read_csv(options.data / "adult.csv")
    times = -(-int(options.rows) // len(one))
    rows = pl.concat([one] * times)[: int(options.rows)].select(SCHEMA.names)
    ways = dict(HERE) | (
        {"postgres": lambda frame: in_postgres(frame, options.postgres)} if options.postgres else {}
    )
    print(f"{'':<10}{'codes, s':>10}{'counts, s':>10}{'server s':>10}{'client s':>10}")
    for name in options.only or ways:
        with ways[name](rows) as (frame, server):
            _print_costs(name, frame, server)


def _print_costs(name: str, frame: EngineFrame, server: Callable[[], float]) -> None:
    start, here, there = time.perf_counter(), time.process_time(), server()
    closed = SCHEMA.resolved({})
    source = EngineTable.from_frame(frame, SCHEMA).counted(closed)
    coded = time.perf_counter()
    cliques = [clique for k in (1, 2) for clique in combinations(closed.names, k)]
    assert all(counts.sum() > 0 for counts in source.counts_of(cliques))
    ended = time.perf_counter()
    costs = coded - start, ended - coded, server() - there, time.process_time() - here
    print(f"{name:<10}", *(f"{cost:9.2f}" for cost in costs), flush=True)


@contextmanager
def in_polars(rows: pl.DataFrame) -> Iterator[tuple[EngineFrame, Callable[[], float]]]:
    yield EngineFrame.from_native(rows.lazy()), float


@contextmanager
def in_duckdb(
    rows: pl.DataFrame, table: Callable[[Any], Any] | None = None
) -> Iterator[tuple[EngineFrame, Any]]:
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("given", rows.to_arrow())
        connection.execute(f"CREATE TABLE {NAME} AS SELECT * FROM given")
        yield (
            EngineFrame.from_native(connection.table(NAME) if table is None else table(connection)),
            float,
        )


def in_ibis(rows: pl.DataFrame) -> Any:
    import ibis

    return in_duckdb(rows, lambda connection: ibis.duckdb.from_connection(connection).table(NAME))


@contextmanager
def in_postgres(
    rows: pl.DataFrame, address: str
) -> Iterator[tuple[EngineFrame, Callable[[], float]]]:
    import psycopg

    types = {pl.Int64: "bigint", pl.String: "text"}
    columns = ", ".join(f'"{name}" {types[type(dtype)]}' for name, dtype in rows.schema.items())
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {NAME} ({columns})")
        try:
            with connection.cursor().copy(f"COPY {NAME} FROM STDIN (FORMAT csv)") as copy:
                copy.write(rows.write_csv(include_header=False))
            connection.execute(f"VACUUM ANALYZE {NAME}")
            with open_source(address, NAME) as frame:
                session = frame.given.to_native().get_backend().con.info.backend_pid
                yield frame, lambda: _processor_seconds(session)
        finally:
            connection.execute(f"DROP TABLE {NAME}")


def _processor_seconds(process: int) -> float:
    """What a process of this machine has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


HERE = {"polars": in_polars, "duckdb": in_duckdb, "ibis": in_ibis}


if __name__ == "__main__":
    main()
