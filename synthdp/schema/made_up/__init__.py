"""Columns whose values are made up for the output: ids and fakes. Nothing of the table is read into
them.
"""
