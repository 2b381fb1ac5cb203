"""Least squares and logistic regression with standard errors."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.sparse import csr_array
from scipy.special import expit

FloatArray = NDArray[np.float64]

MAX_STEPS = 30
"""Newton's method needs 5 to 10 steps unless a term separates the classes, whose coefficient grows
without end.
"""

RIDGE = 1e-6
"""Added to the diagonal, in rows: keeps the coefficients of separated classes finite."""

MAX_DENSE, DENSE_RATIO = 2**24, 16
"""Designs of up to so many numbers (128 MiB) are made dense, if they have less than so many terms
for each that is not 0 in a row: products of dense matrices take a few hundredths of the time a
number.
"""


@final
@dataclass(frozen=True)
class LinearFit:
    """Coefficients of a linear model."""

    coefficients: FloatArray
    errors: FloatArray
    """One a term, and their standard errors; shape ``(n_terms,)``."""

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Confidence intervals of 95 %."""
        reach = 1.959964 * self.errors
        return self.coefficients - reach, self.coefficients + reach


def independent_terms(matrix: csr_array) -> NDArray[np.intp]:
    """The terms of a design that are no linear combination of others, in their order, found by
    pivoted QR.
    """
    gram = _gram(matrix)
    scale = np.sqrt(np.diag(gram))
    there = np.flatnonzero(scale > 0)
    _, triangle, order = qr(
        # On the Gram matrix: it has as many rows as terms, whatever the number of rows of the
        # table.
        gram[np.ix_(there, there)] / np.outer(scale[there], scale[there]),
        pivoting=True,
    )
    sizes = np.abs(np.diag(triangle))
    return np.sort(there[order[sizes > 1e-9 * sizes[0]]])


def least_squares(matrix: csr_array, outcome: FloatArray) -> LinearFit:
    """Ordinary least squares; shapes ``(n_rows, n_terms)`` and ``(n_rows,)``."""
    inverse = _inverse(_gram(matrix))
    coefficients = inverse @ (matrix.T @ outcome)
    residuals = outcome - matrix @ coefficients
    variance = float(residuals @ residuals) / max(matrix.shape[0] - matrix.shape[1], 1)
    return LinearFit(coefficients, np.sqrt(np.maximum(variance * np.diag(inverse), 0.0)))


def logistic(matrix: csr_array, outcome: NDArray[np.bool_] | FloatArray) -> LinearFit:
    """Logistic regression by Newton's method, without a penalty to speak of."""
    coefficients = np.zeros(matrix.shape[1])
    target = outcome.astype(np.float64)
    # Newton's method starts at the right mean: all other coefficients are 0.
    share = np.clip(target.mean(), 1e-6, 1 - 1e-6)
    coefficients[0] = np.log(share / (1 - share))  # of the intercept
    inverse = np.zeros((len(coefficients), len(coefficients)))
    for _ in range(MAX_STEPS):
        chances = expit(matrix @ coefficients)
        weights = np.maximum(chances * (1 - chances), 1e-9)
        inverse = _inverse(_gram(matrix, weights))
        step = inverse @ (matrix.T @ (target - chances) - RIDGE * coefficients)
        # Where classes are separable coefficients run away; steps of five at most keep chances from
        # becoming 0 and 1 at once.
        step *= min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
        coefficients = coefficients + step
        if float(np.abs(step).max()) < 1e-6:
            break
    return LinearFit(coefficients, np.sqrt(np.maximum(np.diag(inverse), 0.0)))


def _gram(matrix: csr_array, weights: FloatArray | None = None) -> FloatArray:
    """``X' W X``, by way of a dense matrix where that is faster and fits."""
    n_rows, n_terms = matrix.shape
    weighted = matrix if weights is None else matrix.multiply(weights[:, None]).tocsr()
    if n_rows * n_terms <= MAX_DENSE and n_terms * n_rows <= DENSE_RATIO * matrix.nnz:
        return np.asarray(weighted.toarray().T @ matrix.toarray(), dtype=np.float64)
    return np.asarray((matrix.T @ weighted).toarray(), dtype=np.float64)


def _inverse(gram: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(gram + RIDGE * np.eye(len(gram))), dtype=np.float64)
