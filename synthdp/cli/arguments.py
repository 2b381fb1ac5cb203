"""What the command line understands: its commands, their options, and its exit codes."""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal
from difflib import get_close_matches
from itertools import takewhile
from typing import NoReturn

from synthdp.cli.dialects import add_dialect
from synthdp.cli.signals import PAID_FOR
from synthdp.release.registry import ENGINES, MECHANISMS
from synthdp.version import __version__

DONE, FAILED, USAGE, REFUSED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
"""Exit codes: 2 is that of `argparse`, 130 and 143 are what shells make of SIGINT and SIGTERM (128 and the number)."""

FILES = ".csv, .tsv (also .gz, .zst), .parquet, .xlsx"
"""Endings of tables, as help texts name them."""

EXAMPLES = """examples:
  synthdp run people.csv -s schema.json -o synthetic.csv --epsilon 1 --delta 1e-9
  synthdp run people.csv -s schema.json -o synthetic.csv --epsilon 1 --delta 1e-9 --save people.synthdp
  synthdp run excel.csv -s schema.json -o synthetic.csv --epsilon 1 --delta 1e-9 --dialect excel-semicolon
  synthdp run people.csv --kinds kinds.json -o synthetic.csv --epsilon 1 --delta 1e-9
  synthdp sample people.synthdp -o more.csv --rows 1e6
  synthdp sample people.synthdp -o women.csv --where '{"sex": ["F"], "age": {"minimum": 18}}'
  synthdp show synthetic.csv.privacy.json
  synthdp schema draft people.csv -o schema.json
  synthdp schema draft people.csv --kinds -o kinds.json
  synthdp schema check schema.json --epsilon 1 --delta 1e-9 --rows 50000
  synthdp plan schema.json --rows 50000 --want 'pairs within 2 %'

exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused for privacy, 130 interrupted,
143 terminated (SIGTERM)"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and of options that it does not know which ones may be meant.

    Options are not abbreviated: what is short for one today may be short for two tomorrow.
    """

    def error(self, message: str) -> NoReturn:
        self.exit(say(f"{message} (see {self.prog} --help)", USAGE))

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse unknown options before argparse misses the required ones that they were meant to be."""
        words = sys.argv[1:] if args is None else list(args)
        own = takewhile(lambda word: word != "--" if self._subparsers is None else word.startswith("-"), words)
        for word in own:
            name = word.partition("=")[0]
            is_long = re.fullmatch(r"--[^\s=]+", name) is not None and name not in self._option_string_actions
            if is_long or (not name.startswith("--") and f"-{name}" in self._option_string_actions):
                self._refuse_option(name)
        return super().parse_known_args(words, namespace)

    def _refuse_option(self, name: str) -> NoReturn:
        known = [option for option in self._option_string_actions if option.startswith("--")]
        wanted = f"--{name.lstrip('-')}"
        meant = [option for option in known if option.startswith(wanted)] or get_close_matches(wanted, known, n=1)
        self.error(f"unknown option {name}" + (f"; did you mean {' or '.join(meant)}?" if meant else ""))


def whole_number(text: str) -> int:
    """A whole number as people write it.

    >>> whole_number("1e6"), whole_number("1_000_000"), whole_number("2.5e1")
    (1000000, 1000000, 25)
    """
    if re.fullmatch(r"[+-]?\d+(_\d+)*(\.\d*)?(e\+?\d{1,2})?", text.strip(), re.ASCII | re.IGNORECASE):
        number = Decimal(text)
        if number == int(number):
            return int(number)
    raise argparse.ArgumentTypeError(f"{text!r} is no whole number; write it as 1000000, 1_000_000 or 1e6")


def say(message: str, code: int, error: BaseException | None = None) -> int:
    """Write one line: the message, and what was noted on the error about paid-for measurements.

    Notes that others put there are left out: they may hold data.
    """
    notes = [note for note in getattr(error, "__notes__", ()) if note.startswith(PAID_FOR)]
    line = " ".join("; ".join([message, *notes]).splitlines())
    sys.stderr.write(f"synthdp: {line}\n")
    return code


def command_line_parser() -> argparse.ArgumentParser:
    """The parser of all commands; a namespace's ``handler`` names the function, in `synthdp.cli.commands` or beside."""
    parser = _Parser(
        prog="synthdp",
        description="A sensitive table in, a synthetic table out, under differential privacy.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"synthdp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_sample(commands)
    _add_show(commands)
    _add_schema(commands)
    _add_plan(commands)
    return parser


def _command(commands: "argparse._SubParsersAction[_Parser]", name: str, about: str) -> _Parser:
    return commands.add_parser(name, help=about, description=about, allow_abbrev=False)


def _add_run(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = _command(commands, "run", "turn a sensitive table into a synthetic one")
    parser.set_defaults(handler="run_command")
    parser.add_argument("input", metavar="IN", help=f"sensitive table: {FILES}, or - for CSV from stdin")
    _add_schemas(parser)
    parser.add_argument("--epsilon", required=True, type=float, help="privacy loss of the whole release, above 0")
    parser.add_argument("--delta", required=True, type=float, help="above 0, far below 1 / (number of records)")
    parser.add_argument(
        "--mechanism",
        default="auto",
        metavar="NAME",
        help=f"recipe: {_listed(MECHANISMS)}; default: auto; see docs/recipes.md",
    )
    parser.add_argument(
        "--workload",
        metavar="WHAT",
        help="marginals to get right: 2-way, 3-way or a JSON file; default: 3-way, or 2-way for many columns",
    )
    parser.add_argument(
        "--target",
        metavar="COLUMN",
        help="column to predict: only the marginals of the workload that hold it; see docs/workload.md",
    )
    parser.add_argument(
        "--engine",
        metavar="NAME",
        help=f"{_listed(ENGINES)}; default: what the recipe is meant for; see docs/engines.md",
    )
    parser.add_argument(
        "--adjacency", default="add-remove", metavar="NAME", help="add-remove (default) or replace-one record"
    )
    parser.add_argument(
        "--accounting",
        metavar="NAME",
        help="zcdp, or gdp: less noise, Gaussian recipes only; default: what the recipe is meant for",
    )
    _add_unit_and_share(parser)
    _add_saving(parser)
    _add_output(parser, rows="number of rows; default: the noisy estimate of the table's")


def _add_schemas(parser: argparse.ArgumentParser) -> None:
    known = parser.add_mutually_exclusive_group(required=True)
    known.add_argument(
        "-s", "--schema", metavar="FILE", help="schema file (JSON); what it leaves open is learnt, ids are generated"
    )
    known.add_argument(
        "--kinds",
        metavar="FILE",
        help="kinds of columns only, such as integer, id or ignore (JSON); all else is learnt",
    )


def _listed(names: Iterable[str]) -> str:
    *most, last = sorted(names)
    return f"{', '.join(most)} or {last}"


def _add_unit_and_share(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--unit", metavar="COLUMN", help="column that tells persons apart: protect persons, not rows")
    parser.add_argument(
        "--max-rows-per-unit",
        type=whole_number,
        metavar="K",
        help="most rows of a person that are used; needed with --unit",
    )
    parser.add_argument(
        "--domain-share",
        type=float,
        metavar="SHARE",
        help="share of the budget for what is learnt, above 0 and at most 0.95; default: 0.25",
    )


def _add_saving(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--save", metavar="FILE", help="also save the fitted model, for `synthdp sample`")
    parser.add_argument(
        "--save-schema",
        metavar="FILE",
        help="also save the complete schema that was used, with all that was learnt; that is paid for: later "
        "releases with -s FILE learn nothing again",
    )


def _add_sample(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = _command(commands, "sample", "draw more rows from a saved model; opens no private data")
    parser.set_defaults(handler="sample_command")
    parser.add_argument("model", metavar="MODEL", help="file written by `synthdp run --save`")
    parser.add_argument(
        "--where",
        metavar="JSON",
        help="draw from a slice only: conditions as JSON, or @FILE with them; see docs/schema.md",
    )
    parser.add_argument(
        "--given",
        metavar="FILE",
        help="complete these records, a table with some of the columns (not sensitive: it is used as it is)",
    )
    _add_output(parser, rows="number of rows; default: the noisy estimate of the table's")


def _add_output(parser: argparse.ArgumentParser, *, rows: str) -> None:
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help=f"{FILES}, or - for CSV to stdout (certificate to stderr)",
    )
    parser.add_argument("--rows", type=whole_number, metavar="N", help=rows)
    parser.add_argument(
        "--seed", type=whole_number, metavar="N", help="make the drawing of rows repeatable (never the noise)"
    )
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    parser.add_argument("--json", action="store_true", help="print the result as JSON, for machines")
    add_dialect(parser)
    parser.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="log to stderr what is going on and what is charged, public facts only; -vv: every step",
    )


def _add_show(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = _command(commands, "show", "explain a schema, a kinds file, a saved model or a .privacy.json file")
    parser.set_defaults(handler="show_command")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print what the file says as JSON")


def _add_schema(commands: "argparse._SubParsersAction[_Parser]") -> None:
    schema = _command(commands, "schema", "work with schemas").add_subparsers(
        title="commands", metavar="COMMAND", required=True
    )
    parser = _command(schema, "draft", "write a schema to fill in, from column names and declared types only")
    parser.set_defaults(handler="draft_command")
    parser.add_argument("input", metavar="IN", help=f"table: {FILES}, or -")
    parser.add_argument("--kinds", action="store_true", help="write a kinds file to fill in, for `synthdp run --kinds`")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where to write; default: stdout")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    add_dialect(parser)
    parser = _command(schema, "check", "say what will not work well, and the noise to expect; opens no private data")
    parser.set_defaults(handler="planning.check_command")
    parser.add_argument("schema", metavar="SCHEMA", help="schema or kinds file (JSON)")
    parser.add_argument("--epsilon", type=float, help="expect the noise of this budget; with --delta")
    parser.add_argument("--delta", type=float, help="above 0, far below 1 / (number of records)")
    parser.add_argument(
        "--rows", type=whole_number, metavar="N", help="public guess of the number of records, never a count"
    )
    _add_unit_and_share(parser)
    parser.add_argument("--all", action="store_true", help="say everything; default: the worst, about a screen of it")
    parser.add_argument("--json", action="store_true", help="print all that was found as JSON")


def _add_plan(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = _command(commands, "plan", "say what budgets give, and mean for one person; opens no private data")
    parser.set_defaults(handler="planning.plan_command")
    parser.add_argument("schema", metavar="SCHEMA", help="schema or kinds file (JSON)")
    parser.add_argument(
        "--rows", required=True, type=whole_number, metavar="N", help="public guess of the number of records"
    )
    parser.add_argument(
        "--want", metavar="WHAT", help="find the epsilon for 'pairs within 2 %%' or 'columns within 1 %%'"
    )
    parser.add_argument("--epsilon", type=float, help="an epsilon to show besides 0.1, 0.3, 1, 3 and 10")
    parser.add_argument("--delta", type=float, help="default: a power of ten of at most 1 / (100 rows)")
    _add_unit_and_share(parser)
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")
