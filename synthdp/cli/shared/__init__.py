"""What commands share: outputs, what is said of them, progress, signals, and what was paid for."""
