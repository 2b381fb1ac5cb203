"""How many of some public edges a grid point is at or above, in each engine's own words where there
are many edges.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw

from synthdp.data.engines.codes import MAX_CASES, MAX_LOOKED_UP
from synthdp.data.engines.comparisons import are_successive, counted
from synthdp.data.engines.engines import Engine, new_name, unnested

N_EDGES = "n_edges"
"""What the column is called that says it."""

FEW = 16
"""Edges up to which points are compared with each."""


def most_edges(engine: Engine) -> int:
    """How many edges one question may have."""
    return MAX_LOOKED_UP if engine in _SEARCHED else MAX_CASES


def with_n_edges(
    engine: Engine, rows: nw.LazyFrame[Any], name: str, edges: Sequence[int]
) -> nw.LazyFrame[Any]:
    """The rows with a further column: how many of some edges, which increase, a column is at or
    above.

    Parameters
    ----------
    engine, rows
        The table, of a few columns.
    name
        A column of whole numbers of 64 bits, none missing.
    edges
        At most `most_edges`.
    """
    if len(edges) > FEW and not are_successive(edges) and engine in _SEARCHED:
        searched: nw.LazyFrame[Any] = nw.from_native(
            _SEARCHED[engine](nw.to_native(rows), name, edges)
        )
        return searched
    point = nw.col(name)
    if len(edges) <= FEW or not are_successive(edges):
        return rows.with_columns(
            counted([point >= edge for edge in edges]).cast(nw.Int64).alias(N_EDGES)
        )
    inside = nw.when(point > edges[-1]).then(nw.lit(edges[-1])).otherwise(point)
    n_edges = nw.when(point < edges[0]).then(nw.lit(0)).otherwise(inside - (edges[0] - 1))
    return rows.with_columns(n_edges.cast(nw.Int64).alias(N_EDGES))


def _by_polars(rows: Any, name: str, edges: Sequence[int]) -> Any:
    import polars as pl

    position = pl.lit(pl.Series(edges, dtype=pl.Int64)).search_sorted(pl.col(name), side="right")
    return rows.with_columns(position.cast(pl.Int64).alias(N_EDGES))


def _by_duckdb(rows: Any, name: str, edges: Sequence[int]) -> Any:
    starts = f"CAST({unnested(map(str, edges))} AS BIGINT)"
    public = f"SELECT {starts} AS start, unnest(range(1, {len(edges) + 1})) AS place"
    count = f"CAST(coalesce(edges.place, 0) AS BIGINT) AS {N_EDGES}"
    joined = f"ASOF LEFT JOIN ({public}) AS edges ON given.{name} >= edges.start"
    view = new_name()
    return rows.query(view, f"SELECT given.*, {count} FROM {view} AS given {joined}")


def _by_postgres(rows: Any, name: str, edges: Sequence[int]) -> Any:
    backend = rows.get_backend()
    starts = f"CAST('{{{','.join(map(str, edges))}}}' AS BIGINT[])"
    count = f"CAST(width_bucket({name}, {starts}) AS BIGINT) AS {N_EDGES}"
    schema = {**rows.schema(), N_EDGES: "int64"}
    return backend.sql(f"SELECT *, {count} FROM ({backend.compile(rows)}) AS given", schema=schema)


_SEARCHED: Mapping[Engine, Callable[[Any, str, Sequence[int]], Any]] = {
    "polars": _by_polars, "duckdb": _by_duckdb, "postgres": _by_postgres,
}  # fmt: skip
"""Engines that search a list of edges by halving."""
