"""Rows of persons, out of an engine."""

from typing import TYPE_CHECKING

from synthdp.data.rows import Here, streamed_rows
from synthdp.schema.open_schema import OpenSchema

if TYPE_CHECKING:
    from synthdp.data.engines.engine_frame import EngineFrame


def history_rows(frame: "EngineFrame", schema: OpenSchema, unit: str) -> Here:
    """The rows of a table in an engine, which come here sorted; raises as `streamed_rows`, and if
    its columns are not the schema's.
    """
    schema.check_header(frame.columns, unit=unit)
    used = [unit, *(name for name in schema.names if name != unit)]
    return streamed_rows(frame, list(frame.columns), used=used, keys=[unit])
