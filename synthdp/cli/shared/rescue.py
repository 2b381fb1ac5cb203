"""Runs that fail after something was paid for: it is saved, and the error says where."""

import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, final

from synthdp.cli.arguments.exits import PAID_FOR
from synthdp.cli.shared.signals import undisturbed_end
from synthdp.core.errors import PrivacyError, UnreadColumnError
from synthdp.core.files.json_files import load_json
from synthdp.core.files.writing import STANDARD_STREAM
from synthdp.core.imports import import_named
from synthdp.release.persistence.kept_run import KeptRun
from synthdp.release.result import Released

ANEW = "; the next run, corrected or with --anyway, pays anew; one with --journal would go on"
"""Of a run that stopped over its input, and has no journal."""

RESCUE_ENDING, SCHEMA_ENDING = ".rescued.synthdp", ".rescued.schema.json"
"""Of files that hold what a failed run had paid for: measurements, or only the columns that were
learnt.
"""


@final
class PaidFor:
    """The last release that was paid for, if any, and where it is saved already.

    Parameters
    ----------
    is_in_journal
        Whether a journal holds all of it: then no other file is to hold it as well. A copy would
        lie about when the run goes on, and would be a second release if another copy of the journal
        had become one.
    """

    def __init__(self, *, is_in_journal: bool = False) -> None:
        self.release: Released | None = None
        self.path: str | None = None
        self.callback: Callable[[Released], None] | None = None if is_in_journal else self.keep

    def keep(self, release: Released) -> None:
        """Remember a release, or what was learnt for one."""
        self.release = release

    def note(self, output: str) -> str | None:
        """Save it, unless it is saved already, and say how to use it; None if there is no place for
        it.
        """
        assert self.release is not None
        path = self.path or _rescue(self.release, output)
        if path is None:
            return None
        if self.release.is_schema:
            return f"{PAID_FOR}is kept: the columns learnt so far are declared in the schema {shlex.quote(path)}"
        return f"{PAID_FOR}is kept: synthdp sample {shlex.quote(path)} -o OUT"


@contextmanager
def rescuing(output: str, run: KeptRun, journal: str | None, loading: str) -> Iterator[PaidFor]:
    """If anything fails, save what was paid for beside ``output`` and note on the error where it
    is.

    With a ``journal`` all that the ``run`` paid for is there, which is noted instead. Once such a
    run ends, its rescues beside the output are removed, which the function named ``loading`` opens.
    """
    paid = PaidFor(is_in_journal=journal is not None)
    try:
        yield paid
    except BaseException as error:
        if journal is None and paid.release is not None:
            with undisturbed_end() as end:
                end()
                note = paid.note(output) or f"{PAID_FOR}could not be kept anywhere"
                error.add_note(f"{note}{ANEW if isinstance(error, UnreadColumnError) else ''}")
        elif isinstance(error, UnreadColumnError) and run.after_stop:
            error.add_note(f"{PAID_FOR}{run.after_stop}")
        elif journal is not None and run.has_paid and not _is_refused_by_budget(error):
            error.add_note(
                f"{PAID_FOR}is in {shlex.quote(journal)}: the same command goes on and pays nothing twice"
            )
        raise
    if journal is not None and paid.release is not None:
        _remove_contained(output, paid.release, run.identity.run, loading)


def _is_refused_by_budget(error: BaseException) -> bool:
    """Whether a budget does not let a run end, as another copy of its journal did: then no same
    command goes on.
    """
    return isinstance(error, PrivacyError) and str(error).startswith("budget ")


def _rescue(release: Released, output: str) -> str | None:
    """Save a release beside the output or, if there is no room, where temporary files go; the path
    or None.
    """
    for is_elsewhere in (False, True):
        with suppress(Exception):  # looking for a temporary folder fails, too, if the disk is full
            folder = tempfile.gettempdir() if is_elsewhere else ""
            beside = Path(folder, "synthdp" if folder or output == STANDARD_STREAM else output)
            path = _unused(beside, SCHEMA_ENDING if release.is_schema else RESCUE_ENDING)
            release.save(path)
            return str(path)
    return None


def _remove_contained(output: str, release: Released, run: str, loading: str) -> None:
    """Remove rescues of a run beside its output, now that all that they hold is in its release.

    Those of other runs were paid for by themselves, and so were other answers in a copy of its
    journal: these stay.
    """
    beside = Path(output)
    name = re.compile(
        rf"{re.escape(beside.name)}(-\d+)?({re.escape(RESCUE_ENDING)}|{re.escape(SCHEMA_ENDING)})"
    )
    # A file that is none of ours, or is damaged, stays as well.
    for path in beside.absolute().parent.iterdir():
        with suppress(Exception):
            if name.fullmatch(path.name) and _is_contained(path, release, run, loading):
                path.unlink()


def _is_contained(path: Path, release: Released, run: str, loading: str) -> bool:
    """Whether a rescue is of a run, and has no measurement that its release has not."""
    if path.name.endswith(SCHEMA_ENDING):
        saved = load_json(str(path), "schema")["synthdp"]["certificate"]
        return bool(saved["run"]["id"] == run)
    rescue = import_named(loading)(str(path))
    is_same_run = rescue.certificate["run"]["id"] == run
    return bool(is_same_run and _measured(rescue) <= _measured(release))


def _measured(release: Any) -> set[tuple[str, tuple[str, ...], bytes]]:
    """All noisy counts of a release, of one table or of several."""
    return {
        (part.label, each.clique, each.values.tobytes())
        for part in release.fitted_parts
        for each in part.answers.measurements
    }


def _unused(beside: Path, ending: str) -> Path:
    """A name that is free: an earlier rescue was paid for as well."""
    path = beside.with_name(beside.name + ending)
    numbers = count(2)
    while os.path.lexists(path):
        path = beside.with_name(f"{beside.name}-{next(numbers)}{ending}")
    return path
