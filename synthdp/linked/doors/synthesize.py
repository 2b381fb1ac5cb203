"""The door: `synthesize` turns sensitive data of any kind into released values."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from synthdp.core.errors import CautionWarning
from synthdp.core.imports import import_named
from synthdp.core.reporting import Report, silent
from synthdp.core.workload import Workload
from synthdp.inference.engine import Engine
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.unit import Adjacency
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.persistence.scrubbing import scrub_tracebacks
from synthdp.release.run_settings import ChoiceLike, MechanismLike, RunSettings
from synthdp.release.settings import DOMAIN_SHARE, QUALITY_SHARE
from synthdp.release.table_run import Finished, release_table
from synthdp.schema.declared import Declared, Kinds
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.linked.package.package import Package
    from synthdp.release.persistence.budget import Budget

RELEASE_PACKAGE = "synthdp.linked.package_run:release_package"
RELEASE_HISTORY = "synthdp.linked.histories.history_run:release_history"
"""A run over tables that hang together; one of a table loads neither."""


@scrub_tracebacks
def synthesize(
    data: Any,
    schema: "Schema | OpenSchema | Package | Mapping[str, Any] | str | PathLike[str] | None" = None,
    *,
    kinds: Kinds | None = None,
    epsilon: float,
    delta: float,
    dialect: str | Mapping[str, Any] | None = None,
    mechanism: MechanismLike = "auto",
    workload: Workload | Mapping[str, Any] | str | PathLike[str] | None = None,
    target: str | None = None,
    engine: str | Engine | None = None,
    adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
    accounting: str | Accounting | None = None,
    unit: str | None = None,
    max_rows_per_unit: int | None = None,
    together: bool = False,
    order: str | None = None,
    constant: str | Sequence[str] = (),
    domain_share: float = DOMAIN_SHARE,
    quality_share: float = QUALITY_SHARE,
    accept: str | None = None,
    choose: ChoiceLike = None,
    about: Mapping[str, Any] | str | PathLike[str] | None = None,
    known: Any = None,
    weight: str | None = None,
    prior: Any = None,
    journal: str | PathLike[str] | None = None,
    budget: "Budget | str | PathLike[str] | None" = None,
    budget_note: str = "",
    anyway: bool = False,
    report: Report = silent,
    rescue: Callable[[Any], object] | None = None,
) -> Any:
    """Learn a synthetic version of sensitive data under (epsilon, delta)-differential privacy.

    The data are one table; or with ``together`` one table in which persons have several rows, which
    hang together; or the tables of a data package, which are linked by keys.

    The guarantee covers everything the result says, about every record at once; see
    ``docs/limits.md`` for what it does not cover.

    What does not go with a package, or with ``together``, is refused.

    Parameters
    ----------
    data
        The sensitive table: the path of a file (CSV, Parquet, Excel; by its ending), of a folder of
        files, or a pattern (``"part-*.csv"``), a `pandas.DataFrame`, a `polars.DataFrame`, a
        `pyarrow.Table`, or of another library of tables in memory that narwhals knows. An index is
        never read. Or a table in an engine, where its rows stay: a relation of DuckDB, a table of
        Ibis, a data frame of PySpark, a `polars.LazyFrame`. Or a data frame of Dask or a dataset of
        Arrow, which are read here, partition by partition. See ``docs/sources.md``. A file is read
        value by value; of a table in memory, or a partition, the data types may have been chosen in
        view of all rows.
        Of a data package the path of its description (``"datapackage.json"``), which names the
        files, or each table by its name in the package: a mapping of files and of tables in memory.
        Of public tables those whose keys are levels of columns. See ``docs/linked.md``.
    schema
        What is public about it: a `Schema`, its JSON as a mapping, or the path of a schema file.
        What it leaves open (``"derive"``, see ``docs/schema.md``) is derived within the same
        budget. With tables by name the `Package`, as an object, a mapping or a file.
    kinds
        In place of a schema: the kind of each column, as `OpenSchema.from_kinds` reads it; all else
        is derived. ``"dtypes"`` takes the table's dtypes for public knowledge and reads kinds off
        them, and the certificate says so; what is drawn has the same dtypes. See
        ``docs/frames.md``.
    epsilon, delta
        The guarantee: epsilon above 0; delta above 0 and far below 1 / (number of records); of a
        package for all tables together, whose unit of privacy is a row of the root with all below
        it.
    dialect
        How the file is written, and numbers unless a field says it itself: ``"excel-semicolon"``,
        or properties such as ``{"delimiter": ";", "encoding": "cp1252", "decimalChar": ","}``. They
        override those of the schema's own ``"dialect"``; see ``docs/files.md``.
    mechanism
        Which marginals to measure: a name (``"auto"``, ``"aim"``, ... see ``docs/mechanisms.md``)
        or a `Mechanism`; or a list of them, which share the budget. See ``docs/quality.md``.
    workload
        Which marginals the result should get right: a `Workload`, its JSON as a mapping or a file,
        or a text such as ``"2-way"``; by default all triples of columns (see `Workload.default`).
    target
        A column that is to be predicted: only the marginals with it are to be right. Goes with the
        default workload, a text, or JSON with ``k`` and no target of its own.
    engine
        How to rebuild a table from them: a name or an `Engine`; by default the engine that the
        mechanism is meant for (``"auto"`` for most, see `Mechanism.default_engine`).
    adjacency
        Unit of privacy: ``"add-remove"`` one record, or ``"replace-one"``.
    accounting
        The theorem behind the guarantee: ``"zcdp"``, or ``"gdp"`` (Gaussian DP), which gives the
        same guarantee for 4 to 10 % less noise but suits mechanisms with Gaussian noise only. By
        default the mechanism's own (``"gdp"`` for ``"auto"``, see `Mechanism.default_accounting`).
    unit
        Column that tells persons apart, to protect each person with all rows; by default each
        row is protected by itself. It is no column of the result.
    max_rows_per_unit
        Most rows of a person that are used, a random sample of them if there are more. Noise grows
        in proportion, but with ``together``. Needed with ``unit``.
    together
        Synthetic rows carry a fresh key of their person, and how many rows a person has, and how
        these hang together, is kept; of up to 1,000 rows a person. See ``docs/persons.md``.
    order
        The same with a column by which rows of one person are ordered, which may not be missing:
        how they follow each other is kept. Of more rows a person the first ones by it are used.
    constant
        Columns that are the same in all rows of a person, such as sex or day of birth, with
        ``together`` or ``order``: so they are in what is drawn. Where records have several values
        of a person, one row's are used.
    domain_share
        Share of the budget, and of delta, for what the schema leaves open; above 0, at most 0.95.
        Half as much again, but no more than half of the rest, may go to levels that were not found.
    quality_share
        Share of what is left for marginals that measures how far rows are from the records, those
        of ``sample(seed=0)``: see `Synthesis.quality`. 0 measures nothing; at most 0.5.
    accept
        Criteria for that quality, such as ``"pairs within 3 %, column income within 1 %"``: the
        certificate then has a verdict on each (``acceptance``), which is private as well.
    choose
        Engines whose models of the same measurements are compared with the release's own, by noisy
        errors of the tables that they draw, for 2 % of what is left for marginals: names, with
        commas between them or in a list, or objects; or ``"standard"``. The best is taken if it is
        clearly better. See ``docs/quality.md``.
    about
        What only you know of the release, for its certificate: curators, intended use, how it was
        tuned, and so on, as a mapping or a YAML or JSON file; see ``docs/certificate.md``. It is
        published as it is.
    known
        Published tables, which cost nothing and are met exactly: data frames or CSV files with some
        columns of the table, or levels of the schema's hierarchy, and one called ``count`` or
        ``share``. See ``docs/published-totals.md``.
    weight
        The column that says how many of a population a row stands for, unless the schema marks it.
        How all others depend on it is measured, and ``sample(weighted=True)`` draws the population.
        See ``docs/survey-tables.md``.
    prior
        An earlier release about an overlapping population, or its file: what it released is used,
        and costs nothing. Columns, levels and bins are those of the earlier one. See
        ``docs/waves.md``.
    journal
        A file in which each answer is kept, on the disk, before the next is asked for. A call that
        was killed is made again with the same arguments and data, and goes on: what was paid for is
        not paid again.
    budget, budget_note
        The budget of a population, or its file: all that this release may spend is charged to it,
        with the note, before the first question. It needs a ``journal``. See ``docs/budgets.md``.
    anyway
        Go on where nearly no value of a column can be read, such as dates of another format, or
        keys of a package match nowhere. Else the run stops as soon as noisy counts say so, and the
        rest of its budget is not spent: a ``budget`` has it back.
    report
        Called with the progress: (what is going on, steps done, steps at most).
    rescue
        Called with what was released so far if the run fails or is interrupted after
        something was paid for; save it, or the budget is lost.

    Returns
    -------
    Synthesis, HistorySynthesis with ``together``, or LinkedSynthesis of a package
        What was released, see `Result`.

    Warns
    -----
    CautionWarning
        Once for each thing that users should know of the result, such as a column of which little
        could be read; they are on `Result.cautions`, too. One is about the call only, and not
        there: that the journal's run was complete, so that this is its release again. A filter that
        makes errors of them is obeyed last: then ``rescue`` gets the result.

    Raises
    ------
    BudgetExceededError
        If the ``budget`` has too little left.
    PrivacyError
        If it does not cover the run, or the run takes another course than its journal.
    DataFileError
        If the file cannot be read, or is not what its ending and dialect say; or journal or budget
        cannot be written, are damaged, or held by another run.
    MissingExtraError
        If another library is needed to read the table, or what is said about it.
    SchemaError
        If the schema contradicts itself or the table's columns; or keys of a package are declared
        such that no row can hang on another.
    SourceError
        If the engine that holds the table fails, or the table is changed while it is counted, or a
        partition has other columns.
    UnreadColumnError
        If nearly no value of a column that is learnt can be read, or of a package nearly no row
        has one of a table below it, by noisy counts, unless ``anyway`` is set. What was learnt of
        the others is its ``learnt``, and goes to ``rescue``.
    ParameterError
        If the data are no such table, another argument is out of range, or the journal is of
        another run.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"smoker": ["yes", "no", "no"] * 100})
    >>> levels = {"enum": ["no", "yes"], "required": True}
    >>> schema = {"fields": [{"name": "smoker", "type": "string", "constraints": levels}]}
    >>> synthesis = synthesize(frame, schema, epsilon=1.0, delta=1e-6)
    >>> synthesis.sample(5, seed=1).shape, synthesis.certificate["guarantee"]
    ((5, 1), '(1, 1e-06)-differential privacy')
    """
    settings = RunSettings(
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        workload=workload,
        target=target,
        engine=engine,
        adjacency=adjacency,
        accounting=accounting,
        unit=unit,
        max_rows_per_unit=max_rows_per_unit,
        together=together,
        order=order,
        constant=constant,
        domain_share=domain_share,
        quality_share=quality_share,
        accept=accept,
        choose=choose,
        about=about,
        known=known,
        weight=weight,
        prior=prior,
        anyway=anyway,
    )
    persistence = Persistence(journal=journal, budget=budget, budget_note=budget_note)
    release: Callable[..., Finished] = release_table
    if is_package(data, schema, kinds):
        release = import_named(RELEASE_PACKAGE)
    elif settings.kept_by is not None:
        release = import_named(RELEASE_HISTORY)
    declared = Declared(schema=schema, kinds=kinds, dialect=dialect)
    finished = release(data, declared, settings, persistence, report=report, rescue=rescue)
    try:
        for caution in finished.cautions:
            warnings.warn(caution, CautionWarning, stacklevel=3)
    except CautionWarning:  # by a filter; the budget is spent
        if rescue is not None:
            rescue(finished.release)
        raise
    return finished.release


def is_package(data: Any, schema: Any, kinds: Any = None) -> bool:
    """Whether data, or what is said to be public of them, can only be meant for a package: tables
    by name, or a description.
    """
    if isinstance(data, str | PathLike):
        return str(fspath(data)).lower().endswith(".json")
    if isinstance(schema, Mapping):
        return "resources" in schema
    if hasattr(schema, "lookups"):  # a `Package`, whose module stays unloaded until there is one
        return True
    is_one = isinstance(schema, Schema | OpenSchema) or (schema is None and kinds is not None)
    return isinstance(data, Mapping) and not is_one
