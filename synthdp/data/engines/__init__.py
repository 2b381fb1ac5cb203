"""Sources: counts of tables that stay in an engine, where each row gets its code. One of the
trusted rooms.
"""
