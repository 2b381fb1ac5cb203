"""Saved releases on the command line: of any kind, or of one table where a command is for these."""

from synthdp.cli.commands.table import SAVED_FILES
from synthdp.core.errors import DataFileError
from synthdp.core.imports import import_named
from synthdp.release.loading import load
from synthdp.release.result import Result
from synthdp.release.saving.kinds import TABLE, kind_of
from synthdp.release.synthesis import Synthesis


def result_in(path: str) -> Result:
    """Restore a release of any kind; raises as `synthdp.load`."""
    result: Result = import_named(SAVED_FILES[kind_of(path)].load)(path)
    return result


def release_of_one_table(path: str) -> Synthesis:
    """Restore a release of one table whose rows stand by themselves.

    Raises `DataFileError` as `synthdp.release.loading.load`, and of other releases.
    """
    if kind_of(path) != TABLE:
        problem = (
            "it holds linked tables, or persons with their rows, and this command is for one table"
        )
        raise DataFileError(
            f"{path!r}: {problem}; synthdp.load(...).marginal has counts of it, synthdp sample has rows"
        )
    return load(path)
