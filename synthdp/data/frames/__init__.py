"""Frames: tables of pandas, polars and Arrow, what their dtypes say, and how the same kind comes
back.
"""
