"""Parsing: fields of text, told apart by their bytes."""
