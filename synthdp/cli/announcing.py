"""What a command says of what it did, on standard output or standard error."""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from synthdp.cautions import grouped
from synthdp.cli.outputs import with_certificate
from synthdp.errors import DataFileError
from synthdp.table.files.formats import STANDARD_STREAM
from synthdp.table.files.writing import reason

_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that move a terminal's cursor, clear it, or turn the direction of what follows."""


def print_text(text: str) -> None:
    """Write text or JSON to standard output and notice if that fails; a terminal obeys nothing that it holds."""
    try:
        sys.stdout.write(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataFileError(f"standard output: it cannot be written: {reason(error)}; write it elsewhere") from None


def announce(certificate: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Say what was written, as JSON if asked for; of a table on stdout the certificate on stderr tells."""
    files = [] if options.output == STANDARD_STREAM else with_certificate(options.output)
    if options.json:
        said = ("guarantee", "is_private", "epsilon", "delta", "accounting")
        result = {"output": options.output, "certificate": files[1] if files else None}
        result |= {name: certificate[name] for name in said} | {"cautions": certificate.get("cautions", [])}
        stream = sys.stdout if files else sys.stderr
        stream.write(json.dumps(result) + "\n")
    elif files:
        sys.stderr.write(f"{files[0]}: {certificate['guarantee']}; details in {files[1]}\n")


def announce_journal(journal: str, *, is_repeated: bool) -> None:
    """Say that a journal is complete, and what it is still good for."""
    said = "nothing was asked of the records: all answers were there" if is_repeated else "it holds the whole run"
    sys.stderr.write(
        f"synthdp: journal {journal}: {said}; the same command gives this release again for nothing, remove it for a "
        "new one\n"
    )


def caution(found: Iterable[str], options: argparse.Namespace) -> None:
    """Say what was found out that the user should know, a line each, of many columns in one; on a terminal or not.

    Where JSON is printed, or the certificate itself, the cautions are in it.
    """
    for caution in () if options.json or options.output == STANDARD_STREAM else grouped(found):
        sys.stderr.write(f"synthdp: caution: {' '.join(caution.splitlines())}\n")
