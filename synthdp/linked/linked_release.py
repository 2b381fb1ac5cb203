"""One run over linked tables: a release of each view, all paid from one ledger."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from types import MappingProxyType
from typing import Any, Self, final

from synthdp.core.errors import ParameterError, UnreadColumnError
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.reporting import Report, in_notebook, silent
from synthdp.core.workload import Workload
from synthdp.linked.ancestor_marginals import AncestorMarginals
from synthdp.linked.completable import check_completable
from synthdp.linked.informed import InformedEngine
from synthdp.linked.linked_certificate import linked_certificate, without_rows
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.package.matching import check_matching
from synthdp.linked.package.package import Package
from synthdp.linked.package.view import LinkedView, views_of
from synthdp.linked.refitted_view import refitted_view
from synthdp.linked.workload import workload_of
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import Randomness, SystemRandomness
from synthdp.privacy.private_table import CountSource
from synthdp.privacy.unit import Adjacency
from synthdp.release.certificate.certificate import mechanism_facts
from synthdp.release.learnt_domain import LearntDomain
from synthdp.release.observer import Observer
from synthdp.release.on_demand import JOURNALED_RUN
from synthdp.release.persistence.keeping import Keeping
from synthdp.release.persistence.kept_run import KeptRun, UnkeptRun
from synthdp.release.persistence.scrubbing import scrub_tracebacks
from synthdp.release.release import Release
from synthdp.release.run_settings import RunSettings
from synthdp.release.settings import settled_accounting
from synthdp.release.synthesis import Synthesis

ROOT, LATER_ROWS = Fraction(2), Fraction(5, 2)
"""What the views of the root and of later rows get more than one of first rows: all that hangs on
roots is multiplied by their numbers of children, and noise of one parent's later rows is that of
several rows. Of five sets at epsilon 1 and 10 these had a tenth less error than 1 and 3/2.
"""

Sources = Callable[[], Mapping[str, CountSource]]
"""Reads the tables when it is called, and gives exact counts of each view."""


@final
class LinkedRelease:
    """A run over the tables of a package, with everything public settled before the records are
    there.

    Parameters
    ----------
    package
        What is public of the tables.
    settings
        What decides the run: one mechanism for all tables.
    stated
        Further public facts for the certificate, as plain JSON values.
    randomness
        For tests; anything but the default makes the result say NOT PRIVATE.
    """

    def __init__(
        self,
        *,
        package: Package,
        settings: RunSettings,
        stated: Mapping[str, object] = MappingProxyType({}),
        randomness: Randomness | None = None,
    ) -> None:
        settings.check_combined("package", {})
        self._package = package
        self._settings = settings
        self._stated = settings.stated | dict(stated)
        self._randomness = randomness
        check_matching(package)
        self._all_views = views_of(package)
        self._views = {
            name: view for name, view in self._all_views.items() if view.schema is not None
        }
        self._ledger = PrivacyLedger(
            epsilon=settings.epsilon,
            delta=settings.delta,
            adjacency=Adjacency.ADD_REMOVE,
            accounting=settled_accounting(settings.mechanism, settings.accounting, has_trees=False),
            unit_column=self.unit,
        )
        if package.root.name not in self._views:
            raise ParameterError(
                f"package: the root {package.root.name!r} has neither columns nor children; add some"
            )
        check_completable(package, self._views)
        shares = shares_of(self._views)
        self._parts = {
            label: self._ledger.part(self._ledger.budget * shares[label], max_rows=view.grid)
            for label, view in self._views.items()
        }
        self._kept: KeptRun = UnkeptRun()
        self._asked = {
            label: self._release(label).facts.public["workload"] for label in self._views
        }

    @property
    def ledger(self) -> PrivacyLedger:
        """The ledger that pays for all views."""
        return self._ledger

    @property
    def package(self) -> Package:
        """What is public of the tables."""
        return self._package

    @property
    def all_views(self) -> dict[str, LinkedView]:
        """What is asked of each table, and of those that have nothing to draw."""
        return dict(self._all_views)

    @property
    def unit(self) -> str:
        """What tells units of privacy apart: the key of the root, as a column that tells persons
        apart of one table.
        """
        return "+".join(self._package.root.key)

    @property
    def run(self) -> KeptRun:
        """What is kept of the run, and whether it was there before."""
        return self._kept

    @contextmanager
    def kept(self, keeping: Keeping) -> Iterator[Self]:
        """Keep answers in a journal, and charge a population's budget now, as `Release.kept` does;
        one for all tables.
        """
        if keeping.journal is None:
            yield self
            return
        schemas = {
            label: view.schema.to_dict()
            for label, view in self._views.items()
            if view.schema is not None
        }
        workloads = {label: self._workload(label) for label in self._views}
        with JOURNALED_RUN.load()(
            keeping,
            ledger=self._ledger,
            mechanism=self._settings.mechanism,
            engine=self._settings.engine,
            declared={"package": [self._package.content, schemas], "workload": workloads},
            others={"randomness": self._bits.description},
            facts=self._facts(),
        ) as self._kept:
            yield self

    def _facts(self) -> dict[str, Any]:
        """What is public of the run besides its settings: all that a release of its answers needs
        without it.
        """
        views = {
            label: {
                "budget": str(part.budget),
                "max_rows": part.unit.max_rows,
                "workload": self._asked[label],
            }
            for label, part in self._parts.items()
        }
        package = {"package": dict(self._package.content), "views": views, "public": self._public}
        return package | {"failure_delta": float(self._ledger.failure_delta)}

    @property
    def _public(self) -> dict[str, object]:
        """What the certificate says of the run whatever comes out."""
        return {**self._stated, "mechanism": mechanism_facts(self._settings.mechanism)}

    @property
    def _bits(self) -> Randomness:
        """Where the random bits come from."""
        return SystemRandomness() if self._randomness is None else self._randomness

    def _workload(self, label: str) -> Workload:
        view = self._views[label]
        assert view.schema is not None
        return workload_of(view, view.schema.domain)

    def _release(self, label: str, known: Sequence[LinearMeasurement] = ()) -> Release:
        """The release of one view, which a part of the budget pays for, and whose engine is told
        what is known.
        """
        view = self._views[label]
        assert view.schema is not None
        engine = self._settings.engine
        settings = replace(
            self._settings,
            workload=self._workload(label),
            engine=InformedEngine(engine, known) if known else engine,
            about=None,
        )
        return Release(
            schema=view.schema,
            settings=settings,
            randomness=self._randomness,
            ledger=self._parts[label],
            kept=self._kept.part(),
        )

    def _stddev(self, label: str) -> float:
        """The noise of a marginal of a view that all of its budget is spent on."""
        ledger = self._parts[label]
        return sqrt(ledger.unit.sigma_squared(ledger.budget))

    @scrub_tracebacks
    def of(
        self,
        sources: Sources,
        *,
        report: Report = silent,
        rescue: Callable[[LinkedSynthesis], object] | None = None,
        witnesses: Mapping[str, Observer] = MappingProxyType({}),
    ) -> LinkedSynthesis:
        """Read the tables, and spend the budget on one view after the other.

        Parameters
        ----------
        sources
            Exact counts of each view; see `synthdp.linked.linking.linked_rows.linked_sources`.
        report, rescue
            As in `synthesize`.
        witnesses
            For some views who sees each question and its answer; for audits.

        Raises
        ------
        UnreadColumnError
            If by noisy counts nearly no row of a table has one below it, unless the run is to go on
            ``anyway``.
        """
        report = in_notebook(report)
        counted, ancestors = dict(sources()), AncestorMarginals(self._views, self._kept.entropy)
        parts: dict[str, Synthesis] = {}

        def saving(label: str) -> Callable[[Synthesis | LearntDomain], object]:
            return lambda part: parts.update({label: part} if isinstance(part, Synthesis) else {})

        try:
            for label, view in self._views.items():
                self._kept.note({"view": label})
                known = ancestors.of(view, self._stddev(label))
                parts[label] = self._release(label, known).of(
                    counted.pop(label),  # let go of, as soon as it is asked for no more
                    report=_named(report, label),
                    rescue=saving(label),
                    observer=witnesses.get(label),
                )
                if view.position is not None:  # of a chain, the rows before are known only now
                    ancestors.add(label, parts[label])
                    in_order = ancestors.in_order(view)
                    if in_order:
                        parts[label] = refitted_view(
                            view, parts[label], self._settings.engine, known=[*known, *in_order]
                        )
                        ancestors.add(label, parts[label])
                    known = [*ancestors.of(view, self._stddev(label)), *in_order]
                parts[label] = refitted_view(
                    view,
                    parts[label],
                    self._settings.engine,
                    known=known,
                    report=_named(report, label),
                )
                ancestors.add(label, parts[label])
                self._check_linked(view, parts[label])
            self._kept.end()
        except BaseException:
            if rescue is not None and parts and self._kept.may_be_rescued():
                rescue(self._synthesis(parts))
            raise
        return self._synthesis(parts)

    def _check_linked(self, view: LinkedView, part: Synthesis) -> None:
        """Stop where noisy counts show nothing below some rows: what tables further down would cost
        is saved.
        """
        unlinked = [] if view.is_later else [*without_rows(view, part)]
        if unlinked and not self._settings.anyway:
            raise UnreadColumnError(
                f"{'; '.join(unlinked)}; the run stopped before tables below were measured, and the rest of its budget "
                "is not spent: mend the keys and run anew, or go on all the same with anyway=True (--anyway)"
            )

    def _synthesis(self, parts: Mapping[str, Synthesis]) -> LinkedSynthesis:
        certificate = linked_certificate(
            self._package,
            self._views,
            parts,
            ledger=self._ledger,
            engine=self._settings.engine,
            randomness=self._bits,
            public=self._public,
            run=self._kept.identity.to_dict(),
        )
        return LinkedSynthesis(package=self._package, parts=parts, certificate=certificate)


def shares_of(views: Mapping[str, LinkedView]) -> dict[str, Fraction]:
    """What share of the budget each view gets: by the number of columns that are drawn from it, and
    the root and later rows more.
    """
    weights = {
        name: len(view.drawn)
        * (LATER_ROWS if view.is_later else ROOT if view.table.parent is None else 1)
        for name, view in views.items()
    }
    total = sum(weights.values())
    return {name: Fraction(weight) / total for name, weight in weights.items()}


def _named(report: Report, name: str) -> Report:
    """Progress with the name of a table before it."""
    return lambda what, done, most: report(f"{name}: {what}", done, most)
