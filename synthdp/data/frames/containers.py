"""Containers: which kinds of tables go in, and how the same kind comes out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import pandas as pd

from synthdp.core.errors import MissingExtraError, ParameterError, SchemaError

_WAYS_OUT = {
    "LazyFrame": "collect it: data.collect()",
    "ndarray": "name its columns: pandas.DataFrame(data, columns=[..])",
    "dict": "make a table of it: pandas.DataFrame(data)",
    "list": "make a table of it: pandas.DataFrame(data)",
    "Series": "make a table of it: data.to_frame()",
    "RecordBatch": "make a table of it: pyarrow.Table.from_batches([data])",
    "RecordBatchReader": "make a table of it: data.read_all()",
    "DuckDBPyRelation": "fetch it: data.df()",
    "str": "read the file, for instance by pandas.read_csv, or use the command line",
    "PosixPath": "read the file, for instance by pandas.read_csv, or use the command line",
}
"""How to convert what is often given in place of a table, by the name of its type."""

_ORIGINS = {
    "pyspark": "fetch it: data.toPandas()",
    "dask": "compute it: data.compute()",
    "ibis": "fetch it: data.to_pandas()",
}
"""The same, by the library that it comes from."""


@final
@dataclass(frozen=True, kw_only=True)
class Opened:
    """A table that was given, as a data frame, and what else its kind says."""

    frame: pd.DataFrame = field(repr=False)
    """Its rows. The index of a data frame of pandas is never read."""
    dtypes: Mapping[str, Any]
    """For each column its dtype, or that of pandas which says the same."""
    container: "Container"
    """What it was given in."""


@final
@dataclass(frozen=True)
class Container:
    """A kind of tables; ``backend`` is narwhals' name for it, None stands for pandas itself."""

    backend: Any = None

    def filled(self, frame: pd.DataFrame) -> Any:
        """A table of this kind with the columns of a data frame."""
        if self.backend is None:
            return frame
        import narwhals as nw
        import pyarrow as pa

        # Metadata of pandas would name its own types to whoever reads the table later.
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        filled = nw.from_arrow(table, backend=self.backend)
        # The only one that tells ordered levels from others.
        if self.backend is nw.Implementation.POLARS:
            levels = {
                name: dtype.categories for name, dtype in frame.dtypes.items() if _is_ordered(dtype)
            }
            filled = filled.with_columns(
                nw.col(name).cast(nw.Enum(list(each))) for name, each in levels.items()
            )
        return filled.to_native()


PANDAS = Container()
"""The kind that needs no other library."""


def opened(data: object, name: str = "data") -> Opened:
    """A table of pandas, or of any library of tables in memory that narwhals knows, as a data
    frame.

    Values pass through Arrow where it is none of pandas, each as it is: no integer becomes a float
    because there is none in another row.

    Raises
    ------
    ParameterError
        If it is no such table; says how to make one.
    MissingExtraError
        If it is not pandas' and pyarrow is not installed.
    """
    if isinstance(data, pd.DataFrame):
        return Opened(
            frame=data, dtypes=dict(zip(data.columns, data.dtypes, strict=True)), container=PANDAS
        )
    import narwhals as nw

    try:
        table = nw.from_native(data, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise SchemaError(
            "table: two columns have the same name; give every column its own name"
        ) from None
    if not isinstance(table, nw.DataFrame):
        raise ParameterError(f"{name} is a {_kind(data)}; {_way_out(data)}")
    frame = _by_arrow(table, name)
    kind: Any = table.implementation
    schema = {} if kind is nw.Implementation.PYARROW else table.schema  # it has no such levels
    levels = {key: dtype.categories for key, dtype in schema.items() if isinstance(dtype, nw.Enum)}
    ordered = {key: pd.CategoricalDtype(list(each), ordered=True) for key, each in levels.items()}
    return Opened(
        frame=frame, dtypes=dict(frame.dtypes) | ordered, container=Container(table.implementation)
    )


def is_foreign(data: object) -> bool:
    """Whether it is a table in memory of another library than pandas."""
    import narwhals as nw

    return nw.dependencies.is_into_dataframe(data) and not isinstance(data, pd.DataFrame)


def _by_arrow(table: Any, name: str) -> pd.DataFrame:
    """A table of narwhals as a data frame with the types of Arrow."""
    try:
        import pyarrow as pa
    except ImportError:
        way_out = "run: pip install 'synthdp[parquet]'"
        raise MissingExtraError(
            f"{name} is no data frame of pandas and needs pyarrow; {way_out}"
        ) from None
    try:
        arrow = table.to_arrow()
        # Polars hands out texts as views, which pandas' types for Arrow do not take.
        views = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
        plain = [views.get(str(kind), kind) for kind in arrow.schema.types]
        for kind in plain:
            # Raises for what pandas does not know, such as spans of months.
            _ = pd.ArrowDtype(kind).type
        columns = [
            column.cast(kind, safe=False) for column, kind in zip(arrow.columns, plain, strict=True)
        ]
        arrow = pa.Table.from_arrays(columns, names=arrow.column_names)
        return arrow.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
    except (
        pa.ArrowException,
        NotImplementedError,
        ValueError,
    ):  # types: Arrow knows no integers of 128 bits
        # Types only are named, as they are public; errors of Arrow may quote a value.
        problem = f"{name} has a column of a type that Arrow or pandas does not know"
        raise ParameterError(f"{problem}; cast it, or drop it") from None


def _is_ordered(dtype: Any) -> bool:
    return isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)


def _kind(data: object) -> str:
    origin = type(data).__module__.partition(".")[0]
    name = type(data).__name__
    return name if origin == "builtins" else f"{origin}.{name}"


def _way_out(data: object) -> str:
    origin = type(data).__module__.partition(".")[0]
    fallback = "make a pandas.DataFrame, polars.DataFrame or pyarrow.Table of it"
    return _ORIGINS.get(origin) or _WAYS_OUT.get(type(data).__name__, fallback)
