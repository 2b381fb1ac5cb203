"""``synthdp marginal`` and ``replicates``: what a saved model tells of how far the noise lets it be
off; and ``verify``, which asks the real table.
"""

from synthdp.cli.arguments.budgets import add_keeping
from synthdp.cli.arguments.parsing import Commands, argument, command, flag, option
from synthdp.cli.arguments.shared import (
    FILES,
    add_max_rows,
    add_model,
    add_output,
    add_verbose,
)


def add_marginal(commands: Commands) -> None:
    """Add ``synthdp marginal``."""
    parser = command(commands, "marginal")
    add_model(parser)
    argument(parser, "columns COLUMN...", "columns whose combinations are counted")
    option(
        parser,
        "--interval P",
        "probability that the true count lies between low and high; default: 0.95",
        default=0.95,
    )
    option(parser, "-o --output OUT", f"{FILES}; default: CSV to stdout", default="-")
    flag(parser, "--weighted", "weighted counts: of the population that the weights describe")
    flag(parser, "--force", "replace a file that exists")


def add_replicates(commands: Commands) -> None:
    """Add ``synthdp replicates``."""
    parser = command(commands, "replicates")
    add_model(parser)
    option(parser, "-m --number M", "number of replicate tables; default: 20", default=20)
    add_output(parser, rows="rows of each table; default: the noisy estimate of the table's")


def add_verify(commands: Commands) -> None:
    """Add ``synthdp verify``."""
    parser = command(commands, "verify")
    add_model(parser)
    argument(parser, "input IN", "the sensitive table that was released")
    option(
        parser,
        "--question WHAT",
        "'marginal sex, income', 'mean age' or 'regression income ~ age + hours'; repeat the option for several",
        required=True,
        repeats=True,
    )
    option(
        parser,
        "--epsilon EPSILON",
        "what the answers cost, beside what the release did",
        required=True,
    )
    option(parser, "--delta DELTA", "probability that the guarantee may fail with", required=True)
    option(parser, "--seed N", "of the synthetic rows; default: 0", default=0)
    option(parser, "--unit COLUMN", "column that tells persons apart, as in `synthdp run`")
    add_max_rows(parser)
    add_keeping(parser)
    option(parser, "-o --output OUT", "JSON file; default: lines to stdout", default="-")
    flag(parser, "--force", "replace a file that exists")
    add_verbose(parser)
