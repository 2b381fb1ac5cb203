"""Where rows and counts come from, and how a row becomes integers."""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
