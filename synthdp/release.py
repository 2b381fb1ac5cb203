"""The main door: `synthesize` turns a sensitive table into a `Synthesis` of released values."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from os import PathLike
from typing import Any, final

import pandas as pd

from synthdp.errors import ParameterError
from synthdp.inference.estimator import Estimator, Model
from synthdp.inference.graphical_model import check_possible
from synthdp.mechanism import Mechanism, Report, silent
from synthdp.privacy.accountant import Accounting
from synthdp.privacy.certificate import privacy_certificate
from synthdp.privacy.events import Adjacency
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.randomness import Randomness
from synthdp.registry import engine_named, mechanism_named
from synthdp.synthesis import Synthesis
from synthdp.table.codec import CodedTable, encode
from synthdp.table.schema import Schema
from synthdp.table.sources import CodedSource
from synthdp.version import __version__
from synthdp.workload import Workload

SMALLEST_GDP_BUDGET = 1e-4
"""Rho below which zCDP is used unless asked otherwise: its discrete noise may be as large as need be."""


def synthesize(
    data: pd.DataFrame,
    schema: Schema | Mapping[str, Any] | str | PathLike[str],
    *,
    epsilon: float,
    delta: float,
    mechanism: str | Mechanism = "auto",
    workload: Workload | Mapping[str, Any] | str | PathLike[str] | None = None,
    engine: str | Estimator | None = None,
    adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
    accounting: str | Accounting | None = None,
    report: Report = silent,
    rescue: Callable[[Synthesis], object] | None = None,
) -> Synthesis:
    """Learn a synthetic version of a sensitive table under (epsilon, delta)-differential privacy.

    The guarantee covers everything the result says, about every record at once; see
    ``docs/limits.md`` for what it does not cover.

    Parameters
    ----------
    data
        The sensitive table.
    schema
        What is public about it: a `Schema`, its JSON as a mapping, or the path of a schema file.
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
    public = as_schema(schema).reordered(data.columns)
    run = Release(
        schema=public,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        workload=workload,
        engine=engine,
        adjacency=adjacency,
        accounting=accounting,
    )
    return run.of(encode(data, public), report=report, rescue=rescue)


def as_schema(schema: Schema | Mapping[str, Any] | str | PathLike[str]) -> Schema:
    """The schema itself, or the one that a mapping or a file holds."""
    if isinstance(schema, Schema):
        return schema
    return Schema.from_dict(schema) if isinstance(schema, Mapping) else Schema.load(schema)


@final
class Release:
    """One run of a mechanism, with everything public settled before the records are there.

    Parameters are those of `synthesize`; ``randomness`` is for tests, and anything but the
    default makes the result say NOT PRIVATE.
    """

    def __init__(
        self,
        *,
        schema: Schema,
        epsilon: float,
        delta: float,
        mechanism: str | Mechanism,
        workload: Workload | Mapping[str, Any] | str | PathLike[str] | None = None,
        engine: str | Estimator | None = None,
        adjacency: str | Adjacency,
        accounting: str | Accounting | None = None,
        randomness: Randomness | None = None,
    ) -> None:
        self._schema = schema
        self._mechanism = mechanism_named(mechanism) if isinstance(mechanism, str) else mechanism
        fitter = self._mechanism.default_engine if engine is None else engine
        self._engine = engine_named(fitter) if isinstance(fitter, str) else fitter
        self._engine.check_domain(schema.domain)
        self._workload = Workload.parse(schema.domain, workload)
        check_possible(schema.domain, schema.constraints)
        if accounting is None:
            settled = _default_accounting(self._mechanism, epsilon=epsilon, delta=delta)
        else:
            settled = as_accounting(accounting)
        if settled is Accounting.GDP and not self._mechanism.is_gaussian:
            raise ParameterError(
                f"accounting is 'gdp' but {self._mechanism.name} selects by the exponential mechanism; give 'zcdp'"
            )
        self._ledger = PrivacyLedger(
            epsilon=epsilon, delta=delta, adjacency=as_adjacency(adjacency), accounting=settled
        )
        self._randomness = randomness

    def of(
        self,
        coded: CodedTable,
        *,
        report: Report = silent,
        rescue: Callable[[Synthesis], object] | None = None,
    ) -> Synthesis:
        """Spend the budget on one table."""
        table = PrivateTable(CodedSource(coded), self._ledger, randomness=self._randomness)
        try:
            constraints = self._schema.constraints
            model = self._mechanism.release(
                table, workload=self._workload, engine=self._engine, constraints=constraints, report=report
            )
            return self._synthesis(table, model)
        except BaseException:
            if rescue is not None and table.released:
                rescue(self._synthesis(table, None))
            raise

    def _synthesis(self, table: PrivateTable, model: Model | None) -> Synthesis:
        certificate = privacy_certificate(
            ledger=self._ledger, randomness=table.randomness, release=self._public_facts(model)
        )
        return Synthesis(schema=self._schema, measurements=table.released, model=model, certificate=certificate)

    def _public_facts(self, model: Model | None) -> dict[str, object]:
        recipe = {"name": self._mechanism.name, "reference": self._mechanism.reference} | _parameters(self._mechanism)
        wanted = {"n_marginals": len(self._workload.cliques), "columns_at_most": max(map(len, self._workload.cliques))}
        findings = {"findings": model.findings} if model is not None and model.findings else {}
        return {"mechanism": recipe, "workload": wanted} | findings | fit_facts(self._schema, self._engine, model)


def fit_facts(schema: Schema, engine: Estimator, model: Model | None) -> dict[str, object]:
    """What a certificate says of software, engine, fit and schema, as plain JSON values."""
    columns = [
        {"name": column.name, "type": column.field()["type"], "n_levels": column.size, "domain": "declared"}
        for column in schema.columns
    ]
    return {
        "software": f"synthdp {__version__}",
        "engine": {"name": engine.name, **_fit_status(model)},
        "complete": model is not None,
        "schema": {"sha256": schema.fingerprint, "columns": columns},
        "post_processing": "fit, sampling and decoding use released values only and cost no privacy",
    }


def as_adjacency(adjacency: str | Adjacency) -> Adjacency:
    """The adjacency of that name; raises `ParameterError` if there is none."""
    try:
        return Adjacency(adjacency)
    except ValueError:
        names = " or ".join(repr(known.value) for known in Adjacency)
        raise ParameterError(f"adjacency is {adjacency!r}; give {names}") from None


def _default_accounting(mechanism: Mechanism, *, epsilon: float, delta: float) -> Accounting:
    """The accounting that a mechanism is meant for, as far as the budget allows for its noise."""
    wanted = mechanism.default_accounting
    if wanted is Accounting.GDP and wanted.rho(epsilon=epsilon, delta=delta) < SMALLEST_GDP_BUDGET:
        return Accounting.ZCDP
    return wanted


def as_accounting(accounting: str | Accounting) -> Accounting:
    """The accounting of that name; raises `ParameterError` if there is none."""
    try:
        return Accounting(accounting)
    except ValueError:
        names = " or ".join(repr(known.value) for known in Accounting)
        raise ParameterError(f"accounting is {accounting!r}; give {names}") from None


def _fit_status(model: Model | None) -> dict[str, object]:
    """How the fit ended, and which engine was chosen if that was left open."""
    if model is None:
        return {"converged": False}
    return asdict(model.status) | ({"choice": model.choice} if model.choice else {})


def _parameters(mechanism: Mechanism) -> dict[str, object]:
    """The public parameters of a recipe that is a dataclass."""
    return {"parameters": {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}}  # type: ignore[arg-type]
