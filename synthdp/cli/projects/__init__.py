"""Projects: what is said of a table and its release, in a folder, and the commands of it."""
