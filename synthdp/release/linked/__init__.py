"""Linked tables: a release of several tables from one budget, family by family."""
