"""Known marginals: published counts or shares that hold exactly, perhaps of merged levels."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, distinct
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.factor import summed_to
from synthdp.core.measurement import Coarsening, FloatArray


@final
@dataclass(frozen=True, eq=False)
class KnownMarginal:
    """A marginal that is public: it costs nothing, and holds exactly.

    Raises
    ------
    ParameterError
        If a number is below 0 or not finite, counts are not whole, or all are 0.

    >>> sexes = KnownMarginal(("sex",), np.array([30, 10]), is_count=True)
    >>> sexes.total, sexes.shares.tolist()
    (40, [0.75, 0.25])
    """

    clique: Clique
    """The attributes, each once, in the order of the axes of ``values``."""
    values: FloatArray
    """Counts of all records, or shares that sum to 1; at least 0."""
    is_count: bool
    """Whether these are counts, which are whole numbers."""
    coarsening: Coarsening | None = None
    """The merging of levels that they are over, if any."""
    name: str = "known"
    """What errors call it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "clique", distinct(self.clique))
        values = np.array(self.values, dtype=np.float64)
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        if values.ndim != len(self.clique) or not self.clique:
            raise ParameterError(f"{self.name}: give one axis an attribute, and at least one")
        if not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
            raise ParameterError(f"{self.name}: give finite numbers of 0 or more, one above 0")
        if self.is_count and not np.array_equal(values, np.rint(values)):
            raise ParameterError(f"{self.name}: some counts are not whole; call them 'share'")

    @property
    def total(self) -> int | None:
        """The number of all records; None if only shares are known."""
        return round(float(self.values.sum())) if self.is_count else None

    @property
    def shares(self) -> FloatArray:
        """Share of the records in each cell."""
        return np.asarray(self.values / self.values.sum())

    @property
    def whole(self) -> Clique:
        """The attributes whose levels are not merged."""
        merged = self.coarsening.groups if self.coarsening else {}
        return tuple(name for name in self.clique if name not in merged)

    def groups(self, name: str) -> NDArray[np.int64]:
        """For each level of an attribute the group that it falls into."""
        if self.coarsening is not None and name in self.coarsening.groups:
            return self.coarsening.groups[name]
        return np.arange(self.values.shape[self.clique.index(name)])

    def summed(self, clique: Sequence[str]) -> FloatArray:
        """Shares of the cells of some of its attributes, axes in the order of ``clique``."""
        return summed_to(clique, self.shares, self.clique)

    def stated(self) -> dict[str, object]:
        """What a certificate says of it, as plain JSON values: which columns, and how they are
        merged, how many cells, and of counts their sum; and a hash that tells it from others.
        """
        merged = self.coarsening.groups if self.coarsening else {}
        content = json.dumps([self.clique, self.values.tolist(), self.is_count])
        groups = json.dumps({name: merging.tolist() for name, merging in merged.items()})
        return {
            "columns": list(self.clique),
            "groups": {name: int(merging.max()) + 1 for name, merging in merged.items()},
            "cells": self.values.size,
            "total": self.total,
            "sha256": sha256((content + groups).encode()).hexdigest(),
        }

    def to_dict(self) -> dict[str, object]:
        """All of it as plain JSON values, for `from_dict`."""
        merged = self.coarsening.groups if self.coarsening else {}
        return {
            "columns": list(self.clique),
            "values": self.values.tolist(),
            "is_count": self.is_count,
            "groups": {name: merging.tolist() for name, merging in merged.items()},
            "name": self.name,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote; raises `LookupError`, `TypeError`, `ValueError` or `ParameterError`
        if it is no such.
        """
        groups = {
            name: np.array(merging, dtype=np.int64) for name, merging in content["groups"].items()
        }
        return cls(
            tuple(content["columns"]),
            np.array(content["values"], dtype=np.float64),
            is_count=bool(content["is_count"]),
            coarsening=Coarsening(groups) if groups else None,
            name=str(content["name"]),
        )

    def check_fits(self, domain: Domain) -> None:
        """Raise `ParameterError` unless the values have the shape that ``domain`` gives them."""
        merged = self.coarsening.domain(domain) if self.coarsening else domain
        if self.values.shape != merged.project(self.clique).shape:
            raise ParameterError(f"{self.name}: its cells are not those of the domain")
