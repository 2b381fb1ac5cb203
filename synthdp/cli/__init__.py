"""The shell's door: arguments, commands, signals and the status line."""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
