"""The options of each command: the words of the shell, parsed, as plain frozen values.

Each group of options that commands share is a class, as it is a function of
`synthdp.cli.arguments.shared` that adds them. What is of one command alone stands with it, and
nothing but `options_of` sees argparse's own.
"""

import argparse
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeVar, final

from synthdp.core.files.writing import STANDARD_STREAM

UNIT_OPTIONS = ("--unit", "--max-rows-per-unit")
"""What the column that tells persons apart, and most rows of a person, are called here."""


@dataclass(frozen=True, kw_only=True)
class DialectOptions:
    """How a table is written into a file."""

    dialect: str | None
    delimiter: str | None
    encoding: str | None
    decimal: str | None
    thousands: str | None
    quote: str | None
    sheet: str | None


@dataclass(frozen=True, kw_only=True)
class OutputOptions(DialectOptions):
    """Where a table is written, and how much is logged about it."""

    output: str
    rows: int | None
    seed: int | None
    jobs: int
    force: bool
    json: bool
    verbose: int
    log_format: str

    @property
    def is_all_said(self) -> bool:
        """Whether cautions are in what is printed: JSON, or the certificate itself."""
        return self.json or self.output == STANDARD_STREAM


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """Where a table is: a file, or a database and the table's name in it."""

    input: str | None
    source: str | None
    table: str | None


@dataclass(frozen=True, kw_only=True)
class UnitOptions:
    """Whose rows are protected together, and what learning a domain may cost."""

    unit: str | None
    max_rows_per_unit: int | None
    domain_share: float | None


@final
@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """A file whose content is shown, as text or as JSON."""

    file: str
    json: bool


@dataclass(frozen=True, kw_only=True)
class PersistenceOptions:
    """Where a run writes and keeps its answers, and to which budget it is charged."""

    output: str
    journal: str | None
    budget: str | None
    budget_note: str


@final
@dataclass(frozen=True, kw_only=True)
class RunOptions(SourceOptions, UnitOptions, PersistenceOptions, OutputOptions):
    """``synthdp run``."""

    schema: str | None
    kinds: str | None
    epsilon: float
    delta: float
    mechanism: str
    workload: str | None
    target: str | None
    engine: str | None
    adjacency: str
    accounting: str | None
    together: bool
    order: str | None
    constant: str | None
    quality_share: float | None
    accept: str | None
    choose: str | None
    reject: bool
    anyway: bool
    about: str | None
    known: tuple[str, ...] | None
    weight: str | None
    prior: str | None
    save: str | None
    save_schema: str | None


@final
@dataclass(frozen=True, kw_only=True)
class SampleOptions(OutputOptions):
    """``synthdp sample``."""

    model: str
    where: str | None
    given: str | None
    offset: int | None
    weighted: bool
    calibrated: bool
    totals: tuple[str, ...] | None


CommandOptions = TypeVar("CommandOptions")


def options_of(kind: type[CommandOptions], parsed: argparse.Namespace) -> CommandOptions:
    """The options of a command, as a value of their class."""
    assert is_dataclass(kind)
    given = {field.name: getattr(parsed, field.name) for field in fields(kind)}
    return kind(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
        }
    )
