"""Loops over records that numpy could only do by copying them: compiled by numba when they first
run.

What is compiled is plain Python over arrays, and runs as such, slowly but with the same results,
where numba cannot be imported for whatever reason; tests compare the two.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, update_wrapper
from inspect import isfunction
from logging import WARNING
from pathlib import Path
from threading import Lock
from typing import Generic, ParamSpec, TypeVar, final

from synthdp.core.event_log import LOGGER, NOTICE, log

P = ParamSpec("P")
R = TypeVar("R")

FIRST_TIME = Lock()
"""Taken by who says that loops are compiled, and never released: once a process is enough."""
_FIRST_TIME = "compiling loops for the first time on this machine: some seconds, once"
_NO_NUMBA = "numba cannot be imported (%s): rows are drawn many times more slowly"


@final
class Compiled(Generic[P, R]):
    """A function that is compiled when it is first called, with plain functions of its module that
    it calls; the machine code is kept on disk.

    Parameters
    ----------
    plain
        The function, of arrays and numbers only.
    """

    def __init__(self, plain: Callable[P, R]) -> None:
        self.plain = plain
        """The same function as Python runs it."""
        update_wrapper(self, plain)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it; other threads run beside it."""
        return self._fast(*args, **kwargs)

    def load(self) -> None:
        """Say that it is compiled for the first time, if it is, without running it."""
        _ = self._fast

    @cached_property
    def _fast(self) -> Callable[P, R]:
        try:
            # A quarter of a second, which only those wait for who draw rows.
            from numba import njit
            from numba.extending import register_jitable
        except (
            Exception
        ) as error:  # an AttributeError, too: it imports any module `coverage` there is
            log(WARNING, _NO_NUMBA, type(error).__name__)
            # Slower by far, and the same rows: who cannot install numba gets a release all the
            # same.
            return self.plain
        # numba knows no plain function until it is registered.
        for name in self.plain.__code__.co_names:
            called = self.plain.__globals__.get(name)
            if isfunction(called):
                register_jitable(called)
        try:
            # Without the interpreter's lock, so that blocks of a table are drawn side by side.
            fast = njit(cache=True, nogil=True, error_model="numpy")(self.plain)
        except RuntimeError:  # nowhere to keep it: neither beside the code nor at home
            fast = njit(nogil=True, error_model="numpy")(self.plain)
        name = f"{Path(self.plain.__code__.co_filename).stem}.{self.plain.__qualname__}"
        # Only where nothing is kept yet: a message at each run would be noise.
        if not any(Path(fast.stats.cache_path or "").glob(f"{name}-*.nbi")):
            _say_first_time()
        compiled: Callable[P, R] = fast
        return compiled


def _say_first_time() -> None:
    """Tell whoever listens to the log; if nobody does, a terminal."""
    if not FIRST_TIME.acquire(blocking=False):
        return
    log(NOTICE, _FIRST_TIME)
    if not LOGGER.isEnabledFor(NOTICE) and sys.stderr.isatty():
        with suppress(OSError):
            sys.stderr.write(f"{_FIRST_TIME}\n")
