"""A user's own questions: marginals, and shares of rows that meet conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.files.json_files import load_json
from synthdp.core.json_value import JsonValue
from synthdp.report.metrics.marginal_error import total_variation
from synthdp.report.metrics.marginals import MAX_CELLS
from synthdp.report.metrics.read_table import ReadTable
from synthdp.report.metrics.references import SamplingError
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.reading import is_missing
from synthdp.schema.rules.conditions import is_condition, level_codes, listed_levels, range_of
from synthdp.schema.schema import Schema
from synthdp.schema.words.headers import listed

Queries = Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | PathLike[str]

EXAMPLE = '[{"columns": ["age", "sex"]}, {"where": {"sex": ["F"], "age": {"minimum": 18}}}]'
"""What queries look like, for messages."""


@final
@dataclass(frozen=True)
class Query:
    """One question."""

    columns: Clique = ()
    """A marginal's columns; empty for the share of rows that meet the conditions."""
    where: tuple[tuple[str, Any], ...] = ()
    """Conditions on columns, as in rules: lists of levels, or ranges."""
    name: str = ""
    """What it is called; by default its columns and conditions."""

    @property
    def text(self) -> str:
        """The question in a line."""
        if self.name:
            return self.name
        conditions = " and ".join(f"{name} in {condition!r}" for name, condition in self.where)
        return " where ".join(part for part in (" x ".join(self.columns), conditions) if part)


def parse_queries(queries: Queries, schema: Schema) -> list[Query]:
    """Questions of a JSON file or of its content: a list, or an object with ``queries`` or
    ``marginals``.

    Raises
    ------
    ParameterError
        If they are no such list, or a marginal has too many cells.
    SchemaError
        If a column is unknown, or a condition does not fit its column.
    DataFileError
        If the file cannot be read.
    """
    content = load_json(queries, "queries") if isinstance(queries, str | PathLike) else queries
    if isinstance(content, Mapping):
        content = content.get("queries", content.get("marginals"))
    given = JsonValue(content, "queries", error=ParameterError)
    entries = given.entries(f"a list such as {EXAMPLE}", least=1)
    return [_parsed(entry, schema) for entry in entries]


def _parsed(entry: JsonValue, schema: Schema) -> Query:
    entry.check_keys(("columns", "where", "name", "weight"))
    if not entry.mapping().keys() & {"columns", "where"}:
        entry.refuse("has no columns and no where; give one of them at least")
    columns = entry["columns"].default(()).sequence("a list of columns")
    where = entry["where"].default({}).mapping("conditions on columns")
    for name in (*columns, *where):
        if name not in schema.names:
            raise SchemaError(
                f"queries: there is no column {name!r}; there are {listed(schema.names)}"
            )
    if len(set(columns)) < len(columns) or schema.domain.size(columns) > MAX_CELLS:
        raise ParameterError(
            f"queries: {tuple(columns)} repeats a column or has over {MAX_CELLS} cells; name fewer"
        )
    for name, condition in where.items():
        try:
            _checked(schema[name], condition)
        except SchemaError as error:
            raise SchemaError(f"queries: {error}") from None
    return Query(tuple(columns), tuple(where.items()), str(entry["name"].default("").value))


def _checked(column: Column, condition: Any) -> None:
    if not is_condition(condition):
        raise SchemaError(
            f"column {column.name!r}: a condition is neither a list of levels nor a range"
        )
    axis = column.axis
    if axis is None:
        level_codes(column, listed_levels(column, condition))
        return
    if not isinstance(condition, Mapping):
        return
    limits = range_of(column, condition)
    read = axis.read_numbers(pd.Series(limits, dtype=object))
    for number, limit in zip(read, limits, strict=True):
        # A limit that cannot be read would be no limit, and the query silently another one.
        if np.isnan(number) and limit is not None:
            raise SchemaError(
                f"column {column.name!r}: a limit of {dict(condition)!r} is no value of it"
            )


def answered(queries: Sequence[Query], real: ReadTable, synthetic: ReadTable) -> pd.DataFrame:
    """One row a query, the largest error first.

    Of a marginal ``error`` is the total variation distance, among the rows that meet the
    conditions; of conditions alone it is the difference of the shares ``real`` and ``synthetic`` of
    rows that meet them.
    """
    rows = [_answer(query, real, synthetic) for query in queries]
    frame = pd.DataFrame(rows, columns=["query", "kind", "real", "synthetic", "error", "sampling"])
    return frame.sort_values("error", ascending=False, kind="stable", ignore_index=True)


def _answer(query: Query, real: ReadTable, synthetic: ReadTable) -> dict[str, object]:
    # Each table has its own rows that meet the conditions; only shares of them are compared.
    places = _meeting(query, real)
    here = real.take(places)
    there = synthetic.take(_meeting(query, synthetic))
    share = here.size / real.size
    other_share = there.size / synthetic.size
    answer: dict[str, object] = {"query": query.text, "real": share, "synthetic": other_share}
    if not query.columns:
        # A share is a marginal of two cells: those that meet the conditions, and the others.
        counts = np.array([here.size, real.size - here.size])
        answer["kind"] = "share"
        answer["error"] = abs(other_share - share)
        answer["sampling"] = SamplingError.for_sizes(real.size, synthetic.size).of_marginal(counts)
        return answer
    answer["kind"] = "marginal"
    if len(places) == 0:
        # Where no real row meets the conditions there is nothing to be near to.
        return answer | {"error": float("nan"), "sampling": float("nan")}
    counts = here.counts(query.columns)
    # The reference is what as many rows as should meet the conditions would have, not as many as
    # do.
    n_drawn = share * synthetic.size
    answer["error"] = total_variation(counts, there.counts(query.columns))
    answer["sampling"] = SamplingError.for_sizes(here.size, n_drawn).of_marginal(counts)
    return answer


def _meeting(query: Query, table: ReadTable) -> NDArray[np.intp]:
    met = np.ones(table.n_rows, dtype=np.bool_)
    for name, condition in query.where:
        met &= _meets(table, table.schema[name], condition)
    return np.flatnonzero(met)


def _meets(table: ReadTable, column: Column, condition: Any) -> NDArray[np.bool_]:
    """Which rows meet a condition: by their numbers, or by their levels."""
    axis = column.axis
    if axis is None:
        return np.isin(table[column.name], level_codes(column, listed_levels(column, condition)))
    numbers = table.numbers[column.name]
    if isinstance(condition, Mapping):
        low, high = axis.read_numbers(pd.Series(range_of(column, condition), dtype=object))
        met: NDArray[np.bool_] = ~np.isnan(numbers)
        if not np.isnan(low):
            met &= numbers >= low
        if not np.isnan(high):
            met &= numbers <= high
        return met
    levels = listed_levels(column, condition)
    wanted = axis.read_numbers(pd.Series(levels, dtype=object))
    missing = np.isnan(numbers) & any(map(is_missing, levels))
    return np.isin(numbers, wanted[~np.isnan(wanted)]) | missing
