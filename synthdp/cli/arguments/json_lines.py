"""Standard error for machines: every line that a command writes there becomes a JSON object."""

import io
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from datetime import UTC, datetime
from typing import Any, TextIO, final

from synthdp.core.errors import ParameterError
from synthdp.core.files.writing import STANDARD_STREAM

LOG_FORMATS = ("text", "json")
"""What ``--log-format`` may say."""

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


@contextmanager
def json_on_stderr(output: str | None) -> Iterator[None]:
    """Make every line on standard error a JSON object; refuse an ``output`` whose certificate goes
    there.
    """
    if output == STANDARD_STREAM:
        raise ParameterError(
            "--log-format json does not go with -o -, where the certificate goes to stderr; name a file"
        )
    with redirect_stderr(JsonLines(sys.stderr)):
        yield
