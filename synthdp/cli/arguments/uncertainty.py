"""``synthdp marginal`` and ``replicates``: what a saved model tells of how far the noise lets it be
off; and ``verify``, which asks the real table.
"""

from synthdp.cli.arguments.budgets import add_keeping
from synthdp.cli.arguments.parsing import Commands, command, flag, whole_number
from synthdp.cli.arguments.shared import FILES, add_max_rows, add_model, add_output, add_verbose


def add_marginal(commands: Commands) -> None:
    """Add ``synthdp marginal``."""
    parser = command(
        commands, "marginal", "counts of a saved model with intervals; opens no private data"
    )
    add_model(parser)
    parser.add_argument(
        "columns", metavar="COLUMN", nargs="+", help="columns whose combinations are counted"
    )
    parser.add_argument(
        "--interval",
        type=float,
        default=0.95,
        metavar="P",
        help="probability that the true count lies between low and high; default: 0.95",
    )
    parser.add_argument(
        "-o", "--output", default="-", metavar="OUT", help=f"{FILES}; default: CSV to stdout"
    )
    flag(
        parser,
        "--weighted",
        "weighted counts: of the population that the column of weights describes",
    )
    flag(parser, "--force", "replace a file that exists")


def add_replicates(commands: Commands) -> None:
    """Add ``synthdp replicates``."""
    parser = command(
        commands,
        "replicates",
        "tables that differ as much as the noise left open",
    )
    add_model(parser)
    parser.add_argument(
        "-m",
        "--number",
        type=whole_number,
        default=20,
        metavar="M",
        help="number of replicate tables; default: 20",
    )
    add_output(parser, rows="rows of each table; default: the noisy estimate of the table's")


def add_verify(commands: Commands) -> None:
    """Add ``synthdp verify``."""
    parser = command(
        commands,
        "verify",
        "hold synthetic answers against the real table, for a price",
    )
    add_model(parser)
    parser.add_argument("input", metavar="IN", help="the sensitive table that was released")
    parser.add_argument(
        "--question",
        action="append",
        required=True,
        metavar="WHAT",
        help="'marginal sex, income', 'mean age' or 'regression income ~ age + hours'; repeat the option for several",
    )
    parser.add_argument(
        "--epsilon",
        required=True,
        type=float,
        help="what the answers cost, beside what the release did",
    )
    parser.add_argument(
        "--delta", required=True, type=float, help="probability that the guarantee may fail with"
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        metavar="N",
        help="of the synthetic rows; default: 0",
    )
    parser.add_argument(
        "--unit", metavar="COLUMN", help="column that tells persons apart, as in `synthdp run`"
    )
    add_max_rows(parser)
    add_keeping(parser)
    parser.add_argument(
        "-o", "--output", default="-", metavar="OUT", help="JSON file; default: lines to stdout"
    )
    flag(parser, "--force", "replace a file that exists")
    add_verbose(parser)
