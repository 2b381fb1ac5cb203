"""What commands share: outputs and messages about them, progress, signals, rescue of paid answers."""
