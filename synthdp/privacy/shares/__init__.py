"""Counts of which only the sum over several sites is released: shares of noise, under masks that cancel."""
