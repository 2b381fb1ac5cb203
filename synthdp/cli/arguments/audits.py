"""``synthdp audit``: attacks on a mechanism."""

from synthdp.cli.arguments.parsing import Commands, command, flag, listed, option, whole_number
from synthdp.cli.arguments.shared import add_adjacency
from synthdp.release.registry import ENGINES, MECHANISMS

N_RUNS = 2000
"""On each table: enough to tell half the noise at epsilon 1 and delta 1e-2."""


def add_audit(commands: Commands) -> None:
    """Add ``synthdp audit``."""
    parser = command(commands, "audit")
    parser.epilog = f"{parser.epilog}\n\nExit code 3 says that more was proven than is claimed. See docs/audit.md."
    option(parser, "--mechanism NAME", f"{listed(MECHANISMS)}; default: auto", default="auto")
    option(parser, "--epsilon EPSILON", "the guarantee that is audited; default: 1", default=1.0)
    option(
        parser,
        "--delta DELTA",
        "delta of the guarantee that is audited; default: 1e-2, which few releases can tell",
        default=1e-2,
    )
    option(
        parser,
        "--runs N",
        f"number of releases of each of the two tables; default: {N_RUNS}",
        default=N_RUNS,
    )
    option(
        parser,
        "--domain NAME",
        "whether the domain is declared (default) or derived under the budget",
        default="declared",
    )
    add_adjacency(parser)
    option(
        parser,
        "--max-rows-per-unit K",
        "number of rows of the person in whom the two tables differ",
    )
    option(parser, "--accounting NAME", "zcdp or gdp; default: what the mechanism is meant for")
    option(parser, "--engine NAME", f"{listed(ENGINES)}; default: graphical-model, which is quick")
    option(
        parser,
        "--processes P",
        "number of processes at a time; default: one a core",
        parse=whole_number,
    )
    option(parser, "--seconds S", "stop after S seconds, and print what was found by then")
    option(
        parser,
        "--confidence C",
        "confidence of the printed bounds; default: 0.95",
        parse=float,
        default=0.95,
    )
    flag(parser, "--json", "print the result as JSON")
