"""Tables in several files: those of a folder, or of a pattern, one after the other as one table.

Folders in a folder may be called after a column and its value, ``year=2020`` (partitions of Hive).
Such a name is data of all rows below it: each of them has that value, as if it stood in its file,
and no error repeats it.
"""

import glob
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from os import PathLike
from pathlib import Path
from typing import NoReturn, final
from urllib.parse import unquote

import numpy as np
import pandas as pd

from synthdp.core.errors import DataFileError
from synthdp.core.files.writing import reason
from synthdp.data.files.formats import Packing, file_kind, is_set
from synthdp.data.files.table_file import TableFile
from synthdp.schema.words.texts import is_writable
from synthdp.schema.words.with_columns import with_columns

_NO_PARTS = (".", "_")
"""How names of files begin that others leave in folders of tables: hidden ones, ``_SUCCESS``."""

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""In a folder's name for a missing value."""


def parts_of(path: str | PathLike[str]) -> tuple[str, ...]:
    """The files that a path stands for, in the order of their names; of a path that is no `is_set`
    itself.

    Of a folder these are all files, also in its partitions, but for names that begin with a dot or
    an underscore; in a pattern ``**`` stands for any folders, whose names say nothing.

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
        problem = "there are folders in it that are not called like year=2020, after one column each and its value"
        _refuse(
            path,
            f"{problem}; name files by a pattern, such as 'people/*/*.parquet', to read no names of folders",
        )
    _check_parts(path, parts)
    return tuple(parts)


def is_partitioned(path: str | PathLike[str]) -> bool:
    """Whether a path is that of a folder with partitions in it.

    >>> is_partitioned("people.csv")
    False
    """
    with suppress(OSError):  # opening it explains what is wrong
        return Path(path).is_dir() and any(_partition(part)[0] for part in _entries(Path(path)))
    return False


def files_at(path: str | PathLike[str]) -> tuple[str, ...]:
    """A path, and what else it names if it is a folder or a pattern; unlike `parts_of` it takes
    anything.
    """
    return (str(path), *(_named_by(path) if is_set(path) else ()))


def _named_by(path: str | PathLike[str]) -> list[str]:
    if Path(path).is_dir():
        return sorted(_below(Path(path)))
    return sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207


def _check_parts(path: str | PathLike[str], parts: Sequence[str]) -> None:
    """Refuse files that cannot be one table."""
    kinds = {}
    for part in parts:
        try:
            kinds[part] = file_kind(_shown(path, part))
        except DataFileError as error:
            raise DataFileError(
                f"{error}; or name the tables among the files by a pattern, such as '*.csv'"
            ) from None
    if len({kind.format for kind in kinds.values()}) > 1:
        _refuse(
            path, "its files are of several kinds; name those of one by a pattern, such as '*.csv'"
        )
    tables = {
        part if kind.packing is Packing.NONE else part.rpartition(".")[0]
        for part, kind in kinds.items()
    }
    if len(tables) < len(parts) or len({os.path.realpath(part) for part in parts}) < len(parts):
        _refuse(
            path,
            "two of its files are one table, packed or linked, whose records would count twice; remove one",
        )


def is_part(path: str | PathLike[str], new: str) -> bool:
    """Whether a new file would be one of those that a path stands for, when that is read again."""
    if not is_set(path):
        return False
    if Path(path).is_dir():
        below = os.path.relpath(_folder_of(new), os.path.realpath(path))
        return below == os.curdir or not below.startswith(_NO_PARTS)  # a dot also where it leads up
    if _matches(Path(os.path.realpath(new)).parts, Path(os.path.realpath(path)).parts):
        return True
    matches = fnmatch(Path(new).name, Path(path).name)
    return matches and _folder_of(new) in {_folder_of(part) for part in parts_of(path)}


def _matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether the folders and the name of a file match those of a pattern, in which ``**`` stands
    for any folders.
    """
    if not patterns:
        return not names
    if patterns[0] == "**":
        return any(_matches(names[start:], patterns[1:]) for start in range(len(names) + 1))
    return bool(names) and fnmatch(names[0], patterns[0]) and _matches(names[1:], patterns[1:])


def _folder_of(path: str) -> str:
    return os.path.realpath(Path(path).parent)


def _entries(path: Path) -> list[Path]:
    return [part for part in path.iterdir() if not part.name.startswith(_NO_PARTS)]


def _below(root: Path, folder: Path | None = None, known: Collection[str] = ()) -> Iterator[str]:
    """All files of a folder and of its partitions; a folder that is none, or says a column twice,
    as it is.
    """
    try:
        entries = _entries(root if folder is None else folder)
    except OSError as error:
        _refuse(root, f"it cannot be read: {reason(error)}; check the folder")
    for part in entries:
        key = _partition(part)[0]
        if key and key not in known:
            yield from _below(root, part, {*known, key})
        else:
            yield str(part)


def _partition(folder: Path) -> tuple[str, str]:
    """The column and the value that a folder is called after, as they are written; no column if it
    is none.
    """
    key, mark, value = folder.name.partition("=")
    return (key, value) if mark and folder.is_dir() else ("", "")


def _values_of(root: str | PathLike[str], part: str) -> dict[str, str | None]:
    """The columns and values that the folders say in which a file lies."""
    if not Path(root).is_dir():
        return {}
    folders = [folder for folder in Path(part).parents if Path(root) in folder.parents]
    found: dict[str, str | None] = {}
    for key, value in map(_partition, reversed(folders)):
        name, said = (unquote(text, errors="surrogateescape") for text in (key, value))
        if not is_writable(name + said) or name in found:
            _refuse(
                root,
                "names of folders in it are no texts in UTF-8, or name a column twice; rename these",
            )
        found[name] = None if value == _NO_VALUE else said
    return found


def _shown(root: str | PathLike[str], part: str) -> str:
    """A file as messages name it: without the values that its folders are called after."""
    if not Path(root).is_dir():
        return part
    folders = [
        f"{_partition(folder)[0]}=*"
        for folder in Path(part).parents
        if Path(root) in folder.parents
    ]
    return str(Path(root, *reversed(folders), Path(part).name))


def _refuse(path: str | PathLike[str], problem: str) -> NoReturn:
    raise DataFileError(f"{str(path)!r}: {problem}")


def open_set(path: str | PathLike[str], open_part: Callable[[str], TableFile]) -> "FileSet":
    """The table in the files that a path stands for, each of which is opened by ``open_part``;
    raises `DataFileError` as `parts_of`, or if they are not one table.
    """
    return FileSet(path, parts_of(path), open_part)


@final
class FileSet(TableFile):
    """A table in several files, of which each has all columns, in any order, but those that folders
    are called after.

    Headers are compared when it is opened, before any row is used. A row is read as if it stood in
    a file of its own.

    Parameters
    ----------
    path
        What was given.
    parts
        The files, at least one.
    open_part
        Opens one.
    """

    def __init__(
        self, path: str | PathLike[str], parts: Sequence[str], open_part: Callable[[str], TableFile]
    ) -> None:
        super().__init__(path)
        self._parts = tuple(parts)
        self._open_part = open_part
        self._sizes: list[int] = []
        self._n_done = 0
        self._part: TableFile | None = None
        self._values = {part: _values_of(path, part) for part in self._parts}
        for part in self._parts:
            with self._opened(part) as table:
                if not self._sizes:
                    self.names = (*table.names, *self._values[part])
                    self._declared = table.declared
                self._check_same(part, table)
                self._sizes.append(Path(part).stat().st_size)

    @property
    def declared(self) -> pd.DataFrame | None:
        """The types that the first file declares; texts are what folders say."""
        if self._declared is None:
            return None
        return with_columns(
            self._declared,
            {name: pd.Series([], dtype=str) for name in self._values[self._parts[0]]},
        )

    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows of all files in chunks, none of which has rows of two files."""
        return self._in_turn(lambda table: table.chunks(), _objects)

    def coded_chunks(self) -> Iterator[pd.DataFrame]:
        """The same, but texts may be categories."""
        return self._in_turn(lambda table: table.coded_chunks(), _category)

    def _in_turn(
        self,
        rows: Callable[[TableFile], Iterator[pd.DataFrame]],
        repeated: Callable[[str | None, pd.Index], pd.Series],
    ) -> Iterator[pd.DataFrame]:
        names = list(self.names)
        for part in self._parts:
            with self._opened(part) as self._part:
                self._check_same(part, self._part)
                for chunk in rows(self._part):
                    said = {
                        name: repeated(value, chunk.index)
                        for name, value in self._values[part].items()
                    }
                    yield with_columns(chunk, said)[names]
                self._part.check_unchanged()
            self._part, self._n_done = None, self._n_done + 1

    @contextmanager
    def _opened(self, part: str) -> Iterator[TableFile]:
        """A file, to the end of the block; errors leave out what its folders say."""
        try:
            with self._open_part(part) as table:
                yield table
        except DataFileError as error:
            error.args = (str(error).replace(repr(part), repr(_shown(self._path, part))),)
            error.__cause__ = error.__context__ = None  # these name the file, too
            raise

    def _check_same(self, part: str, table: TableFile) -> None:
        shown, first = (_shown(self._path, each) for each in (part, self._parts[0]))
        keys = self._values[part].keys()
        if not keys.isdisjoint(table.names):
            self._refuse(
                f"a column of {shown!r} is also what folders are called after; rename one of the two"
            )
        if keys != self._values[self._parts[0]].keys() or {*table.names, *keys} != set(self.names):
            # of a file without a header these are its first record: do not repeat them
            problem = f"{shown!r} has other columns than {first!r}"
            self._refuse(
                f"{problem}; each file must begin with a header of the same names, in any order"
            )

    @property
    def fraction(self) -> float:
        """How much of all files was read."""
        of_part = 0.0 if self._part is None else self._part.fraction * self._sizes[self._n_done]
        return min((sum(self._sizes[: self._n_done]) + of_part) / max(sum(self._sizes), 1), 1.0)


def _objects(value: str | None, rows: pd.Index) -> pd.Series:
    return pd.Series(np.full(len(rows), value, dtype=object), index=rows, dtype=object)


def _category(value: str | None, rows: pd.Index) -> pd.Series:
    """A value in each row, in a byte."""
    known = pd.Index([] if value is None else [value], dtype=object)
    codes = np.full(len(rows), -1 if value is None else 0, dtype=np.int8)
    return pd.Series(pd.Categorical.from_codes(codes, categories=known), index=rows)
