"""One run over linked tables: a release of each view, all paid from one ledger."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import sqrt
from types import MappingProxyType
from typing import final

from synthdp.errors import ParameterError
from synthdp.inference.estimator import Estimator
from synthdp.measurement import LinearMeasurement
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import Randomness, SystemRandomness
from synthdp.privacy.private_table import CountSource
from synthdp.privacy.unit import Adjacency
from synthdp.release.keeping.forgetting import forgetful
from synthdp.release.learnt_domain import LearntDomain
from synthdp.release.linked.informed import Informed
from synthdp.release.linked.known_above import KnownAbove
from synthdp.release.linked.linked_certificate import linked_certificate
from synthdp.release.linked.linked_synthesis import LinkedSynthesis
from synthdp.release.linked.workload import workload_of
from synthdp.release.registry import as_engine, as_mechanism
from synthdp.release.release import Release
from synthdp.release.settings import settled_accounting
from synthdp.release.synthesis import Synthesis
from synthdp.release.witness import Witness
from synthdp.reporting import Report, in_notebook, silent
from synthdp.selection.mechanism import Mechanism
from synthdp.table.package.package import Package
from synthdp.table.package.view import View, views_of

Sources = Callable[[], Mapping[str, CountSource]]
"""Reads the tables when it is called, and gives exact counts of each view."""


@final
class LinkedRelease:
    """A run over the tables of a package, with everything public settled before the records are there.

    Parameters are those of `synthesize_tables`; ``stated`` are further public facts for the certificate, ``randomness``
    is for tests.
    """

    def __init__(
        self,
        *,
        package: Package,
        epsilon: float,
        delta: float,
        mechanism: str | Mechanism = "auto",
        engine: str | Estimator | None = None,
        accounting: str | Accounting | None = None,
        stated: Mapping[str, object] = MappingProxyType({}),
        randomness: Randomness | None = None,
    ) -> None:
        self._package, self._stated, self._randomness = package, dict(stated), randomness
        self._all_views = views_of(package)
        self._views = {name: view for name, view in self._all_views.items() if view.schema is not None}
        self._mechanism = as_mechanism(mechanism)
        self._ledger = PrivacyLedger(
            epsilon=epsilon,
            delta=delta,
            adjacency=Adjacency.ADD_REMOVE,
            accounting=settled_accounting(self._mechanism, accounting, has_trees=False),
            unit_column=self.unit,
        )
        if package.root.name not in self._views:
            raise ParameterError(f"package: the root {package.root.name!r} has neither columns nor children; add some")
        shares = shares_of(self._views)
        self._engine = as_engine(self._mechanism.default_engine if engine is None else engine)
        self._parts = {
            label: self._ledger.part(self._ledger.budget * shares[label], max_rows=view.grid)
            for label, view in self._views.items()
        }
        for label in self._views:
            self._release(label)  # refuses now what could not be asked

    @property
    def ledger(self) -> PrivacyLedger:
        """The ledger that pays for all views."""
        return self._ledger

    @property
    def package(self) -> Package:
        """What is public of the tables."""
        return self._package

    @property
    def all_views(self) -> dict[str, View]:
        """What is asked of each table, and of those that have nothing to draw."""
        return dict(self._all_views)

    @property
    def unit(self) -> str:
        """What tells units of privacy apart, in words: the key of the root."""
        root = self._package.root
        return f"{root.name}.{'+'.join(root.key)}"

    def _release(self, label: str, known: Sequence[LinearMeasurement] = ()) -> Release:
        """The release of one view, which a part of the budget pays for, and whose engine is told what is known."""
        view = self._views[label]
        assert view.schema is not None
        return Release(
            schema=view.schema,
            epsilon=self._ledger.epsilon,
            delta=self._ledger.delta,
            mechanism=self._mechanism,
            workload=workload_of(view, view.schema.domain),
            engine=Informed(self._engine, known) if known else self._engine,
            adjacency=Adjacency.ADD_REMOVE,
            accounting=self._ledger.accounting,
            randomness=self._randomness,
            ledger=self._parts[label],
        )

    def _stddev(self, label: str) -> float:
        """The noise of a marginal of a view that all of its budget is spent on."""
        ledger = self._parts[label]
        return sqrt(ledger.unit.sigma_squared(ledger.budget))

    @forgetful
    def of(
        self,
        sources: Sources,
        *,
        report: Report = silent,
        rescue: Callable[[LinkedSynthesis], object] | None = None,
        witnesses: Mapping[str, Witness] = MappingProxyType({}),
    ) -> LinkedSynthesis:
        """Read the tables, and spend the budget on one view after the other.

        Parameters
        ----------
        sources
            Exact counts of each view; see `synthdp.table.linking.linked_rows.linked_sources`.
        report, rescue
            As in `synthesize_tables`.
        witnesses
            For some views who sees each question and its answer; for audits.
        """
        report = in_notebook(report)
        counted, above = dict(sources()), KnownAbove(self._views)
        parts: dict[str, Synthesis] = {}

        def saving(label: str) -> Callable[[Synthesis | LearntDomain], object]:
            return lambda part: parts.update({label: part} if isinstance(part, Synthesis) else {})

        try:
            for label, view in self._views.items():
                parts[label] = self._release(label, above.of(view, self._stddev(label))).of(
                    counted.pop(label),  # let go of, as soon as it is asked for no more
                    report=_named(report, label),
                    rescue=saving(label),
                    witness=witnesses.get(label),
                )
                above.add(label, parts[label])
                if view.place is not None:  # of a chain, what is beside is known only now
                    informed = Informed(self._engine, above.of(view, self._stddev(label)))
                    parts[label] = parts[label].refit(informed, report=_named(report, label))
                    above.add(label, parts[label])
        except BaseException:
            if rescue is not None and parts:
                rescue(self._synthesis(parts))
            raise
        return self._synthesis(parts)

    def _synthesis(self, parts: Mapping[str, Synthesis]) -> LinkedSynthesis:
        certificate = linked_certificate(
            self._package,
            self._views,
            parts,
            ledger=self._ledger,
            mechanism=self._mechanism,
            engine=self._engine,
            randomness=self._randomness or SystemRandomness(),
            stated=self._stated,
        )
        return LinkedSynthesis(package=self._package, parts=parts, certificate=certificate)


def shares_of(views: Mapping[str, View]) -> dict[str, Fraction]:
    """What share of the budget each view gets: by the number of columns that are drawn from it."""
    total = sum(len(view.own) for view in views.values())
    return {name: Fraction(len(view.own), total) for name, view in views.items()}


def _named(report: Report, name: str) -> Report:
    """Progress with the name of a table before it."""
    return lambda what, done, most: report(f"{name}: {what}", done, most)
