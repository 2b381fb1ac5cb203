"""Saved releases on the command line, where a command is for those of one table."""

from synthdp.core.errors import DataFileError
from synthdp.linked.histories.loading import load
from synthdp.release.synthesis import Synthesis


def release_of_one_table(path: str) -> Synthesis:
    """Restore a release of one table whose rows stand by themselves.

    Raises `DataFileError` as `synthdp.linked.histories.loading.load`, and of other releases.
    """
    found = load(path)
    if not isinstance(found, Synthesis):
        problem = (
            "it holds linked tables, or persons with their rows, and this command is for one table"
        )
        raise DataFileError(
            f"{path!r}: {problem}; synthdp.load(...).marginal has counts of it, synthdp sample has rows"
        )
    return found
