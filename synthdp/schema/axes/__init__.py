"""Axes of ordered values: shapes inside of bins, and points of grids."""
