"""Histories: one table with several rows of each person, released as linked tables of persons and
their rows.
"""
