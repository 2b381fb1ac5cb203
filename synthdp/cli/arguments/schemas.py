"""``synthdp schema`` and ``plan``: before a run."""

from synthdp.cli.arguments.dialects import add_dialect
from synthdp.cli.arguments.parsing import Commands, argument, command, flag, group, option
from synthdp.cli.arguments.shared import FILES, add_source, add_unit_and_share


def add_schema(commands: Commands) -> None:
    """Add ``synthdp schema draft`` and ``check``."""
    schema = group(commands, "schema")
    parser = command(schema, "schema draft")
    argument(parser, "input [IN]", f"table: {FILES}, or -; or a folder of tables, for a package")
    add_source(parser)
    flag(parser, "--kinds", "write a kinds file to fill in, for `synthdp run --kinds`")
    option(parser, "-o --output FILE", "where to write; default: stdout", default="-")
    flag(parser, "--force", "replace a file that exists")
    add_dialect(parser)
    parser = command(schema, "schema check")
    argument(parser, "schema SCHEMA", "schema or kinds file (JSON), or datapackage.json")
    option(parser, "--epsilon EPSILON", "epsilon whose noise is to be expected; needs --delta")
    option(
        parser,
        "--delta DELTA",
        "delta of that budget, above 0 and far below 1 / (number of records)",
    )
    option(parser, "--rows N", "public guess of the number of records; never count them")
    add_unit_and_share(parser)
    flag(parser, "--all", "print everything; default: the worst findings, about a screen")
    flag(parser, "--json", "print all that was found as JSON")


def add_plan(commands: Commands) -> None:
    """Add ``synthdp plan``."""
    parser = command(commands, "plan")
    argument(parser, "schema SCHEMA", "schema or kinds file (JSON)")
    option(parser, "--rows N", "public guess of the number of records", required=True)
    option(
        parser, "--want WHAT", "find the epsilon for 'pairs within 2 %%' or 'columns within 1 %%'"
    )
    option(parser, "--epsilon EPSILON", "an epsilon to show besides 0.1, 0.3, 1, 3 and 10")
    option(
        parser,
        "--delta DELTA",
        "delta of the budgets; default: a power of ten of at most 1 / (100 rows)",
    )
    add_unit_and_share(parser)
    flag(parser, "--json", "print the plan as JSON")
