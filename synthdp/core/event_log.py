"""The log of a run: stages, and what was charged, all of it public."""

from collections.abc import Iterable, Mapping
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
    with suppress(Exception):
        what, noise = event_in_words(event)
        if is_kept:
            log(INFO, "answer kept before: %s %s", event["event"], what)
            return
        message = "charged %s %s: %s, rho %.4g; %.4g %% of the budget is spent"
        log(INFO, message, event["event"], what, noise, event["rho"], 100 * share_spent)


def event_in_words(event: Mapping[str, Any]) -> tuple[str, str]:
    """What an event of a ledger, as its certificate has it, asks for and with how much noise.

    >>> event_in_words({"event": "marginal", "columns": ["age", "sex"], "sigma": 12.345678})
    ('age x sex', 'sigma 12.35')
    """
    kind = event["event"]
    if kind == "marginal":
        return columns_in_words(event["columns"]), f"sigma {event['sigma']:.4g}"
    if kind == "scores":
        return f"all {event['n_candidates']} by {event['score']}", f"sigma {event['sigma']:.4g}"
    if kind == "tree":
        return event["column"], f"Laplace scale {event['scale']}"
    if kind in ("histogram", "partition selection"):
        counted = event["column"] + ("" if event["of"] == "values" else f" ({event['of']})")
        cells = f"{event['n_cells']} cells of {counted}" if kind == "histogram" else counted
        by_unit = event.get("record") == "unit"
        weight = event.get("sensitivity_l2_squared", 1.0) ** 0.5 if by_unit else 1.0  # of a record
        threshold = round(event.get("threshold", 0.0) / weight, 1)
        passing = f", threshold {threshold:.10g}" if "threshold" in event else ""
        return cells + ", by unit" * by_unit, f"sigma {event['sigma'] / weight:.4g}{passing}"
    return f"1 of {event['n_candidates']} by {event['score']}", f"epsilon {event['epsilon']:.4g}"


def columns_in_words(columns: Iterable[str]) -> str:
    """The columns of a marginal; of one without columns that it counts the records."""
    return " x ".join(columns) or "(number of records)"
