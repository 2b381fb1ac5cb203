"""How many bins there may be."""

MAX_LEVELS = 1_000_000
"""Largest number of bins of one column: far more than noise leaves anything of."""

DEFAULT_BINS = 32
"""Bins of a column that has more than `MAX_SINGLE_LEVELS` values and names no bins."""

MAX_SINGLE_LEVELS = 64
"""A column of at most this many values has one level for each, if it names no bins."""
