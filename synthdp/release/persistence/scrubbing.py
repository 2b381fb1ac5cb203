"""What an error may carry out of a run: where it happened, not the records that were worked on."""

import traceback
from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def scrub_tracebacks(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function whose errors hold on to no local variable of it, or of anything that it called.

    Whoever keeps a traceback (a crash reporter, a notebook, ``sys.last_traceback``) could otherwise
    read rows and exact counts there. By the time an error gets here all those frames have ended, so
    that all of them can be cleared; the one that is still running, this function's own, drops its
    arguments.
    """

    @wraps(function)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            del args, kwargs
            _clear(error)
            raise

    return wrapped


def _clear(error: BaseException) -> None:
    """Clear the frames of an error and of its causes, and drop what some carry beside, or in, their
    text.
    """
    for known in _chain(error):
        traceback.clear_frames(known.__traceback__)
        if isinstance(known, AttributeError):
            known.obj = None
        elif isinstance(known, MemoryError):
            known.args = ()
            if hasattr(
                known, "shape"
            ):  # that of numpy's array, which may have a place for each row
                known.shape = ()
        elif isinstance(known, UnicodeDecodeError):
            known.object = b""
            known.args = (known.encoding, known.object, known.start, known.end, known.reason)
        elif isinstance(known, UnicodeEncodeError):
            known.object = ""
            known.args = (known.encoding, known.object, known.start, known.end, known.reason)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and all that it was raised from or in view of, each once."""
    todo: list[BaseException | None] = [error]
    seen: set[int] = set()
    while todo:
        known = todo.pop()
        if known is None or id(known) in seen:
            continue
        seen.add(id(known))
        yield known
        todo += [known.__cause__, known.__context__]
        todo += known.exceptions if isinstance(known, BaseExceptionGroup) else ()
