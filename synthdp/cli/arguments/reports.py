"""``synthdp report``: pages that people look at before they trust a table."""

from synthdp.cli.arguments.dialects import add_dialect
from synthdp.cli.arguments.parsing import Commands, command, whole_number
from synthdp.cli.arguments.shared import add_verbose


def add_report(commands: Commands) -> None:
    """Add ``synthdp report``."""
    parser = command(
        commands,
        "report",
        "a page on how good synthetic tables are, which is NOT PRIVATE; with --public on a release",
    )
    parser.set_defaults(command="report")
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
        help="instead: a file of `synthdp run --save`; opens no private data",
    )
    parser.add_argument(
        "-s",
        "--schema",
        metavar="FILE",
        help="schema file, or the saved model where levels or bins were learnt; default: read off the real table",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the page, .html; may be left out with --json"
    )
    parser.add_argument(
        "--target",
        action="append",
        metavar="COLUMN",
        help="column that models predict, may come again; 'all' for every suitable one; default: the first three",
    )
    parser.add_argument(
        "--by", action="append", metavar="COLUMN", help="errors within its levels; may come again"
    )
    parser.add_argument(
        "--queries", metavar="FILE", help="questions of your own (JSON); see docs/evaluation.md"
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        metavar="N",
        help="draws what is sampled; default: 0",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    parser.add_argument(
        "--json", action="store_true", help="print all numbers as JSON, for machines"
    )
    add_dialect(parser)
    add_verbose(parser)
