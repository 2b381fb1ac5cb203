"""Making pages and pictures of numbers: templates, charts and tables, without knowing what the
numbers are.
"""
