"""``synthdp plan-measure``, ``measure`` and ``combine``: one release of tables at several sites."""

from synthdp.cli.arguments.budgets import add_keeping
from synthdp.cli.arguments.dialects import add_dialect
from synthdp.cli.arguments.parsing import Commands, command, flag, listed, option
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
    option(parser, "-o --output PLAN", "the plan (JSON), which is public", required=True)
    add_guarantee(parser, of="at each site")
    option(
        parser,
        "--workload WHAT",
        "marginals to get right: 1-way, 2-way, 3-way or a JSON file; default: 2-way; not with a release",
    )
    add_adjacency(parser)
    option(
        parser, "--accounting NAME", "gdp (default), or zcdp; secure sums need zcdp", default="gdp"
    )
    option(parser, "--unit COLUMN", "column that tells persons apart, at every site")
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
    option(parser, "--plan FILE", "file written by `synthdp plan-measure`", required=True)
    option(
        parser,
        "-o --output OUT",
        "noisy counts with their certificate, for `synthdp combine`",
        required=True,
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
    option(
        parser,
        "-o --output OUT",
        "the release, for `synthdp sample`, `marginal` and others",
        required=True,
    )
    flag(
        parser,
        "--same-people",
        "people may be at several sites: counts are averaged, and losses add up; default: each is at one site",
    )
    add_known(parser)
    add_about(parser)
    option(parser, "--engine NAME", f"{listed(ENGINES)}; default: auto", default="auto")
    flag(parser, "--force", "replace a file that exists")
    flag(parser, "--json", "print the result as JSON, for machines")
    add_verbose(parser)
