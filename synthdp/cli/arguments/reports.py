"""``synthdp report``: pages that people look at before they trust a table."""

from synthdp.cli.arguments.dialects import add_dialect
from synthdp.cli.arguments.parsing import Commands, command, flag, whole_number
from synthdp.cli.arguments.shared import add_verbose


def add_report(commands: Commands) -> None:
    """Add ``synthdp report``."""
    parser = command(
        commands,
        "report",
        "a page on how good synthetic tables are, which is NOT PRIVATE; with --public on a release",
    )
    parser.add_argument(
        "tables",
        nargs="*",
        metavar="TABLE",
        help="the real table, then one or more synthetic ones, one of all may be - (a pipe); the .privacy.json files "
        "beside them are read, too; of linked tables the datapackage.json of both",
    )
    parser.add_argument(
        "--public",
        metavar="MODEL",
        help="file of `synthdp run --save` to describe instead; no private data is opened",
    )
    parser.add_argument(
        "-s",
        "--schema",
        metavar="FILE",
        help="schema file, or the saved model if columns were learnt; default: levels and bins off the real table",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the page, .html; may be left out with --json"
    )
    parser.add_argument(
        "--target",
        action="append",
        metavar="COLUMN",
        help="column to predict; repeat the option for several, or give 'all'; default: the first three suitable ones",
    )
    parser.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="show errors within the levels of this column; repeat the option for several",
    )
    parser.add_argument(
        "--queries",
        metavar="FILE",
        help="file of your own questions (JSON); see docs/evaluation.md",
    )
    parser.add_argument(
        "--weight",
        metavar="COLUMN",
        help="column of survey weights: rows of both tables weigh by it; without it they weigh alike",
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        metavar="N",
        help="seed of what the report samples; default: 0",
    )
    flag(parser, "--force", "replace a file that exists")
    flag(parser, "--json", "print all numbers as JSON, for machines")
    add_dialect(parser)
    add_verbose(parser)
