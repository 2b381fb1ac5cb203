"""The dialect that options say: the same as a schema's ``dialect``, which they override."""

from typing import Any

from synthdp.cli.arguments.options import DialectOptions
from synthdp.core.errors import ParameterError, SchemaError
from synthdp.data.files.file_names import parts_of
from synthdp.data.files.formats import Format, file_kind
from synthdp.schema.dialect import PRESETS, Dialect, properties_of

_PROPERTIES = {
    "delimiter": "delimiter",
    "encoding": "encoding",
    "decimal": "decimalChar",
    "thousands": "groupChar",
    "quote": "quoteChar",
    "sheet": "sheetName",
}
"""The properties of a dialect by the names of their options."""


_OF_CSV, _OF_EXCEL = (
    (Format.CSV, "CSV files (.csv, .tsv, -)"),
    (Format.EXCEL, "Excel files (.xlsx)"),
)
_MEANT_FOR = dict.fromkeys(("delimiter", "encoding", "quote"), _OF_CSV) | {"sheet": _OF_EXCEL}
"""The only files of which an option says anything; the others say how numbers are written, in texts
of any file.
"""


def given_dialect(options: DialectOptions, *tables: str) -> dict[str, Any] | None:
    """The properties that the options say, None for none.

    Raises `ParameterError` if one is not possible, or says nothing of any of the tables that are
    read and written.
    """
    formats = {file_kind(part).format for path in tables for part in parts_of(path)}
    for name, (format_, files) in _MEANT_FOR.items():
        if getattr(options, name) is not None and format_ not in formats:
            raise ParameterError(
                f"--{name} is for {files}, and no table here is in one; leave it out"
            )
    given = {
        key: getattr(options, name)
        for name, key in _PROPERTIES.items()
        if getattr(options, name) is not None
    }
    if options.dialect is not None and options.dialect not in PRESETS:
        raise ParameterError(f"--dialect is {options.dialect!r}; give one of {', '.join(PRESETS)}")
    given = properties_of(options.dialect) | given
    try:
        Dialect.from_properties(given)
    except SchemaError as error:
        raise ParameterError(str(error)) from None
    return given or None
