"""``synthdp plan-measure``, ``measure`` and ``combine``: one release of tables at several sites."""

from synthdp.cli.arguments.budgets import add_keeping
from synthdp.cli.arguments.dialects import add_dialect
from synthdp.cli.arguments.parsing import Commands, argument, command, flag, listed, option, output
from synthdp.cli.arguments.shared import (
    add_about,
    add_adjacency,
    add_guarantee,
    add_input,
    add_known,
    add_max_rows,
    add_verbose,
    add_weight,
)
from synthdp.release.registry import ENGINES


def add_plan_measure(commands: Commands) -> None:
    """Add ``synthdp plan-measure``."""
    parser = command(commands, "plan-measure")
    argument(
        parser,
        "source SOURCE",
        "schema file (JSON) that leaves nothing open, or a saved release of one site",
    )
    output(parser, "the plan (JSON), which is public", shown="PLAN")
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
    parser = command(commands, "measure")
    add_input(parser)
    option(parser, "--plan FILE", "file written by `synthdp plan-measure`", required=True)
    output(parser, "noisy counts with their certificate, for `synthdp combine`")
    add_about(parser)
    add_keeping(parser)
    flag(parser, "--force", "replace a file that exists")
    flag(parser, "--json", "print the result as JSON, for machines")
    add_dialect(parser)
    add_verbose(parser)


def add_combine(commands: Commands) -> None:
    """Add ``synthdp combine``."""
    parser = command(commands, "combine")
    argument(parser, "sites COUNTS...", "files written by `synthdp measure`")
    output(parser, "the release, for `synthdp sample`, `marginal` and others")
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
