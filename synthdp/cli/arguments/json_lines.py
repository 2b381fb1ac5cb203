"""Standard error for machines: every line that a command writes there becomes a JSON object."""

import io
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from datetime import UTC, datetime
from itertools import pairwise, takewhile
from typing import Any, TextIO, final

from synthdp.core.errors import ParameterError
from synthdp.core.files.writing import STANDARD_STREAM

LOG_FORMATS = ("text", "json")
"""What ``--log-format`` may say."""

_OPTION = "--log-format"
_MARK = "synthdp: "
_CODE = re.compile(r" \[(?P<code>[CE][0-9]{2})\]$")
_LEVELS = ("caution", "chosen", "quality", "accepted")
"""What a line may begin with that says of which level it is; all else informs."""


@final
class JsonLines(io.TextIOBase):
    """Text stream that writes a JSON object for each line: ``time``, ``level`` and ``message``."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = ""

    def writable(self) -> bool:
        """Lines can be written, and nothing be read."""
        return True

    def write(self, text: str) -> int:
        """Write the lines that a text completes."""
        *lines, self._begun = (self._begun + text).split("\n")
        for line in filter(None, lines):
            message = line.removeprefix(_MARK)
            level, _, rest = message.partition(": ")
            if level in _LEVELS:
                code = _CODE.search(rest)
                facts = {"code": code["code"]} if code else {}
                self.emit(level, _CODE.sub("", rest), facts)
            else:
                self.emit("info", message)
        return len(text)

    def emit(self, level: str, message: str, facts: Mapping[str, Any] | None = None) -> None:
        """Write one object: when, of which level, what, and further facts."""
        line: dict[str, Any] = {"time": datetime.now(UTC).isoformat(timespec="milliseconds")}
        line |= {"level": level, "message": message, **(facts or {})}
        self._stream.write(json.dumps(line) + "\n")
        self._stream.flush()


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether the words of a command ask for it, right or wrong as the others may be: wrong options
    are said to the machine, too.

    >>> asks_for_json(["run", "--log-format", "json"]), asks_for_json(["run", "--log-format=json"])
    (True, True)
    >>> asks_for_json(["run", "--", "--log-format=json"])
    False
    """
    own = list(takewhile(lambda word: word != "--", words))
    return f"{_OPTION}=json" in own or (_OPTION, "json") in pairwise(own)


def check_log_goes_with(output: str | None) -> None:
    """Refuse an ``output`` whose certificate goes to standard error."""
    if output == STANDARD_STREAM:
        raise ParameterError(
            "--log-format json does not go with -o -, where the certificate goes to stderr; name a file"
        )


@contextmanager
def json_on_stderr() -> Iterator[None]:
    """Make every line on standard error a JSON object."""
    with redirect_stderr(JsonLines(sys.stderr)):
        yield
