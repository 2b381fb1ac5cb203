"""Optimisers: the drivers that engines fit with."""
