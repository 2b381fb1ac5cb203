"""The journal of a run: what it released so far, so that a run that was killed goes on where it was."""

import json
import platform
import secrets
import shlex
from collections.abc import Mapping
from importlib.metadata import version
from os import PathLike
from os.path import lexists
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, final

from synthdp.errors import ParameterError, PrivacyError
from synthdp.privacy.events import Event
from synthdp.privacy.queryable import Answer
from synthdp.release.keeping.chained_file import ChainedFile
from synthdp.release.keeping.checks import checked_path
from synthdp.release.keeping.described import digest_of
from synthdp.release.keeping.kept_events import answer_in, answer_to_dict, is_answer_to, most_bytes

FORMAT, BARE_FORMAT = "synthdp journal 2", "synthdp journal 1"
"""A bare journal holds no more than its own run needs to go on."""

WHAT = "journal"

END = {"ended": True}
"""The last line of a run that asked for all that it wanted."""


@final
class Journal:
    """Every answer of one run, on the disk before anybody sees it; a `synthdp.privacy.queryable.Memory`.

    Started again, the run asks the same questions, as its recipe is a function of the answers, and gets the answers
    that it got before. It goes on with new questions, whose noise is drawn then: no randomness is kept anywhere.

    Parameters
    ----------
    path
        A journal of the same run, or the name of a new one.
    settings
        All that decides what a run asks, as plain JSON values.
    facts
        What of the run is public besides, for whoever reads the journal without it; see `synthdp.from_journal`.

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
        self._n_recalled, self._n_made = 0, 0
        self._is_new = not _exists(path)
        if self._is_new:
            header = {"format": FORMAT, "run": secrets.token_hex(16), "settings": self._settings, "made_by": made_by()}
            ChainedFile.create(path, header | {"facts": _plain(facts)}, what=WHAT)
        self._file = ChainedFile(path, what=WHAT, patience=0)
        try:
            self._header = self._file.entry(0)
            self._check_header()
        except BaseException:
            self.close()
            raise

    @property
    def run(self) -> str:
        """Identifier of the run: random, in hexadecimal."""
        return str(self._header["run"])

    @property
    def path(self) -> str:
        """Where it is."""
        return str(self._path)

    @property
    def head(self) -> str:
        """Hash of all that is in it."""
        return self._file.head

    @property
    def n_made(self) -> int:
        """How many answers were new: 0 of a run that was complete before."""
        return self._n_made

    def recalled(self, question: tuple[object, ...], n_numbers: int | None) -> Answer | None:
        """The next answer that is remembered, None if there is none.

        Raises
        ------
        PrivacyError
            If it is the answer to another question.
        DataFileError
            If it cannot be read, or is no answer to this one.
        """
        if self._is_at_end:
            return None
        entry = self._file.entry(self._n_recalled + 1, most_bytes=most_bytes(question, n_numbers))
        if entry.get("question") != digest_of(question):
            self._refuse_question(entry, question)
        try:
            answer = answer_in(entry)
            if not is_answer_to(question, n_numbers, answer):
                raise ValueError("another answer")
        except ValueError:
            self._file.refuse(f"line {self._n_recalled + 2} is no answer; give a file that synthdp wrote")
        self._n_recalled += 1
        return answer

    def keep(self, question: tuple[object, ...], answer: Answer) -> None:
        """Write an answer; when this returns, it is on the disk.

        Raises `DataFileError` if it cannot be written.
        """
        asked = {"asked": _words(question[0]), "question": digest_of(question)}
        self._file.append(asked | answer_to_dict(question, answer))
        self._n_recalled, self._n_made = self._n_recalled + 1, self._n_made + 1

    def note(self, content: Mapping[str, Any]) -> None:
        """Write what follows from the answers so far, for whoever reads them without their run, if it is not there.

        Raises `PrivacyError` if something else is there, and `DataFileError` if it cannot be written.
        """
        if self._header["format"] == BARE_FORMAT:
            return
        if self._is_at_end:
            self._file.append(content)
        elif self._file.entry(self._n_recalled + 1) != json.loads(json.dumps(content)):
            raise PrivacyError(f"journal {self.path!r}: its answers are read in another way; {self._way_out}")
        self._n_recalled += 1

    def finish(self) -> None:
        """Check that the run asked for all that is remembered, else it would release more than it says; note its end.

        Raises `PrivacyError` if not, and `DataFileError` if the end cannot be written.
        """
        has_ended = not self._is_at_end and self._file.entry(len(self._file) - 1) == END
        if (left := len(self._file) - 1 - self._n_recalled - has_ended) > 0:
            raise PrivacyError(
                f"journal {self.path!r}: it holds {left} answers more than the run asked for; {self._way_out}"
            )
        self.note(END)

    def discard_if_new(self) -> None:
        """Remove the file if it was not there before: its run does not begin."""
        if self._is_new and self._n_made == 0:
            self.close()
            Path(self._path).unlink(missing_ok=True)

    def close(self) -> None:
        """Let others have the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _is_at_end(self) -> bool:
        return self._n_recalled + 1 >= len(self._file)

    def _check_header(self) -> None:
        check_header(self._file, self._header)
        settings = self._header["settings"]
        names = [*self._settings, *(name for name in settings if name not in self._settings)]
        differing = [name for name in names if settings.get(name) != self._settings.get(name)]
        if differing:
            found = ", ".join(_difference(name, settings.get(name), self._settings.get(name)) for name in differing)
            raise ParameterError(
                f"journal {self.path!r}: it is of another run: {found}; run the command that it is of, "
                f"or name another journal{self._rescue}"
            )

    def _refuse_question(self, entry: Mapping[str, Any], question: tuple[object, ...]) -> None:
        asked, before = _words(question[0]), str(entry.get("asked", "nothing"))
        asked = f"{asked} in another way" if asked == before else f"{asked} where it asked for {before}"
        raise PrivacyError(f"journal {self.path!r}: the run asks for {asked}; {self._way_out}")

    @property
    def _way_out(self) -> str:
        """What to do about a run that takes another course, which is nothing but another rounding somewhere."""
        before, now = self._header.get("made_by"), made_by()
        said = f" (it was written by {before}, this is {now})" if before != now else ""
        same = f"use the same files, number of threads, machine and software{said}"
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
    if not is_known or not isinstance(header.get("settings"), dict) or not isinstance(header.get("run"), str):
        file.refuse("it is no journal of this version of synthdp; give another name")


def _exists(name: str | PathLike[str]) -> bool:
    try:
        return lexists(name)
    except ValueError:  # a NUL character; creating it says so
        return False


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as plain JSON values; parameters of recipes by anybody that are none, or no finite numbers, as texts."""
    found: dict[str, Any] = json.loads(json.dumps(dict(facts), default=str), parse_constant=str)
    return found


def made_by() -> str:
    """What may round differently elsewhere."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "networkx"))
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
