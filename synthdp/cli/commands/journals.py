"""``synthdp journal``: what a journal holds, and a release of it without its run. It opens no data."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import final

from synthdp.cli.arguments.options import FileOptions
from synthdp.cli.describing.journal_text import describe_journal
from synthdp.cli.shared.announcing import caution
from synthdp.cli.shared.outputs import check_distinct
from synthdp.cli.shared.printing import print_text
from synthdp.core.errors import ParameterError
from synthdp.core.files.json_files import json_text
from synthdp.core.files.writing import STANDARD_STREAM, check_writable
from synthdp.linked.doors.loading import from_journal
from synthdp.release.persistence.kept_answers import KeptAnswers
from synthdp.release.result import Released


@final
@dataclass(frozen=True, kw_only=True)
class RescueOptions:
    """``synthdp journal rescue``."""

    file: str
    output: str
    budget: str | None
    unchecked: bool
    force: bool


def show_command(options: FileOptions) -> None:
    """``synthdp journal show``: for people or as JSON."""
    content = KeptAnswers.from_file(options.file).described()
    print_text(
        json_text(content) if options.json else describe_journal(content, options.file) + "\n"
    )


def rescue_command(options: RescueOptions) -> None:
    """``synthdp journal rescue``: what was paid for, as a saved release, or as a schema if no
    marginal was measured.
    """
    if options.output == STANDARD_STREAM:
        raise ParameterError(
            f"--output is {options.output!r}; a release is a file, give the name of one"
        )
    check_distinct([options.output], inputs=(options.file,))
    check_writable(options.output, force=options.force)
    rescued_release = from_journal(options.file, budget=options.budget, unchecked=options.unchecked)
    if rescued_release.is_schema and Path(options.output).suffix != ".json":
        raise ParameterError(
            f"--output is {options.output!r}, and the journal holds learnt columns only, which make a schema; give a "
            "name that ends in .json"
        )
    rescued_release.save(options.output, force=options.force)
    sys.stderr.write(
        f"{options.output}: {rescued_release.certificate['guarantee']}; {_use_of(rescued_release)}\n"
    )
    caution(rescued_release.cautions, is_said=False)


def _use_of(release: Released) -> str:
    """What it holds, and what is to be done with it."""
    if release.is_schema:
        return "the columns learnt so far are declared in this schema; run with it and what is left of the budget"
    if release.can_sample:
        use = "synthdp sample draws from it"
    else:
        use = "not of all tables, so that no rows can be drawn"
    return f"{release.n_measured} marginals, all that was measured; {use}"
