"""The main door: `synthesize` turns a sensitive table into a `Synthesis` of released values."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from os import PathLike
from typing import Any, final

import pandas as pd

from synthdp.derivation.budgets import column_budgets, is_gaussian, least_mass, takes_thresholds
from synthdp.derivation.learner import learn_columns
from synthdp.derivation.questions import questions
from synthdp.errors import ParameterError
from synthdp.inference.engines.graphical_model import check_possible
from synthdp.inference.estimator import Estimator
from synthdp.inference.model import Model
from synthdp.measurement import LinearMeasurement
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.noise.randomness import Randomness, SystemRandomness
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.unit import Adjacency
from synthdp.privacy.values.private_values import PrivateValues
from synthdp.release.certificate import fit_facts, mechanism_facts, privacy_certificate, unfinished_facts
from synthdp.release.learnt_domain import LearntDomain
from synthdp.release.registry import engine_named, mechanism_named
from synthdp.release.settings import as_adjacency, checked_rows, checked_share, settled_accounting
from synthdp.release.synthesis import Synthesis
from synthdp.reporting import Report, silent
from synthdp.selection.mechanism import Mechanism
from synthdp.table.columns.column import Column
from synthdp.table.records.codec import CodedTable
from synthdp.table.records.coded_source import CodedSource
from synthdp.table.records.held_table import HeldTable
from synthdp.table.records.loading import held_frame
from synthdp.table.schema.open_column import OpenColumn
from synthdp.table.schema.open_schema import OpenSchema
from synthdp.table.schema.schema import Schema
from synthdp.workload import Workload

DOMAIN_SHARE = 0.25
"""Share of the budget, and of delta, for what a schema leaves open."""


def synthesize(
    data: pd.DataFrame,
    schema: Schema | OpenSchema | Mapping[str, Any] | str | PathLike[str],
    *,
    epsilon: float,
    delta: float,
    mechanism: str | Mechanism = "auto",
    workload: Workload | Mapping[str, Any] | str | PathLike[str] | None = None,
    engine: str | Estimator | None = None,
    adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
    accounting: str | Accounting | None = None,
    unit: str | None = None,
    max_rows_per_unit: int | None = None,
    domain_share: float = DOMAIN_SHARE,
    report: Report = silent,
    rescue: Callable[[Synthesis | LearntDomain], object] | None = None,
) -> Synthesis:
    """Learn a synthetic version of a sensitive table under (epsilon, delta)-differential privacy.

    The guarantee covers everything the result says, about every record at once; see
    ``docs/limits.md`` for what it does not cover.

    Parameters
    ----------
    data
        The sensitive table.
    schema
        What is public about it: a `Schema`, its JSON as a mapping, or the path of a schema file. What
        it leaves open (``"derive"``, see ``docs/schema.md``; `OpenSchema.from_kinds` leaves open all but
        names and kinds) is derived within the same budget.
    epsilon, delta
        The guarantee: epsilon above 0; delta above 0 and far below 1 / (number of records).
    mechanism
        Which marginals to measure: a name (``"auto"``, ``"aim"``, ... see ``docs/recipes.md``) or a
        `Mechanism`.
    workload
        Which marginals the result should get right: a `Workload`, its JSON as a mapping or a file,
        or a text such as ``"2-way"``; by default all triples of columns (see `Workload.default`).
    engine
        How to rebuild a table from them: a name or an `Estimator`; by default the engine that the
        mechanism is meant for (``"auto"`` for most, see `Mechanism.default_engine`).
    adjacency
        Unit of privacy: ``"add-remove"`` one record, or ``"replace-one"``.
    accounting
        The theorem behind the guarantee: ``"zcdp"``, or ``"gdp"`` (Gaussian DP), which gives the
        same guarantee for 4 to 10 % less noise but suits recipes with Gaussian noise only. By
        default the mechanism's own (``"gdp"`` for ``"auto"``, see `Mechanism.default_accounting`), but
        ``"zcdp"`` for budgets so small that the noise of ``"gdp"`` might be too large to be drawn.
    unit
        Column that tells persons apart, to protect each person with all rows; by default each
        row is protected by itself. It is no column of the result.
    max_rows_per_unit
        Most rows of a person that are used, a random sample of them if there are more. Noise grows
        in proportion. Needed with ``unit``.
    domain_share
        Share of the budget, and of delta, for what the schema leaves open; above 0, at most 0.95.
    report
        Told about progress: (what is going on, steps done, steps at most).
    rescue
        Called with what was released so far if the run fails or is interrupted after
        something was paid for; save it, or the budget is lost.

    Raises
    ------
    SchemaError
        If the schema contradicts itself or the table's columns.
    ParameterError
        If another argument is out of range.

    >>> frame = pd.DataFrame({"smoker": ["yes", "no", "no"] * 100})
    >>> levels = {"enum": ["no", "yes"], "required": True}
    >>> schema = {"fields": [{"name": "smoker", "type": "string", "constraints": levels}]}
    >>> synthesis = synthesize(frame, schema, epsilon=1.0, delta=1e-6)
    >>> synthesis.sample(5, seed=1).shape, synthesis.certificate["guarantee"]
    ((5, 1), '(1, 1e-06)-differential privacy')
    """
    if not isinstance(data, pd.DataFrame):
        raise ParameterError(f"data is a {type(data).__name__}; give a pandas.DataFrame")
    max_rows = checked_rows(unit, max_rows_per_unit)
    public = as_schema(schema).reordered(data.columns, unit=unit)
    run = Release(
        schema=public,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        workload=workload,
        engine=engine,
        adjacency=adjacency,
        accounting=accounting,
        unit=unit,
        max_rows_per_unit=max_rows,
        domain_share=domain_share,
    )
    return run.of(held_frame(data, public, unit=unit, max_rows=max_rows), report=report, rescue=rescue)


def as_schema(schema: Schema | OpenSchema | Mapping[str, Any] | str | PathLike[str]) -> OpenSchema:
    """The schema as one that may leave things open: itself, or what a mapping or a file holds."""
    if isinstance(schema, OpenSchema):
        return schema
    if isinstance(schema, Schema):
        return OpenSchema.of(schema)
    return OpenSchema.from_dict(schema) if isinstance(schema, Mapping) else OpenSchema.load(schema)


@final
class Release:
    """One run of a mechanism, with everything public settled before the records are there.

    Parameters are those of `synthesize`; ``randomness`` is for tests, and anything but the
    default makes the result say NOT PRIVATE.
    """

    def __init__(
        self,
        *,
        schema: Schema | OpenSchema,
        epsilon: float,
        delta: float,
        mechanism: str | Mechanism,
        workload: Workload | Mapping[str, Any] | str | PathLike[str] | None = None,
        engine: str | Estimator | None = None,
        adjacency: str | Adjacency,
        accounting: str | Accounting | None = None,
        unit: str | None = None,
        max_rows_per_unit: int = 1,
        domain_share: float = DOMAIN_SHARE,
        randomness: Randomness | None = None,
    ) -> None:
        self._schema = schema.closed({}) if isinstance(schema, OpenSchema) and not schema.is_open else schema
        self._mechanism = mechanism_named(mechanism) if isinstance(mechanism, str) else mechanism
        fitter = self._mechanism.default_engine if engine is None else engine
        self._engine = engine_named(fitter) if isinstance(fitter, str) else fitter
        domain = self._schema.largest_domain if isinstance(self._schema, OpenSchema) else self._schema.domain
        self._described, self._workload = workload, Workload.parse(domain, workload)
        self._engine.check_domain(domain)
        self._mechanism.check(domain, self._workload)
        check_possible(domain, self._schema.constraints)
        self._domain_share = checked_share(domain_share)
        thresholds = isinstance(self._schema, OpenSchema) and takes_thresholds(self._schema) > 0
        has_trees = isinstance(self._schema, OpenSchema) and not is_gaussian(self._schema)
        self._ledger = PrivacyLedger(
            epsilon=epsilon,
            delta=delta,
            adjacency=as_adjacency(adjacency),
            accounting=settled_accounting(
                self._mechanism, accounting, has_trees, epsilon=epsilon, delta=delta, max_rows=max_rows_per_unit
            ),
            max_rows_per_unit=max_rows_per_unit,
            unit_column=unit,
            failure_delta=delta * domain_share if thresholds else 0.0,
        )
        self._randomness = randomness
        self._found: dict[str, Column] = {}
        self._findings: list[str] = []
        if isinstance(self._schema, OpenSchema):
            self._check_questions(self._schema)

    @property
    def ledger(self) -> PrivacyLedger:
        """The ledger that pays for the run."""
        return self._ledger

    @property
    def _domain_rho(self) -> Fraction:
        """What learning the domain may spend."""
        return self._ledger.budget * Fraction(self._domain_share)

    def _check_questions(self, schema: OpenSchema) -> None:
        """Refuse a share of the budget, or of delta, that is too small to learn the domain with."""
        for budget in column_budgets(schema, rho=self._domain_rho, delta=self._ledger.failure_delta):
            questions(budget, unit=self._ledger.unit, noise=self._ledger.accounting.noise)

    def of(
        self,
        rows: CodedTable | HeldTable,
        *,
        report: Report = silent,
        rescue: Callable[[Synthesis | LearntDomain], object] | None = None,
    ) -> Synthesis:
        """Spend the budget on one table: first on what its schema leaves open, then on marginals.

        Raises `ParameterError` if the rows were not read for the unit of privacy that the ledger claims.
        """
        bound = (rows.unit, rows.max_rows) if isinstance(rows, HeldTable) else (None, 1)
        if bound != (self._ledger.unit.column, self._ledger.unit.max_rows):
            raise ParameterError(f"rows: unit and most rows are {bound}, not those of the release; read them anew")
        schema: Schema | None = None
        table: PrivateTable | None = None
        try:
            schema = self._learnt(rows, report)
            coded = rows if isinstance(rows, CodedTable) else rows.encode(schema)
            table = PrivateTable(CodedSource(coded), self._ledger, randomness=self._randomness)
            self._workload = Workload.parse(schema.domain, self._described)
            model = self._mechanism.release(
                table, workload=self._workload, engine=self._engine, constraints=schema.constraints, report=report
            )
            return self._synthesis(schema, table.released, model)
        except BaseException:
            paid_for = self._paid_for(schema, table) if self._ledger.events else None
            if rescue is not None and paid_for is not None:
                rescue(paid_for)
            raise

    def _learnt(self, rows: CodedTable | HeldTable, report: Report) -> Schema:
        """The schema with its open columns closed, for a share of the budget."""
        schema = self._schema
        if isinstance(schema, Schema):
            return schema
        if isinstance(rows, CodedTable):
            raise ParameterError("rows: they are coded, but the schema is open; give a HeldTable")
        model_rho = self._ledger.budget - self._domain_rho
        learning = learn_columns(
            schema,
            PrivateValues(rows.source, self._ledger, randomness=self._randomness),
            rho=self._domain_rho,
            delta=self._ledger.failure_delta,
            least_mass=least_mass(self._ledger.unit, rho=model_rho, n_columns=len(schema.names)),
            report=report,
        )
        for learnt in learning:
            self._found[learnt.column.name] = learnt.column
            self._findings += [learnt.caution] if learnt.caution else []
        return schema.closed(self._found)

    def _paid_for(self, schema: Schema | None, table: PrivateTable | None) -> Synthesis | LearntDomain | None:
        """What there is to keep of a run that failed: measurements, else columns that were learnt."""
        if schema is not None and table is not None and table.released:
            return self._synthesis(schema, table.released, None)
        if isinstance(self._schema, Schema):
            return None
        return LearntDomain(self._schema.partly_closed(self._found), self._certificate(schema, None))

    def _synthesis(self, schema: Schema, measurements: Sequence[LinearMeasurement], model: Model | None) -> Synthesis:
        statement = self._certificate(schema, model)
        return Synthesis(schema=schema, measurements=measurements, model=model, certificate=statement)

    def _certificate(self, schema: Schema | None, model: Model | None) -> dict[str, object]:
        bits = SystemRandomness() if self._randomness is None else self._randomness
        facts = self._public_facts(schema, model)
        return privacy_certificate(ledger=self._ledger, randomness=bits, release=facts, findings=self._findings)

    def _public_facts(self, schema: Schema | None, model: Model | None) -> dict[str, object]:
        wanted = {"n_marginals": len(self._workload.cliques), "columns_at_most": max(map(len, self._workload.cliques))}
        findings = {"findings": model.findings} if model is not None and model.findings else {}
        learnt = {column.name: sorted(column.parts) for column in self._open_columns if column.name in self._found}
        still_open = [column.name for column in self._open_columns if column.name not in self._found]
        facts = unfinished_facts() if schema is None else fit_facts(schema, self._engine, model, derived=learnt)
        learning = {"share_of_budget": self._domain_share, "derived": learnt, "open": still_open}
        domain = {"domain": learning} if self._open_columns else {}
        return {"mechanism": mechanism_facts(self._mechanism), "workload": wanted} | domain | findings | facts

    @property
    def _open_columns(self) -> tuple[OpenColumn, ...]:
        return self._schema.open_columns if isinstance(self._schema, OpenSchema) else ()
