"""``synthdp verify``: what synthetic rows say, held against the real table."""

import sys
from dataclasses import dataclass
from typing import final

from synthdp.cli.arguments.options import PersistenceOptions
from synthdp.cli.commands.models import release_of_one_table
from synthdp.cli.shared.announcing import caution
from synthdp.cli.shared.beside import kept_files, persistence_of
from synthdp.cli.shared.log_lines import progress_on
from synthdp.cli.shared.outputs import check_distinct
from synthdp.core.files.json_files import write_json
from synthdp.core.files.writing import STANDARD_STREAM, check_writable
from synthdp.core.imports import import_named
from synthdp.release.asked import Asked
from synthdp.release.on_demand import VERIFY
from synthdp.release.persistence.scrubbing import scrub_tracebacks
from synthdp.release.run_settings import Spelling


@final
@dataclass(frozen=True, kw_only=True)
class VerifyOptions(PersistenceOptions):
    """``synthdp verify``."""

    model: str
    input: str
    question: list[str]
    epsilon: float
    delta: float
    seed: int
    unit: str | None
    max_rows_per_unit: int | None
    force: bool
    verbose: int
    log_format: str


@scrub_tracebacks
def verify_command(options: VerifyOptions) -> None:
    """``synthdp verify``: everything public is checked before the records are read or paid for."""
    is_file = options.output != STANDARD_STREAM
    persistence = persistence_of(options)
    written = [options.output] if is_file else []
    check_distinct([*written, *kept_files(options).values()], inputs=(options.model, options.input))
    if is_file:
        check_writable(options.output, force=options.force)
    synthesis = release_of_one_table(options.model)
    asked = Asked(
        options.question,
        options.epsilon,
        options.delta,
        options.seed,
        options.unit,
        options.max_rows_per_unit,
    )
    with progress_on(sys.stderr, verbosity=options.verbose) as status:
        verification = import_named(VERIFY)(
            synthesis,
            options.input,
            asked,
            persistence=persistence,
            report=status,
            spelling=Spelling.SHELL,
        )
    if is_file:
        content = {
            "answers": list(verification.answers),
            "certificate": verification.certificate,
        }
        write_json(options.output, content, force=options.force)
    for line in verification.lines:
        sys.stdout.write(f"{line}\n")
    certificate = verification.certificate
    spent = f"{certificate['guarantee']}, beside what the release has spent"
    sys.stderr.write(f"synthdp: answers: {spent}\n")
    caution(verification.cautions, is_said=False)
