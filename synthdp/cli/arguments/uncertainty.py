"""``synthdp marginal`` and ``replicates``: what a saved model tells of how far the noise lets it be
off.
"""

from synthdp.cli.arguments.parsing import Commands, command, flag, whole_number
from synthdp.cli.arguments.shared import FILES, add_output


def add_marginal(commands: Commands) -> None:
    """Add ``synthdp marginal``."""
    parser = command(
        commands, "marginal", "counts of a saved model with intervals; opens no private data"
    )
    parser.add_argument("model", metavar="MODEL", help="file written by `synthdp run --save`")
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
    flag(parser, "--force", "replace a file that exists")


def add_replicates(commands: Commands) -> None:
    """Add ``synthdp replicates``."""
    parser = command(
        commands,
        "replicates",
        "tables that differ as much as the noise left open; opens no private data",
    )
    parser.add_argument("model", metavar="MODEL", help="file written by `synthdp run --save`")
    parser.add_argument(
        "-m",
        "--number",
        type=whole_number,
        default=20,
        metavar="M",
        help="number of replicate tables; default: 20",
    )
    add_output(parser, rows="rows of each table; default: the noisy estimate of the table's")
