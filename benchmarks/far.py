"""A release of a table that stays in DuckDB, by rows: what the engine does, and what is left to the
client.

Run ``python benchmarks/far.py --rows 1e5 1e6 1e7``. The table has 15 columns of whole numbers with
Adult's numbers of levels, or with ``--learn`` columns that are learnt: an amount and a text that
nearly every row has alone, days, and a text of a thousand values. DuckDB makes it itself. "engine
s" are seconds of the processor while DuckDB was asked, one thread; "client s" those of all the rest
of the release: selection, noise, fitting. "lines" is how many lines came from the engine.
"""

import argparse
import time
from typing import Any

import duckdb
import narwhals as nw
from common.processes import peak_mb
from counting import SIZES

from synthdp import synthesize
from synthdp.data.engines import engine_frame

SCHEMA = {
    "fields": [
        {
            "name": f"c{i}",
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": size - 1, "required": True},
        }
        | {"synthdp": {"bins": size}}
        for i, size in enumerate(SIZES)
    ]
}


LEARNT = ", ".join(
    [
        "exp((hash(i, 1) % 1000000007) / 2e8) AS amount",
        "'person ' || hash(i, 2) % 1000000007 AS name",
        "DATE '1950-01-01' + CAST(hash(i, 3) % 20000 AS INTEGER) AS day",
        "'job ' || floor(1000 * ((hash(i, 4) % 100000) / 1e5) ** 3) AS job",
    ]
)

KINDS = {"amount": "number", "name": "categorical", "day": "date", "job": "categorical"}


class Asked:
    """Seconds of the processor while the engine was asked, and lines that came."""

    def __init__(self) -> None:
        self.seconds, self.lines = 0.0, 0
        self._asked = engine_frame.asked

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        answer = self._asked(*arguments, **options)
        self.seconds += time.process_time() - start
        self.lines += len(answer) if isinstance(answer, nw.DataFrame) else 0
        return answer


def main() -> None:
    parser = argparse.ArgumentParser(description="Engine and client seconds of a release, by rows.")
    parser.add_argument("--rows", type=float, nargs="+", default=[1e5, 1e6, 1e7])
    parser.add_argument("--mechanism", default="mst")
    parser.add_argument("--learn", action="store_true", help="columns that are learnt")
    options = parser.parse_args()
    _released(1000, options, Asked())  # imports what is imported when it runs
    print(f"{'rows':>12}{'engine s':>10}{'client s':>10}{'lines':>10}{'peak MB':>9}")
    for n_rows in map(int, options.rows):
        asked = Asked()
        seconds = _released(n_rows, options, asked)
        client = seconds - asked.seconds
        print(
            f"{n_rows:12}{asked.seconds:10.2f}{client:10.2f}{asked.lines:10}{peak_mb():9.0f}",
            flush=True,
        )


def _released(n_rows: int, options: argparse.Namespace, asked: Asked) -> float:
    with duckdb.connect(config={"threads": 1}) as connection:
        skewed = (
            f"floor({size} * ((hash(i, {key}) % 100000) / 1e5) ** 2)"
            for key, size in enumerate(SIZES)
        )
        columns = ", ".join(f"CAST({value} AS UTINYINT) AS c{i}" for i, value in enumerate(skewed))
        columns = LEARNT if options.learn else columns
        connection.execute(f"CREATE TABLE people AS SELECT {columns} FROM range({n_rows}) AS t(i)")
        engine_frame.asked = asked
        start = time.process_time()
        try:
            schema = {"kinds": KINDS} if options.learn else {"schema": SCHEMA}
            synthesize(
                connection.table("people"),
                **schema,
                epsilon=1.0,
                delta=1e-12,
                mechanism=options.mechanism,
            )
        finally:
            engine_frame.asked = asked._asked
        return time.process_time() - start


if __name__ == "__main__":
    main()
