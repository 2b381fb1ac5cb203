"""The journal of a run: what it released so far, so that a run that was killed goes on where it
was.
"""

import json
import platform
import re
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from os import PathLike
from os.path import lexists
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

from synthdp.core.errors import DataFileError, ParameterError, PrivacyError
from synthdp.core.files.closing import Closing
from synthdp.core.version import version_of
from synthdp.privacy.events import Event
from synthdp.privacy.queryable import Answer
from synthdp.release.persistence.chained_file import ChainedFile
from synthdp.release.persistence.checks import checked_path
from synthdp.release.persistence.described import digest_of
from synthdp.release.persistence.kept_events import (
    answer_in,
    answer_to_dict,
    is_answer_to,
    most_bytes,
)
from synthdp.release.persistence.run_identity import new_run, now

FORMAT, BARE_FORMAT = "synthdp journal 2", "synthdp journal 1"
"""A bare journal holds no more than its own run needs to go on."""

WHAT = "journal"

END = {"ended": True}
"""The last line of a run that asked for all that it wanted."""

STOPPED = {"stopped": True}
"""The last line of a run that stopped because of what noisy counts say of its input."""

STOPPED_ENDING = ".stopped"
"""Of a journal of a run that stopped, once another run has its place."""

_MAX_REMARK = 1 << 16
"""Bytes of a line that is no part of what was asked, at most: names of files have a few thousand.
"""

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", re.ASCII)


@final
class Journal(Closing):
    """Every answer of one run, on the disk before anybody sees it; a
    `synthdp.privacy.queryable.AnswerCache`.

    Started again, the run asks the same questions, as its mechanism is a function of the answers,
    and gets the answers that it got before. It goes on with new questions, whose noise is drawn
    then: no randomness is kept anywhere.

    Parameters
    ----------
    path
        A journal of the same run, or the name of a new one.
    settings
        All that decides what a run asks, as plain JSON values.
    facts
        What of the run is public besides, for whoever reads the journal without it; see
        `synthdp.from_journal`.

    Raises
    ------
    DataFileError
        If the file cannot be written, another run holds it, or it is damaged or no journal.
    ParameterError
        If it is no path, or was written by a run with other settings; the message says which.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        settings: Mapping[str, Any],
        facts: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._path, self._settings = checked_path(path, "journal"), dict(settings)
        # Line 0 is the header; answers follow in the order in which they were asked for.
        self._next = 1
        self._n_recalled = 0
        self._n_made = 0
        self._before_new: Callable[[], object] | None = None
        self._resumed: list[str] = []
        self._is_new = not _exists(path)
        self._began = now()
        if self._is_new:
            header = {
                "format": FORMAT,
                "run": new_run(),
                "when": self._began,
                "settings": self._settings,
            }
            # Written whole or not at all, before anything is asked: a run whose journal cannot be
            # written does not begin.
            ChainedFile.create(
                path, header | {"made_by": made_by(), "facts": _plain(facts)}, what=WHAT
            )
        # Held until the run ends: two runs on one journal would each answer the other's questions.
        self._file = ChainedFile(path, what=WHAT, patience=0)
        try:
            self._header = self._file.entry(0)
            self._check_header()
            # Known from here on: who asks after a stop finds the file closed.
            self._has_answers = self._holds_answers()
        except BaseException:
            self.close()
            raise

    @property
    def run(self) -> str:
        """Identifier of the run: random, in hexadecimal."""
        return str(self._header["run"])

    @property
    def when(self) -> str | None:
        """When the run began, before it read a record: date and time in UTC; None if an earlier
        version began it.
        """
        return when_in(self._header)

    @property
    def resumed(self) -> tuple[str, ...]:
        """The days, in UTC, on which the run was gone on with and asked for more, as far as it has
        come again.
        """
        return tuple(self._resumed)

    @property
    def path(self) -> str:
        """Where it is."""
        return str(self._path)

    @property
    def head(self) -> str:
        """Hash of all that is in it."""
        return self._file.head

    @property
    def hashes(self) -> tuple[str, ...]:
        """The hash of each line: whatever else holds one of them was the same up to there."""
        return self._file.hashes

    @property
    def n_asked(self) -> int:
        """How many lines are known to whoever knows the answers that were asked for so far."""
        n_lines = self._next
        while n_lines > 1 and remark_at(self._file, n_lines - 1) is not None:
            n_lines -= 1
        return n_lines

    @property
    def n_made(self) -> int:
        """How many answers were new."""
        return self._n_made

    @property
    def is_repeated(self) -> bool:
        """Whether all answers so far were there before: no record was asked for anything."""
        return self._n_made == 0 and self._n_recalled > 0

    @property
    def has_stopped(self) -> bool:
        """Whether the run stopped over its input, and asked for nothing since."""
        return has_stopped(self._file)

    def before_new(self, pay: Callable[[], object]) -> None:
        """Call ``pay`` before the first answer that is not there is made, and before each until it
        raises nothing.
        """
        self._before_new = pay

    @property
    def has_ended(self) -> bool:
        """Whether the run asked for all that it wanted."""
        return has_ended(self._file)

    def get(self, question: tuple[object, ...], n_numbers: int | None) -> Answer | None:
        """The next answer that is remembered, None if there is none.

        Raises
        ------
        PrivacyError
            If it is the answer to another question.
        DataFileError
            If it cannot be read, or is no answer to this one.
        """
        if self._is_at_end:
            if self._before_new is not None:
                self._before_new()
                self._before_new = None  # once it is paid: no question goes on without
            return None
        entry = self._file.entry(self._next, most_bytes=most_bytes(question, n_numbers))
        # Another question with this answer would be a release of something that was never asked.
        # Rounding differs between machines; then it is safer to stop.
        if entry.get("question") != digest_of(question):
            self._refuse_question(entry, question)
        try:
            answer = answer_in(entry)
            # The file may have been written by anybody; it is trusted for its numbers only, and
            # those have to fit the question.
            if not is_answer_to(question, n_numbers, answer):
                raise ValueError("another answer")
        except ValueError:
            self._file.refuse(f"line {self._next + 1} is no answer; give a file that synthdp wrote")
        self._next = self._next + 1
        self._n_recalled = self._n_recalled + 1
        return answer

    def keep(self, question: tuple[object, ...], answer: Answer) -> None:
        """Write an answer; when this returns, it is on the disk.

        Raises `DataFileError` if it cannot be written.
        """
        asked = {"asked": _words(question[0]), "question": digest_of(question)}
        if not self._is_new and self._n_made == 0 and self.has_answers:
            # Running times are no part of what is released.
            day = self._began[:10]  # no more: when a run was stopped may tell of its records
            self._remark({"resumed": day})
        self._file.append(asked | answer_to_dict(question, answer))
        self._next = len(self._file)
        self._n_made = self._n_made + 1
        self._has_answers = True

    def charged_to(self, path: str, first: str) -> None:
        """Note the budget that the run is charged to, by its place and the hash of its first line.

        Whoever makes a release of this file, or of a copy, is to ask it. To be called before the
        charge. What has ended stays as it is. Raises `DataFileError` if it cannot be written.
        """
        remark = {"budget": {"path": path, "first": first}}
        if (
            self._header["format"] != BARE_FORMAT
            and not self.has_ended
            and remark not in self._remarks()
        ):
            self._file.append(remark)

    def check_charged(self, first: str | None) -> None:
        """Refuse a run that is charged to a budget which is not named now.

        What the run did not spend may have been given back there, by this journal or by a copy of
        it: only the budget knows whether the answers in here are still paid for.

        Parameters
        ----------
        first
            Hash of the first line of the budget that is named; None if none is.

        Raises `PrivacyError`.
        """
        budgets = [remark["budget"] for remark in self._remarks() if "budget" in remark]
        if budgets and first not in [each["first"] for each in budgets]:
            raise PrivacyError(
                f"journal {self.path!r}: its run is charged to budget {budgets[-1]['path']!r}, which says whether its "
                "answers are paid for: name that with --budget (in Python budget=)"
            )

    def stop(self) -> bool:
        """Note that the run stopped because of its answers; returns whether it has asked for all
        answers kept here.

        Raises `DataFileError` if that cannot be written.
        """
        if not self._is_at_end or self._header["format"] == BARE_FORMAT:
            return False
        if remark_at(self._file, len(self._file) - 1) != STOPPED:
            self._file.append(STOPPED)
            self._next = len(self._file)
        return True

    def note(self, content: Mapping[str, Any]) -> None:
        """Write what follows from the answers so far, for whoever reads them without their run, if
        it is not there.

        Raises `PrivacyError` if something else is there, and `DataFileError` if it cannot be
        written.
        """
        if self._header["format"] == BARE_FORMAT:
            return
        if self._is_at_end:
            self._file.append(content)
        # Compared as it comes back from a file: JSON makes lists of tuples, and texts of keys.
        elif self._file.entry(self._next) != json.loads(json.dumps(content)):
            raise PrivacyError(
                f"journal {self.path!r}: its answers are read in another way; {self._way_out}"
            )
        self._next += 1

    def finish(self) -> None:
        """Check that the run asked for all that is remembered, else it would release more than it
        says; note its end.

        Raises `PrivacyError` if not, and `DataFileError` if the end cannot be written.
        """
        has_more = not self._is_at_end
        # Answers that nobody asked for again were paid for and released before; a certificate
        # without them would say too little.
        if (left := len(self._file) - self._next - (has_more and self.has_ended)) > 0:
            raise PrivacyError(
                f"journal {self.path!r}: it holds {left} answers more than the run asked for; {self._way_out}"
            )
        self.note(END)

    def move(self, path: str | PathLike[str]) -> bool:
        """Give it another name, in place of a journal of a run that has ended before, and let
        others have it.

        Returns whether that was possible.
        """
        try:
            self._file.move(path)
        # Renaming is a service, and the release is done: that it fails is no reason to fail now.
        except (OSError, DataFileError):
            return False
        self._path = path
        return True

    def discard_if_new(self) -> None:
        """Remove the file if it was not there before: its run does not begin."""
        # Once there is an answer the file is worth something, whatever happens to the run.
        if self._is_new and self._n_made == 0:
            self.close()
            Path(self._path).unlink(missing_ok=True)

    def close(self) -> None:
        """Let others have the file."""
        self._file.close()

    @property
    def _is_at_end(self) -> bool:
        """Whether nothing more is remembered; remarks that come next are read."""
        while (
            self._next < len(self._file)
            and (remark := remark_at(self._file, self._next)) is not None
        ):
            if "resumed" in remark:
                self._resumed += [str(remark["resumed"])]
            self._next += 1
        return self._next >= len(self._file)

    @property
    def has_answers(self) -> bool:
        """Whether it holds any answer; to be asked of a closed journal, too."""
        return self._has_answers

    def _holds_answers(self) -> bool:
        numbers = range(1, len(self._file))
        return any(
            self._file.length(number) >= _MAX_REMARK or "question" in self._file.entry(number)
            for number in numbers
        )

    def _remarks(self) -> list[dict[str, Any]]:
        remarks = (remark_at(self._file, number) for number in range(1, len(self._file)))
        return [remark for remark in remarks if remark is not None]

    def _remark(self, remark: Mapping[str, str]) -> None:
        self._file.append(remark)
        self._resumed += remark.values()

    def _check_header(self) -> None:
        check_header(self._file, self._header)
        settings = self._header["settings"]
        names = [*self._settings, *(name for name in settings if name not in self._settings)]
        differing = [name for name in names if settings.get(name) != self._settings.get(name)]
        if differing:
            differences = ", ".join(
                _difference(name, settings.get(name), self._settings.get(name))
                for name in differing
            )
            way_out = "run the command that it is of, or name another journal"
            if has_stopped(self._file):
                way_out = (
                    "that run stopped, and what it spent stays spent; name another journal for this one, which is "
                    "a run of its own"
                )
            raise ParameterError(
                f"journal {self.path!r}: it is of another run: {differences}; {way_out}{self._rescue}"
            )

    def _refuse_question(self, entry: Mapping[str, Any], question: tuple[object, ...]) -> None:
        asked = _words(question[0])
        before = str(entry.get("asked", "nothing"))
        asked = (
            f"{asked} in another way" if asked == before else f"{asked} where it asked for {before}"
        )
        raise PrivacyError(f"journal {self.path!r}: the run asks for {asked}; {self._way_out}")

    @property
    def _way_out(self) -> str:
        """What to do about a run that takes another course, which is nothing but another rounding
        somewhere.
        """
        before = self._header.get("made_by")
        now = made_by()
        versions = f" (it was written by {before}, this is {now})" if before != now else ""
        same = f"use the same files, number of threads, machine and software{versions}"
        return f"{same}, or start anew with another journal{self._rescue}"

    @property
    def _rescue(self) -> str:
        """How to have what was paid for without the run, unless the journal is bare."""
        if self._header["format"] == BARE_FORMAT:
            return ""
        return f"; synthdp journal rescue {shlex.quote(self.path)} -o OUT makes a release of what it holds"


def check_header(file: ChainedFile, header: Mapping[str, Any]) -> None:
    """Raise `DataFileError` unless the first entry of a file is that of a journal."""
    is_known = header.get("format") in (FORMAT, BARE_FORMAT)
    if (
        not is_known
        or not isinstance(header.get("settings"), dict)
        or not isinstance(header.get("run"), str)
    ):
        file.refuse("it is no journal of this version of synthdp; give another name")


def has_ended(file: ChainedFile) -> bool:
    """Whether the last line of a journal says that its run has ended."""
    last = len(file) - 1
    return last > 0 and file.length(last) < _MAX_REMARK and file.entry(last) == END


def has_stopped(file: ChainedFile) -> bool:
    """Whether the last line of a journal says that its run stopped over its input."""
    return remark_at(file, len(file) - 1) == STOPPED


def set_aside(path: str | PathLike[str], settings: Mapping[str, Any]) -> str | None:
    """Give the journal of a run that stopped another name if a run of these settings is another
    one; the name.

    A journal that is damaged, or held, stays where it is: opening it says so.
    """
    if not _exists(path):
        return None
    with suppress(DataFileError), ChainedFile(path, what=WHAT, patience=0) as file:
        header = file.entry(0)
        check_header(file, header)
        if header["settings"] == json.loads(json.dumps(dict(settings))) or not has_stopped(file):
            return None
        numbers = count(2)
        name = f"{path}{STOPPED_ENDING}"
        while lexists(name):
            name = f"{path}-{next(numbers)}{STOPPED_ENDING}"
        file.move(name)
        return name
    return None


def remark_at(file: ChainedFile, number: int) -> dict[str, Any] | None:
    """What a line of a journal says that is no part of what was asked; None if it is.

    On which day a run that was stopped was gone on with, to which budget it is charged, or that it
    stopped over its input.
    """
    if file.length(number) >= _MAX_REMARK:
        return None
    match entry := file.entry(number):
        case {"resumed": str(day)} if len(entry) == 1 and _DAY.fullmatch(day):
            return entry
        case {"stopped": True} if len(entry) == 1:
            return entry
        case {"budget": {"path": str(), "first": str(), **others}} if (
            len(entry) == 1 and not others
        ):
            return entry
    return None


def when_in(header: Mapping[str, Any]) -> str | None:
    """When the run of a journal began, by its first line; None if an earlier version began it."""
    when = header.get("when")
    return when if isinstance(when, str) and _MOMENT.fullmatch(when) else None


def check_replaceable(path: str | PathLike[str]) -> None:
    """Raise `DataFileError` unless a name is free, or that of a journal whose run has ended and
    that nobody holds.
    """
    if _exists(path):
        with ChainedFile(path, what=WHAT, patience=0, is_writable=False) as file:
            check_header(file, file.entry(0))
            if not has_ended(file):
                file.refuse("it would be replaced, and its run has not ended; give it another name")


def _exists(name: str | PathLike[str]) -> bool:
    try:
        return lexists(name)
    except ValueError:  # a NUL character; creating it says so
        return False


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as plain JSON values; parameters of mechanisms by anybody that are none, or no finite
    numbers, as texts.
    """
    plain: dict[str, Any] = json.loads(json.dumps(dict(facts), default=str), parse_constant=str)
    return plain


def made_by() -> str:
    """What may round differently elsewhere."""
    libraries = ", ".join(f"{name} {version_of(name)}" for name in ("numpy", "scipy"))
    return f"Python {platform.python_version()}, {libraries} on {platform.machine()}"


def _words(event: object) -> str:
    """What an event is, for people."""
    facts = event.to_dict() if isinstance(event, Event) else {}
    about = facts.get("columns", facts.get("column", facts.get("score", "")))
    return f"{facts.get('event')} of {', '.join(map(str, about)) if isinstance(about, list) else about}"


def _difference(name: str, before: object, now: object) -> str:
    """One setting that differs; of those that are hashes only the name is worth reading."""
    if any(isinstance(value, str) and len(value) == 64 for value in (before, now)):
        return f"another {name}"
    return f"{name} {before} (now {now})"
