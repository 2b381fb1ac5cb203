"""Restoring a release of any kind, of one table or of several, from its file or from the journal of
its run.
"""

from collections.abc import Callable
from os import PathLike

from synthdp.linked.histories.history_package import is_history
from synthdp.linked.histories.history_synthesis import HistorySynthesis
from synthdp.linked.linked_journal import linked_release_of
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.release import loading, rescuing
from synthdp.release.learnt_domain import LearntDomain
from synthdp.release.persistence.budget import Budget
from synthdp.release.persistence.checks import checked_path
from synthdp.release.result import Result
from synthdp.release.saving.kinds import LINKED, TABLE, kind_of


def load(path: str | PathLike[str], *, max_bytes: int | None = None) -> Result:
    """Restore what `Synthesis.save`, or that of another release, of this version or an earlier one,
    wrote.

    All is as in `synthdp.release.loading.load`: it opens no private data, runs no code that is in
    the file, and raises the same errors.

    Parameters
    ----------
    path
        The file.
    max_bytes
        Most bytes that it may unpack to, and that tables of one model may take.

    Raises
    ------
    DataFileError
        If the file cannot be read, is not such a file or of a newer format, or is larger than it
        may be.
    ParameterError
        If ``path`` is no path.
    """
    return _LOADERS[kind_of(checked_path(path, "path"))](path, max_bytes=max_bytes)


def load_linked(path: str | PathLike[str], *, max_bytes: int | None = None) -> Result:
    """Restore a release of linked tables, or of persons with their rows; as `load`."""
    return _of_its_kind(LinkedSynthesis.load(path, max_bytes=max_bytes))


_LOADERS: dict[str, Callable[..., Result]] = {TABLE: loading.load, LINKED: load_linked}


def from_journal(
    path: str | PathLike[str],
    *,
    budget: Budget | str | PathLike[str] | None = None,
    unchecked: bool = False,
) -> Result | LearntDomain:
    """Make a release of the answers in a journal, without its run and without records.

    All is as in `synthdp.release.rescuing.from_journal`, and raises the same errors.

    Parameters
    ----------
    path
        The journal; it stays as it is.
    budget
        The budget that its run was charged to, where it is not any more where the journal says. It
        is asked whether another copy of the journal became another release, and notes that this one
        does.
    unchecked
        Do without asking it. The certificate then says what both releases would mean together.

    Returns
    -------
    Result, or LearntDomain
        Of linked tables all views of which a marginal was measured. Each is fitted by itself when
        it is needed, and not told what the views before it say of the rows that its own hang on.
    """
    kept = rescuing.private_answers(path)
    if not kept.is_linked:
        return rescuing.rescued(kept, rescuing.release_of, budget=budget, unchecked=unchecked)
    return _of_its_kind(
        rescuing.rescued(kept, linked_release_of, budget=budget, unchecked=unchecked)
    )


def _of_its_kind(release: LinkedSynthesis) -> Result:
    return HistorySynthesis(release) if is_history(release.package) else release
