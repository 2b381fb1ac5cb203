"""``synthdp report``: pages that people look at before they trust a table."""

from synthdp.cli.arguments.dialects import add_dialect
from synthdp.cli.arguments.parsing import Commands, argument, command, flag, option
from synthdp.cli.arguments.shared import add_verbose


def add_report(commands: Commands) -> None:
    """Add ``synthdp report``."""
    parser = command(commands, "report")
    argument(
        parser,
        "tables [TABLE...]",
        "the real table, then one or more synthetic ones, one of all may be - (a pipe); the .privacy.json files "
        "beside them are read, too; of linked tables the datapackage.json of both",
    )
    option(
        parser,
        "--public MODEL",
        "file of `synthdp run --save` to describe instead; no private data is opened",
    )
    option(
        parser,
        "-s --schema FILE",
        "schema file, or the saved model if columns were learnt; default: levels and bins off the real table",
    )
    option(parser, "-o --output FILE", "the page, .html; may be left out with --json")
    option(
        parser,
        "--target COLUMN",
        "column to predict; repeat the option for several, or give 'all'; default: the first three suitable ones",
        repeats=True,
    )
    option(
        parser,
        "--by COLUMN",
        "show errors within the levels of this column; repeat the option for several",
        repeats=True,
    )
    option(parser, "--queries FILE", "file of your own questions (JSON); see docs/evaluation.md")
    option(
        parser,
        "--weight COLUMN",
        "column of survey weights: rows of both tables weigh by it; without it they weigh alike",
    )
    option(parser, "--seed N", "seed of what the report samples; default: 0", default=0)
    flag(parser, "--force", "replace a file that exists")
    flag(parser, "--json", "print all numbers as JSON, for machines")
    add_dialect(parser)
    add_verbose(parser)
