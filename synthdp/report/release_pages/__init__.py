"""Pages to print: what a release states, for people who decide on it."""
