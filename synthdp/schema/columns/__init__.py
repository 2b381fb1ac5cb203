"""Columns: what each type of column makes of a value, and of a code."""
