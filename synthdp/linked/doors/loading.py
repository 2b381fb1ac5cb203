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

    The file may come from anybody: it runs no code, and takes no more memory than a file of its
    size should. That its checksums hold does not say who wrote it.

    Parameters
    ----------
    path
        The file.
    max_bytes
        Most bytes that it may unpack to, and that tables of one model may take. By default it may
        unpack to 1,000 times its size (16 MiB at least, 4 GiB at most), and tables may take 512
        MiB, or 1,000 times its size.

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

    For a journal that no run can go on from any more, as the software has changed since, or the
    records are gone. All of it was paid for, so this is post-processing.

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
        All marginals that were measured, to be fitted by the run's engine (by ``"auto"`` if that had
        parameters of its own), with a certificate of all that was charged for; its ``complete``
        says whether the run came to its end. If none was measured yet, the columns that were learnt.
        Of linked tables all views of which a marginal was measured. Each is fitted by itself when
        it is needed, without what the views before it say of the rows that its own hang on.

    Raises
    ------
    DataFileError
        If the file cannot be read, a run holds it, it is damaged, of an earlier format, or holds no
        marginal and no column that was learnt to its end.
    PrivacyError
        If its noise can be predicted, other answers of its run were released, or its budget is not
        there to be asked.
    """
    kept = rescuing.private_answers(path)
    if not kept.is_linked:
        return rescuing.rescued(kept, rescuing.release_of, budget=budget, unchecked=unchecked)
    return _of_its_kind(
        rescuing.rescued(kept, linked_release_of, budget=budget, unchecked=unchecked)
    )


def _of_its_kind(release: LinkedSynthesis) -> Result:
    return HistorySynthesis(release) if is_history(release.package) else release
