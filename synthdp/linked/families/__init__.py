"""Drawing families: rows of linked tables, by their position, each given its
ancestors and siblings; and their keys.
"""
