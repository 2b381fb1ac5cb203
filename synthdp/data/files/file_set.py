"""Tables in several files: those of a folder, or of a pattern, one after the other as one table.

Folders in a folder may be called after a column and its value, ``year=2020`` (partitions of Hive).
Such a name is data of all rows below it: each of them has that value, as if it stood in its file,
and no error repeats it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import final

import numpy as np
import pandas as pd

from synthdp.core.errors import DataFileError
from synthdp.data.files.file_names import parts_of, shown, values_of
from synthdp.data.files.table_file import TableFile
from synthdp.schema.words.with_columns import with_columns


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
        if not parts:
            self._refuse("it stands for no file; give a folder or a pattern that has some")
        self._parts = tuple(parts)
        self._open_part = open_part
        self._sizes: list[int] = []
        self._n_done = 0
        self._part: TableFile | None = None
        self._values = {part: values_of(path, part) for part in self._parts}
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
                    of_folders = {
                        name: repeated(value, chunk.index)
                        for name, value in self._values[part].items()
                    }
                    yield with_columns(chunk, of_folders)[names]
                self._part.check_unchanged()
            self._part = None
            self._n_done = self._n_done + 1

    @contextmanager
    def _opened(self, part: str) -> Iterator[TableFile]:
        """A file, to the end of the block; errors leave out what its folders say."""
        try:
            with self._open_part(part) as table:
                yield table
        except DataFileError as error:
            error.args = (str(error).replace(repr(part), repr(shown(self._path, part))),)
            error.__cause__ = error.__context__ = None  # these name the file, too
            raise

    def _check_same(self, part: str, table: TableFile) -> None:
        here, first = (shown(self._path, each) for each in (part, self._parts[0]))
        keys = self._values[part].keys()
        if not keys.isdisjoint(table.names):
            self._refuse(
                f"a column of {here!r} is also what folders are called after; rename one of the two"
            )
        if keys != self._values[self._parts[0]].keys() or {*table.names, *keys} != set(self.names):
            # of a file without a header these are its first record: do not repeat them
            problem = f"{here!r} has other columns than {first!r}"
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
    levels = pd.Index([] if value is None else [value], dtype=object)
    codes = np.full(len(rows), -1 if value is None else 0, dtype=np.int8)
    return pd.Series(pd.Categorical.from_codes(codes, categories=levels), index=rows)
