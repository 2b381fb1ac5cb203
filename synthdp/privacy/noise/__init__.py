"""Exact noise on integers, from the operating system's random bits."""
