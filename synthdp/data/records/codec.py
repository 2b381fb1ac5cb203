"""The codec: tables of values to tables of level codes."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from synthdp.data.codes.coded_table import CodedTable
from synthdp.data.frames.plain import plain
from synthdp.schema.schema import Schema


def encode(frame: pd.DataFrame, schema: Schema) -> CodedTable:
    """Level codes of a table's values and of the parts of its dates, in the order of the schema.

    Total on values: nothing is raised, warned or logged because of one; see `columns` for
    what becomes of each. The same value gives the same code, whether it is typed or a text
    of a CSV file, and whatever the other rows hold.

    Raises
    ------
    SchemaError
        If the table's column names are not the schema's (their order may differ).

    >>> schema = Schema.from_dict(
    ...     {
    ...         "fields": [
    ...             {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
    ...         ]
    ...     }
    ... )
    >>> encode(pd.DataFrame({"age": ["3", "3.0", "-7", "?", ""]}), schema).columns[0].tolist()
    [3, 3, 0, 10, 10]
    """
    schema.check_header(frame.columns)
    return CodedTable(schema.domain, tuple(_encoded(plain(frame, schema.types), schema)))


def _encoded(frame: pd.DataFrame, schema: Schema) -> Iterator[NDArray[Any]]:
    for column in schema.table_columns:
        yield from column.codes_with_parts(frame[column.name])
