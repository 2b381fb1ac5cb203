"""What opens a table, and what reads and writes a kind of file, by name. What a name stands for is
loaded when such a table is given: whoever brings a frame loads no reader of files, and no engine.
"""

from typing import Any

from synthdp.core.imports import import_named

OPENERS = {
    "frame": "synthdp.data.frames.containers:opened",
    "partitions": "synthdp.data.frames.partitioned_frame:partitioned",
    "engine": "synthdp.data.engines.engine_frame:EngineFrame",
    "rows in an engine": "synthdp.data.engines.tables.engine_table:EngineTable",
    "rows out of an engine": "synthdp.data.engines.streaming:streamed",
    "database": "synthdp.data.engines.connecting:open_source",
    "files of a database": "synthdp.data.engines.connecting:files_of",
    "form": "synthdp.data.frames.form:form_of",
    "file": "synthdp.data.tables:open_table",
    "set of files": "synthdp.data.files.file_set:open_set",
    "CSV": "synthdp.data.files.csv_file:CsvFile",
    "Parquet": "synthdp.data.files.parquet_file:ParquetFile",
    "Excel": "synthdp.data.files.excel_file:ExcelFile",
}
"""Ways to read a table: what it is in, or the `Format` of a file."""

WRITERS = {
    "CSV": "synthdp.data.files.csv_text:write_csv",
    "Parquet": "synthdp.data.files.parquet_file:write_parquet",
    "Parquet in pieces": "synthdp.data.files.parquet_file:write_parquet_pieces",
    "Excel": "synthdp.data.files.excel_file:write_excel",
    "size of Excel": "synthdp.data.files.excel_file:check_fits",
}
"""Ways to write one, by the `Format` of the file."""


def opener(name: str) -> Any:
    """What opens a kind of table; the name is one of `OPENERS`."""
    return import_named(OPENERS[name])


def writer(name: str) -> Any:
    """What writes a kind of file; the name is one of `WRITERS`."""
    return import_named(WRITERS[name])
