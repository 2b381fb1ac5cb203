"""Drawing a table from a fitted model: whole, a slice, or records completed; and what comes with
it.
"""
