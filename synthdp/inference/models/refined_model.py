"""A model over merged levels, which gives their rows back to all levels in fixed shares."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.core.factor import Factor
from synthdp.core.measurement import Coarsening
from synthdp.core.requests import check_cliques, seeded
from synthdp.inference.arrays import Array, Codes, compact
from synthdp.inference.model import LevelWeights, Model, State, check_given, check_slice
from synthdp.inference.models.saved_models import model_from_state, model_to_state
from synthdp.inference.models.wrapping_model import WrappingModel
from synthdp.inference.value_drawing import draw_values

_LEAST_SHARE = 1e-50
"""Of a level in its group: too little to be drawn beside any other."""


@final
class RefinedModel(WrappingModel):
    """A model over merged levels; inside a merged level, shares that do not depend on other
    attributes.

    Parameters
    ----------
    inner
        The model over merged levels.
    domain
        The domain before merging.
    coarsening
        The merging.
    shares
        For each merged attribute the share of each level in its group, shape ``(n_levels,)``.
    """

    kind: ClassVar[str] = "refined"

    def __init__(
        self, *, inner: Model, domain: Domain, coarsening: Coarsening, shares: Mapping[str, Array]
    ) -> None:
        super().__init__(inner, domain)
        self._coarsening = coarsening
        self._shares = dict(shares)

    @property
    def working_bytes(self) -> float:
        """Memory of the inner model's tables, or of the largest table of merged levels by levels."""
        levels = (
            float(groups.size) * (float(groups.max()) + 1.0)
            for groups in self._coarsening.groups.values()
        )
        return max(super().working_bytes, 8.0 * max(levels, default=0.0))

    def rough(self) -> Model:
        """The same over a model of merged levels that is quick."""
        inner = self._inner.rough()
        return type(self)(
            inner=inner, domain=self._domain, coarsening=self._coarsening, shares=self._shares
        )

    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of the cells of one marginal, axes in the order of ``clique``."""
        (names,) = check_cliques(self._domain, [clique])
        values = self._inner.marginal(names).values
        for axis, name in enumerate(names):
            if name in self._shares:
                shape = [-1 if other == axis else 1 for other in range(len(names))]
                values = np.take(values, self._coarsening.groups[name], axis=axis) * self._shares[
                    name
                ].reshape(shape)
        return Factor(self._domain.project(names), values)

    def sample(
        self, n_rows: int, *, seed: int | None = None, rounding: bool = True, n_jobs: int = 1
    ) -> Codes:
        """Draw records; see `Model.sample`."""
        generator = seeded(seed)
        coarse = self._inner.sample(
            n_rows,
            seed=int(generator.integers(1 << 62)),
            rounding=rounding,
            n_jobs=n_jobs,
        )
        return self._refined(coarse, self._shares, generator, rounding=rounding)

    def complete(
        self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None
    ) -> Codes:
        """Complete partial records by their merged levels, as exactly as the inner model does; see
        `Model.complete`.

        A given level counts as its group, even if its own share is 0.
        """
        check_given(self._domain, given)
        generator = seeded(seed)
        groups = self._coarsening.groups
        # The inner model speaks of groups: given levels are translated for it, and put back
        # afterwards as they were.
        coarse = {
            name: groups[name][codes] if name in groups else codes for name, codes in given.items()
        }
        drawn = self._inner.complete(coarse, seed=int(generator.integers(1 << 62)))
        columns = list(self._refined(drawn, self._shares, generator, rounding=False))
        for name, codes in given.items():
            columns[self._domain.index(name)] = compact(codes, self._domain[name])
        return tuple(columns)

    def sample_where(
        self, wanted: Mapping[str, LevelWeights], n_rows: int, *, seed: int | None = None
    ) -> Codes:
        """Draw records of a slice as exactly as the inner model does; see `Model.sample_where`.

        A merged level is wanted as much as its levels are on average, by their shares; a level
        whose noisy count left it none is taken where no other will do.
        """
        generator = seeded(seed)
        coarse = check_slice(self._domain, wanted)
        shares = dict(self._shares)
        for name in coarse.keys() & shares.keys():
            # A wanted level of share 0 would make the slice impossible, though noise alone may have
            # brought it to 0.
            shares[name] = np.maximum(shares[name], _LEAST_SHARE) * coarse[name]
            coarse[name] = np.bincount(self._coarsening.groups[name], shares[name]).astype(
                np.float64
            )
        drawn = self._inner.sample_where(coarse, n_rows, seed=int(generator.integers(1 << 62)))
        return self._refined(drawn, shares, generator, rounding=True)

    def _refined(
        self,
        coarse: Codes,
        shares: Mapping[str, Array],
        generator: np.random.Generator,
        *,
        rounding: bool,
    ) -> Codes:
        """Give the rows of each merged level back to its levels, in proportion to some shares."""
        columns = list(coarse)
        for name, weights in shares.items():
            groups = self._coarsening.groups[name]
            position = self._domain.index(name)
            # A row of levels' weights for each group: each drawn group picks one of its own levels.
            table = np.zeros((int(groups.max()) + 1, groups.size))
            table[groups, np.arange(groups.size)] = weights
            values = draw_values(
                table, columns[position].astype(np.int64), generator=generator, rounding=rounding
            )
            columns[position] = compact(values, self._domain[name])
        return tuple(columns)

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """The inner model's state, and groups and shares as arrays."""
        inner, arrays = model_to_state(self._inner)
        for name, shares in self._shares.items():
            position = self._domain.index(name)
            arrays[f"shares-{position}"] = shares
            arrays[f"groups-{position}"] = self._coarsening.groups[name].astype(np.float64)
        return {"coarse": inner, "merged": list(self._shares)}, arrays

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain
    ) -> Self:
        """Rebuild a saved model."""
        groups: dict[str, NDArray[np.int64]] = {}
        shares: dict[str, Array] = {}
        for name in cast("list[str]", state["merged"]):
            position = domain.index(name)
            groups[name] = arrays[f"groups-{position}"].astype(np.int64)
            shares[name] = arrays[f"shares-{position}"]
        coarsening = Coarsening(groups)
        saved = cast("dict[str, object]", state["coarse"])
        inner = model_from_state(saved, arrays, coarsening.domain(domain))
        return cls(inner=inner, domain=domain, coarsening=coarsening, shares=shares)
