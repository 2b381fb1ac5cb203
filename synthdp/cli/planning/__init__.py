"""What to expect before a run: of a schema, of noise, of a budget."""
