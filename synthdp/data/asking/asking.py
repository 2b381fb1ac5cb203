"""Asking an engine: only the kind of an error is passed on, as its text may quote a value."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from warnings import catch_warnings

from synthdp.core.errors import SourceError, SynthdpError
from synthdp.data.asking.stoppable import Stop, stoppable

Answer = TypeVar("Answer")

LOOK = "look at the table in the engine itself"

_OF_SPARK = (
    "DataFrameQueryContextLogger",
    "SQLQueryContextLogger",
    "py4j.clientserver",
    "py4j.java_gateway",
)
"""Where PySpark writes the texts of errors and of answers, on top of giving them."""

_NOTHING = logging.Filter("nobody")
"""Lets through what a logger of that name writes, so nothing of any other."""


def asked(
    engine: str,
    what: str,
    question: Callable[[], Answer],
    *,
    way_out: str = LOOK,
    stop: Stop | None = None,
) -> Answer:
    """The answer to a question, asked once.

    Parameters
    ----------
    engine
        Name of the engine.
    what
        What is asked, in words that are public.
    question
        Asks it.
    way_out
        What to do if it fails.
    stop
        Ends the question early, as `stoppable` says, where the engine does not hear of Ctrl-C; None
        where it does.

    Raises
    ------
    SourceError
        If it fails. It names the type of the engine's error, and holds neither its text nor itself.
        Errors of our own, such as of a column that an engine cannot read, are raised as they are.
    KeyboardInterrupt
        If Ctrl-C came meanwhile, whatever the engine made of it.

    >>> asked("duckdb", "counting rows", lambda: 3)
    3
    """
    try:
        # A warning may quote rows, and a filter make an error of it.
        with _silence(), catch_warnings(action="ignore"):
            return question() if stop is None else stoppable(question, stop)
    except (KeyboardInterrupt, SystemExit, MemoryError, SynthdpError):
        raise
    except BaseException as error:  # a panic of polars is no Exception
        kind = type(error).__name__
        interrupt = _interrupt_behind(error)
    # outside of the block above, so that the engine's error is not kept as the context of ours
    if interrupt is not None:
        raise interrupt
    raise SourceError(
        f"{engine}: {what} failed ({kind}); its message is not shown, since it may quote rows; {way_out}"
    )


def _interrupt_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """What Ctrl-C raised, anew, if that is behind an engine's error: some raise another, or fail
    once more.
    """
    seen = set()  # an error that is raised anew may be behind itself
    while error is not None and not isinstance(error, KeyboardInterrupt):
        if id(error) in seen:
            return None
        seen.add(id(error))
        is_of_duckdb = type(error) is RuntimeError and error.args == ("Query interrupted",)
        error = KeyboardInterrupt() if is_of_duckdb else error.__cause__ or error.__context__
    return None if error is None else type(error)()


@contextmanager
def _silence() -> Iterator[None]:
    """Keep what an engine says of its errors out of the logs of this process."""
    loggers = [logging.getLogger(name) for name in (*_OF_SPARK, "distributed.worker")]
    for logger in loggers:
        logger.addFilter(_NOTHING)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_NOTHING)
