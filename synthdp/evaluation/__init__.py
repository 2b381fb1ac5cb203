"""Comparing a synthetic table with the real one; not private, not part of the release."""
