"""Questions that Ctrl-C stops, put to an engine that does not hear of signals while it works."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from threading import Thread, current_thread, main_thread
from typing import TypeAlias, TypeVar

Answer = TypeVar("Answer")

Stop: TypeAlias = Callable[[], object]
"""Has a question end early, with an error."""

_WAIT_SECONDS = 0.1
"""How often a question is asked to stop: what is said before an engine has begun with it is lost.
"""


def stoppable(question: Callable[[], Answer], stop: Stop) -> Answer:
    """The answer to a question that is asked in another thread, for signals are heard in the main
    one only.

    In any other thread than the main one none comes, and the question is asked there. No thread is
    left behind.

    Parameters
    ----------
    question
        Asks it, and ends early, with an error, some time after ``stop`` was called.
    stop
        Has it end; called in the main thread, again and again until it did.

    Raises
    ------
    KeyboardInterrupt
        Or what else the handler of a signal raises: the question is asked to stop, and this is
        raised when it has ended. Further signals then change nothing.

    What the question raises is raised as it is.

    >>> stoppable(lambda: 3, lambda: None)
    3
    """
    if current_thread() is not main_thread():
        return question()
    answer: Future[Answer] = Future()
    context = copy_context()
    thread = Thread(target=_give, args=(answer, lambda: context.run(question)))
    try:
        thread.start()
        # With a limit, for Windows delivers no signal to one without.
        while wait((answer,), _WAIT_SECONDS).not_done:
            pass
        thread.join()  # now it holds nothing; not sooner: to Python 3.11 a thread has ended if a signal ends its join
        return answer.result()
    finally:
        while not (answer.cancel() or answer.done()):
            with suppress(Exception, KeyboardInterrupt):
                stop()
                wait((answer,), _WAIT_SECONDS)
        del answer  # an error holds this frame, and the answer holds the error


def _give(answer: Future[Answer], question: Callable[[], Answer]) -> None:
    if answer.set_running_or_notify_cancel():  # else the signal came while the thread started
        try:
            answer.set_result(question())
        except BaseException as error:
            answer.set_exception(error)
    del answer
