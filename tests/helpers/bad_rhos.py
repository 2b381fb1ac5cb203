"""What is no budget of zero-concentrated differential privacy."""

from fractions import Fraction
from math import inf, nan

import numpy as np

BAD_RHOS = [
    0, 0.0, -0.0, -1, -1e-300, nan, inf, -inf, Fraction(0), Fraction(-1, 2), False, 10**400, Fraction(10**400),
    np.float64(nan),
]  # fmt: skip
