"""How words become options: the parser of each command."""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from difflib import get_close_matches
from itertools import takewhile
from typing import Any, NoReturn, TypeAlias, final

from synthdp.cli.arguments.exits import USAGE, say
from synthdp.cli.arguments.help_texts import ABOUT, EXAMPLES, SCREEN_LINES, short_help


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and of options that it does not know which ones may be meant.

    Options are not abbreviated: what is short for one today may be short for two tomorrow. One that
    holds one value is given once: of two the first would be lost without a word.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.given: set[argparse.Action] = set()
        """Options of one value that were read so far."""
        for name in (None, "store"):
            self.register("action", name, _StoreOnce)

    def format_help(self) -> str:
        """The help on one screen; in full if it fits."""
        text = self.format_full_help()
        fits = self._subparsers is not None or text.count("\n") <= SCREEN_LINES
        return text if fits else short_help(self)

    def format_full_help(self) -> str:
        """All options with their help texts."""
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong, and end."""
        self.exit(say(f"{message} (see {self.prog} --help)", USAGE))

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse unknown options before argparse misses the required ones that they were meant to
        be.
        """
        words = sys.argv[1:] if args is None else list(args)
        own = takewhile(
            lambda word: word != "--" if self._subparsers is None else word.startswith("-"), words
        )
        for word in own:
            name = word.partition("=")[0]
            is_long = (
                re.fullmatch(r"--[^\s=]+", name) is not None
                and name not in self._option_string_actions
            )
            is_long_with_one_dash = (
                name.startswith("-") and f"-{name}" in self._option_string_actions
            )
            if is_long or is_long_with_one_dash:
                self._refuse_option(name)
        self.given.clear()
        return super().parse_known_args(words, namespace)

    def _refuse_option(self, name: str) -> NoReturn:
        names = [option for option in self._option_string_actions if option.startswith("--")]
        wanted = f"--{name.lstrip('-')}"
        meant = [option for option in names if option.startswith(wanted)] or get_close_matches(
            wanted, names, n=1
        )
        self.error(
            f"unknown option {name}" + (f"; did you mean {' or '.join(meant)}?" if meant else "")
        )


@final
class _StoreOnce(argparse._StoreAction):
    """Keeps the value of an option, and refuses a second one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Keep the value."""
        assert isinstance(parser, Parser)
        if option_string is not None and self in parser.given:
            parser.error(f"{option_string} is given twice; it takes one value, leave one out")
        parser.given.add(self)
        setattr(namespace, self.dest, values)


@final
class _FullHelp(argparse.Action):
    """Prints all options, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print the help in full."""
        assert isinstance(parser, Parser)
        sys.stdout.write(parser.format_full_help())
        parser.exit()


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""Where a command is added to."""


Options: TypeAlias = "argparse._ActionsContainer"
"""Where an option is added to: a parser, or a group of options in one."""


def command(commands: Commands, name: str) -> Parser:
    """The parser of a new command by its whole name, which it says as ``command``."""
    parser = commands.add_parser(
        name.rpartition(" ")[2],
        help=ABOUT[name],
        description=ABOUT[name],
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.epilog = f"example:\n  {EXAMPLES[name]}"
    parser.set_defaults(command=name)
    parser.add_argument(
        "--help-all",
        action=_FullHelp,
        dest="help",
        nargs=0,
        default=argparse.SUPPRESS,
        help="show all options, and exit",
    )
    return parser


def group(commands: Commands, name: str) -> Commands:
    """Where the commands of a group are added to, by the whole name of that."""
    return command(commands, name).add_subparsers(
        title="commands", metavar="COMMAND", required=True
    )


def flag(options: Options, name: str, about: str) -> None:
    """Add an option that takes nothing."""
    options.add_argument(name, action="store_true", help=about)


def argument(options: Options, usage: str, about: str | None = None) -> None:
    """Add an argument that is given by its place, as its usage is written.

    ``input IN`` is one word, ``input [IN]`` at most one, ``sites COUNTS...`` one or more, and
    ``tables [TABLE...]`` any number.
    """
    name, shown = usage.split()
    metavar = shown.strip("[].")
    options.add_argument(
        name, nargs=COUNTS[shown.replace(metavar, "")], metavar=metavar, help=about
    )


def option(
    options: Options,
    usage: str,
    about: str,
    *,
    parse: Callable[[str], object] | None = None,
    default: object = None,
    required: bool = False,
    repeats: bool = False,
) -> None:
    """Add an option that takes a value, as its usage is written: ``-o --output OUT``.

    The last word says how the value is read (`VALUES`), unless ``parse`` does. An option that
    ``repeats`` gives a list.
    """
    *names, metavar = usage.split()
    options.add_argument(
        *names,
        metavar=metavar,
        help=about,
        type=parse or VALUES.get(metavar, str),
        default=default,
        required=required,
        action="append" if repeats else "store",
    )


def output(options: Options, about: str, *, shown: str = "OUT") -> None:
    """Add where a command writes, which has to be said."""
    option(options, f"-o --output {shown}", about, required=True)


COUNTS = {"": None, "[]": "?", "...": "+", "[...]": "*"}
"""How often an argument may come, as argparse has it, by the marks around its name."""


def job_count(text: str) -> int:
    """A number of threads: 1 or more, or -1.

    >>> job_count("2"), job_count("-1")
    (2, -1)
    """
    number = whole_number(text)
    if number < 1 and number != -1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of threads; give 1 or more, or -1")
    return number


def whole_number(text: str) -> int:
    """A whole number as people write it.

    >>> whole_number("1e6"), whole_number("1_000_000"), whole_number("2.5e1")
    (1000000, 1000000, 25)
    """
    if re.fullmatch(
        r"[+-]?\d+(_\d+)*(\.\d*)?(e\+?\d{1,2})?", text.strip(), re.ASCII | re.IGNORECASE
    ):
        number = Decimal(text)
        if number == int(number):
            return int(number)
    raise argparse.ArgumentTypeError(
        f"{text!r} is no whole number; write it as 1000000, 1_000_000 or 1e6"
    )


VALUES: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("K", "M", "N"), whole_number),
    **dict.fromkeys(("DELTA", "EPSILON", "MU", "P", "RHO", "S", "SHARE"), float),
}
"""How values are read, by what usages call them; all others are texts."""


def listed(names: Iterable[str]) -> str:
    """Names in order, for a help text."""
    *most, last = sorted(names)
    return f"{', '.join(most)} or {last}"
