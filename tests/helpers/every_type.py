"""A table of all types of columns that the registry knows, in every source, and the schema that
reads it. A type comes in by its line in the registry alone.
"""

import json
from importlib.util import find_spec

import numpy as np
import pandas as pd

from synthdp.schema import TYPES, OpenSchema, Schema, type_named

NOT_READ = "no value of any type (\N{SECTION SIGN})"
MISSING_VALUES = ["", "n/a"]


def example(name, **constraints):
    """The example field of a type."""
    field = {"name": name} | type_named(name).example_field(name)
    return field | {"constraints": field.get("constraints", {}) | constraints}


def column_of(field):
    """The closed column that a field declares."""
    schema = Schema.from_dict({"fields": [field], "missingValues": MISSING_VALUES})
    return schema[field["name"]]


def open_example(name):
    """The example field with all that can be learnt left open."""
    field = example(name)
    parts = type_named(name).derivable(name, has_levels=False)
    gone = {"bounds": ("minimum", "maximum"), "levels": ("enum",)}
    for part in parts:
        for key in gone.get(part, ()):
            field["constraints"].pop(key, None)
    own = {key: value for key, value in field.get("synthdp", {}).items() if key != "bins"}
    return field | {"synthdp": own | {"derive": True}}


def schema_of_all():
    """A schema with a column of each type."""
    fields = [example(name) for name in TYPES]
    return Schema.from_dict({"fields": fields, "missingValues": MISSING_VALUES})


def open_schema_of_all():
    """The same with all left open that can be learnt."""
    fields = [open_example(name) for name in TYPES]
    return OpenSchema.from_dict({"fields": fields, "missingValues": MISSING_VALUES})


def values_of(column, n_rows, seed):
    """Values of a column, some of them missing, and their codes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(column.size, size=n_rows)
    return column.decode(codes, rng), codes


def table_of(columns, n_rows, seed=0):
    """A data frame of values of all columns, and the codes of each."""
    made = {each.name: values_of(each, n_rows, seed + place) for place, each in enumerate(columns)}
    frame = pd.DataFrame({name: values for name, (values, _) in made.items()})
    return frame, {name: codes for name, (_, codes) in made.items()}


def as_pandas(frame, folder):  # noqa: ARG001
    return frame


def as_arrow(frame, folder):  # noqa: ARG001
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)


def as_polars(frame, folder):
    import polars as pl

    return pl.from_arrow(as_arrow(frame, folder))


def as_duckdb(frame, folder):
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    return connection.from_arrow(as_arrow(frame, folder))


def as_parquet(frame, folder):
    import pyarrow.parquet

    path = folder / "table.parquet"
    pyarrow.parquet.write_table(as_arrow(frame, folder), path)
    return path


def as_csv(frame, folder):
    """A file of texts as columns write them."""
    schema = schema_of_all()
    texts = {
        name: [schema[name].text_of(value) for value in frame[name].astype(object)]
        for name in frame
    }
    path = folder / "table.csv"
    pd.DataFrame(texts).to_csv(path, index=False)
    return path


NEEDS = {
    "CSV": (as_csv, ()),
    "pandas": (as_pandas, ()),
    "polars": (as_polars, ("polars", "pyarrow")),
    "Arrow": (as_arrow, ("pyarrow",)),
    "Parquet": (as_parquet, ("pyarrow",)),
    "DuckDB": (as_duckdb, ("duckdb", "pyarrow")),
}
SOURCES = {
    name: make
    for name, (make, needs) in NEEDS.items()
    if all(find_spec(module) for module in needs)
}
"""Every source, as far as its library is installed."""


def is_one_line(error):
    return "\n" not in str(error) and len(str(error)) < 400


def as_json(value):
    return json.loads(json.dumps(value))
