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
    for each in _chain(error):
        traceback.clear_frames(each.__traceback__)
        if isinstance(each, AttributeError):
            each.obj = None
        elif isinstance(each, MemoryError):
            each.args = ()
            if hasattr(each, "shape"):  # that of numpy's array, which may have a place for each row
                each.shape = ()
        elif isinstance(each, UnicodeDecodeError):
            each.object = b""
            each.args = (each.encoding, each.object, each.start, each.end, each.reason)
        elif isinstance(each, UnicodeEncodeError):
            each.object = ""
            each.args = (each.encoding, each.object, each.start, each.end, each.reason)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and all that it was raised from or in view of, each once."""
    todo: list[BaseException | None] = [error]
    seen: set[int] = set()
    while todo:
        each = todo.pop()
        # Errors may refer to each other in a circle.
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        todo += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            todo += each.exceptions
