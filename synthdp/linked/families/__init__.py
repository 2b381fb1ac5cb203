"""Drawing families: rows of linked tables, turn by turn, each given what is above and beside it;
and their keys.
"""
