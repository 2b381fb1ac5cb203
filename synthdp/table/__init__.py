"""Table floor: the public schema, the codec between values and codes, and files."""

from synthdp.table.categorical import BooleanColumn, CategoricalColumn
from synthdp.table.codec import CodedTable, decode, encode
from synthdp.table.columns import Column
from synthdp.table.dates import DateColumn
from synthdp.table.draft import draft_from_header
from synthdp.table.files import open_table, read_coded, read_header
from synthdp.table.formats import is_text
from synthdp.table.numeric import IntegerColumn, NumberColumn
from synthdp.table.schema import Schema
from synthdp.table.sources import CodedSource
from synthdp.table.writing import check_writable, write_atomically, write_frame

__all__ = [
    "BooleanColumn",
    "CategoricalColumn",
    "CodedSource",
    "CodedTable",
    "Column",
    "DateColumn",
    "IntegerColumn",
    "NumberColumn",
    "Schema",
    "check_writable",
    "decode",
    "draft_from_header",
    "encode",
    "is_text",
    "open_table",
    "read_coded",
    "read_header",
    "write_atomically",
    "write_frame",
]
