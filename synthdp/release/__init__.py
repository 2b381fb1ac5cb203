"""One run from start to end: settings, the release, what it returns, says and saves."""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
