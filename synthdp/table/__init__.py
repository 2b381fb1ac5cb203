"""Table floor: the public schema, the codec between values and codes, and files."""
