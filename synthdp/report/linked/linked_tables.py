"""NOT PRIVATE. Evaluation of linked tables: synthetic ones are held against the true ones."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report, finishing, in_notebook, silent, steps
from synthdp.core.requests import check_seed
from synthdp.core.version import __version__
from synthdp.data.loading import chunks_of
from synthdp.data.records.unit_rows import UnitRows
from synthdp.linked.families.given_tables import referred_rows
from synthdp.linked.linking.linked_rows import (
    FamilyRows,
    LinkedTableReader,
    joined_keys,
    linked_rows,
)
from synthdp.linked.package.package import Package
from synthdp.linked.package.view import views_of
from synthdp.linked.package_tables import Opened, opened_tables, package_of
from synthdp.report.evaluation import NOT_PRIVATE
from synthdp.report.linked.linked_evaluation import LinkedEvaluation, Marginals
from synthdp.report.linked.linked_marginals import KINDS, SIBLINGS, LinkedMarginals, Names, distance
from synthdp.report.releases import read_certificate
from synthdp.schema.words.headers import listed

Tables: TypeAlias = Mapping[str, Any] | str | PathLike[str]

_KEY = "0123456789abcdef"
"""Which rows beyond the bound are left out is the same in both: there is nobody to protect from
whoever has both.
"""


def evaluate_linked(
    truth: Tables,
    synthetic: Tables,
    package: Package | Mapping[str, Any] | str | PathLike[str] | None = None,
    *,
    certificate: Mapping[str, Any] | str | PathLike[str] | None = None,
    seed: int = 0,
    report: Report = silent,
) -> LinkedEvaluation:
    """NOT PRIVATE. Hold synthetic tables that are linked by keys against the true ones.

    Compared are, over the levels and bins of the package: each column and each number of children;
    all pairs of columns of one table; all pairs of a column and one of a table above; the number of
    children with each column of the parent; and all pairs of a column of a row with one of another
    row of the same parent: of any other (siblings), and where rows have an order of the next one
    (transitions). Rows beyond ``max_children`` are left out of both.

    Parameters
    ----------
    truth, synthetic
        The protected tables by name, each a table in memory of any kind that `synthesize` takes or
        the path of a file; or the path of the ``datapackage.json`` beside them.
    package
        The package, as in `synthesize`; needed unless ``truth`` is the path of one. Columns
        that refer to public tables declare their levels, or those tables are in ``truth`` or beside
        the file.
    certificate
        The release's certificate (a mapping, or the path of its file), for the page.
    seed
        Draws the families with which errors are held against those of a sample.
    report
        Called with the progress: (what is going on, steps done, steps at most).

    Raises
    ------
    ParameterError, SchemaError
        If a table is missing or does not fit the package.
    DataFileError
        If a file cannot be read.
    """
    check_seed(seed)
    report = in_notebook(report)
    described = _closed(_described(truth, package), synthetic)
    stated = read_certificate(certificate)
    views = {name: view for name, view in views_of(described).items() if not view.is_later}
    with ExitStack() as stack:
        opened = [
            _opened(described, tables, what, stack)
            for tables, what in ((truth, "true"), (synthetic, "synthetic"))
        ]
        with finishing(report) as progress:
            true, made = (_Read.from_tables(described, tables, progress) for tables in opened)
    n_true, n_made = (_n_roots(described, *each) for each in ((true, "true"), (made, "synthetic")))
    # As many true families as there are synthetic ones, drawn with replacement: what is off by no
    # more than these are is as good as a sample.
    times = np.bincount(np.random.default_rng(seed).integers(n_true, size=n_made), minlength=n_true)
    unread = [_unread(described, each) for each in (true, made)]
    # A place for unread values in one table is one in the other: both need the same cells.
    placed = {*unread[0], *unread[1]}
    marginals = {
        name: (
            LinkedMarginals(view, true.rows[name], times, placed),
            LinkedMarginals(view, made.rows[name], None, placed),
        )
        for name, view in views.items()
    }
    facts = {
        "unread": _of_columns(described, unread[0]),
        "unread_synthetic": {"synthetic": _of_columns(described, unread[1])},
        "not_private": NOT_PRIVATE,
        "rows": _row_facts(true, made),
        "release": _release_facts(stated),
        "seed": seed,
        "software": f"synthdp {__version__}",
    }
    distances = _distances(marginals, report)
    return LinkedEvaluation(
        summary=_summary(distances),
        distances=distances,
        broken_links=_broken_links(described, made),
        facts=facts,
        marginals=marginals,
    )


def _summary(distances: pd.DataFrame) -> pd.DataFrame:
    """The distances of each kind in a row: mean, largest, how many, and the mean by sampling."""
    by_kind = distances.groupby("kind", sort=False)
    summary = by_kind["tvd"].agg(["mean", "max", "count"])
    summary = summary.assign(sampling=by_kind["sampling"].mean())
    return summary.reindex([kind for kind in KINDS if kind in summary.index])


def _distances(marginals: Marginals, report: Report) -> pd.DataFrame:
    """Of all marginals how far the synthetic tables are, and how far families drawn at random would
    be.
    """
    rows = []
    for name, (real, other) in steps(report, "comparing", marginals.items()):
        distances: dict[tuple[str, Names], tuple[float, float]] = {}
        for kind, columns in real.names():
            if kind == SIBLINGS and (same := distances.get((kind, columns[::-1]))) is not None:
                distances[kind, columns] = same  # both orders of a pair are counted
            else:
                counts, sample = real.counts_and_sample(kind, columns)
                distances[kind, columns] = (
                    distance(counts, other.counts(kind, columns)),
                    distance(counts, sample),
                )
        rows += [(kind, name, columns, *both) for (kind, columns), both in distances.items()]
    return pd.DataFrame(rows, columns=["kind", "table", "columns", "tvd", "sampling"])


def _described(
    truth: Tables, package: Package | Mapping[str, Any] | str | PathLike[str] | None
) -> Package:
    if package is not None:
        return package_of(package, truth if isinstance(truth, Mapping) else None)[0]
    if not isinstance(truth, str | PathLike):
        raise ParameterError(
            "package is missing; give it, or the path of a datapackage.json as truth"
        )
    return Package.load(truth)


def _closed(package: Package, synthetic: Tables) -> Package:
    """The package, or the one beside the synthetic tables if columns of that were learnt."""
    if package.is_open and isinstance(synthetic, str | PathLike):
        package = Package.load(synthetic)
    package.check_closed()
    return package


def _opened(package: Package, tables: Tables, what: str, stack: ExitStack) -> Opened:
    """Tables, or those beside another description of the package, open for reading."""
    if not isinstance(tables, str | PathLike):
        return opened_tables(package, tables, None, stack)
    beside = {table.name: table for table in Package.load(tables).tables}
    if lacking := [table.name for table in package.tables if table.name not in beside]:
        raise ParameterError(
            f"{what} package {str(tables)!r}: it has no table {lacking[0]!r}; it has {listed(beside)}"
        )
    placed = (
        replace(table, path=beside[table.name].path, dialect=beside[table.name].dialect)
        for table in package.tables
    )
    return opened_tables(replace(package, tables=tuple(placed)), None, Path(tables).parent, stack)


@final
@dataclass(frozen=True, eq=False, repr=False)
class _Read:
    """The tables of one package: their rows as they hang together, and the keys of all."""

    rows: Mapping[str, FamilyRows]
    keys: Mapping[str, pd.DataFrame]

    @classmethod
    def from_tables(cls, package: Package, tables: Opened, report: Report) -> "_Read":
        readers: dict[str, LinkedTableReader] = {}
        keys: dict[str, pd.DataFrame] = {}
        for table in package.tables:
            report(f"reading {table.name}", len(readers), len(package.tables))
            given = tables[table.name]
            reader = LinkedTableReader(table, hash_key=_KEY)
            parts = []
            for chunk in chunks_of(given):
                reader.add(chunk)
                parts.append(chunk[list(table.keys)])
            readers[table.name] = reader
            keys[table.name] = pd.concat(
                parts or [pd.DataFrame(columns=list(table.keys))], ignore_index=True
            )
        return cls(linked_rows(package.tables, readers), keys)


def _unread(package: Package, read: _Read) -> dict[str, float]:
    """Of the attributes of which values were not read, in which share of a table's rows that are
    compared.
    """
    shares = {}
    for table in package.tables:
        columns = () if table.schema is None else table.schema.columns
        rows = read.rows[table.name]
        for name, column in zip(table.attributes, columns, strict=True):
            placed = column.with_all_places()
            if placed.has_unread_place and rows.n_rows:
                shares[name] = float((rows.codes[name] == placed.unread_code).mean())
    return {name: share for name, share in shares.items() if share}


def _of_columns(package: Package, shares: Mapping[str, float]) -> dict[str, float]:
    """The same without parts of dates, which are read with their dates."""
    columns = {
        f"{table.name}.{name}"
        for table in package.tables
        for name in (table.schema.types if table.schema else ())
    }
    return {name: share for name, share in shares.items() if name in columns}


def _n_roots(package: Package, read: _Read, what: str) -> int:
    n_rows = read.rows[package.root.name].n_rows
    if not n_rows:
        raise ParameterError(f"{what} tables: {package.root.name!r} has no rows; give at least one")
    return n_rows


def _broken_links(package: Package, read: _Read) -> dict[str, int]:
    """By table, how many rows refer to no row of their parent, or have a key that another row has."""
    broken = {}
    for table in package.tables:
        keys = read.keys[table.name]
        own = UnitRows(max_rows=1, missing_values=table.missing_values)
        own.add(joined_keys(keys, table.key, table.missing_values))
        broken[table.name] = int((~own.kept()).sum()) if table.key else 0
        if table.parent is not None:
            above = joined_keys(
                read.keys[table.parent], package[table.parent].key, table.missing_values
            )
            references = joined_keys(keys, table.parent_key, table.missing_values)
            broken[table.name] += int(
                (referred_rows(above, references, table.missing_values) < 0).sum()
            )
    return broken


def _row_facts(true: _Read, made: _Read) -> list[dict[str, Any]]:
    """Of each table how many rows it has, and how many of them are compared."""
    return [
        {
            "table": name,
            "real": len(true.keys[name]),
            "synthetic": len(made.keys[name]),
            "real_used": true.rows[name].n_rows,
            "synthetic_used": made.rows[name].n_rows,
        }
        for name in true.rows
    ]


def _release_facts(certificate: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the certificate says of the guarantee, if there is one."""
    if certificate is None:
        return {}
    if not isinstance(certificate, Mapping) or "guarantee" not in certificate:
        raise ParameterError(
            "certificate: it has no guarantee; give that of a release, or leave it out"
        )
    names = (
        "guarantee",
        "unit_of_privacy",
        "epsilon",
        "delta",
        "is_private",
        "complete",
        "cautions",
    )
    return {name: certificate[name] for name in names if name in certificate}
