"""Truth against synthetic, which is not private, and pages and pictures."""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
