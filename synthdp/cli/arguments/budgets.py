"""``synthdp budget`` and ``synthdp journal``, and the options of a run that is kept."""

import argparse

from synthdp.cli.arguments.parsing import Commands, argument, command, flag, group, option, output
from synthdp.cli.arguments.shared import add_adjacency, add_guarantee


def add_keeping(parser: argparse.ArgumentParser) -> None:
    """Add where a run keeps its answers, and to which budget it is charged."""
    option(
        parser,
        "--journal FILE",
        "keep each answer on the disk before the next: the same command goes on after a crash and pays nothing "
        "twice, and gives the release of a run that has ended again; default with --budget: OUT.journal, which is "
        "OUT.journal.ended once the run has ended",
    )
    option(
        parser,
        "--budget FILE",
        "charge the run to a population's budget (`synthdp budget create`) beforehand",
    )
    option(parser, "--budget-note TEXT", "what the budget file says of the run", default="")


def add_budget(commands: Commands) -> None:
    """Add ``synthdp budget create``, ``add``, ``show`` and ``verify``."""
    budget = group(commands, "budget")
    _add_create(budget)
    _add_add(budget)
    parser = command(budget, "budget show")
    argument(parser, "file FILE")
    flag(parser, "--json", "print all that is in it as JSON")
    parser = command(budget, "budget verify")
    argument(parser, "file FILE")
    option(
        parser,
        "--head HASH",
        "a hash that `show` printed earlier: lines up to it must still be there",
    )


def add_journal(commands: Commands) -> None:
    """Add ``synthdp journal show`` and ``rescue``."""
    journal = group(commands, "journal")
    parser = command(journal, "journal show")
    argument(parser, "file FILE")
    flag(parser, "--json", "print all but the answers as JSON")
    parser = command(journal, "journal rescue")
    argument(parser, "file FILE", "the journal; it is not changed")
    output(parser, "the saved release; a schema if only columns were learnt")
    option(
        parser,
        "--budget FILE",
        "the budget that the run is charged to, if it is not any more where the journal says: it is asked whether "
        "another copy of the journal was released",
    )
    flag(
        parser,
        "--unchecked",
        "do not ask the budget; the certificate says what this release and one of another copy guarantee together",
    )
    flag(parser, "--force", "replace a file that exists")


def _add_create(budget: Commands) -> None:
    parser = command(budget, "budget create")
    argument(parser, "file FILE")
    add_guarantee(parser, of="of all releases together", units="people")
    option(parser, "--population TEXT", "who is protected, in words", required=True)
    add_adjacency(parser)
    option(parser, "--unit COLUMN", "column that tells persons apart, in all runs")
    option(
        parser,
        "--accounting NAME",
        "zcdp, which takes all mechanisms, or gdp, which has less noise and refuses mst, aim and others; default: "
        "what the first run has, which is gdp for auto",
    )


def _add_add(budget: Commands) -> None:
    parser = command(budget, "budget add")
    argument(parser, "file FILE")
    group = parser.add_mutually_exclusive_group(required=True)
    option(group, "--epsilon EPSILON", "epsilon of an (epsilon, delta) guarantee")
    option(group, "--rho RHO", "rho of a guarantee of zero-concentrated differential privacy")
    option(group, "--mu MU", "mu of a guarantee of Gaussian differential privacy")
    option(parser, "--delta DELTA", "delta of the guarantee; default: 0", default=0.0)
    option(parser, "--note TEXT", "what was released, by whom and when", required=True)
