"""The words that all floors speak: domains, cliques, factors, measurements, workloads, errors."""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
