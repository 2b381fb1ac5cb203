"""Factors: arrays of non-negative numbers over the cells of a domain."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """A table with one number for each cell of a domain, such as a marginal in counts.

    Parameters
    ----------
    domain
        The attributes, in the order of the axes.
    values
        float64 array of shape ``domain.shape``. One that may be written to is copied; the factor's
        own may not.

    Raises
    ------
    ParameterError
        If the shapes disagree.
    """

    domain: Domain
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.values.flags.writeable:
            object.__setattr__(self, "values", self.values.copy())
            self.values.setflags(write=False)
        if self.values.shape != self.domain.shape:
            raise ParameterError(
                f"factor: values have shape {self.values.shape}, its domain has {self.domain.shape}; they must agree"
            )

    def total(self) -> float:
        """Sum over all cells."""
        return float(self.values.sum())

    def project(self, attributes: Iterable[str]) -> Self:
        """Sum out all attributes but these; the axes follow the order given.

        >>> import numpy as np
        >>> factor = Factor(Domain(("a", "b"), (2, 3)), np.arange(6.0).reshape(2, 3))
        >>> factor.project(("b",)).values
        array([3., 5., 7.])
        """
        names = tuple(attributes)
        summed = tuple(
            axis for axis, name in enumerate(self.domain.attributes) if name not in names
        )
        kept = [name for name in self.domain.attributes if name in names]
        values = self.values.sum(axis=summed) if summed else self.values
        order = [kept.index(name) for name in self.domain.project(names).attributes]
        return type(self)(self.domain.project(names), np.transpose(values, order))
