"""Records: how rows become codes, each row by itself. One of the three rooms that auditors read."""
