"""Constraints: combinations of values that public knowledge rules out, such as married
five-year-olds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, distinct
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError


@final
@dataclass(frozen=True, eq=False)
class Constraint:
    """The combinations of a few attributes' levels that are possible.

    It is declared, never read off the data, so it costs no privacy.

    Raises
    ------
    ParameterError
        If an attribute repeats, the axes do not match, or nothing is allowed.
    """

    clique: Clique
    """The attributes, each once."""
    allowed: NDArray[np.bool_]
    """Boolean array with one axis an attribute: which combinations are possible. It is copied, and
    cannot be changed afterwards.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "clique", distinct(self.clique))
        object.__setattr__(self, "allowed", np.array(self.allowed, dtype=np.bool_))
        self.allowed.setflags(write=False)
        if not self.clique:
            raise ParameterError("constraint: it is on no attribute; name one or more, each once")
        if self.allowed.ndim != len(self.clique):
            raise ParameterError(f"constraint on {self.clique}: give one axis an attribute")
        if not self.allowed.any():
            raise ParameterError(
                f"constraint on {self.clique}: nothing is allowed; allow at least one combination"
            )

    @classmethod
    def determines(cls, fine: str, coarse: str, codes: Sequence[int], n_coarse: int) -> Self:
        """A functional dependency: level i of ``fine`` goes with level ``codes[i]`` of ``coarse``
        only.

        >>> Constraint.determines("town", "region", [0, 0, 1], 2).allowed.astype(int).tolist()
        [[1, 0], [1, 0], [0, 1]]
        """
        allowed = np.zeros((len(codes), n_coarse), dtype=np.bool_)
        allowed[np.arange(len(codes)), np.asarray(codes)] = True
        return cls((fine, coarse), allowed)

    def check_fits(self, domain: Domain) -> None:
        """Raise `ParameterError` unless ``allowed`` has the shape of the clique in ``domain``."""
        expected = domain.project(self.clique).shape
        if self.allowed.shape != expected:
            raise ParameterError(
                f"constraint on {self.clique}: it has shape {self.allowed.shape}, the domain asks for {expected}"
            )

    def canonical(self, domain: Domain) -> "Constraint":
        """The same constraint with its axes in the order of ``domain``."""
        clique = domain.canonical(self.clique)
        return Constraint(
            clique, np.transpose(self.allowed, [self.clique.index(name) for name in clique])
        )

    def squeezed(self) -> "Constraint | None":
        """The same constraint without attributes of one level; None if it has no others, and so
        rules out nothing.
        """
        kept = tuple(
            name for name, size in zip(self.clique, self.allowed.shape, strict=True) if size > 1
        )
        if len(kept) == len(self.clique):
            return self
        return Constraint(kept, np.squeeze(self.allowed)) if kept else None

    def holds(
        self, domain: Domain, columns: Sequence[NDArray[np.unsignedinteger]]
    ) -> NDArray[np.bool_]:
        """For each row of a coded table whether it is possible, shape ``(n_rows,)``."""
        possible: NDArray[np.bool_] = self.allowed[
            tuple(columns[domain.index(name)] for name in self.clique)
        ]
        return possible
