"""What a command says of what it did, on standard output or standard error."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from synthdp.cli.arguments.options import OutputOptions
from synthdp.cli.shared.beside import with_certificate
from synthdp.core.cautions import grouped
from synthdp.core.errors import NotAcceptedError
from synthdp.core.files.writing import STANDARD_STREAM
from synthdp.core.message_codes import caution_code, with_caution_code
from synthdp.release.acceptance import acceptance_lines, is_accepted
from synthdp.report.texts.quality import choice_line, quality_line

RESULT_SCHEMA_FILE = Path(__file__).with_name("result.schema.json")
"""JSON Schema of what ``--json`` prints of a release or table that was written."""

_IN_RESULTS = (
    *(
        "guarantee",
        "is_private",
        "epsilon",
        "delta",
        "accounting",
        "quality",
        "acceptance",
        "choice",
    ),
    *("refitted", "plan", "sites"),
)
"""What a result repeats of the certificate, where that has it."""


def announce(
    certificate: Mapping[str, Any], options: OutputOptions, *, replay: str | None = None
) -> None:
    """Say what was written, as JSON if asked for; of a table on stdout the certificate on stderr
    tells.

    ``replay`` is a caution that this is an earlier release again, empty if it is none; None where
    that cannot be.
    """
    files = [] if options.output == STANDARD_STREAM else with_certificate(options.output)
    if options.json:
        written = {"output": options.output, "certificate": files[1] if files else None}
        result = result_of(written, certificate, replay=replay)
        (sys.stdout if files else sys.stderr).write(json.dumps(result) + "\n")
    elif files:
        sys.stderr.write(f"{files[0]}: {certificate['guarantee']}; details in {files[1]}\n")


def announce_quality(certificate: Mapping[str, Any], options: OutputOptions) -> None:
    """Say which model was chosen, and how far the rows are from the records, if that was measured."""
    chosen = choice_line(certificate)
    if chosen and not options.is_all_said:
        sys.stderr.write(f"synthdp: chosen: {chosen}\n")
    quality = certificate.get("quality")
    if quality and not options.is_all_said:
        sys.stderr.write(f"synthdp: quality: {quality_line(quality)}\n")
    if is_accepted(certificate) and not options.is_all_said:
        for line in acceptance_lines(certificate):
            sys.stderr.write(f"synthdp: accepted: {line}\n")


def check_accepted(certificate: Mapping[str, Any], what_then: str) -> None:
    """Raise `NotAcceptedError`, which says ``what_then`` becomes of the table, unless all criteria
    are met.
    """
    if not is_accepted(certificate):
        lines = "; ".join(acceptance_lines(certificate))
        raise NotAcceptedError(f"not accepted: {lines}; {what_then}")


def result_of(
    written: Mapping[str, Any], certificate: Mapping[str, Any], *, replay: str | None = None
) -> dict[str, Any]:
    """What a command says as JSON of what it has ``written``; ``result.schema.json`` describes it.

    ``replay`` is a caution that this is an earlier release again, empty if it is none; None where
    that cannot be.
    """
    of_certificate = {name: certificate[name] for name in _IN_RESULTS if name in certificate}
    cautions = [*([replay] if replay else []), *certificate.get("cautions", [])]
    replayed = {} if replay is None else {"replayed": bool(replay)}
    codes = [caution_code(caution) for caution in cautions]
    return {**written, **of_certificate, **replayed, "cautions": cautions, "caution_codes": codes}


def print_result(
    written: Mapping[str, Any], certificate: Mapping[str, Any], *, replay: str | None = None
) -> None:
    """Print it, on one line."""
    sys.stdout.write(json.dumps(result_of(written, certificate, replay=replay)) + "\n")


def announce_journal(replay: str, line: str, options: OutputOptions) -> None:
    """Say in a ``line`` that a journal is complete, and what it is still good for; or that this is
    a ``replay`` of an earlier release.

    The latter is said wherever the output goes: nobody may take yesterday's release for today's.
    """
    if replay:
        _write_caution(replay)
    elif line and not options.is_all_said:
        sys.stderr.write(f"synthdp: {line}\n")


def caution(cautions: Iterable[str], *, is_said: bool) -> None:
    """Print cautions for the user, one a line, with many columns joined in one line.

    Unless it ``is_said``: where JSON is printed, or the certificate itself, the cautions are in it.
    """
    for caution in () if is_said else grouped(cautions):
        _write_caution(" ".join(caution.splitlines()))


def _write_caution(line: str) -> None:
    sys.stderr.write(f"synthdp: caution: {with_caution_code(line)}\n")
