"""The published mechanisms: which marginals to select, measure and fit; one idea, one file."""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
