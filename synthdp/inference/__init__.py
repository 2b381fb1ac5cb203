"""Inference floor: engines that rebuild a distribution from noisy marginals, and sampling."""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
