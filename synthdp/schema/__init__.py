"""What is public about a table: columns, kinds, rules, generated columns."""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
