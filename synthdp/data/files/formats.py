"""Which kind of file a path names: the one place where endings are known, and what each kind needs."""

import glob
from dataclasses import dataclass
from enum import Enum
from os import PathLike
from pathlib import Path, PurePath
from types import ModuleType
from typing import final

from synthdp.core.errors import DataFileError
from synthdp.core.files.writing import STANDARD_STREAM
from synthdp.core.imports import import_extra


class Format(Enum):
    """Kinds of files that tables are read from and written to."""

    CSV = "CSV"
    PARQUET = "Parquet"
    EXCEL = "Excel"


class Packing(Enum):
    """How a CSV file is compressed."""

    NONE = ""
    GZIP = "gzip"
    ZSTD = "zstd"


@final
@dataclass(frozen=True)
class FileKind:
    """What the ending of a file's name says."""

    format: Format
    """Of the table."""
    packing: Packing = Packing.NONE
    """Of a CSV file."""
    delimiter: str = ","
    """What stands between the columns of a CSV file, unless something else is declared."""


_PACKED = {".gz": Packing.GZIP, ".zst": Packing.ZSTD}
_TYPED = {".parquet": Format.PARQUET, ".pq": Format.PARQUET, ".xlsx": Format.EXCEL}
_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def file_kind(path: str | PathLike[str]) -> FileKind:
    """The kind of a file by the ending of its name; ``-`` is CSV.

    Raises `DataFileError` for other endings.

    >>> kind = file_kind("table.tsv.gz")
    >>> kind.format, kind.packing, kind.delimiter
    (<Format.CSV: 'CSV'>, <Packing.GZIP: 'gzip'>, '\\t')
    """
    if str(path) == STANDARD_STREAM:
        return FileKind(Format.CSV)
    name = PurePath(path)
    packing = _PACKED.get(name.suffix.lower(), Packing.NONE)
    ending = (PurePath(name.stem) if packing is not Packing.NONE else name).suffix.lower()
    if packing is Packing.NONE and ending in _TYPED:
        return FileKind(_TYPED[ending])
    if ending in _DELIMITERS or (packing is not Packing.NONE and ending not in _TYPED):
        return FileKind(Format.CSV, packing, _DELIMITERS.get(ending, ","))
    endings = ", ".join([*_DELIMITERS, *_TYPED])
    raise DataFileError(
        f"{str(path)!r}: its ending is not known; use one of {endings}; .gz or .zst after CSV"
    )


def is_set(path: str | PathLike[str]) -> bool:
    """Whether a path names a folder, or is a pattern such as ``part-*.csv`` and not the name of a
    file.
    """
    if str(path) in ("", STANDARD_STREAM) or Path(path).is_file():
        return False
    return Path(path).is_dir() or glob.has_magic(str(path))


def is_text(path: str | PathLike[str]) -> bool:
    """Whether a file of this name holds texts (CSV) rather than typed values (Parquet, Excel).

    >>> is_text("table.csv"), is_text("table.parquet")
    (True, False)
    """
    return file_kind(path).format is Format.CSV


def is_named_as_table(path: str | PathLike[str]) -> bool:
    """Whether a name ends as those of tables do.

    >>> is_named_as_table("out.csv.gz"), is_named_as_table("out.d")
    (True, False)
    """
    try:
        file_kind(path)
    except DataFileError:
        return False
    return True


def check_extras(path: str | PathLike[str]) -> None:
    """Raise `MissingExtraError` if a library is not installed that writing a file of this name
    needs.
    """
    kind = file_kind(path)
    if kind.format is Format.PARQUET:
        import_pyarrow()
    elif kind.format is Format.EXCEL:
        import_xlsxwriter()
    elif kind.packing is Packing.ZSTD:
        import_zstd()


def import_pyarrow() -> ModuleType:
    """pyarrow with its Parquet reader and writer; raises `MissingExtraError` if it is not
    installed.
    """
    _imported("pyarrow.parquet", "Parquet files need pyarrow", "parquet")
    _imported("pyarrow.compute", "Parquet files need pyarrow", "parquet")
    return _imported("pyarrow", "Parquet files need pyarrow", "parquet")


def import_zstd() -> ModuleType:
    """pyarrow, whose streams read and write zstd; raises `MissingExtraError` if it is not
    installed.
    """
    return _imported("pyarrow", ".zst files need pyarrow", "zstd")


def import_calamine() -> ModuleType:
    """What reads Excel files; raises `MissingExtraError` if it is not installed."""
    return _imported("python_calamine", "reading Excel files needs python-calamine", "excel")


def import_xlsxwriter() -> ModuleType:
    """What writes Excel files; raises `MissingExtraError` if it is not installed."""
    return _imported("xlsxwriter", "writing Excel files needs XlsxWriter", "excel")


def _imported(name: str, need: str, extra: str) -> ModuleType:
    library: ModuleType = import_extra(name, f"{need}; run: pip install 'synthdp[{extra}]'")
    return library
