"""A release: one run of a mechanism over one table, from the first question to the fitted model."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from logging import INFO
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn, Self, cast, final

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError, UnreadColumnError
from synthdp.core.event_log import log
from synthdp.core.imports import import_named
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.reporting import Report, finishing, in_notebook, logged, silent
from synthdp.core.workload import Workload
from synthdp.inference.model import Model
from synthdp.learning.filling import Filling, UnreadCount
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import Randomness, SystemRandomness
from synthdp.privacy.private_table import CountSource, PrivateTable
from synthdp.release.certificate.certificate import mechanism_facts, workload_facts
from synthdp.release.certificate.run_facts import RunFacts
from synthdp.release.certificate.unprotected import PUBLISHED, unprotected_quantities
from synthdp.release.checked_table import CheckedTable
from synthdp.release.filled_table import MOST_SPENT, FilledTable
from synthdp.release.fitting import check_rules, meeting, with_target
from synthdp.release.observer import Observer
from synthdp.release.on_demand import (
    CHECK_CRITERIA,
    CHECK_QUESTIONS,
    COMPARED,
    JOURNALED_RUN,
    KNOWING_TABLE,
    LABELLED,
    LEARN_DOMAIN,
    LEARNING_NEEDS,
    LEARNT_SO_FAR,
    PRIOR_RELEASE,
    PUBLISHED_TOTALS,
    READING_CHECK,
    STOP,
    STOP_UNREAD,
    TOTALS_SAID,
    WEIGHED,
    WEIGHT_CAUTIONS,
    WITH_WEIGHT,
)
from synthdp.release.persistence.kept_run import LOST, KeptRun, UnkeptRun
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.persistence.scrubbing import scrub_tracebacks
from synthdp.release.rows import Rows, are_rows, derives
from synthdp.release.run_settings import RunSettings
from synthdp.release.settings import CHOICE_SHARE, settled_accounting
from synthdp.release.synthesis import Drawn, Synthesis
from synthdp.schema.columns.column import Column
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.public_files import as_schema
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.core.known_marginal import KnownMarginal
    from synthdp.data.records.derived_column import DerivedColumn
    from synthdp.learning.learner import LearntColumn
    from synthdp.mechanisms.auto.drifting import Drifting
    from synthdp.release.compared import Compared
    from synthdp.release.learnt_domain import LearntDomain
    from synthdp.release.prediction_quality import PrivateDerived
    from synthdp.release.prior_release import PriorRelease


@final
@dataclass
class _Reached:
    """How far a run got: what there is to hand over, and to close, if it fails."""

    schema: Schema | None = None
    """The schema, once nothing of it is open."""
    table: FilledTable | None = None
    """The records behind the ledger, once a mechanism may ask them."""


@final
class Release:
    """One run of a mechanism, with everything public settled before the records are there.

    Parameters
    ----------
    schema
        What is public of the table.
    settings
        What decides the run.
    stated
        Further public facts for the certificate, as plain JSON values.
    randomness
        For tests; anything but the default makes the result say NOT PRIVATE.
    ledger
        Pays in place of a new one, and
    kept
        is where answers are kept in place of nowhere: those of a run over several tables. Of these
        no quality is measured.
    checked
        Which synthetic table it is measured of; by default the one of seed 0.
    """

    def __init__(
        self,
        *,
        schema: Schema | OpenSchema,
        settings: RunSettings,
        stated: Mapping[str, object] = MappingProxyType({}),
        randomness: Randomness | None = None,
        ledger: PrivacyLedger | None = None,
        kept: KeptRun | None = None,
        checked: CheckedTable | None = None,
    ) -> None:
        self._settings = settings
        self._checked = CheckedTable() if checked is None else checked
        # A part of a run over several tables pays by that run's ledger, which measures no quality.
        self._is_whole = ledger is None
        has_quality = self._is_whole and self._checked.n_rows != 0
        has_choice = bool(settings.choose or settings.mechanism.parts)
        _check_has_rows(settings, has_quality, has_choice)
        self._quality_share = Fraction(settings.quality_share if has_quality else 0)
        self._choice_share = Fraction(CHOICE_SHARE if has_choice else 0)

        # Whatever can be refused is refused here, before a record is read or anything is charged.
        self._schema = _with_weight(as_schema(schema), settings)
        self._prior: PriorRelease | None = None
        if settings.prior is not None:
            option = settings.spelling.of("prior")
            self._prior = import_named(PRIOR_RELEASE)(
                settings.prior, self._schema, settings, option
            )
            self._schema = self._prior.schema
        self._schema.generated.check_available()
        domain = self._schema.largest_domain
        if settings.accept is not None:
            import_named(CHECK_CRITERIA)(
                settings.accept, domain.attributes, settings.spelling.of("accept")
            )
        self._workload = self._workload_over(domain)
        settings.engine.check_domain(domain)
        settings.mechanism.check(domain, self._workload)
        check_rules(self._schema.outline.domain, self._schema.outline.constraints)
        self._known: tuple[KnownMarginal, ...] = ()
        self._findings: list[str] = []
        if settings.known is not None:
            option = settings.spelling.of("known")
            published = import_named(PUBLISHED_TOTALS)(settings.known, self._schema, option)
            self._known, self._findings = published

        self._engine = meeting(settings.engine, self._known)
        self._fitted_by = settings.engine
        self._ledger = _new_ledger(settings, self._schema) if ledger is None else ledger
        if self._prior is not None:
            self._findings += self._prior.cautions(self._ledger)
        self._stated = settings.stated | dict(stated) | self._known_facts | self._prior_facts
        self._randomness = randomness
        self._kept = UnkeptRun() if kept is None else kept
        self._is_closed = False
        # What learning fills in: closed columns by name, what was done for each, and those of which
        # it has looked whether they can be read.
        self._learnt_columns: dict[str, Column] = {}
        self._learning: dict[str, LearntColumn] = {}
        self._read_columns: set[str] = set()
        if self._schema.is_open:
            import_named(CHECK_QUESTIONS)(self._schema, self._ledger, rho=self._domain_rho)

    @property
    def ledger(self) -> PrivacyLedger:
        """The ledger that pays for the run."""
        return self._ledger

    @property
    def run(self) -> KeptRun:
        """What is kept of the run, and whether it was there before."""
        return self._kept

    def _workload_over(self, domain: Domain) -> Workload:
        """The workload over a domain; with weights also how each column depends on them."""
        settings = self._settings
        workload = Workload.parse(domain, settings.workload, target=settings.target)
        if self._schema.weight is None:
            return workload
        kept: Workload = import_named(WITH_WEIGHT)(workload, domain.attributes, self._schema.weight)
        return kept

    @property
    def _known_facts(self) -> dict[str, object]:
        """The published tables, for certificate and journal; nothing if there are none."""
        return {"known": [marginal.stated() for marginal in self._known]} if self._known else {}

    @property
    def _prior_facts(self) -> dict[str, object]:
        """The earlier release, for certificate and journal; nothing if there is none."""
        return {} if self._prior is None else {"prior": self._prior.stated(self._ledger)}

    @property
    def _domain_rho(self) -> Fraction:
        """What learning the domain may spend."""
        return self._ledger.budget * Fraction(self._settings.domain_share)

    @property
    def _bits(self) -> Randomness:
        """Where the random bits come from."""
        return SystemRandomness() if self._randomness is None else self._randomness

    @contextmanager
    def kept(self, persistence: Persistence) -> Iterator[Self]:
        """Keep answers in a journal to the end of the block, and charge a population's budget
        before the first question, as in `synthesize`.

        To be entered before records are read: what a budget cannot pay is refused then. After the
        block `run` still says what was kept, and `of` is refused. Raises as
        `synthdp.release.persistence.journaled_run.journaled_run`.
        """
        if persistence.journal is None:
            yield self
            return
        # Everything that decides what is asked goes into the journal's header: a run with another
        # setting is another run.
        with import_named(JOURNALED_RUN)(
            persistence,
            ledger=self._ledger,
            mechanism=self._settings.mechanism,
            engine=self._settings.engine,
            declared={"schema": self._schema.to_dict(), "workload": self._workload},
            others=self._further_settings,
            facts=self.facts.to_dict() | {"failure_delta": float(self._ledger.failure_delta)},
            anyway=self._settings.anyway,
        ) as self._kept:
            try:
                yield self
            finally:
                self._is_closed = True

    @property
    def _further_settings(self) -> dict[str, object]:
        """What else decides the questions of this run, for the header of its journal."""
        settings = self._settings
        further: dict[str, object] = {
            "target": settings.target,
            "domain_share": settings.domain_share,
            **self._known_facts,
            **self._prior_facts,
            "quality": [settings.quality_share, self._checked.n_rows, self._checked.seed],
        }
        if settings.choose:
            label = import_named(LABELLED)
            further["choose"] = [label(engine) for engine in settings.choose]
        return further | {"randomness": self._bits.description}

    @scrub_tracebacks
    def of(
        self,
        source: CountSource | Rows,
        *,
        report: Report = silent,
        rescue: "Callable[[Synthesis | LearntDomain], object] | None" = None,
        observer: Observer | None = None,
    ) -> Synthesis:
        """Spend the budget on one table: first on what its schema leaves open, then on marginals.

        Parameters
        ----------
        source
            The rows, held or in an engine until their domain is known; or exact counts of the
            domain that the schema declares, wherever they come from.
        report, rescue
            As in `synthesize`.
        observer
            Sees each question and its answer; for audits.

        Raises
        ------
        UnreadColumnError
            If nearly no value of a column could be read, unless the run is to go on ``anyway``.
        ParameterError
            If the rows were not read for the unit of privacy that the ledger claims, or counts come
            for a schema that is open or has another domain; its columns may have places for unread
            values.
        """
        if self._is_closed:
            raise ParameterError(
                "release: the journal of this run is closed, so that its answers would be kept "
                "nowhere; make a new Release"
            )
        # A source that was read for another unit has other sensitivities than the ledger charges
        # for.
        self._check_source(source)
        self._kept.begin()
        report = logged(in_notebook(report))
        log(
            INFO,
            "release by %s: epsilon %s, delta %s",
            self._settings.mechanism.name,
            self._ledger.epsilon,
            self._ledger.delta,
        )
        reached = _Reached()
        try:
            synthesis = self._released(source, reached, report, observer)
            self._kept.end()
            return synthesis
        # Also of Ctrl-C: what was paid for is handed over, and the error goes on.
        except BaseException as error:
            try:
                if self._ledger.events:
                    self._hand_over(error, self._paid_for(reached.schema, reached.table), rescue)
            finally:
                self._kept.stop(isinstance(error, UnreadColumnError))
            raise
        finally:
            if reached.table is not None:
                # Whoever keeps the error or the result cannot reach a record through it.
                reached.table.close()

    def _released(
        self,
        source: CountSource | Rows,
        reached: _Reached,
        report: Report,
        observer: Observer | None,
    ) -> Synthesis:
        """Learn what the schema leaves open, have marginals measured, and compare what fits them."""
        schema = reached.schema = self._learnt(source, report, observer)
        # Counted with places for unread values, as every row has to fall into some cell.
        placed = self._placed(source, schema)
        counts = source.counted(placed) if are_rows(source) else cast(CountSource, source)
        # Set aside before the mechanism, or a check before it, spends what is left.
        for_quality = self._ledger.remaining * self._quality_share
        for_choice = self._ledger.remaining * self._choice_share
        self._check_readable(schema, counts, placed, observer)

        # The model: the mechanism sees the records only through `table`, and pays from its part.
        filling = Filling(schema, placed.domain)
        for_model = self._without(for_quality + for_choice)
        private = self._private(counts, placed, for_model, observer)
        stop = None if self._settings.anyway else partial(self._stop_unread, schema)
        table = reached.table = FilledTable(private, filling, stop)
        self._settle_workload(schema)
        drifting = None if self._prior is None else self._prior.drifting(schema.domain)
        model = self._model(schema, table, drifting, report)
        if model is None or not (for_quality or for_choice):
            return self._concluded(schema, table, model, drifting)

        # Its quality: what was set aside asks the same records once more, by the whole ledger.
        private = self._private(counts, placed, self._ledger, observer)
        with closing(FilledTable(private, filling)) as against:
            compared = import_named(COMPARED)(
                against,
                schema,
                table.released,
                model,
                settings=self._settings,
                learnt=self._learnt_parts,
                carried=() if drifting is None else drifting.carried,
                known=self._known,
                target=self._workload.target,
                checked=self._checked,
                derived=self._derived(counts, placed, observer),
                for_choice=for_choice,
                for_quality=for_quality,
                report=report,
            )
        self._fitted_by = compared.engine
        return self._concluded(schema, table, compared.model, drifting, compared)

    def _model(
        self, schema: Schema, table: FilledTable, drifting: "Drifting | None", report: Report
    ) -> Model | None:
        """What the mechanism makes of the table; None if it makes no model."""
        release = self._settings.mechanism.release
        if self._prior is not None:
            release = partial(self._prior.mechanism.release_after, drifting)
        asked = cast(PrivateTable, table)
        if self._known:
            # Whatever a mechanism asks, nothing is paid for what is public.
            asked = import_named(KNOWING_TABLE)(asked, self._engine)
        with finishing(report) as progress:
            task = Task(
                workload=self._workload,
                engine=self._engine,
                constraints=schema.constraints,
                report=progress,
            )
            model = release(asked, task)
        if model is None:
            return None
        carried = () if drifting is None else drifting.carried
        return with_target(model, self._workload.target, [*table.released, *carried])

    def _concluded(
        self,
        schema: Schema,
        table: FilledTable,
        model: Model | None,
        drifting: "Drifting | None",
        compared: "Compared | None" = None,
    ) -> Synthesis:
        """The result, with all that its certificate says: of published totals, an earlier release
        and weights, too.
        """
        fitted_to: Sequence[LinearMeasurement] = table.released
        drawn: Drawn | None = None
        further_facts: dict[str, object] = {}
        if compared is not None:
            fitted_to = compared.measurements
            drawn = compared.drawn
            further_facts |= compared.stated
        carried: Sequence[LinearMeasurement] = () if drifting is None else drifting.carried
        cautions: list[str] = []
        if self._known and model is not None:
            drawn = drawn or self._drawn(model)
            unspent = float(table.ledger.remaining / self._ledger.budget)
            facts, cautions = import_named(TOTALS_SAID)(
                self._known, model, drawn.codes, table.released, unspent
            )
            further_facts |= facts
        if self._prior is not None and drifting is not None:
            prior_facts = self._prior.stated(self._ledger)
            further_facts["prior"] = {**prior_facts, "moved": drifting.findings}
        if self._schema.weight is not None and model is not None:
            measurements = [*table.released, *carried, *self._known]
            cautions += import_named(WEIGHT_CAUTIONS)(schema, model, measurements)
        return self._synthesis(
            schema,
            table,
            model,
            further_facts=further_facts,
            cautions=cautions,
            drawn=drawn,
            carried=carried,
            fitted_to=fitted_to,
        )

    def _hand_over(
        self,
        error: BaseException,
        paid_for: "Synthesis | LearntDomain | None",
        rescue: "Callable[[Synthesis | LearntDomain], object] | None",
    ) -> None:
        """Give what a run that failed has paid for to whoever wants it, or say that it is lost."""
        if paid_for is None and self._is_whole and self._kept.memory is None:
            error.add_note(LOST)
        if rescue is not None and paid_for is not None and self._kept.may_be_rescued():
            rescue(paid_for)

    def _private(
        self,
        counts: CountSource,
        placed: Schema,
        ledger: PrivacyLedger,
        observer: Observer | None,
        derived: "Sequence[DerivedColumn]" = (),
    ) -> PrivateTable:
        """The records, or derived columns of them, behind a ledger, and behind the observer if there
        is one.
        """
        table = PrivateTable(counts, ledger, randomness=self._randomness, memory=self._kept.memory)
        return table if observer is None else observer.table(table, placed, derived)

    def _without(self, reserved: Fraction) -> PrivacyLedger:
        """The ledger that pays for the model: all but what is reserved for its quality."""
        if not reserved:
            return self._ledger
        return self._ledger.part(
            self._ledger.remaining - reserved, max_rows=self._ledger.unit.max_rows
        )

    def _derived(
        self, counts: CountSource, placed: Schema, observer: Observer | None
    ) -> "PrivateDerived | None":
        """What counts public functions of each record, behind the ledger; None if the source
        cannot.
        """
        if not derives(counts):
            return None

        def private(columns: "Sequence[DerivedColumn]") -> PrivateTable:
            derived = counts.derived(columns)
            return self._private(derived, placed, self._ledger, observer, columns)

        return private

    @property
    def _learnt_parts(self) -> dict[str, Collection[str]]:
        """What was learnt of each column."""
        return {
            column.name: column.open_parts
            for column in self._schema.open_columns
            if column.name in self._learnt_columns
        }

    def _drawn(self, model: Model) -> Drawn:
        """The table that is drawn unless something else is asked for."""
        n_rows = round(model.total)
        codes = model.sample(n_rows, seed=self._checked.seed)
        return Drawn(n_rows=n_rows, seed=self._checked.seed, codes=codes)

    def _check_source(self, source: CountSource | Rows) -> None:
        """Refuse rows that were read for another unit of privacy, and counts that do not fit the
        schema.
        """
        # The bound on a person's rows was enforced when they were read, or not at all.
        read_for = (getattr(source, "unit", None), getattr(source, "max_rows", 1))
        if read_for != (self._ledger.unit.column, self._ledger.unit.max_rows):
            raise ParameterError(
                f"source: unit and most rows are {read_for}, not those of the release; read the rows "
                "anew"
            )
        if are_rows(source):
            return
        if self._schema.is_open:
            raise ParameterError("source: it counts codes, but the schema is open; give rows")
        counts = cast(CountSource, source)
        placed = self._placed(counts, self._schema.resolved({}))
        if counts.domain not in (self._schema.largest_domain, placed.domain):
            raise ParameterError(
                "source: its domain is not that of the schema; count the columns that the schema has"
            )

    def _placed(self, source: CountSource | Rows, schema: Schema) -> Schema:
        """The schema with places for what could not be read or lies beyond bounds: all of them
        where rows are read, else those that are counted.
        """
        if are_rows(source):
            return schema.with_all_places()
        domain = cast(CountSource, source).domain
        return schema.counted_by(dict(zip(domain.attributes, domain.shape, strict=True)))

    def _learnt(
        self, source: CountSource | Rows, report: Report, observer: Observer | None
    ) -> Schema:
        """The schema with its open columns closed, for a share of the budget."""
        schema = self._schema
        if not are_rows(source) or not schema.is_open:
            return schema.resolved({})
        learning = import_named(LEARN_DOMAIN)(
            schema,
            source.source,
            self._ledger,
            rho=self._domain_rho,
            randomness=self._randomness,
            kept=self._kept,
            observer=observer,
            report=report,
        )
        unread: dict[str, str] = {}
        with closing(learning):
            # Each is kept as soon as it is there: if the next one fails, this one has been paid
            # for.
            for learnt in learning:
                name = learnt.column.name
                self._learnt_columns[name] = learnt.column
                self._learning[name] = learnt
                if learnt.is_read:
                    self._read_columns.add(name)
                if learnt.unread:
                    unread[name] = learnt.unread
        # What was spent on learning is gone, but not the rest of the budget.
        if unread and not self._settings.anyway:
            self._stop(unread)
        return schema.resolved(self._learnt_columns)

    def _check_readable(
        self, schema: Schema, counts: CountSource, placed: Schema, observer: Observer | None
    ) -> None:
        """Stop if nothing of a declared column can be read, where a mechanism would find that out
        too late. Of most columns that were learnt it is known; of published ones nothing is asked.
        """
        share = self._settings.mechanism.share_of_columns(schema.domain)
        # Parts of a run over several tables are looked at together.
        if not self._is_whole or share <= MOST_SPENT:
            return
        with closing(self._private(counts, placed, self._ledger, observer)) as table:
            unknown = self._engine.unknown((name,) for name in schema.names)
            asked = {name for (name,) in unknown if name not in self._read_columns}
            unread = import_named(READING_CHECK)(table, schema, asked, self._kept)
        # Asked also of a run that is to go on anyway: it may go on from the answers of one that was
        # not.
        if unread and not self._settings.anyway:
            self._stop_unread(schema, unread)

    def _stop(self, unread: Mapping[str, str]) -> NoReturn:
        """Stop before anything is measured: some columns have to be declared in another way."""
        for name in unread:
            del self._learnt_columns[name]
        paid_for = self._paid_for(None, None)
        raise import_named(STOP)(list(unread.values()), self._ledger.share_spent, paid_for)

    def _stop_unread(self, schema: Schema, shares: Mapping[str, float]) -> None:
        """Stop over columns of which so large a share could not be read."""
        paid_for = self._paid_for(None, None)
        import_named(STOP_UNREAD)(schema, shares, self._ledger.share_spent, paid_for)

    def _settle_workload(self, schema: Schema) -> None:
        """Read what is wanted anew, over the domain that was learnt."""
        self._workload = self._workload_over(schema.domain)
        if self._schema.is_open:
            self._kept.note({"workload": workload_facts(self._workload)})

    def _paid_for(
        self, schema: Schema | None, table: FilledTable | None
    ) -> "Synthesis | LearntDomain | None":
        """What there is to keep of a run that failed: measurements, else columns that were learnt."""
        if schema is not None and table is not None and table.released:
            return self._synthesis(schema, table, None)
        if not self._schema.is_open:
            return None
        learnt: LearntDomain = import_named(LEARNT_SO_FAR)(
            self._schema, self._learnt_columns, self._certificate(schema, None)
        )
        return learnt

    def _synthesis(
        self,
        schema: Schema,
        table: FilledTable,
        model: Model | None,
        *,
        further_facts: Mapping[str, object] = MappingProxyType({}),
        cautions: Sequence[str] = (),
        drawn: Drawn | None = None,
        carried: Sequence[LinearMeasurement] = (),
        fitted_to: Sequence[LinearMeasurement] | None = None,
    ) -> Synthesis:
        # Few values beyond learnt bounds are drawn from a tail: such columns reach further.
        reaching = self.facts.drawn_schema(schema, table.released, table.unread)
        certificate = self._certificate(
            schema, model, table.released, table.unread, cautions, reaching
        )
        return Synthesis(
            schema=reaching,
            measurements=table.released if fitted_to is None else fitted_to,
            model=model,
            certificate=certificate | dict(further_facts),
            drawn=drawn,
            known=self._known,
            carried=carried,
        )

    def _certificate(
        self,
        schema: Schema | None,
        model: Model | None,
        measurements: Sequence[LinearMeasurement] = (),
        unread: Mapping[str, UnreadCount] = MappingProxyType({}),
        cautions: Sequence[str] = (),
        reaching: Schema | None = None,
    ) -> dict[str, object]:
        # What was measured since says more of bounds than learning could.
        of_learning = [
            each.cautioned(schema, measurements, unread.get(each.column.name))
            for each in self._learning.values()
        ]
        return self.facts.certificate(
            ledger=self._ledger,
            randomness=self._bits,
            engine=self._fitted_by,
            learnt=self._learnt_columns,
            run=self._kept.identity.to_dict(),
            findings=[*self._findings, *filter(None, of_learning), *cautions],
            schema=schema,
            drawn=reaching,
            measurements=measurements,
            unread=unread,
            model=model,
        )

    @property
    def facts(self) -> RunFacts:
        """What is public of the run."""
        public = unprotected_quantities(
            self._schema, self._ledger.unit, has_public_dtypes="kinds" in self._stated
        )
        if self._known:
            public = [*public, dict(PUBLISHED)]
        asked = {
            "mechanism": mechanism_facts(self._settings.mechanism),
            "workload": workload_facts(self._workload),
            "unprotected": [*public],
        }
        return RunFacts(
            schema=self._schema,
            domain_share=self._settings.domain_share,
            public=self._stated | asked,
            known=[each.to_dict() for each in self._known],
        )


def _check_has_rows(settings: RunSettings, has_quality: bool, has_choice: bool) -> None:
    """Refuse criteria, and a choice of models, where no rows are drawn to judge them by."""
    if settings.accept is not None and not has_quality:
        raise ParameterError(
            f"{settings.spelling.of('accept')}: no quality is measured of a table without rows"
        )
    if has_choice and not has_quality:
        option = settings.spelling.of("choose" if settings.choose else "mechanism")
        raise ParameterError(
            f"{option}: models are compared by tables that they draw; ask for rows"
        )


def _with_weight(schema: OpenSchema, settings: RunSettings) -> OpenSchema:
    """The schema with its column of survey weights, if it or the settings name one."""
    if settings.weight is None and schema.weight is None:
        return schema
    weighed: OpenSchema = import_named(WEIGHED)(
        schema, settings.weight, settings.spelling.of("weight")
    )
    return weighed


def _new_ledger(settings: RunSettings, schema: OpenSchema) -> PrivacyLedger:
    """The ledger that pays for all of a run."""
    has_trees, has_thresholds = False, False
    if schema.is_open:
        has_trees, has_thresholds = import_named(LEARNING_NEEDS)(schema)
    # A threshold over values that nobody declared may fail with some probability: a part of delta.
    failure_delta = settings.delta * settings.domain_share if has_thresholds else 0.0
    return PrivacyLedger(
        epsilon=settings.epsilon,
        delta=settings.delta,
        adjacency=settings.adjacency,
        accounting=settled_accounting(settings.mechanism, settings.accounting, has_trees),
        max_rows_per_unit=settings.max_rows,
        unit_column=settings.unit,
        failure_delta=failure_delta,
    )
