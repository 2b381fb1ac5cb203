"""What to measure how precisely, when what is to be found is known roughly."""
