"""Attacks on the whole flow: a check of every claim of a mechanism on neighbouring tables, and the
worst-case game.
"""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
