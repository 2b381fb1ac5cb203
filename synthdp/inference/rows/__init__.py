"""Rows: moving, repairing, matching and completing tables of records."""
