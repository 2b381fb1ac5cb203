"""What several spellings of one value have in common, in each engine's own words: composed accents,
moments in UTC.
"""

from collections.abc import Callable, Mapping
from typing import Any

import narwhals as nw

from synthdp.data.engines.engines import Engine

IN_UTC = "_utc"
"""Ends what moments are called that have no time zone any more."""


def with_composed(engine: Engine, rows: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
    """The rows with accents composed (NFC) in a column of texts."""
    composed: nw.LazyFrame[Any] = nw.from_native(_COMPOSED[engine](nw.to_native(rows), name))
    return composed


def _composed_by_polars(rows: Any, name: str) -> Any:
    import polars as pl

    return rows.with_columns(pl.col(name).str.normalize("NFC"))


def _composed_by_duckdb(rows: Any, name: str) -> Any:
    return rows.project(f"* REPLACE (nfc_normalize({name}) AS {name})")


def _composed_by_postgres(rows: Any, name: str) -> Any:
    backend = rows.get_backend()
    chosen = ", ".join(
        f"normalize({each}, NFC) AS {each}" if each == name else each for each in rows.columns
    )
    return backend.sql(
        f"SELECT {chosen} FROM ({backend.compile(rows)}) AS given", schema=rows.schema()
    )


def _composed_by_spark(rows: Any, name: str) -> Any:
    from unicodedata import normalize

    from pyspark.sql.functions import col, udf

    composed = udf(lambda text: None if text is None else normalize("NFC", text), "string")
    return rows.withColumn(name, composed(col(name)))


_COMPOSED: Mapping[Engine, Callable[[Any, str], Any]] = {
    "polars": _composed_by_polars, "duckdb": _composed_by_duckdb, "postgres": _composed_by_postgres,
    "pyspark": _composed_by_spark,
}  # fmt: skip
"""How accents are composed, where levels of texts are learnt."""


def with_utc(engine: Engine, rows: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
    """The rows with a further column, whose name ends with `IN_UTC`: moments in UTC, without a time
    zone.
    """
    in_utc: nw.LazyFrame[Any] = nw.from_native(_UTC[engine](nw.to_native(rows), name))
    return in_utc


def _utc_by_duckdb(rows: Any, name: str) -> Any:
    return rows.project(f"*, make_timestamp(epoch_us({name})) AS {name}{IN_UTC}")


def _utc_by_spark(rows: Any, name: str) -> Any:
    from pyspark.sql.functions import expr

    seconds = f"CAST({name} AS BIGINT)"
    second = f"pmod({seconds}, 86400L)"
    day = f"CAST(date_from_unix_date(CAST(({seconds} - {second}) / 86400 AS INT)) AS TIMESTAMP_NTZ)"
    return rows.withColumn(name + IN_UTC, expr(f"{day} + make_dt_interval(0, 0, 0, {second})"))


_UTC: Mapping[Engine, Callable[[Any, str], Any]] = {
    "duckdb": _utc_by_duckdb,
    "pyspark": _utc_by_spark,
}
"""How moments are in UTC, where a table can have some that are not."""
