"""What everybody knows of several columns together: impossible combinations, comparisons and sums."""
