"""The command line: arguments, exit codes and one-line errors. Commands live in
`synthdp.cli.commands`.

Nothing heavy is imported here, so that ``synthdp --help`` answers at once.
"""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from time import monotonic
from typing import NoReturn

from synthdp.cli.arguments.command_line import command_line_parser
from synthdp.cli.arguments.exits import (
    DONE,
    FAILED,
    INTERRUPTED,
    NOT_ACCEPTED,
    REFUSED,
    TERMINATED,
    USAGE,
    paid_for,
    say,
)
from synthdp.cli.arguments.json_lines import asks_for_json, check_log_goes_with, json_on_stderr
from synthdp.cli.arguments.options import options_of
from synthdp.cli.commands.table import COMMANDS
from synthdp.cli.shared.signals import Terminated, interrupt_afterwards, terminable
from synthdp.core.errors import NotAcceptedError, ParameterError, PrivacyError, SynthdpError


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 (pathlib is slow to load)
    for stream in (sys.stdout, sys.stderr):
        # A name that a terminal cannot show is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; wrong usage and ``--help`` raise `SystemExit`.

    Only expected failures say what went wrong. Of anything else only the kind is shown: the
    text of an unforeseen error might hold a value of the sensitive table.
    """
    with terminable(), ExitStack() as stack:
        return _run(arguments, stack)


def _run(arguments: Sequence[str] | None, stack: ExitStack) -> int:
    """Run it; ``stack`` holds what must outlast the line that says how it ended."""
    began = monotonic()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if asks_for_json(words):
            stack.enter_context(json_on_stderr())
        parsed = command_line_parser().parse_args(words)
        if getattr(parsed, "log_format", "text") == "json":
            check_log_goes_with(getattr(parsed, "output", None))
        parsed.began = began  # heavy imports come after it
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # their texts may hold values
            with interrupt_afterwards():
                command = COMMANDS[parsed.command]
                module = import_module(command.module)
            options = options_of(getattr(module, command.options), parsed)
            getattr(module, command.function)(options)
    except KeyboardInterrupt as error:
        return say(
            "interrupted", TERMINATED if isinstance(error, Terminated) else INTERRUPTED, error
        )
    except SynthdpError as error:
        return say(str(error), _code(error), error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except MemoryError as error:
        return say(
            "out of memory; ask for fewer rows, bins or columns, or use a larger machine",
            FAILED,
            error,
        )
    except Exception as error:
        if os.environ.get("SYNTHDP_DEBUG"):
            raise
        kind = type(error).__name__
        return say(
            f"internal error ({kind}); its text may hold data, set SYNTHDP_DEBUG=1 to see it",
            FAILED,
            error,
        )
    return DONE


def _code(error: SynthdpError) -> int:
    """No error of a run that has paid is one of usage: to correct its command would pay anew."""
    if isinstance(error, PrivacyError):
        return REFUSED
    if isinstance(error, NotAcceptedError):
        return NOT_ACCEPTED
    return USAGE if isinstance(error, ParameterError) and not paid_for(error) else FAILED
