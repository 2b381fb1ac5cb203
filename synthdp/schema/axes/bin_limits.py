"""How many bins there may be."""

MAX_LEVELS = 1_000_000
"""Largest number of bins of one column: far more than noise leaves anything of."""
