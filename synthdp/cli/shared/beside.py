"""Names of the files beside a table: its certificate, and the journal of its run."""

import os
from collections.abc import Mapping

from synthdp.cli.arguments.options import PersistenceOptions
from synthdp.core.errors import ParameterError
from synthdp.core.files.writing import STANDARD_STREAM
from synthdp.release.persistence.persistence import Persistence

CERTIFICATE_ENDING = ".privacy.json"
"""The certificate of ``out.csv`` is ``out.csv.privacy.json``: it sorts beside the table and belongs
to it.
"""


JOURNAL_ENDING = ".journal"
"""The journal of ``out.csv``, or of a folder ``out``, is that with this ending, unless another is
named.
"""

ENDED_ENDING = ".ended"
"""What such a journal gets in addition once its run has ended and its outputs are written: the next
run has its own.
"""


def journal_of(options: PersistenceOptions) -> str | None:
    """Where a run keeps its answers: one that is charged to a budget must be able to go on."""
    named: str | None = options.journal
    if named is not None or options.budget is None:
        return named
    if options.output == STANDARD_STREAM:
        raise ParameterError(
            "--budget is given, and the output is '-'; name a file for the answers with --journal"
        )
    return f"{options.output.rstrip(os.sep)}{JOURNAL_ENDING}"


def ended_name_of(options: PersistenceOptions) -> str | None:
    """The name that the journal gets once its run has ended; None if it was named, and so keeps its
    name.
    """
    journal = journal_of(options)
    return None if journal is None or options.journal is not None else f"{journal}{ENDED_ENDING}"


def persistence_of(options: PersistenceOptions) -> Persistence:
    """Where a run keeps its answers, and what it is charged to."""
    return Persistence(
        journal=journal_of(options),
        budget=options.budget,
        budget_note=options.budget_note,
        ended=ended_name_of(options),
    )


def kept_files(options: PersistenceOptions) -> dict[str, str]:
    """Files that a run writes or renames beside its outputs, by the options' names."""
    files = {
        "--journal": journal_of(options),
        "--budget": options.budget,
        "ended journal": ended_name_of(options),
    }
    return {name: path for name, path in files.items() if path is not None}


def with_certificate(output: str) -> list[str]:
    """A table and the certificate beside it."""
    return [output, output + CERTIFICATE_ENDING]


def saved_files(saved: Mapping[str, str | None]) -> list[str]:
    """The files that options of these names ask for."""
    for option, path in saved.items():
        if path == STANDARD_STREAM:
            raise ParameterError(
                f"{option} is {path!r}; standard output is for the table, give the name of a file"
            )
    return [path for path in saved.values() if path]
