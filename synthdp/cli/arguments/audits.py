"""``synthdp audit``: attacks on a mechanism."""

from synthdp.cli.arguments.parsing import Commands, command, flag, listed, whole_number
from synthdp.cli.arguments.shared import add_adjacency
from synthdp.release.registry import ENGINES, MECHANISMS

N_RUNS = 2000
"""On each table: enough to tell half the noise at epsilon 1 and delta 1e-2."""


def add_audit(commands: Commands) -> None:
    """Add ``synthdp audit``."""
    parser = command(
        commands,
        "audit",
        "play the worst-case game: how much many releases prove of epsilon; opens no private data",
    )
    parser.epilog = f"{parser.epilog}\n\nExit code 3 says that more was proven than is claimed. See docs/audit.md."
    parser.add_argument(
        "--mechanism", default="auto", metavar="NAME", help=f"{listed(MECHANISMS)}; default: auto"
    )
    parser.add_argument(
        "--epsilon", type=float, default=1.0, help="the guarantee that is audited; default: 1"
    )
    parser.add_argument(
        "--delta",
        type=float,
        default=1e-2,
        help="delta of the guarantee that is audited; default: 1e-2, which few releases can tell",
    )
    parser.add_argument(
        "--runs",
        type=whole_number,
        default=N_RUNS,
        metavar="N",
        help=f"number of releases of each of the two tables; default: {N_RUNS}",
    )
    parser.add_argument(
        "--domain",
        default="declared",
        metavar="NAME",
        help="whether the domain is declared (default) or derived under the budget",
    )
    add_adjacency(parser)
    parser.add_argument(
        "--max-rows-per-unit",
        type=whole_number,
        metavar="K",
        help="number of rows of the person in whom the two tables differ",
    )
    parser.add_argument(
        "--accounting", metavar="NAME", help="zcdp or gdp; default: what the mechanism is meant for"
    )
    parser.add_argument(
        "--engine",
        metavar="NAME",
        help=f"{listed(ENGINES)}; default: graphical-model, which is quick",
    )
    parser.add_argument(
        "--processes",
        type=whole_number,
        metavar="P",
        help="number of processes at a time; default: one a core",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="stop after S seconds, and print what was found by then",
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="C",
        help="confidence of the printed bounds; default: 0.95",
    )
    flag(parser, "--json", "print the result as JSON")
