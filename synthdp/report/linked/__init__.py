"""Errors of linked tables against the real ones, which are not private."""
