"""Runs of grid points: how values are drawn from what lies between two edges."""
