"""A model that meets known marginals: its tables are raked to them, its rows changed to have them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.factor import Factor
from synthdp.core.known_marginal import KnownMarginal
from synthdp.core.measurement import Coarsening
from synthdp.core.totals_check import TotalsCheck
from synthdp.inference.arrays import Array, Codes
from synthdp.inference.known.consistency import known_attributes
from synthdp.inference.known.exchange import Likelihoods
from synthdp.inference.known.fitting import raked
from synthdp.inference.known.implied_rules import implied_rules
from synthdp.inference.known.rounding import counts_of, rounded
from synthdp.inference.known.row_repair import repaired
from synthdp.inference.model import LevelWeights, Model, State, check_slice
from synthdp.inference.models.saved_models import model_from_state, model_to_state
from synthdp.inference.models.wrapping_model import WrappingModel
from synthdp.inference.saving import constraints_from_state, constraints_to_state


@final
class KnownTotalsModel(WrappingModel):
    """Another model, whose answers are raked to known marginals and whose rows have them exactly.

    Rows of a slice have what known marginals say of it alone. Records that are
    completed are the other model's: they are not all records.

    Parameters
    ----------
    inner
        The other model.
    known
        Marginals that some table has, and that do not contradict the constraints.
    constraints
        What rows keep to.
    """

    kind: ClassVar[str] = "known-totals"

    def __init__(
        self, *, inner: Model, known: Sequence[KnownMarginal], constraints: Sequence[Constraint]
    ) -> None:
        super().__init__(inner)
        self._known = tuple(known)
        self._constraints = tuple(constraints)

    @property
    def known(self) -> tuple[KnownMarginal, ...]:
        """The known marginals."""
        return self._known

    def rough(self) -> Model:
        """The same over a quicker model."""
        return type(self)(
            inner=self._inner.rough(), known=self._known, constraints=self._constraints
        )

    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of one marginal, axes in the order of ``clique``."""
        return self.marginals([clique])[0]

    def marginals(self, cliques: Sequence[Sequence[str]]) -> list[Factor]:
        """Many marginals, each closest to the other model's among those with what is known."""
        return [
            Factor(
                factor.domain,
                raked(factor.domain.attributes, factor.values, self._known, self._total),
            )
            for factor in self._inner.marginals(cliques)
        ]

    def sample(
        self, n_rows: int, *, seed: int | None = None, rounding: bool = True, n_jobs: int = 1
    ) -> Codes:
        """Draw records that have each known marginal to the unit where ``n_rows`` allows, else
        within one in each cell; see `Model.sample`.
        """
        columns = self._inner.sample(n_rows, seed=seed, rounding=rounding, n_jobs=n_jobs)
        return self._with_known(columns, self._known, seed)

    def _with_known(
        self, columns: Codes, known: Sequence[KnownMarginal], seed: int | None
    ) -> Codes:
        """Rows changed so that they have known marginals."""
        n_rows = len(columns[0])
        if n_rows == 0 or not known:
            return columns
        # A stream of its own, so that the rows drawn before do not depend on what is changed.
        generator = np.random.default_rng([0 if seed is None else seed, n_rows])
        return repaired(
            self._domain,
            columns,
            known,
            rounded(self._domain, known, self._rules, n_rows, generator),
            self._constraints,
            self._rules,
            likelihoods=self._likelihoods,
            complete=lambda given: self._inner.complete(
                given, seed=int(generator.integers(1 << 62))
            ),
            generator=generator,
        )

    def known_check(
        self, codes: Codes, wanted: Mapping[str, LevelWeights], why_not: str = ""
    ) -> TotalsCheck:
        """How rows compare with the known marginals; see `Model.known_check`."""
        within = {} if why_not else self._within(wanted)
        n_rows = len(codes[0]) if codes else 0
        off = {
            number: float(np.abs(counts_of(self._domain, each, codes) - each.shares * n_rows).max())
            for number, each in within.items()
        }
        return TotalsCheck(
            known=self._known,
            n_rows=n_rows,
            differences=tuple(off.get(number) for number in range(len(self._known))),
            why=why_not or "they say nothing of the slice alone",
        )

    def _within(self, wanted: Mapping[str, LevelWeights]) -> dict[int, KnownMarginal]:
        """By number the known marginals of all restricted attributes, where each group of levels is
        wanted whole or not at all: what they have there is known of the slice.
        """
        levels = check_slice(self._domain, wanted)
        sliced: dict[int, KnownMarginal] = {}
        for number, marginal in enumerate(self._known):
            if not set(levels) <= set(marginal.clique):
                continue
            values = np.array(marginal.values)
            for name, weights in levels.items():
                groups = marginal.groups(name)
                kept = np.zeros(int(groups.max()) + 1)
                kept[groups] = weights
                if not (np.array_equal(kept[groups], weights) and np.isin(weights, (0, 1)).all()):
                    break
                axis = marginal.clique.index(name)
                values *= kept.reshape([-1 if i == axis else 1 for i in range(values.ndim)])
            else:
                if values.any():
                    sliced[number] = replace(marginal, values=values)
        return sliced

    @cached_property
    def _rules(self) -> list[Constraint]:
        """What the constraints say of the known attributes alone."""
        names = known_attributes(self._known)
        return implied_rules(self._domain, self._constraints, names).constraints

    @cached_property
    def _likelihoods(self) -> Likelihoods:
        return Likelihoods(
            self._domain,
            self._inner.cliques,
            lambda clique: self._inner.marginal(clique).values,
        )

    def complete(
        self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None
    ) -> Codes:
        """Complete partial records as the other model does; see `Model.complete`."""
        return self._inner.complete(given, seed=seed)

    def sample_where(
        self, wanted: Mapping[str, LevelWeights], n_rows: int, *, seed: int | None = None
    ) -> Codes:
        """Draw records of a slice that have what is known of it; see `Model.sample_where`."""
        columns = self._inner.sample_where(wanted, n_rows, seed=seed)
        return self._with_known(columns, list(self._within(wanted).values()), seed)

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """The other model's state, and known marginals with their groups as arrays."""
        inner, arrays = model_to_state(self._inner)
        constrained, tables = constraints_to_state(self._constraints)
        arrays |= {f"known{name}": table for name, table in tables.items()}
        marginals = []
        n_groups = 0
        for number, marginal in enumerate(self._known):
            groups = marginal.coarsening.groups if marginal.coarsening else {}
            marginals.append(
                {
                    "columns": list(marginal.clique),
                    "is_count": marginal.is_count,
                    "merged": list(groups),
                    "name": marginal.name,
                }
            )
            arrays[f"knownvalues-{number}"] = marginal.values
            for merging in groups.values():
                arrays[f"knowngroups-{n_groups}"] = merging.astype(np.float64)
                n_groups += 1
        return {"inner": inner, "known": marginals, "constraints": constrained}, arrays

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain
    ) -> Self:
        """Rebuild a saved model."""
        known = []
        n_groups = 0
        for number, saved in enumerate(cast("list[dict[str, object]]", state["known"])):
            merged = cast("list[str]", saved["merged"])
            groups: dict[str, NDArray[np.int64]] = {}
            for name in merged:
                groups[name] = arrays[f"knowngroups-{n_groups}"].astype(np.int64)
                n_groups += 1
            marginal = KnownMarginal(
                tuple(cast("list[str]", saved["columns"])),
                arrays[f"knownvalues-{number}"],
                is_count=bool(saved["is_count"]),
                coarsening=Coarsening(groups) if groups else None,
                name=str(saved["name"]),
            )
            marginal.check_fits(domain)
            known.append(marginal)
        own = {
            name.removeprefix("known"): table
            for name, table in arrays.items()
            if name.startswith("known")
        }
        inner = model_from_state(cast("dict[str, object]", state["inner"]), arrays, domain)
        return cls(inner=inner, known=known, constraints=constraints_from_state(state, own, domain))
