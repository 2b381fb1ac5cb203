"""The door that takes truth and synthetic data of any kind; what only some need is by name."""
