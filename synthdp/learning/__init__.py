"""Learning the domain under the budget: levels, bounds, bins and missing values that nobody
declared.
"""

from synthdp.core.faces import face

__getattr__, __dir__ = face(__name__, __file__)
