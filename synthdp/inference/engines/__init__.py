"""Engines: each fits noisy marginals in its own representation, by its registry name."""
