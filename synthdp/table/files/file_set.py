"""Tables in several files: those of a folder, or of a pattern, one after the other as one table."""

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from os import PathLike
from pathlib import Path
from typing import NoReturn, final

import pandas as pd

from synthdp.errors import DataFileError
from synthdp.table.files.formats import STANDARD_STREAM, Packing, file_kind
from synthdp.table.files.table_file import TableFile
from synthdp.table.files.writing import reason

_NO_PARTS = (".", "_")
"""How names of files begin that others leave in folders of tables: hidden ones, ``_SUCCESS``."""


def is_set(path: str | PathLike[str]) -> bool:
    """Whether a path names a folder, or is a pattern such as ``part-*.csv`` and not the name of a file."""
    if str(path) in ("", STANDARD_STREAM) or Path(path).is_file():
        return False
    return Path(path).is_dir() or glob.has_magic(str(path))


def parts_of(path: str | PathLike[str]) -> tuple[str, ...]:
    """The files that a path stands for, in the order of their names; of a path that is no `is_set` itself.

    Of a folder these are all files, but for names that begin with a dot or an underscore; in a pattern ``**``
    stands for any folders.

    Raises
    ------
    DataFileError
        If there is no file, or some are no tables, of several kinds, or the same table twice.

    >>> parts_of("people.csv")
    ('people.csv',)
    """
    if not is_set(path):
        return (str(path),)
    parts = _named_by(path)
    if not parts:
        problem = "the directory is empty" if Path(path).is_dir() else "no file has such a name"
        _refuse(path, f"{problem}; correct the path")
    if any(Path(part).is_dir() for part in parts):
        way_out = "name files by a pattern, such as 'people/*/*.parquet'"
        _refuse(path, f"there are folders in it, whose names are not read as columns; {way_out}")
    _check_parts(path, parts)
    return tuple(parts)


def files_at(path: str | PathLike[str]) -> tuple[str, ...]:
    """A path, and what else it names if it is a folder or a pattern; unlike `parts_of` it takes anything."""
    return (str(path), *(_named_by(path) if is_set(path) else ()))


def _named_by(path: str | PathLike[str]) -> list[str]:
    return sorted(_in_folder(Path(path)) if Path(path).is_dir() else glob.glob(str(path), recursive=True))  # noqa: PTH207


def _check_parts(path: str | PathLike[str], parts: Sequence[str]) -> None:
    """Refuse files that cannot be one table."""
    kinds = {}
    for part in parts:
        try:
            kinds[part] = file_kind(part)
        except DataFileError as error:
            raise DataFileError(f"{error}; or name the tables among the files by a pattern, such as '*.csv'") from None
    if len({kind.format for kind in kinds.values()}) > 1:
        _refuse(path, "its files are of several kinds; name those of one by a pattern, such as '*.csv'")
    tables = {part if kind.packing is Packing.NONE else part.rpartition(".")[0] for part, kind in kinds.items()}
    if len(tables) < len(parts) or len({os.path.realpath(part) for part in parts}) < len(parts):
        _refuse(path, "two of its files are one table, packed or linked, whose records would count twice; remove one")


def is_part(path: str | PathLike[str], new: str) -> bool:
    """Whether a new file would be one of those that a path stands for, when that is read again."""
    if not is_set(path):
        return False
    if Path(path).is_dir():
        return os.path.realpath(path) == _folder_of(new)
    if _matches(Path(os.path.realpath(new)).parts, Path(os.path.realpath(path)).parts):
        return True
    matches = fnmatch(Path(new).name, Path(path).name)
    return matches and _folder_of(new) in {_folder_of(part) for part in parts_of(path)}


def _matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether the folders and the name of a file match those of a pattern, in which ``**`` stands for any folders."""
    if not patterns:
        return not names
    if patterns[0] == "**":
        return any(_matches(names[start:], patterns[1:]) for start in range(len(names) + 1))
    return bool(names) and fnmatch(names[0], patterns[0]) and _matches(names[1:], patterns[1:])


def _folder_of(path: str) -> str:
    return os.path.realpath(Path(path).parent)


def _in_folder(path: Path) -> list[str]:
    try:
        return [str(part) for part in path.iterdir() if not part.name.startswith(_NO_PARTS)]
    except OSError as error:
        _refuse(path, f"it cannot be read: {reason(error)}; check the folder")


def _refuse(path: str | PathLike[str], problem: str) -> NoReturn:
    raise DataFileError(f"{str(path)!r}: {problem}")


@final
class FileSet(TableFile):
    """A table in several files, of which each has all columns, in any order.

    Headers are compared when it is opened, before any row is used. A row is read as if it stood in a file of its own.

    Parameters
    ----------
    path
        What was given.
    parts
        The files, at least one.
    open_part
        Opens one.
    """

    def __init__(self, path: str | PathLike[str], parts: Sequence[str], open_part: Callable[[str], TableFile]) -> None:
        super().__init__(path)
        self._parts = tuple(parts)
        self._open_part = open_part
        self._sizes: list[int] = []
        self._n_done = 0
        self._part: TableFile | None = None
        for part in self._parts:
            with open_part(part) as table:
                if not self._sizes:
                    self.names, self._declared = table.names, table.declared
                self._check_same(part, table)
                self._sizes.append(Path(part).stat().st_size)

    @property
    def declared(self) -> pd.DataFrame | None:
        """The types that the first file declares."""
        return self._declared

    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows of all files in chunks, none of which has rows of two files."""
        return self._in_turn(lambda table: table.chunks())

    def coded_chunks(self) -> Iterator[pd.DataFrame]:
        """The same, but texts may be categories."""
        return self._in_turn(lambda table: table.coded_chunks())

    def _in_turn(self, rows: Callable[[TableFile], Iterator[pd.DataFrame]]) -> Iterator[pd.DataFrame]:
        names = list(self.names)
        for part in self._parts:
            with self._open_part(part) as self._part:
                self._check_same(part, self._part)
                for chunk in rows(self._part):
                    yield chunk[names]
                self._part.check_unchanged()
            self._part, self._n_done = None, self._n_done + 1

    def _check_same(self, part: str, table: TableFile) -> None:
        if set(table.names) != set(self.names):
            # of a file without a header these are its first record: do not repeat them
            problem = f"{part!r} has other columns than {self._parts[0]!r}"
            self._refuse(f"{problem}; each file must begin with a header of the same names, in any order")

    @property
    def fraction(self) -> float:
        """How much of all files was read."""
        of_part = 0.0 if self._part is None else self._part.fraction * self._sizes[self._n_done]
        return min((sum(self._sizes[: self._n_done]) + of_part) / max(sum(self._sizes), 1), 1.0)
