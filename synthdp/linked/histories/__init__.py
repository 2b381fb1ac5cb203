"""Histories: one table with rows of persons in an order, released as linked tables of persons and
their rows.
"""
