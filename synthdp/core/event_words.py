"""Events of a ledger in words, as logs, commands and pages show them."""

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Any


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
        noisy = in_records(event)
        passing = f", threshold {round(noisy['threshold'], 1):.10g}" if "threshold" in noisy else ""
        by_unit = ", by unit" * (event.get("record") == "unit")
        return cells + by_unit, f"sigma {noisy['sigma']:.4g}{passing}"
    return f"1 of {event['n_candidates']} by {event['score']}", f"epsilon {event['epsilon']:.4g}"


def in_records(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event with noise and threshold in records, where units of privacy are records and count
    in units of weight, of which the sensitivity says how many each is.

    >>> event = {"record": "unit", "sigma": 2048.0, "threshold": 7680}
    >>> in_records(event | {"sensitivity_l2_squared": 1 << 20})["threshold"]
    7.5
    """
    weight = sqrt(event.get("sensitivity_l2_squared", 1.0))
    if event.get("record") != "unit" or weight == 1.0:
        return dict(event)
    threshold = {"threshold": round(event["threshold"] / weight, 1)} if "threshold" in event else {}
    return {**event, "sigma": event["sigma"] / weight, "sensitivity_l2_squared": 1.0, **threshold}


def columns_in_words(columns: Iterable[str]) -> str:
    """The columns of a marginal; of one without columns that it counts the records."""
    return " x ".join(columns) or "(number of records)"
