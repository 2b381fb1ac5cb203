"""Which files a path stands for: those of a folder, or of a pattern, that are one table.

Folders in a folder may be called after a column and its value, ``year=2020`` (partitions of Hive).
Such a name is data of all rows below it: no error repeats the value.
"""

import glob
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from os import PathLike
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote

from synthdp.core.errors import DataFileError
from synthdp.core.files.writing import reason
from synthdp.data.files.formats import Packing, file_kind, is_set
from synthdp.schema.words.texts import is_writable

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
            kinds[part] = file_kind(shown(path, part))
        except DataFileError as error:
            raise DataFileError(
                f"{error}; or name the tables among the files by a pattern, such as '*.csv'"
            ) from None
    # A folder with people.csv and people.parquet most likely holds one table twice.
    if len({kind.format for kind in kinds.values()}) > 1:
        _refuse(
            path, "its files are of several kinds; name those of one by a pattern, such as '*.csv'"
        )
    tables = {
        # people.csv and people.csv.gz: a person in both would count twice, which no unit of privacy
        # foresees.
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
        # Real paths on both sides: a link in either would hide that they are the same folder.
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


def _below(root: Path, folder: Path | None = None, seen: Collection[str] = ()) -> Iterator[str]:
    """All files of a folder and of its partitions; a folder that is none, or says a column twice,
    as it is.
    """
    try:
        entries = _entries(root if folder is None else folder)
    except OSError as error:
        _refuse(root, f"it cannot be read: {reason(error)}; check the folder")
    for part in entries:
        key = _partition(part)[0]
        # A column that is named twice on one path would have two values in a row; the caller
        # refuses the folder as it is.
        if key and key not in seen:
            yield from _below(root, part, {*seen, key})
        else:
            yield str(part)


def _partition(folder: Path) -> tuple[str, str]:
    """The column and the value that a folder is called after, as they are written; no column if it
    is none.
    """
    key, mark, value = folder.name.partition("=")
    return (key, value) if mark and folder.is_dir() else ("", "")


def values_of(root: str | PathLike[str], part: str) -> dict[str, str | None]:
    """The columns and values that the folders say in which a file lies."""
    if not Path(root).is_dir():
        return {}
    folders = [folder for folder in Path(part).parents if Path(root) in folder.parents]
    values: dict[str, str | None] = {}
    for key, value in map(_partition, reversed(folders)):
        # Hive writes characters that folders cannot have, such as slashes and colons, with percent
        # signs.
        name, value_text = (unquote(text, errors="surrogateescape") for text in (key, value))
        if not is_writable(name + value_text) or name in values:
            _refuse(
                root,
                "names of folders in it are no texts in UTF-8, or name a column twice; rename these",
            )
        values[name] = None if value == _NO_VALUE else value_text
    return values


def shown(root: str | PathLike[str], part: str) -> str:
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
