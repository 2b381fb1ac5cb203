"""Inference floor: engines that rebuild a distribution from noisy marginals, and sampling."""
