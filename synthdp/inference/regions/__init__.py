"""Regions: overlapping tables that agree where they overlap."""
