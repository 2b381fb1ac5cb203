"""A schema read off the real table, where none is given. Not private: levels and edges are values
of people.
"""

import re
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from synthdp.core.errors import SchemaError
from synthdp.core.files.json_files import load_json
from synthdp.data.rows import opened_here, whole_frame, zones_of
from synthdp.release.saving.archive import read_schema
from synthdp.report.metrics.read_table import check_header
from synthdp.schema.dialect import Dialect
from synthdp.schema.kinds import without_ignored
from synthdp.schema.schema import Schema
from synthdp.schema.words.dtypes import kind_of_dtype

MAX_LEVELS, MAX_BINS = 100, 32
"""Texts get at most so many levels, the most frequent ones; numbers so many bins of about as many
rows each.
"""

OTHER = "(other)"


def evaluation_schema(
    schema: Schema | Mapping[str, Any] | str | PathLike[str] | None,
    real: object,
    dialect: Mapping[str, Any] | None = None,
) -> tuple[Schema, list[str]]:
    """The schema that tables are read by, and what to say of it; without one it is read off the
    real table, in a dialect if properties of one are given.

    Raises
    ------
    DataFileError, SchemaError
        If it cannot be read, or leaves something open: what was learnt is in the saved synthesis.
    """
    if isinstance(schema, Schema):
        return _as_typed(schema, real), []
    if schema is None:
        written = Dialect.from_properties(dialect or {})
        observed, notes = observed_schema(
            _plainly(whole_frame(real, written, name="real"), written)
        )
        return (observed.in_dialect(dialect) if dialect else observed), notes
    if str(schema).endswith(".synthdp") and not isinstance(schema, Mapping):
        return _as_typed(read_schema(schema), real), []
    content = schema if isinstance(schema, Mapping) else load_json(schema, "schema")
    try:
        # A release leaves them out: they stand in the schema that it saves, not in its tables.
        _, compared = without_ignored(content)
        return _as_typed(Schema.from_dict(compared), real), []
    except SchemaError as error:
        # Only then a better way out can be named; other errors of schemas say it themselves.
        if "derive" not in str(content):
            raise
        way_out = "give the saved synthesis (.synthdp), which knows what was learnt, or no schema"
        raise SchemaError(f"schema: it leaves columns to be derived; {way_out}") from error


def _as_typed(schema: Schema, real: object) -> Schema:
    """A schema with the time zones that the types of the real table's file name, as its release has
    them; but for UTC, in which texts are read with a Z and without.
    """
    if not isinstance(real, str | PathLike) or "datetime" not in schema.types.values():
        return schema
    with opened_here(real, schema.dialect, name="real") as table:
        zones = zones_of(table).items()
    return schema.in_zones({name: zone for name, zone in zones if zone != "UTC"})


def _plainly(frame: pd.DataFrame, dialect: Dialect) -> pd.DataFrame:
    """Numbers among texts with a point before their decimals, and nothing between thousands."""
    decimal = re.escape(dialect.decimal_char or ".")
    group = re.escape(dialect.group_char or "")
    if decimal == r"\." and not group:
        return frame
    number = re.compile(rf"\s*[-+]?[\d{group}]*(?:{decimal}\d*)?(?:[eE][-+]?\d+)?\s*")

    def plain(value: object) -> object:
        if not isinstance(value, str) or not number.fullmatch(value):
            return value
        digits = value.replace(dialect.group_char, "") if dialect.group_char else value
        return digits.replace(dialect.decimal_char or ".", ".")

    # Numbers of a typed column have no decimal mark to be read wrongly.
    texts = [name for name in frame.columns if _is_text(frame[name])]
    return frame.assign(**{name: frame[name].map(plain) for name in texts})


def observed_schema(frame: pd.DataFrame) -> tuple[Schema, list[str]]:
    """A schema of the levels, bounds and quantiles that a table has, and what to say of it.

    Columns without values, and texts that are mostly different in every row, are left out.

    Raises
    ------
    SchemaError
        If no column is left.
    """
    check_header(tuple(frame.columns), list(frame.columns), "real")
    fields = []
    notes = ["no schema was given: levels, bounds and bins were read off the real table"]
    for name in frame.columns:
        field = _field(name, frame[name])
        if isinstance(field, str):
            notes.append(f"column {name!r} is left out: {field}")
        else:
            fields.append(field)
    if not fields:
        raise SchemaError(
            "real: it has no column to compare; give a table with values, or a schema"
        )
    return Schema.from_dict({"fields": fields, "missingValues": [""]}), notes


def _field(name: str, series: pd.Series) -> dict[str, Any] | str:
    values = series.dropna()
    if kind_of_dtype(values.dtype) == "time":
        values = values.map(str)
    if _is_text(values):
        counts = values.map(str).value_counts()  # each text is looked at once
        counts = (
            counts.groupby(counts.index.str.strip())
            .sum()
            .sort_values(ascending=False, kind="stable")
        )
        counts = counts[counts.index != ""]
        texts = pd.Series(counts.index, dtype=object)
        if texts.str.fullmatch(r"\d\d:\d\d(:\d\d(\.\d+)?)?").all() and not texts.empty:
            return _time_field(name, texts)
        values = _typed(texts)
        if values.dtype == object and not values.empty:
            return _text_field(name, counts)
        values = values.repeat(counts.to_numpy())
    if values.empty:
        return "it has no values"
    if pd.api.types.is_bool_dtype(values.dtype):
        return {"name": name, "type": "boolean"}
    if pd.api.types.is_complex_dtype(values.dtype):
        return "its numbers are complex"
    if pd.api.types.is_numeric_dtype(values.dtype):
        return _numeric_field(name, values.to_numpy(np.float64, na_value=np.nan))
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return _date_field(name, values)
    return _text_field(name, values.map(str).value_counts())


def _text_field(name: str, counts: pd.Series) -> dict[str, Any] | str:
    # Names and keys: compared level by level they would be wrong in every row, whatever the
    # synthesis.
    if len(counts) > MAX_LEVELS and len(counts) > 0.5 * counts.sum():
        return "most of its texts are different in every row"
    field: dict[str, Any] = {
        "name": name,
        "type": "string",
        "constraints": {"enum": list(counts.index[:MAX_LEVELS])},
    }
    return field | ({"synthdp": {"other": OTHER}} if len(counts) > MAX_LEVELS else {})


def _is_text(values: pd.Series) -> bool:
    return (
        values.dtype == object
        or isinstance(values.dtype, pd.StringDtype)
        or "string" in str(values.dtype)
    )


def _typed(texts: pd.Series) -> pd.Series:
    """Texts as truth values, numbers or dates if all of them are; those with leading zeros are no
    numbers but codes.
    """
    if texts.str.lower().isin(["true", "false"]).all():
        return texts.str.lower() == "true"
    # One code with a leading zero is enough: as numbers 01 and 1 would become one value.
    if not texts.str.fullmatch(r"[-+]?0\d+").any():
        numbers = pd.to_numeric(texts, errors="coerce")
        if numbers.notna().all():
            return numbers
    if texts.str.match(r"\d{4}-\d\d-\d\d").all():
        dates = pd.to_datetime(texts, errors="coerce", format="ISO8601", utc=True)
        if dates.notna().all():
            return dates
    return texts


def _numeric_field(
    name: str, numbers: np.ndarray[Any, np.dtype[np.float64]]
) -> dict[str, Any] | str:
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return "it has no finite values"
    # Beyond 2^53 floats are whole whatever the values were.
    whole = bool((numbers == np.rint(numbers)).all()) and np.abs(numbers).max() < 2**53
    low = float(numbers.min())
    high = float(numbers.max())
    kind: dict[str, Any] = {"name": name, "type": "integer" if whole else "number"}
    # By quantiles, so that each bin has about as many rows: equal widths would put an income column
    # into one bin.
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, MAX_BINS + 1), method="higher"))
    if len(edges) < 3 or (whole and high - low < MAX_BINS):
        limits = (
            {"minimum": int(low), "maximum": int(high)}
            if whole
            else {"minimum": low, "maximum": high}
        )
        return kind | {"constraints": limits}
    return kind | {"synthdp": {"edges": [int(edge) if whole else float(edge) for edge in edges]}}


def _time_field(name: str, texts: pd.Series) -> dict[str, Any]:
    limits = {"minimum": texts.min()[:8], "maximum": texts.max()[:8]}
    return {"name": name, "type": "time", "constraints": limits}


def _date_field(name: str, dates: pd.Series) -> dict[str, Any]:
    # Zones are dropped after all are in UTC: order and distances stay true.
    moments = pd.to_datetime(dates, utc=True).dt.tz_localize(None)
    kind = "date" if bool((moments == moments.dt.normalize()).all()) else "datetime"
    low, high = (
        moment.floor("s").isoformat()[: 10 if kind == "date" else 19]
        for moment in (moments.min(), moments.max())
    )
    return {"name": name, "type": kind, "constraints": {"minimum": low, "maximum": high}}
