"""Schemas: what is declared of a table, and what is left to be learnt."""
