"""Attacks on the whole flow: a check of every claim of a recipe on neighbouring tables, and the
worst-case game.
"""
