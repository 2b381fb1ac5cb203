"""Doors that take data, saved files and journals of any kind; what only some need is by name."""
