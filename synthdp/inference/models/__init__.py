"""Models: what engines return besides Markov random fields."""
