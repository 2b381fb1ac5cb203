"""A public plan: which marginals each site measures, with what share of which budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
from os import PathLike
from typing import Any, Self, final

import numpy as np

from synthdp.core.cliques import Clique, distinct
from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.files.json_files import load_json, write_json
from synthdp.core.measurement import Coarsening
from synthdp.core.sealing import SEAL, is_damaged, sealed
from synthdp.core.workload import MAX_MARGINALS, MAX_MEASURED_CELLS
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.gaussian import MAX_SIGMA_SQUARED
from synthdp.privacy.unit import Adjacency
from synthdp.release.settings import as_accounting, as_adjacency, checked_rows
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema

FORMAT = "synthdp-plan/1"
"""Stands in every plan; another number is another format."""

_KEYS = {
    "format", "schema", "epsilon", "delta", "adjacency", "accounting", "unit", "max_rows_per_unit",
    "marginals", SEAL,
}  # fmt: skip


@final
@dataclass(frozen=True, kw_only=True)
class PlannedMarginal:
    """One marginal of a plan."""

    clique: Clique
    """Its columns."""
    share: float
    """Its share of the budget, above 0: shares of a plan count in proportion to their sum."""
    merged: Mapping[str, Sequence[int]]
    """For some of its columns the group that each level is merged into before counting."""

    @property
    def coarsening(self) -> Coarsening | None:
        """The merging of levels; None if there is none."""
        if not self.merged:
            return None
        return Coarsening({name: np.array(groups) for name, groups in self.merged.items()})

    def to_dict(self) -> dict[str, Any]:
        """The marginal as plain JSON values."""
        merged = {name: list(groups) for name, groups in self.merged.items()}
        stated: dict[str, Any] = {"columns": list(self.clique), "share": self.share}
        return stated | ({"merged": merged} if merged else {})


@final
@dataclass(frozen=True, kw_only=True)
class MeasuringPlan:
    """What every site measures, and what that may cost each of the people there.

    A plan is public and settled before any site opens its table: it holds the schema, the marginals
    with their shares, and the guarantee of each site. `synthdp.measure` asks one table for exactly
    this, and `synthdp.combine` takes together only what was measured by the same plan.

    Parameters
    ----------
    schema
        What is public of each table; it leaves nothing open.
    marginals
        What is measured.
    epsilon, delta, adjacency, accounting
        The guarantee of one site, as in `synthdp.synthesize`.
    unit, max_rows_per_unit
        The column that tells persons apart, and most rows of a person at a site.

    Raises
    ------
    SchemaError
        If the schema leaves something open, or a marginal has a column that it does not know.
    ParameterError
        If a budget is out of range, a marginal is asked for twice or with a share that is not above
        0, has too many cells, or its noise would not fit into 64 bits.
    """

    schema: OpenSchema
    marginals: tuple[PlannedMarginal, ...]
    epsilon: float
    delta: float
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    accounting: Accounting = Accounting.GDP
    unit: str | None = None
    max_rows_per_unit: int | None = None

    def __post_init__(self) -> None:
        if self.schema.is_open:
            names = ", ".join(repr(column.name) for column in self.schema.open_columns)
            raise SchemaError(
                f"plan: the schema leaves {names} open; all sites need the same levels and bounds, so declare them"
            )
        checked_rows(self.unit, self.max_rows_per_unit)
        if not 0 < len(self.marginals) <= MAX_MARGINALS:
            raise ParameterError(
                f"plan: it has {len(self.marginals)} marginals; give 1 to {MAX_MARGINALS:,}"
            )
        self._check_marginals()
        unit = self.ledger().unit
        for marginal, rho in zip(self.marginals, self.costs, strict=True):
            if rho == 0 or unit.sigma_squared(rho) > MAX_SIGMA_SQUARED:
                raise ParameterError(
                    f"plan: the share of {marginal.clique} is too little to measure it; leave it out or give more"
                )

    def _check_marginals(self) -> None:
        domain = self.closed.domain
        seen: set[object] = set()
        for marginal in self.marginals:
            unknown = [name for name in marginal.clique if name not in domain.attributes]
            if unknown or marginal.merged.keys() - set(marginal.clique):
                raise SchemaError(
                    f"plan: {marginal.clique} has a column that the schema lacks, or merges one that it has not"
                )
            if not (isfinite(marginal.share) and marginal.share > 0):
                raise ParameterError(
                    f"plan: the share of {marginal.clique} is {marginal.share}; give a number above 0"
                )
            if (n_cells := domain.size(distinct(marginal.clique))) > MAX_MEASURED_CELLS:
                raise ParameterError(
                    f"plan: {marginal.clique} has {n_cells} cells; at most {MAX_MEASURED_CELLS} are measured"
                )
            coarsening = marginal.coarsening
            if coarsening is not None:
                coarsening.domain(domain)
            merged = {name: tuple(groups) for name, groups in marginal.merged.items()}
            question = (frozenset(marginal.clique), tuple(sorted(merged.items())))
            if question in seen:
                raise ParameterError(
                    f"plan: {marginal.clique} is there twice; ask for it once, with the sum of the shares"
                )
            seen.add(question)

    @cached_property
    def closed(self) -> Schema:
        """The schema, of which nothing is open."""
        return self.schema.resolved({})

    def ledger(self) -> PrivacyLedger:
        """A new ledger of one site."""
        return PrivacyLedger(
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            accounting=self.accounting,
            max_rows_per_unit=1 if self.max_rows_per_unit is None else self.max_rows_per_unit,
            unit_column=self.unit,
        )

    @cached_property
    def costs(self) -> tuple[Fraction, ...]:
        """What each marginal costs in rho; together exactly the budget of one site."""
        budget = self.ledger().budget
        shares = [Fraction(marginal.share) for marginal in self.marginals]
        total = sum(shares, Fraction(0))
        return tuple(budget * share / total for share in shares)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that it says: two plans are the same if it is."""
        return str(self.to_dict()[SEAL])

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain JSON values, with its hash."""
        return sealed(
            {
                "format": FORMAT,
                "schema": self.schema.to_dict(),
                "epsilon": float(self.epsilon),
                "delta": float(self.delta),
                "adjacency": self.adjacency.value,
                "accounting": self.accounting.value,
                "unit": self.unit,
                "max_rows_per_unit": self.max_rows_per_unit,
                "marginals": [marginal.to_dict() for marginal in self.marginals],
            }
        )

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """The plan that JSON values say.

        Raises `SchemaError` if they are none or were changed, and otherwise as the class.
        """
        if not isinstance(content, Mapping) or not str(content.get("format")).startswith(
            "synthdp-plan/"
        ):
            raise SchemaError("plan: it is no plan; `synthdp plan-measure` writes one")
        if content["format"] != FORMAT:
            raise SchemaError(
                f"plan: its format is {content['format']!r}, and this version reads {FORMAT}; update synthdp"
            )
        if content.keys() != _KEYS or is_damaged(content):
            raise SchemaError(
                "plan: it is damaged, or was changed: its sha256 is not that of what it says; write a new one"
            )
        try:
            marginals = tuple(_marginal(each) for each in content["marginals"])
            if not isinstance(content["unit"], str | None):
                raise TypeError("no column")
            settled: dict[str, Any] = {
                "epsilon": float(content["epsilon"]),
                "delta": float(content["delta"]),
                "adjacency": as_adjacency(content["adjacency"]),
                "accounting": as_accounting(content["accounting"]),
            }
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise SchemaError("plan: a value is of another kind; write a new one") from None
        plan = cls(
            schema=OpenSchema.from_dict(content["schema"]),
            marginals=marginals,
            unit=content["unit"],
            max_rows_per_unit=content["max_rows_per_unit"],
            **settled,
        )
        # What two versions of the software read in two ways would not be one plan.
        if plan.fingerprint != content[SEAL]:
            raise SchemaError(
                "plan: this version would write it in another way; have all sites use the version that wrote it"
            )
        return plan

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """The plan in a file; raises as `from_dict`, and `DataFileError` if it cannot be read."""
        return cls.from_dict(load_json(path, "plan"))

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the plan to a JSON file; raises `DataFileError` if that is there, unless ``force``."""
        write_json(path, self.to_dict(), force=force)


def _marginal(content: Mapping[str, Any]) -> PlannedMarginal:
    """One marginal of a plan that was read; raises `TypeError`, `KeyError` or `ValueError`."""
    columns = content["columns"]
    share = content["share"]
    merged = content.get("merged", {})
    if (
        not isinstance(columns, list)
        or isinstance(share, bool)
        or not isinstance(share, int | float)
    ):
        raise TypeError("no marginal")
    if not all(isinstance(name, str) for name in columns) or content.keys() - {
        "columns",
        "share",
        "merged",
    }:
        raise TypeError("no marginal")
    groups = {name: tuple(_group(number) for number in numbers) for name, numbers in merged.items()}
    return PlannedMarginal(clique=tuple(columns), share=float(share), merged=groups)


def _group(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**31:
        raise TypeError("no group")
    return number
