"""Table floor: the public schema, the records' way into codes and back, and files."""
