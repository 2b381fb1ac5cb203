"""``synthdp budget``: one budget for all releases about one population. It opens no data."""

import sys
from dataclasses import dataclass
from typing import final

from synthdp.cli.arguments.options import FileOptions
from synthdp.cli.describing.budget_text import OPEN, describe_budget
from synthdp.cli.shared.printing import print_text
from synthdp.core.files.json_files import json_text
from synthdp.release.persistence.budget import Budget
from synthdp.release.settings import as_accounting, as_adjacency


@final
@dataclass(frozen=True, kw_only=True)
class CreateBudgetOptions:
    """``synthdp budget create``."""

    file: str
    epsilon: float
    delta: float
    population: str
    adjacency: str
    unit: str | None
    accounting: str | None


@final
@dataclass(frozen=True, kw_only=True)
class AddToBudgetOptions:
    """``synthdp budget add``."""

    file: str
    epsilon: float | None
    rho: float | None
    mu: float | None
    delta: float
    note: str


@final
@dataclass(frozen=True, kw_only=True)
class VerifyBudgetOptions:
    """``synthdp budget verify``."""

    file: str
    head: str | None


def create_command(options: CreateBudgetOptions) -> None:
    """``synthdp budget create``: a new file, and never over another."""
    budget = Budget.create(
        options.file,
        epsilon=options.epsilon,
        delta=options.delta,
        population=options.population,
        adjacency=as_adjacency(options.adjacency),
        unit=options.unit,
        accounting=None if options.accounting is None else as_accounting(options.accounting),
    )
    sys.stderr.write(
        f"{options.file}: created; give it to every run: synthdp run ... --budget {budget.path}\n"
    )
    if options.accounting is None:
        sys.stderr.write(f"{options.file}: {OPEN[0].lower()}{OPEN[1:]}\n")


def add_command(options: AddToBudgetOptions) -> None:
    """``synthdp budget add``: a release of another system."""
    budget = Budget(options.file)
    budget.add(
        note=options.note,
        epsilon=options.epsilon,
        rho=options.rho,
        mu=options.mu,
        delta=options.delta,
    )
    sys.stderr.write(f"{options.file}: entered; head {budget.head}\n")


def show_command(options: FileOptions) -> None:
    """``synthdp budget show``: for people or as JSON."""
    content = Budget(options.file).show()
    print_text(json_text(content) if options.json else describe_budget(content) + "\n")


def verify_command(options: VerifyBudgetOptions) -> None:
    """``synthdp budget verify``: whether every line is as it was written."""
    budget = Budget(options.file)
    budget.verify(options.head)
    if options.head:
        warning = ""
    else:
        warning = (
            "; that none was cut off behind them only --head HASH tells, with a hash kept elsewhere"
        )
    print_text(f"{options.file}: all lines verify; head {budget.head}{warning}\n")
