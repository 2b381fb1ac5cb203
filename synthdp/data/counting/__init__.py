"""Counting: how columns of codes become exact counts, many marginals at once."""
