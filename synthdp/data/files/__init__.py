"""Files: reading and writing tables and JSON, whole or not at all."""
