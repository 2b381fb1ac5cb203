"""Linked tables held against the true ones: each table's own pairs, pairs across tables, numbers, siblings, keys."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.table.frames.containers import opened
from synthdp.table.linking.linked_rows import FamilyRows, LinkedTableReader, joined_keys, linked_rows
from synthdp.table.package.package import Package
from synthdp.table.package.view import View, views_of
from synthdp.table.records.unit_rows import UnitRows, turns_of
from synthdp.table.records.vocabulary import NO_KEY

KINDS = ("own pairs", "pairs across tables", "numbers of children", "siblings", "transitions")
"""What is compared, by the sum of absolute differences of shares, halved (TVD)."""

Counts = NDArray[np.float64]

_KEY = "0123456789abcdef"
"""Which rows beyond the bound are left out is the same in both: there is nobody to protect from whoever has both."""


@final
@dataclass(frozen=True)
class LinkedEvaluation:
    """How far synthetic tables are from the true ones. It is computed from records and is NOT PRIVATE.

    Parameters
    ----------
    distances
        One row a marginal: ``kind`` (of `KINDS`), ``table``, ``columns``, and ``tvd``, 0 to 1.
    broken_links
        By table, how many synthetic rows refer to no row of their parent, or have a key that another row has.
    """

    distances: pd.DataFrame
    broken_links: Mapping[str, int]

    def summary(self) -> pd.DataFrame:
        """The mean and the largest distance of each kind, and how many marginals it is of."""
        found = self.distances.groupby("kind", sort=False)["tvd"].agg(["mean", "max", "count"])
        return found.reindex([kind for kind in KINDS if kind in found.index])

    def _repr_html_(self) -> str:
        n_broken = sum(self.broken_links.values())
        return f"<p>NOT PRIVATE. Broken links: {n_broken}</p>\n{self.summary().to_html(border=0)}"


def evaluate_tables(
    truth: Mapping[str, Any], synthetic: Mapping[str, Any], package: Package | Mapping[str, Any]
) -> LinkedEvaluation:
    """Hold synthetic tables against the true ones; what it returns is NOT PRIVATE.

    Compared are, over the levels and bins of the package: all pairs of columns of one table; all pairs of a column and
    one of a table above; the number of children with each column of the parent; and all pairs of a column of a row with
    one of another row of the same parent: of any other (siblings), and where rows have an order of the next one
    (transitions). Rows beyond ``max_children`` are left out of both.

    Parameters
    ----------
    truth, synthetic
        The protected tables by name, as tables in memory of any kind that `synthesize` takes.
    package
        The package, as in `synthesize_tables`; columns that refer to public tables declare their levels.

    Raises
    ------
    ParameterError, SchemaError
        If a table is missing or does not fit the package.
    """
    described = package if isinstance(package, Package) else Package.from_dict(package)
    views = views_of(described)
    true, made = (_families(described, tables) for tables in (truth, synthetic))
    rows = []
    for name, view in views.items():
        if view.is_later:
            continue
        pairs = zip(_marginals(view, true[name]), _marginals(view, made[name]), strict=True)
        for (kind, columns, one), (_, _, other) in pairs:
            tvd = 0.5 * float(np.abs(one / max(one.sum(), 1) - other / max(other.sum(), 1)).sum())
            rows.append({"kind": kind, "table": name, "columns": columns, "tvd": tvd})
    return LinkedEvaluation(pd.DataFrame(rows), _broken_links(described, synthetic))


def _broken_links(package: Package, tables: Mapping[str, Any]) -> dict[str, int]:
    """By table, how many rows refer to no row of their parent, or have a key that another row has."""
    found = {}
    for table in package.tables:
        frame = opened(tables[table.name], f"tables[{table.name!r}]").frame
        own = UnitRows(max_rows=1, missing_values=table.missing_values)
        own.add(joined_keys(frame, table.key, table.missing_values))
        found[table.name] = int((~own.kept()).sum()) if table.key else 0
        if table.parent is not None:
            above = opened(tables[table.parent], f"tables[{table.parent!r}]").frame
            key = package[table.parent].key
            both = UnitRows(max_rows=1)
            both.add(joined_keys(above, key, table.missing_values))
            n_above = len(both.ids.keys)
            both.add(joined_keys(frame, table.parent_key, table.missing_values))
            rows = both.ids.rows.joined()[len(above) :]
            found[table.name] += int(((rows == NO_KEY) | (rows >= n_above)).sum())
    return found


def _families(package: Package, tables: Mapping[str, Any]) -> dict[str, FamilyRows]:
    readers = {table.name: LinkedTableReader(table, hash_key=_KEY) for table in package.tables}
    for name, reader in readers.items():
        reader.add(opened(tables[name], f"tables[{name!r}]").frame)
    return linked_rows(package.tables, readers)


def _marginals(view: View, rows: FamilyRows) -> Iterator[tuple[str, tuple[str, str], Counts]]:
    """Each statistic of one table: its kind, the columns, and counts of their cells."""
    schema = view.schema
    if schema is None:
        return
    columns, sizes = rows.with_above(), {name: schema[name].size for name in schema.names}
    own = view.table.attributes
    counts = set(view.counts)

    def counted(one: str, other: str, which: Any = slice(None), where: Any = slice(None)) -> Counts:
        cells = columns[one][which].astype(np.int64) * sizes[other] + columns[other][where]
        return np.bincount(cells, minlength=sizes[one] * sizes[other]).astype(np.float64)

    for one, other in combinations(own, 2):
        yield "own pairs", (one, other), counted(one, other)
    for one, other in product([name for name in view.above if not name.startswith("number of ")], own):
        yield "pairs across tables", (one, other), counted(one, other)
    for one, other in product(own, counts):
        yield "numbers of children", (one, other), counted(one, other)
    if view.table.parent is None or view.table.max_children == 1:
        return
    firsts, seconds = _pairs_of(rows)
    for one, other in product(own, own):
        yield "siblings", (one, other), counted(one, other, firsts, seconds)
    if view.table.order is not None:
        later = np.flatnonzero(turns_of(rows.parents) > 0)
        for one, other in product(own, own):
            yield "transitions", (one, other), counted(one, other, later - 1, later)


def _pairs_of(rows: FamilyRows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs of different rows of one parent, in both orders."""
    turns = turns_of(rows.parents)
    places = np.arange(rows.n_rows)
    later = [np.flatnonzero(turns >= step) for step in range(1, int(turns.max(initial=0)) + 1)]
    ones = np.concatenate([places[:0], *(which - step for step, which in enumerate(later, 1))])
    others = np.concatenate([places[:0], *later])
    return np.concatenate([ones, others]), np.concatenate([others, ones])
