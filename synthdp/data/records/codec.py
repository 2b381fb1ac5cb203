"""The codec: tables of values to tables of level codes."""

from itertools import chain

import pandas as pd

from synthdp.data.codes.coded_table import CodedTable
from synthdp.data.frames.plain import plain, plain_column
from synthdp.schema.schema import Schema


def encode(frame: pd.DataFrame, schema: Schema) -> CodedTable:
    """Level codes of a table's values and of the parts of its dates, in the order of the schema.

    Total on values: nothing is raised, warned or logged because of one; the types of
    columns in `synthdp.schema.columns` say what becomes of each. The same value gives the same
    code, whether it is typed or a text of a CSV file, and whatever the other rows hold.

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
    values = plain(schema.measured(frame, plain_column), schema.types)
    coded = (column.codes_with_parts(values[column.name]) for column in schema.table_columns)
    return CodedTable(schema.domain, tuple(chain.from_iterable(coded)))
