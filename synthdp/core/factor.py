"""Factors: arrays of non-negative numbers over the cells of a domain."""

from collections.abc import Iterable, Sequence
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
        domain = self.domain.project(names)
        return type(self)(domain, summed_to(names, self.values, self.domain.attributes))


def summed_to(
    part: Sequence[str], values: NDArray[np.float64], clique: Sequence[str]
) -> NDArray[np.float64]:
    """The table of a clique, one axis an attribute, summed to some of them; axes in the order of
    ``part``.
    """
    kept = [name for name in clique if name in part]
    if len(kept) < len(clique):
        values = values.sum(axis=tuple(i for i, name in enumerate(clique) if name not in part))
    return np.transpose(values, [kept.index(name) for name in part])
