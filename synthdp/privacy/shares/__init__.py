"""Counts that only their sum over several sites is told of: shares of noise, under masks that cancel."""
