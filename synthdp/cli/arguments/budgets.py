"""``synthdp budget`` and ``synthdp journal``, and the options of a run that is kept."""

import argparse

from synthdp.cli.arguments.parsing import Commands, command, flag, option
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
    budget = command(
        commands, "budget", "keep one budget for all releases about one population"
    ).add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_create(budget)
    _add_add(budget)
    parser = command(
        budget, "show", "say what was charged, what is left, and the hash of the last line"
    )
    parser.add_argument("file", metavar="FILE")
    flag(parser, "--json", "print all that is in it as JSON")
    parser = command(budget, "verify", "walk through the file and check the hash of every line")
    parser.add_argument("file", metavar="FILE")
    option(
        parser,
        "--head HASH",
        "a hash that `show` printed earlier: lines up to it must still be there",
    )


def add_journal(commands: Commands) -> None:
    """Add ``synthdp journal show`` and ``rescue``."""
    journal = command(
        commands, "journal", "look into the journal of a run, or have what it paid for"
    ).add_subparsers(title="commands", metavar="COMMAND", required=True)
    parser = command(
        journal, "show", "say of which run it is, what was answered, and what that cost"
    )
    parser.add_argument("file", metavar="FILE")
    flag(parser, "--json", "print all but the answers as JSON")
    parser = command(
        journal,
        "rescue",
        "make a release of all that was measured, where the run cannot go on; costs no privacy",
    )
    parser.add_argument("file", metavar="FILE", help="the journal; it is not changed")
    option(
        parser,
        "-o --output OUT",
        "the saved release; a schema if only columns were learnt",
        required=True,
    )
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
    parser = command(budget, "create", "write a new budget file")
    parser.add_argument("file", metavar="FILE")
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
    parser = command(
        budget, "add", "enter a release of another system, for the budget's unit of privacy"
    )
    parser.add_argument("file", metavar="FILE")
    group = parser.add_mutually_exclusive_group(required=True)
    option(group, "--epsilon EPSILON", "epsilon of an (epsilon, delta) guarantee", parse=float)
    option(
        group,
        "--rho RHO",
        "rho of a guarantee of zero-concentrated differential privacy",
        parse=float,
    )
    option(group, "--mu MU", "mu of a guarantee of Gaussian differential privacy", parse=float)
    option(parser, "--delta DELTA", "delta of the guarantee; default: 0", parse=float, default=0.0)
    option(parser, "--note TEXT", "what was released, by whom and when", required=True)
