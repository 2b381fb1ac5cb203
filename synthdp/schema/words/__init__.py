"""Texts, headers, dtypes and runs of numbers: what all of a schema speaks of."""
