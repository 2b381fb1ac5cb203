"""What a model learns from a synthetic table, against what it learns from the real one."""
