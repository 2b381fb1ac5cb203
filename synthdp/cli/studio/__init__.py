"""A local web page that leads a steward from a table to a publication."""
