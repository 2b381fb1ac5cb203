"""``synthdp plan-measure``, ``measure`` and ``combine``: one release of tables at several sites."""

from synthdp.cli.arguments.budgets import add_keeping
from synthdp.cli.arguments.dialects import add_dialect
from synthdp.cli.arguments.parsing import Commands, command, flag, listed
from synthdp.cli.arguments.shared import (
    FILES,
    add_about,
    add_adjacency,
    add_guarantee,
    add_known,
    add_max_rows,
    add_source,
    add_verbose,
    add_weight,
)
from synthdp.release.registry import ENGINES


def add_plan_measure(commands: Commands) -> None:
    """Add ``synthdp plan-measure``."""
    parser = command(
        commands, "plan-measure", "say what several sites are to measure; opens no private data"
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="schema file (JSON) that leaves nothing open, or a saved release of one site",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="PLAN", help="the plan (JSON), which is public"
    )
    add_guarantee(parser, of="at each site")
    parser.add_argument(
        "--workload",
        metavar="WHAT",
        help="marginals to get right: 1-way, 2-way, 3-way or a JSON file; default: 2-way; not with a release",
    )
    add_adjacency(parser)
    parser.add_argument(
        "--accounting",
        default="gdp",
        metavar="NAME",
        help="gdp (default), or zcdp; secure sums need zcdp",
    )
    parser.add_argument(
        "--unit", metavar="COLUMN", help="column that tells persons apart, at every site"
    )
    add_max_rows(parser, at=" at a site")
    add_known(parser)
    add_weight(parser)
    flag(parser, "--force", "replace a file that exists")


def add_measure(commands: Commands) -> None:
    """Add ``synthdp measure``."""
    parser = command(commands, "measure", "ask the table of one site for exactly what a plan says")
    parser.add_argument(
        "input",
        nargs="?",
        metavar="IN",
        help=f"sensitive table: {FILES}, a folder or 'PATTERN*.csv' of them, or -: CSV from stdin",
    )
    add_source(parser)
    parser.add_argument(
        "--plan", required=True, metavar="FILE", help="file written by `synthdp plan-measure`"
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="noisy counts with their certificate, for `synthdp combine`",
    )
    add_about(parser)
    add_keeping(parser)
    flag(parser, "--force", "replace a file that exists")
    flag(parser, "--json", "print the result as JSON, for machines")
    add_dialect(parser)
    add_verbose(parser)


def add_combine(commands: Commands) -> None:
    """Add ``synthdp combine``."""
    parser = command(commands, "combine", "make one release of what several sites measured")
    parser.add_argument(
        "sites", nargs="+", metavar="COUNTS", help="files written by `synthdp measure`"
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="the release, for `synthdp sample`, `marginal` and others",
    )
    flag(
        parser,
        "--same-people",
        "people may be at several sites: counts are averaged, and losses add up; default: each is at one site",
    )
    add_known(parser)
    add_about(parser)
    parser.add_argument(
        "--engine", default="auto", metavar="NAME", help=f"{listed(ENGINES)}; default: auto"
    )
    flag(parser, "--force", "replace a file that exists")
    flag(parser, "--json", "print the result as JSON, for machines")
    add_verbose(parser)
