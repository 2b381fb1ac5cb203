"""Ctrl-C and SIGTERM: both end a run in order, and neither disturbs what saves a paid-for
measurement.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from time import monotonic
from types import FrameType
from typing import Any, final

_BURST_SECONDS = 2.0
"""A SIGTERM that comes so soon after another belongs to it: ``timeout`` and schedulers send
several.
"""


@final
class Terminated(KeyboardInterrupt):
    """SIGTERM came: what Ctrl-C does is done, with an exit code of its own."""


@final
class Termination:
    """Handler of SIGTERM that raises `Terminated`, once for several that come together."""

    def __init__(self) -> None:
        self._raised_at = -_BURST_SECONDS

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Raise, unless that was done just now: a second error would disturb the rescue."""
        if (now := monotonic()) - self._raised_at >= _BURST_SECONDS:
            self._raised_at = now
            raise Terminated


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM, which schedulers send, do what Ctrl-C does, unless somebody has other plans for
    it.
    """
    # Python sets handlers in the main thread only; and a program that uses this library may have a
    # handler of its own, which stays.
    takes = current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if takes:
        signal.signal(signal.SIGTERM, Termination())
    try:
        yield
    finally:
        if takes:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def interrupt_afterwards() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait while modules load: some libraries swallow them then."""
    seen: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    waiting = {
        number: handler
        for number, handler in handlers.items()
        if (handler is signal.default_int_handler or isinstance(handler, Termination))
        and current_thread() is main_thread()
    }
    # Noted, not forgotten: a stop that came while modules loaded is carried out right after, when
    # it can be handled cleanly.
    for number in waiting:
        signal.signal(number, lambda number, _frame: seen.append(number))
    try:
        yield
    finally:
        for number, handler in waiting.items():
            signal.signal(number, handler)
    if seen and callable(handler := waiting[signal.Signals(seen[0])]):
        handler(seen[0], None)


@contextmanager
def undisturbed_end() -> Iterator[Callable[[], None]]:
    """Yields a function from whose call on Ctrl-C and SIGTERM are ignored, to the end of the block.

    SIGTERM only where it would be taken for Ctrl-C: a handler of somebody else stays as it is.
    """
    former: dict[int, Any] = {}

    def begin() -> None:
        if current_thread() is main_thread():
            former[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
            if isinstance(signal.getsignal(signal.SIGTERM), Termination):
                former[signal.SIGTERM] = signal.signal(signal.SIGTERM, signal.SIG_IGN)

    try:
        yield begin
    finally:
        for number, handler in former.items():
            signal.signal(number, handler or signal.SIG_DFL)
