"""What the commands do, a file each; see `synthdp.cli.arguments` for their options."""
