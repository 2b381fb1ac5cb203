"""How the command line ends: exit codes, and the line that says why."""

import sys

from synthdp.cli.arguments.json_lines import JsonLines
from synthdp.core.errors import SynthdpError
from synthdp.core.message_codes import error_code, with_code

DONE, FAILED, USAGE, REFUSED, NOT_ACCEPTED = 0, 1, 2, 3, 4
INTERRUPTED, TERMINATED = 130, 143
"""Exit codes: 2 is that of `argparse`, 130 and 143 are what shells make of SIGINT and SIGTERM (128
and the number).
"""

PAID_FOR = "what was paid for "
"""How a note on an error begins that says where the measurements of a failed run are."""


def say(message: str, code: int, error: BaseException | None = None) -> int:
    """Write one line: the message, what was noted on the error about paid-for measurements, and
    the error's short code.

    Notes that others put there are left out: they may hold data.
    """
    line = " ".join("; ".join([message, *paid_for(error)]).splitlines())
    short = error_code(error) if isinstance(error, SynthdpError) else ""
    if isinstance(sys.stderr, JsonLines):
        sys.stderr.emit("error", line, {"exit_code": code} | ({"code": short} if short else {}))
    else:
        sys.stderr.write(f"synthdp: {with_code(line, short) if short else line}\n")
    return code


def paid_for(error: BaseException | None) -> list[str]:
    """What was noted on an error about measurements that were paid for before it."""
    return [note for note in getattr(error, "__notes__", ()) if note.startswith(PAID_FOR)]
