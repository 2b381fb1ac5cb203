"""The door for linked tables: `synthesize_tables` turns a package of them into a `LinkedSynthesis`."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report, finishing, silent
from synthdp.data.loading import chunks_of
from synthdp.data.rows import Here, engine_frame, header_of, opened_here, whole_frame
from synthdp.inference.estimator import Estimator
from synthdp.linked.linked_release import LinkedRelease
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.linking.linked_rows import LinkedTableReader, check_header, linked_sources
from synthdp.linked.package.package import Package
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.private_table import CountSource
from synthdp.release.keeping.forgetting import forgetful
from synthdp.release.keeping.keeping import Keeping
from synthdp.release.run_settings import RunSettings
from synthdp.release.synthesize import warn_of
from synthdp.schema.words.headers import listed

if TYPE_CHECKING:
    from synthdp.release.keeping.budget import Budget

Tables = Mapping[str, Any]
Opened = Mapping[str, Here]


@forgetful
def synthesize_tables(
    tables: Tables | None,
    package: Package | Mapping[str, Any] | str | PathLike[str],
    *,
    epsilon: float,
    delta: float,
    mechanism: str | Mechanism = "auto",
    engine: str | Estimator | None = None,
    accounting: str | Accounting | None = None,
    about: Mapping[str, Any] | str | PathLike[str] | None = None,
    journal: str | PathLike[str] | None = None,
    budget: "Budget | str | PathLike[str] | None" = None,
    budget_note: str = "",
    report: Report = silent,
    rescue: Callable[[LinkedSynthesis], object] | None = None,
) -> LinkedSynthesis:
    """Fit a differentially private synthesis to tables that are linked by keys.

    Protected as one is a row of the root table with all rows below it. See ``docs/linked.md``.

    Parameters
    ----------
    tables
        Each table by its name in the package, as a table of any kind that `synthesize` takes but
        one in an engine, or the path of a file; None takes the files that the package names. Of
        public tables those whose keys are levels of columns.
    package
        A Data Package (``datapackage.json``) as a mapping or a file.
    epsilon, delta
        The guarantee for all tables together: epsilon above 0; delta above 0 and far below 1 /
        (rows of the root).
    mechanism, engine, accounting, about
        As in `synthesize`; the same recipe is used for each table.
    journal, budget, budget_note
        As in `synthesize`: one journal for all tables, and one charge. The budget's ``unit`` is the
        key of the root.
    report
        Told about progress: (what is going on, steps done, steps at most).
    rescue
        Called with what was released so far if the run fails or is interrupted after something was
        paid for; save it, or the budget is lost.

    Warns
    -----
    CautionWarning
        Once for each thing that users should know of the result; they are on
        `LinkedSynthesis.cautions`, too. One is not: that the journal's run was complete, so that
        this is its release again.

    Raises
    ------
    SchemaError
        If the package contradicts itself or the tables' headers, or keys are declared such that no
        row can hang on another, before any row is read.
    ParameterError
        If a table is missing, or another argument is out of range.
    PrivacyError, BudgetExceededError, DataFileError, MissingExtraError, SourceError
        As `synthesize`.
    """
    settings = RunSettings(
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        engine=engine,
        accounting=accounting,
        about=about,
    )
    keeping = Keeping(journal=journal, budget=budget, budget_note=budget_note)
    described, folder = package_of(package, tables)
    run = LinkedRelease(package=described, settings=settings)
    with ExitStack() as stack:
        found = opened_tables(described, tables, folder, stack)
        with run.kept(keeping):
            synthesis = run.of(lambda: read_sources(run, found), report=report, rescue=rescue)
    warn_of(synthesis, synthesis.cautions, rescue, replay=run.run.replay)
    return synthesis


def package_of(
    package: Package | Mapping[str, Any] | str | PathLike[str], tables: Tables | None
) -> tuple[Package, Path | None]:
    """A package, and the folder of its file if it is in one."""
    if isinstance(package, Package):
        return package, None
    if isinstance(package, str | PathLike):
        return Package.load(package), Path(package).parent

    def lookup(name: str) -> pd.DataFrame:
        if tables is None or name not in tables:
            raise ParameterError(
                f"tables: there is no {name!r}, a public table to which others refer; give it"
            )
        return whole_frame(tables[name], name=f"tables[{name!r}]")

    return Package.from_dict(package, lookup), None


def opened_tables(
    package: Package, tables: Tables | None, folder: Path | None, stack: ExitStack
) -> Opened:
    """The protected tables, open for reading, their headers checked.

    Raises
    ------
    ParameterError, DataFileError, SchemaError
        If one is missing, cannot be opened, or has other columns than the package says; no row is
        read.
    """
    names = [table.name for table in package.tables]
    if tables is not None and (
        unknown := [name for name in tables if name not in {*names, *package.lookups}]
    ):
        raise ParameterError(
            f"tables: {unknown[0]!r} is no table of the package; there are {listed(names)}"
        )
    found: dict[str, Here] = {}
    for table in package.tables:
        given = None if tables is None else tables.get(table.name)
        if given is None and (folder is None or tables is not None or not table.path):
            raise ParameterError(
                f"tables: there is no {table.name!r}, which the package has; give it"
            )
        if engine_frame(given) is not None:
            raise ParameterError(
                f"tables[{table.name!r}] stays in an engine; of a package give tables in memory, or files"
            )
        place = given if given is not None else Path(folder or "", table.path)
        opened = opened_here(place, table.dialect, name=f"tables[{table.name!r}]")
        found[table.name] = stack.enter_context(opened)
        check_header(table, list(header_of(found[table.name])))
    return found


def read_sources(
    run: LinkedRelease, tables: Opened, report: Report = silent
) -> dict[str, CountSource]:
    """Read all tables, and link their rows."""
    readers: dict[str, LinkedTableReader] = {}
    with finishing(report) as told:
        for table in run.package.tables:
            told(f"reading {table.name}", len(readers), len(run.package.tables))
            readers[table.name] = LinkedTableReader(table)
            for chunk in chunks_of(tables[table.name]):
                readers[table.name].add(chunk)
                del chunk  # as in `held_rows`
    return dict(linked_sources(run.all_views, readers, run.unit))
