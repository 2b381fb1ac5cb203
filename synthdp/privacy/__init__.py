"""Privacy floor: events, accounting, exact noise, and the two objects that see raw counts."""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
