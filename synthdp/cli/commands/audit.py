"""``synthdp audit``: the worst-case game on tables that are made up."""

import os
import sys
from dataclasses import dataclass
from typing import final

from synthdp.audit.asking.neighbours import worst_case
from synthdp.audit.audit import MIN_RUNS, Audit
from synthdp.audit.audit_text import audit_text, failures
from synthdp.audit.check_mechanism import QUICK_ENGINE
from synthdp.audit.game import Game
from synthdp.cli.shared.printing import print_text
from synthdp.cli.shared.status_line import StatusLine
from synthdp.core.errors import PrivacyError
from synthdp.core.files.json_files import json_text
from synthdp.release.settings import as_adjacency


@final
@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """``synthdp audit``; ``began`` is the moment when the process did, by `time.monotonic`."""

    mechanism: str
    epsilon: float
    delta: float
    runs: int
    domain: str
    adjacency: str
    max_rows_per_unit: int | None
    accounting: str | None
    engine: str | None
    processes: int | None
    seconds: float | None
    confidence: float
    json: bool
    began: float


def audit_command(options: AuditOptions) -> None:
    """``synthdp audit``: opens no private data; Ctrl-C ends it with what was found until then."""
    adjacency = as_adjacency(options.adjacency)
    game = Game(
        mechanism=options.mechanism,
        epsilon=options.epsilon,
        delta=options.delta,
        pair=worst_case(options.domain, adjacency, max_rows=options.max_rows_per_unit),
        accounting=options.accounting,
        engine=options.engine or QUICK_ENGINE,
    )
    audit = Audit(game, confidence=options.confidence)
    try:
        with StatusLine(sys.stderr) as status:
            audit.play(
                options.runs,
                processes=(os.cpu_count() or 1) if options.processes is None else options.processes,
                seconds=options.seconds,
                since=options.began,
                report=status,
            )
    except KeyboardInterrupt:
        # What the runs so far prove holds whenever they are stopped, and may have taken hours; the
        # exit code still says that somebody stopped it.
        if audit.n_runs >= MIN_RUNS:
            _show(audit, options)
        raise
    if failed := _show(audit, options):
        raise PrivacyError(f"audit of {options.mechanism}: {' and '.join(failed)}")


def _show(audit: Audit, options: AuditOptions) -> list[str]:
    """Print what was found; gives what is proven to be more than is claimed."""
    result = audit.result()
    content = {"complete": result.n_runs >= options.runs} | result.to_dict()
    print_text(json_text(content) if options.json else audit_text(result) + "\n")
    return failures(result)
