"""Which kind of file a path names: the one place where endings are known."""

from enum import Enum
from os import PathLike
from pathlib import PurePath
from types import ModuleType

from synthdp.errors import DataFileError, MissingExtraError

STANDARD_STREAM = "-"
"""In place of a path: standard input or output, as CSV."""


class Format(Enum):
    """Kinds of files that tables are read from and written to."""

    CSV = "CSV"
    CSV_GZ = "gzipped CSV"
    PARQUET = "Parquet"


_ENDINGS = {".csv": Format.CSV, ".gz": Format.CSV_GZ, ".parquet": Format.PARQUET, ".pq": Format.PARQUET}


def file_format(path: str | PathLike[str]) -> Format:
    """The format of a file by the ending of its name; ``-`` is CSV.

    Raises `DataFileError` for other endings.

    >>> file_format("table.csv.gz"), file_format("-")
    (<Format.CSV_GZ: 'gzipped CSV'>, <Format.CSV: 'CSV'>)
    """
    if str(path) == STANDARD_STREAM:
        return Format.CSV
    try:
        return _ENDINGS[PurePath(path).suffix.lower()]
    except KeyError:
        endings = ", ".join(_ENDINGS)
        raise DataFileError(f"{str(path)!r}: its ending is not known; use one of {endings}") from None


def is_text(path: str | PathLike[str]) -> bool:
    """Whether a file of this name holds texts (CSV) rather than typed values (Parquet).

    >>> is_text("table.csv"), is_text("table.parquet")
    (True, False)
    """
    return file_format(path) is not Format.PARQUET


def import_pyarrow() -> ModuleType:
    """pyarrow with its Parquet reader and writer; raises `MissingExtraError` if it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Parquet files need pyarrow; run: pip install 'synthdp[parquet]'") from None
    module: ModuleType = pyarrow
    return module
