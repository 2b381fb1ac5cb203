"""Learning whether values may be missing."""

from synthdp.table.open_columns import OpenColumn

BELIEVED = 3.0
"""Standard deviations of noise that the count of missing values must pass."""


def missing_found(column: OpenColumn, missing: float, stddev: float) -> dict[str, bool]:
    """``required`` as a noisy count of missing values suggests, if that is open; else nothing."""
    return {"required": missing <= BELIEVED * stddev} if "missing" in column.parts else {}
