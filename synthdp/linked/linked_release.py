"""One run over linked tables: a release of each view, all paid from one ledger."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, sqrt
from types import MappingProxyType
from typing import Any, Self, final

from synthdp.core.errors import ParameterError, UnreadColumnError
from synthdp.core.imports import import_named
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.reporting import Report, in_notebook, silent
from synthdp.core.workload import Workload
from synthdp.learning.learner import LearntColumn
from synthdp.learning.reading_check import CHECK, CHECK_SHARE
from synthdp.linked.ancestor_marginals import AncestorMarginals
from synthdp.linked.completable import check_completable
from synthdp.linked.families.repeated import repeated_pairs
from synthdp.linked.informed import InformedEngine
from synthdp.linked.linked_certificate import domain_facts, linked_certificate, without_rows
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.linking.linked_rows import LinkedRows
from synthdp.linked.package.matching import check_matching
from synthdp.linked.package.opened import learnt_parts
from synthdp.linked.package.package import Package
from synthdp.linked.package.view import LinkedView, views_of
from synthdp.linked.reading_check import ReadingCheck, read_when_learnt
from synthdp.linked.refitted_view import refitted_view, root_with_numbers_below
from synthdp.linked.workload import workload_of
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import Randomness, SystemRandomness
from synthdp.privacy.private_table import CountSource, PrivateTable
from synthdp.privacy.unit import Adjacency
from synthdp.release.certificate.certificate import mechanism_facts
from synthdp.release.learnt_domain import LearntDomain
from synthdp.release.observer import Observer
from synthdp.release.on_demand import (
    CHECK_QUESTIONS,
    JOURNALED_RUN,
    LEARN_DOMAIN,
    LEARNING_NEEDS,
    STOP,
)
from synthdp.release.persistence.kept_run import LOST, KeptRun, UnkeptRun
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.persistence.scrubbing import scrub_tracebacks
from synthdp.release.release import Release
from synthdp.release.run_settings import RunSettings
from synthdp.release.settings import settled_accounting
from synthdp.release.synthesis import Synthesis

ROOT, LATER_ROWS = Fraction(2), Fraction(5, 2)
"""What the views of the root and of later rows get more than one of first rows: all that hangs on
roots is multiplied by their numbers of children, and noise of one parent's later rows is that of
several rows. What first and later rows have together is divided anew once it is known how many
there are of each. Of five sets at epsilon 1 and 10 these had a tenth less error than 1 and 3/2.
"""

LEVELLED_NOISE, HIDDEN_NOISE = 3e-4, 0.04
"""Noise of a view of later rows, as a share of the roots that have some, up to which these weigh
alike in families of up to their mean number, and times the square root of the view's pairs, from
which they do: there `auto` measures columns only.

What a model says of rows is off by what it does not know of how columns depend on numbers of rows.
With little noise that is most of what it is off by: at epsilon 10 statistics of patients err 3 to
11 % less. Where noise hides dependences nothing is known of it: at epsilon 1 siblings in flights
err 5 % less. In between families that weigh less than they might cost more: patients erred up to 6
% more at 3, 7 to 15 % at 1.
"""

LEARNING = "learning"
"""Before all views: what is asked to learn open columns."""

Sources = Callable[[], Mapping[str, CountSource] | LinkedRows]
"""Reads the tables when it is called, and gives exact counts of each view, or rows to count."""


@final
@dataclass(frozen=True)
class Views:
    """What is asked of a package whose columns are closed, or taken as wide as they can be."""

    package: Package
    """What is public of the tables."""
    every: Mapping[str, LinkedView]
    """The views of all tables, by what they are called."""

    @classmethod
    def from_package(cls, package: Package) -> Self:
        """The views of a package; raises `SchemaError` as `views_of`."""
        return cls(package, views_of(package))

    @property
    def drawn(self) -> dict[str, LinkedView]:
        """Those that have something to draw."""
        return {label: view for label, view in self.every.items() if view.schema is not None}

    def with_view(self, view: LinkedView) -> Self:
        """The same with another view in place of the one that is called so."""
        return replace(self, every={**self.every, view.label: view})


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
        self._settings = settings
        self._stated = settings.stated | dict(stated)
        self._randomness = randomness
        check_matching(package)
        package = package.with_open_bins()
        self._declared = package
        self._views = Views.from_package(package)
        self._ledger = linked_ledger(package, settings)
        views = self._views.drawn
        if package.root.name not in views:
            raise ParameterError(
                f"package: the root {package.root.name!r} has neither columns nor children; add some"
            )
        check_completable(package, views)
        if package.is_open:
            import_named(CHECK_QUESTIONS)(package.joint_schema, self._ledger, rho=self._domain_rho)
        self._learnt: dict[str, LearntColumn] = {}
        self._kept: KeptRun = UnkeptRun()
        self._parts: dict[str, PrivacyLedger] = {}
        self._asked: dict[str, Any] = {}
        self._read_names = read_when_learnt(package.joint_schema)
        self._divide(self._ledger.budget - self._domain_rho)

    def _divide(self, budget: Fraction) -> None:
        """Give each view its part of a budget, of which a little is kept for a check of all of
        them.
        """
        views = self._views.drawn
        budget -= self._check_rho
        shares = shares_of(views)
        self._parts = {
            label: self._ledger.part(budget * shares[label], max_rows=view.grid)
            for label, view in views.items()
        }
        self._asked = {label: self._release(label).facts.public["workload"] for label in views}

    def _divide_by_rows(
        self, view: LinkedView, ancestors: AncestorMarginals, *, may_level: bool
    ) -> None:
        """Before the first rows of a table are asked for, divide what they and the later ones have
        by how many each are, and let later ones of most families weigh alike, as the rows above
        were released.

        Adaptive: what a part may spend, and what a row weighs, follows from answers that are paid
        for. All parts together spend what the whole has, and no family weighs more than before.
        ``may_level`` is whether rows can be counted by other weights than those that views begin
        with.
        """
        later = replace(view, is_later=True)
        if view.is_later or later.label not in self._parts:
            return
        n_later = ancestors.later_rows(view)
        if n_later is None:
            return
        # For each first row there are so many later ones, of one parent as well: noise in all that
        # is said of rows is least with shares in proportion to the rows to the power of 2/3.
        share = Fraction(1 / (1 + n_later.mean ** (2 / 3))).limit_denominator(1000)
        shares = share, 1 - share
        labels = view.label, later.label
        budget = sum((self._parts[label].budget for label in labels), Fraction(0))
        for label, share in zip(labels, shares, strict=True):
            most = self._parts[label].unit.max_rows
            self._parts[label] = self._ledger.part(budget * share, max_rows=most)
        noise = self._stddev(later.label) / (later.grid * n_later.n_parents)
        n_pairs = sum(len(clique) == 2 for clique in self._workload(later.label).weights)
        knows_numbers = LEVELLED_NOISE < noise < HIDDEN_NOISE / sqrt(max(n_pairs, 1))
        if may_level and not view.steps and not knows_numbers:
            self._views = self._views.with_view(later.levelled(n_later.mean))
        stated = self._stated_views()
        self._kept.note({"views": {label: stated[label] for label in labels}})

    @property
    def _domain_rho(self) -> Fraction:
        """What learning may spend."""
        if not self._declared.is_open:
            return Fraction(0)
        return self._ledger.budget * Fraction(self._settings.domain_share)

    @property
    def _check_rho(self) -> Fraction:
        """What a check of single columns and links may spend."""
        views = self._views.drawn.values()
        is_wanted = any(ReadingCheck(view, self._read_names).n_questions for view in views)
        return self._ledger.budget * CHECK_SHARE if is_wanted else Fraction(0)

    @property
    def ledger(self) -> PrivacyLedger:
        """The ledger that pays for all views."""
        return self._ledger

    @property
    def package(self) -> Package:
        """What is public of the tables, as it was declared."""
        return self._declared

    @property
    def all_views(self) -> dict[str, LinkedView]:
        """What is asked of each table, and of those that have nothing to draw."""
        return dict(self._views.every)

    @property
    def unit(self) -> str:
        """What tells units of privacy apart: the key of the root, as a column that tells persons
        apart of one table.
        """
        return "+".join(self._declared.root.key)

    @property
    def run(self) -> KeptRun:
        """What is kept of the run, and whether it was there before."""
        return self._kept

    @contextmanager
    def kept(self, persistence: Persistence) -> Iterator[Self]:
        """Keep answers in a journal, and charge a population's budget before the first question, as
        `Release.kept` does; one for all tables.
        """
        if persistence.journal is None:
            yield self
            return
        schemas = {
            label: view.schema.to_dict()
            for label, view in self._views.drawn.items()
            if view.schema is not None
        }
        workloads = {label: self._workload(label) for label in schemas}
        others: dict[str, object] = {"randomness": self._bits.description}
        if self._declared.is_open:
            others["domain_share"] = self._settings.domain_share
        with import_named(JOURNALED_RUN)(
            persistence,
            ledger=self._ledger,
            mechanism=self._settings.mechanism,
            engine=self._settings.engine,
            declared={"package": [self._declared.content, schemas], "workload": workloads},
            others=others,
            facts=self._facts(),
            anyway=self._settings.anyway,
        ) as self._kept:
            yield self

    def _facts(self) -> dict[str, Any]:
        """What is public of the run besides its settings: all that a release of its answers needs
        without it.
        """
        package: dict[str, Any] = {
            "package": dict(self._declared.content),
            "views": self._stated_views(),
            "public": self._public,
        }
        if self._declared.is_open:
            package |= {"domain_share": self._settings.domain_share}
        return package | {"failure_delta": float(self._ledger.failure_delta)}

    def _stated_views(self) -> dict[str, Any]:
        """What each view may cost, and what is asked of it."""
        return {
            label: {
                "budget": str(part.budget),
                "max_rows": part.unit.max_rows,
                "heaviest": self._views.every[label].heaviest,
                "workload": self._asked[label],
            }
            for label, part in self._parts.items()
        }

    @property
    def _public(self) -> dict[str, object]:
        """What the certificate says of the run whatever comes out."""
        return {**self._stated, "mechanism": mechanism_facts(self._settings.mechanism)}

    @property
    def _bits(self) -> Randomness:
        """Where the random bits come from."""
        return SystemRandomness() if self._randomness is None else self._randomness

    def _workload(self, label: str) -> Workload:
        view = self._views.every[label]
        assert view.schema is not None
        return workload_of(view, view.schema.domain)

    def _release(self, label: str, known: Sequence[LinearMeasurement] = ()) -> Release:
        """The release of one view, which a part of the budget pays for, and whose engine is given
        what is known.
        """
        view = self._views.every[label]
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
        rescue: Callable[[LinkedSynthesis | LearntDomain], object] | None = None,
        observers: Mapping[str, Observer] = MappingProxyType({}),
    ) -> LinkedSynthesis:
        """Read the tables, and spend the budget on one view after the other.

        Parameters
        ----------
        sources
            Rows of all tables, or exact counts of each view of a package of which nothing is open;
            see `synthdp.linked.linking.linked_rows.LinkedRows`.
        report, rescue
            As in `synthesize`.
        observers
            For some views, and for `LEARNING`, who sees each question and its answer; for audits.

        Raises
        ------
        UnreadColumnError
            If by noisy counts nearly no row of a table has one below it, or nearly no value of a
            column that is learnt can be read, unless the run is to go on ``anyway``.
        """
        report = in_notebook(report)
        rows = sources()
        # All rows are read by now: a table that cannot be read costs nothing.
        self._kept.begin()
        parts: dict[str, Synthesis] = {}
        try:
            counted = self._counted(rows, report, observers.get(LEARNING))
            self._check_reading(counted, observers)
            self._release_views(rows, counted, parts, report, observers)
            self._kept.end()
        except BaseException as error:
            has_paid = parts or self._learnt
            if self._ledger.events and not has_paid and self._kept.memory is None:
                error.add_note(LOST)
            if rescue is not None and has_paid and self._kept.may_be_rescued():
                rescue(self._synthesis(parts) if parts else self._learnt_so_far())
            self._kept.stop(isinstance(error, UnreadColumnError))
            raise
        return self._synthesis(parts)

    def _release_views(
        self,
        rows: Mapping[str, CountSource] | LinkedRows,
        counted: dict[str, CountSource],
        parts: dict[str, Synthesis],
        report: Report,
        observers: Mapping[str, Observer],
    ) -> None:
        """Release one view after the other, into ``parts``: what is there may be rescued.

        Counts are let go of as soon as they are asked for no more.
        """

        def saving(label: str) -> Callable[[Synthesis | LearntDomain], object]:
            return lambda part: parts.update({label: part} if isinstance(part, Synthesis) else {})

        views = self._views.drawn
        ancestors = AncestorMarginals(views, self._kept.entropy)
        for label in views:
            self._kept.note({"view": label})
            # Its weights may have been settled once the rows above were released.
            view = self._views.every[label]
            if view.heaviest != views[label].heaviest and isinstance(rows, LinkedRows):
                counted |= rows.counted({label: view})
            may_level = isinstance(rows, LinkedRows)
            self._divide_by_rows(view, ancestors, may_level=may_level)
            # Rows are drawn below those of the tables above, so the model has to agree with them.
            known = ancestors.of(view, self._stddev(label))
            parts[label] = self._release(label, known).of(
                counted.pop(label),
                report=_named(report, label),
                rescue=saving(label),
                observer=observers.get(label),
            )
            self._refit(view, parts, known, ancestors, _named(report, label))
            self._check_linked(view, parts[label])
        root = self._declared.root.name
        parts[root] = root_with_numbers_below(
            self._views.drawn,
            parts,
            self._settings.engine,
            learnt=self._learnt_parts,
            report=_named(report, root),
        )

    def _refit(
        self,
        view: LinkedView,
        parts: dict[str, Synthesis],
        known: Sequence[LinearMeasurement],
        ancestors: AncestorMarginals,
        report: Report,
    ) -> None:
        """Fit a view anew to what its own release says of rows beside each other, and tell those who
        ask for it as an ancestor.
        """
        label = view.label
        engine = self._settings.engine
        guesses = repeated_pairs(view, parts[label])
        if view.position is not None:  # of a chain, the rows before are known only now
            ancestors.add(view, parts[label])
            guesses += ancestors.in_order(view)
            # What rows before others are like need not be known to the last digit.
            quick = engine.rough() if view.repeats else engine
            parts[label] = refitted_view(view, parts[label], quick, known=[*known, *guesses])
            ancestors.add(view, parts[label])
            known = ancestors.of(view, self._stddev(label))
        parts[label] = refitted_view(
            view,
            parts[label],
            engine,
            known=[*known, *guesses],
            learnt=self._learnt_parts,
            report=report,
        )
        ancestors.add(view, parts[label])

    @property
    def _learnt_parts(self) -> Mapping[str, Collection[str]]:
        """What was learnt of each column."""
        return learnt_parts(self._declared.joint_schema) if self._learnt else {}

    def _counted(
        self,
        rows: Mapping[str, CountSource] | LinkedRows,
        report: Report,
        observer: Observer | None,
    ) -> dict[str, CountSource]:
        """Exact counts of each view, once all that is open was learnt."""
        if not isinstance(rows, LinkedRows):
            if self._declared.is_open:
                raise ParameterError(
                    "sources: they count codes, but the package is open; give rows"
                )
            return dict(rows)
        if self._declared.is_open:
            self._learn(rows, report, observer)
        return dict(rows.counted(self._views.every))

    def _learn(self, rows: LinkedRows, report: Report, observer: Observer | None) -> None:
        """Close open columns for a share of the budget, and divide what is left among the views.

        Each root is one record: see `FamilyRows.values_by_root`.
        """
        learning = import_named(LEARN_DOMAIN)(
            self._declared.joint_schema,
            rows.values,
            self._ledger,
            rho=self._domain_rho,
            # A column of first rows has one part of so many of what is left.
            n_columns=ceil(sum(weights_of(self._views.drawn).values())),
            randomness=self._randomness,
            kept=self._kept,
            observer=observer,
            report=report,
        )
        with closing(learning):
            for learnt in learning:
                self._learnt[learnt.column.name] = learnt
        # What was learnt of the other columns is paid for, and handed out where the run stops.
        unread = {name: each.unread for name, each in self._learnt.items() if each.unread}
        if unread and not self._settings.anyway:
            for name in unread:
                del self._learnt[name]
            raise import_named(STOP)(
                list(unread.values()), self._ledger.share_spent, self._learnt_so_far()
            )
        self._views = Views.from_package(self._closed)
        self._divide(self._ledger.remaining)
        self._kept.note({"views": self._stated_views()})

    def _check_reading(
        self, counted: Mapping[str, CountSource], observers: Mapping[str, Observer]
    ) -> None:
        """Stop if nothing of a declared column can be read, or no key matches: views are measured
        one after the other, and what one of the last tells comes when nearly all is spent.
        """
        checks = {
            label: ReadingCheck(view, self._read_names, counted[label].domain)
            for label, view in self._views.drawn.items()
        }
        n_questions = sum(each.n_questions for each in checks.values())
        if not n_questions:
            return
        self._kept.note({CHECK: n_questions})
        problems: list[str] = []
        for label, check in checks.items():
            if check.n_questions:
                # The same for each question, whichever view it is about.
                rho = self._check_rho * Fraction(check.n_questions, n_questions)
                ledger = self._ledger.part(rho, max_rows=check.view.grid)
                table = PrivateTable(
                    counted[label],
                    ledger,
                    randomness=self._randomness,
                    memory=self._kept.memory,
                )
                with closing(table):
                    problems += check.problems(
                        observers[label].table(table, check.counted)
                        if label in observers
                        else table
                    )
        if problems and not self._settings.anyway:
            raise import_named(STOP)(
                problems,
                self._ledger.share_spent,
                self._learnt_so_far() if self._learnt else None,
                mend="declare it, or mend the keys,",
            )

    @property
    def _closed(self) -> Package:
        """The package as far as it was learnt."""
        return self._declared.closed({name: each.column for name, each in self._learnt.items()})

    def _learnt_so_far(self) -> LearntDomain:
        """What there is to keep of a run that failed before a marginal was measured."""
        return LearntDomain(self._closed, self._certificate({}))

    def _check_linked(self, view: LinkedView, part: Synthesis) -> None:
        """Stop where noisy counts show nothing below some rows: what tables further down would cost
        is saved.
        """
        unlinked = [] if view.is_later else [*without_rows(view, part)]
        if unlinked and not self._settings.anyway:
            raise import_named(STOP)(unlinked, self._ledger.share_spent, mend="mend the keys")

    def _synthesis(self, parts: Mapping[str, Synthesis]) -> LinkedSynthesis:
        return LinkedSynthesis(
            package=self._views.package, parts=parts, certificate=self._certificate(parts)
        )

    def _certificate(self, parts: Mapping[str, Synthesis]) -> dict[str, Any]:
        return linked_certificate(
            self._views.package,
            self._views.drawn,
            parts,
            ledger=self._ledger,
            engine=self._settings.engine,
            randomness=self._bits,
            public=self._public | self._domain,
            declared=self._declared,
            learnt=self._learnt,
            run=self._kept.identity.to_dict(),
        )

    @property
    def _domain(self) -> dict[str, object]:
        """What the certificate says of what was learnt."""
        return domain_facts(self._declared, self._settings.domain_share, self._learnt)


def weights_of(views: Mapping[str, LinkedView]) -> dict[str, Fraction]:
    """How much of the budget each view gets beside others: as much as it draws columns, and the
    root and later rows more.
    """
    return {
        name: len(view.drawn)
        * (LATER_ROWS if view.is_later else ROOT if view.table.parent is None else Fraction(1))
        for name, view in views.items()
    }


def linked_ledger(package: Package, settings: RunSettings) -> PrivacyLedger:
    """What a run over a package is charged to, before anything is: decided by what is public."""
    has_trees, has_thresholds = (
        import_named(LEARNING_NEEDS)(package.joint_schema) if package.is_open else (False, False)
    )
    return PrivacyLedger(
        epsilon=settings.epsilon,
        delta=settings.delta,
        adjacency=Adjacency.ADD_REMOVE,
        accounting=settled_accounting(settings.mechanism, settings.accounting, has_trees),
        unit_column="+".join(package.root.key),
        # Thresholds let a rare value through with a small probability, which delta has to pay for.
        failure_delta=settings.delta * settings.domain_share if has_thresholds else 0.0,
    )


def shares_of(views: Mapping[str, LinkedView]) -> dict[str, Fraction]:
    """What share of the budget each view gets."""
    weights = weights_of(views)
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def _named(report: Report, name: str) -> Report:
    """Progress with the name of a table before it."""
    return lambda what, done, most: report(f"{name}: {what}", done, most)
