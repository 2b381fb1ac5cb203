"""Several mechanisms in one release: each measures for a part of the budget, and all is fitted
together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.measurement import Coarsening, LinearMeasurement
from synthdp.core.workload import Workload
from synthdp.inference.engines.refinement import estimate_refined
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable

MAX_MECHANISMS = 6
"""Noise grows with the square root of their number."""


@final
@dataclass(frozen=True, kw_only=True)
class Several(Mechanism):
    """Mechanisms that share a budget and what they learn of single columns.

    1. Each SELECTs and MEASUREs in turn, for an equal part of the budget. Of a column it knows what
       the earlier ones measured of it, too.
    2. GENERATE by all measurements together. A release holds that model against those by the
       measurements of each alone (`synthdp.release.choosing`).
    """

    name: ClassVar[str] = "several"
    reference: ClassVar[str] = "composition; a choice by noisy errors of drawn tables"
    mechanisms: tuple[Mechanism, ...]
    """In the order in which they measure."""

    def __post_init__(self) -> None:
        if not 2 <= len(self.mechanisms) <= MAX_MECHANISMS:
            raise ParameterError(
                f"mechanism: there are {len(self.mechanisms)} of them; give 2 to {MAX_MECHANISMS}"
            )
        if any(mechanism.parts for mechanism in self.mechanisms):
            raise ParameterError("mechanism: a list of them holds another list; give one list")
        if len(set(map(repr, self.mechanisms))) < len(self.mechanisms):
            raise ParameterError("mechanism: one repeats with the same parameters; name each once")
        # The accounting is of all events of a release, so that one mechanism decides for all.
        is_gaussian = all(mechanism.is_gaussian for mechanism in self.mechanisms)
        accountings = {mechanism.default_accounting for mechanism in self.mechanisms}
        object.__setattr__(self, "is_gaussian", is_gaussian)
        engines = {mechanism.default_engine for mechanism in self.mechanisms}
        # What they measure together is dense, and other engines may take minutes for that.
        engine = engines.pop() if len(engines) == 1 else "layered-consistency"
        object.__setattr__(self, "default_engine", engine)
        is_gdp = accountings == {Accounting.GDP}
        object.__setattr__(
            self, "default_accounting", Accounting.GDP if is_gdp else Accounting.ZCDP
        )

    @property
    def parts(self) -> tuple[Mechanism, ...]:
        """The mechanisms."""
        return self.mechanisms

    def check(self, domain: Domain, workload: Workload) -> None:
        """Raise `ParameterError` if one of them cannot handle a domain or workload."""
        for mechanism in self.mechanisms:
            mechanism.check(domain, workload)

    def share_of_columns(self, domain: Domain) -> float:
        """That of the first one, whose columns come before all else; 1 if it does not begin so."""
        share = self.mechanisms[0].share_of_columns(domain)
        return share / len(self.mechanisms) if share < 1.0 else 1.0

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        measured: list[int] = []
        parts: list[dict[str, Any]] = []
        cautions: list[list[str]] = []
        for number, mechanism in enumerate(self.mechanisms):
            left = table.ledger.remaining
            # Equal parts of all that is left: what one leaves over goes to the next.
            kept = left - left / (len(self.mechanisms) - number)
            part = TablePart(table, kept=kept, n_before=sum(measured))
            model = mechanism.release(part, task)  # type: ignore[arg-type]
            measured.append(part.n_measured)
            parts.append({"mechanism": mechanism.name, "n_measurements": part.n_measured})
            cautions.append([] if model is None else model.cautions)
        model = estimate_refined(
            task.engine,
            table.domain,
            table.released,
            constraints=task.constraints,
            progress=partial(task.report, "fitting"),
        )
        model.findings["mechanisms"] = parts
        # What one of them left out another may have measured.
        model.cautions += [
            caution for caution in cautions[0] if all(caution in other for other in cautions)
        ]
        return model


@final
class TablePart:
    """Stands in for a `PrivateTable` whose budget is shared: what one mechanism sees of it.

    It asks the table what the mechanism asks, at the same cost. To what is released of a single
    column it adds what was measured of it before, which is post-processing.

    Parameters
    ----------
    table
        Answers, and is paid.
    kept
        Budget for those that come after.
    n_before
        Measurements of those that came before, the first that the table released.
    """

    def __init__(self, table: PrivateTable, *, kept: Fraction, n_before: int) -> None:
        self._table = table
        self._ledger = LedgerPart(table.ledger, kept)
        self._n_before = n_before
        self.n_measured = 0

    @property
    def ledger(self) -> "LedgerPart":
        """The ledger that pays, with what there is for this mechanism."""
        return self._ledger

    @property
    def released(self) -> tuple[LinearMeasurement, ...]:
        """Its own measurements so far; of single columns with all that was measured of them before."""
        released = self._table.released
        # What is known without a measurement, such as published totals, stands first.
        n_known = len(released) - self._n_before - self.n_measured
        before = released[n_known : n_known + self._n_before]
        own = released[n_known + self._n_before :]
        return (*released[:n_known], *(_joined(each, before) for each in own))

    def measure(
        self, clique: Sequence[str], *, rho: Fraction | float, coarsening: Coarsening | None = None
    ) -> LinearMeasurement:
        """See `PrivateTable.measure`."""
        spent = self._table.ledger.remaining
        answer = self._table.measure(clique, rho=rho, coarsening=coarsening)
        if self._table.ledger.remaining == spent:
            return answer  # it was public
        self.n_measured += 1
        return self.released[-1]

    def __getattr__(self, name: str) -> Any:
        """All else is the table's."""
        if name == "_table":
            raise AttributeError(name)
        return getattr(self._table, name)


@final
class LedgerPart:
    """A ledger of which some is kept for others; it pays nothing by itself."""

    def __init__(self, ledger: PrivacyLedger, kept: Fraction) -> None:
        self._ledger = ledger
        self._kept = kept

    @property
    def remaining(self) -> Fraction:
        """What is left but for what is kept."""
        return max(self._ledger.remaining - self._kept, Fraction(0))

    def __getattr__(self, name: str) -> Any:
        """All else is the ledger's."""
        if name == "_ledger":
            raise AttributeError(name)
        return getattr(self._ledger, name)


def _joined(
    measurement: LinearMeasurement, before: Sequence[LinearMeasurement]
) -> LinearMeasurement:
    """A measurement of a single column with earlier ones of it, by their precisions; of others
    itself.
    """
    if len(measurement.clique) != 1 or measurement.groups:
        return measurement
    alike = [each for each in before if each.clique == measurement.clique and not each.groups]
    if not alike:
        return measurement
    all_of_it = [measurement, *alike]
    precisions = [1.0 / np.asarray(each.stddev, dtype=np.float64) ** 2 for each in all_of_it]
    precision = sum(precisions[1:], precisions[0])
    values = sum(
        (weight * each.values for weight, each in zip(precisions, all_of_it, strict=True)),
        np.zeros_like(measurement.values),
    )
    stddev = 1.0 / np.sqrt(precision)
    return LinearMeasurement(
        measurement.clique, values / precision, float(stddev) if stddev.ndim == 0 else stddev
    )
