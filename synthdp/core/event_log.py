"""The log of a run: stages, and what was charged, all of it public."""

from collections.abc import Mapping
from contextlib import suppress
from logging import INFO, NullHandler, getLogger
from typing import Any

LOGGER = getLogger("synthdp")
"""Hears public facts only: stages and charges at INFO, steps at DEBUG, and why one waits at NOTICE.
Whoever wants to read them adds a handler.
"""
NOTICE = INFO + 5
"""The level of what commands show that show no other line of the log."""
LOGGER.addHandler(NullHandler())


def log(level: int, message: str, *arguments: object) -> None:
    """Log public facts; no handler that raises ends a run, for what was paid for would be lost."""
    with suppress(Exception):
        LOGGER.log(level, message, *arguments, stacklevel=2)


def log_charge(event: Mapping[str, Any], *, share_spent: float, is_kept: bool = False) -> None:
    """Log what was charged, an event as its certificate has it, and which share of the budget is
    spent.

    An answer that a journal kept was charged when it was given first, and costs nothing now.
    """
    if not LOGGER.isEnabledFor(INFO):
        return
    with suppress(Exception):
        from synthdp.core.event_words import event_in_words  # for who listens

        what, noise = event_in_words(event)
        if is_kept:
            log(INFO, "answer kept before: %s %s", event["event"], what)
            return
        message = "charged %s %s: %s, rho %.4g; %.4g %% of the budget is spent"
        log(INFO, message, event["event"], what, noise, event["rho"], 100 * share_spent)
