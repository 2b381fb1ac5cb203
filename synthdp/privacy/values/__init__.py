"""What the kernel answers about single columns before their domain is known."""
