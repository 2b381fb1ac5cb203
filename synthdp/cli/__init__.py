"""The shell's door: arguments, commands, signals and the status line."""
