"""What a command says of what it did, on standard output or standard error."""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from synthdp.cli.shared.beside import with_certificate
from synthdp.core.cautions import grouped
from synthdp.core.errors import DataFileError
from synthdp.core.files.writing import STANDARD_STREAM, reason

if TYPE_CHECKING:
    from synthdp.release.keeping.kept_run import KeptRun

_CONTROLS = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that move a terminal's cursor, clear it, turn the direction of what follows, or that
UTF-8 cannot say.
"""


def print_text(text: str) -> None:
    """Write text or JSON to standard output and notice if that fails; a terminal obeys nothing that
    it holds.
    """
    try:
        sys.stdout.write(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataFileError(
            f"standard output: it cannot be written: {reason(error)}; write it elsewhere"
        ) from None


def announce(
    certificate: Mapping[str, Any], options: argparse.Namespace, *, replay: str | None = None
) -> None:
    """Say what was written, as JSON if asked for; of a table on stdout the certificate on stderr
    tells.

    ``replay`` is a caution that this is an earlier release again, empty if it is none; None where
    that cannot be.
    """
    files = [] if options.output == STANDARD_STREAM else with_certificate(options.output)
    if options.json:
        said = ("guarantee", "is_private", "epsilon", "delta", "accounting")
        result = {"output": options.output, "certificate": files[1] if files else None}
        result |= {name: certificate[name] for name in said} | with_replay(
            certificate.get("cautions", []), replay
        )
        stream = sys.stdout if files else sys.stderr
        stream.write(json.dumps(result) + "\n")
    elif files:
        sys.stderr.write(f"{files[0]}: {certificate['guarantee']}; details in {files[1]}\n")


def with_replay(cautions: Iterable[str], replay: str | None) -> dict[str, Any]:
    """What the result of a run says as JSON of cautions, and of whether it is an earlier release
    again.
    """
    if replay is None:
        return {"cautions": [*cautions]}
    return {"replayed": bool(replay), "cautions": [*([replay] if replay else []), *cautions]}


def announce_journal(run: "KeptRun", options: argparse.Namespace) -> None:
    """Say that a journal is complete, and what it is still good for; or that it gave an earlier
    release again.

    The latter is said wherever the output goes: nobody may take yesterday's release for today's.
    """
    if run.replay:
        sys.stderr.write(f"synthdp: caution: {run.replay}\n")
    elif run.journal_line and not options.json and options.output != STANDARD_STREAM:
        sys.stderr.write(f"synthdp: {run.journal_line}\n")


def caution(found: Iterable[str], options: argparse.Namespace) -> None:
    """Say what was found out that the user should know, a line each, of many columns in one; on a
    terminal or not.

    Where JSON is printed, or the certificate itself, the cautions are in it.
    """
    for caution in () if options.json or options.output == STANDARD_STREAM else grouped(found):
        sys.stderr.write(f"synthdp: caution: {' '.join(caution.splitlines())}\n")
