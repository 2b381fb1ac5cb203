"""What the command line understands: commands, options, exit codes. Nothing heavy is imported here."""
