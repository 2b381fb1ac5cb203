"""Mixtures of product distributions, by arrays on a CPU or a GPU."""
