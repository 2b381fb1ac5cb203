"""Codes back to values."""
