"""Records: how rows become codes, each row by itself. One of the two trusted rooms."""
