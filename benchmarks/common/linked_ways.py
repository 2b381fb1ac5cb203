"""Ways to make linked tables synthetic with what is for one table, of any package.

Each gives tables of a package's columns with ids in place of keys, and `with_keys` makes keys of
these. All protect a root with everything below it, as ``--unit``, from one budget.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

import synthdp
from common.linked_opened import opened
from synthdp.data import held_rows
from synthdp.linked import LinkedTable, Package
from synthdp.privacy import Adjacency, PrivacyLedger
from synthdp.release import Release, RunSettings, as_mechanism
from synthdp.schema import BinnedColumn, OpenSchema

Tables = dict[str, pd.DataFrame]

DELTA = 1e-9
ROOT, ROW, PARENT = "root id", "row id", "parent id"
"""Columns of tables with ids: whose a row is, which it is, and which is its parent."""


def linked(tables: Tables, package: Package, epsilon: float, seed: int) -> Tables:
    """Ours."""
    return synthdp.synthesize(tables, package, epsilon=epsilon, delta=DELTA).sample(seed=seed)


def learnt(tables: Tables, package: Package, epsilon: float, seed: int) -> Tables:
    """Ours, of which levels, bounds and bins are learnt as far as they may be."""
    description = opened(package.content)
    return synthdp.synthesize(tables, description, epsilon=epsilon, delta=DELTA).sample(seed=seed)


def independent(tables: Tables, package: Package, epsilon: float, seed: int) -> Tables:
    """Each table by itself; rows are dealt to random parents."""
    ledger, share, rng = (
        whole_ledger(epsilon),
        Fraction(1, len(package.tables)),
        np.random.default_rng(seed),
    )
    ids, found = with_ids(tables, package), Tables()
    for table in package.tables:
        frame = ids[table.name][[ROOT, *own(table)]]
        rows = drawn(frame, fields(table), epsilon, ledger, share, most(package, table))
        found[table.name] = rows
        if table.parent is not None:
            found[table.name] = dealt(rows, found[table.parent], [], table.max_children, rng)
    return with_keys(found, package)


def joined(tables: Tables, package: Package, epsilon: float, seed: int) -> Tables:
    """Each table joined with those above; rows are dealt to parents that have the same levels, as
    far as there are any.

    Parents are matched by columns of levels above, those of few levels first, as long as there are
    ten parents a combination.
    """
    ledger, share, rng = (
        whole_ledger(epsilon),
        Fraction(1, len(package.tables)),
        np.random.default_rng(seed),
    )
    ids, found = with_ids(tables, package), Tables()
    wide: Tables = {}
    for table in package.tables:
        kept = (
            [ROOT, ROW, *own(table)] if table.parent is None else [ROOT, ROW, PARENT, *own(table)]
        )
        frame = named(ids[table.name][kept], table)
        if table.parent is not None:
            above = (
                wide[table.parent]
                .drop(columns=[ROOT, PARENT], errors="ignore")
                .rename(columns={ROW: PARENT})
            )
            frame = frame.merge(above, on=PARENT)
        wide[table.name] = frame
        chain = [*package.ancestors(table.name), table]
        every = [field for each in chain for field in fields(each, prefix=True)]
        rows = drawn(
            frame[[ROOT, *(f["name"] for f in every)]],
            every,
            epsilon,
            ledger,
            share,
            most(package, table),
        )
        if table.parent is not None:
            parents = found[table.parent]
            by = matched(chain[:-1], len(parents))
            rows = dealt(rows, parents, by, table.max_children, rng)
            kept = [f"{table.name}.{name}" for name in own(table)]
            above = parents.drop(columns=PARENT, errors="ignore").rename(columns={ROW: PARENT})
            rows = rows[[PARENT, *kept]].merge(above, on=PARENT)
        found[table.name] = rows.assign(**{ROW: np.arange(len(rows))})
    plain = {}
    for table in package.tables:
        names = {f"{table.name}.{name}": name for name in own(table)}
        ids_of = [ROW] if table.parent is None else [ROW, PARENT]
        plain[table.name] = found[table.name][[*ids_of, *names]].rename(columns=names)
    return with_keys(plain, package)


def slots(tables: Tables, package: Package, epsilon: float, seed: int) -> Tables:
    """One wide row a root: numbers of children, and a place for each row that there can be.

    Rows are there as far as the numbers say; what a place lacks then is drawn from the same column
    of other places.
    """
    rng = np.random.default_rng(seed)
    wide, places = wide_rows(with_ids(tables, package), package)
    columns = [column for each in places.values() for column in each]
    out = drawn(
        wide[[ROOT, *(f["name"] for f in columns)]],
        columns,
        epsilon,
        whole_ledger(epsilon),
        Fraction(1),
        1,
    )
    return with_keys(narrow_rows(out, package, rng), package)


def narrow_rows(out: pd.DataFrame, package: Package, rng: np.random.Generator) -> Tables:
    """The tables with ids that wide rows hold."""
    found: Tables = {package.root.name: out[own(package.root)].assign(**{ROW: np.arange(len(out))})}
    there = {(): np.arange(len(out))}  # by place: for each root the row there, -1 for none
    for table in package.tables[1:]:
        parts, here, n_rows = [], {}, 0
        for place in above_of(table, there, package):
            numbers = out[count_name(table, place)].fillna(0).to_numpy(np.int64)
            for turn in range(table.max_children):
                slot = (*place, (table.name, turn))
                rows = np.flatnonzero((there[place] >= 0) & (numbers > turn))
                names = {slot_name(table, slot, name): name for name in own(table)}
                part = out.iloc[rows][list(names)].rename(columns=names)
                parts.append(part.assign(**{PARENT: there[place][rows]}))
                here[slot] = np.full(len(out), -1)
                here[slot][rows] = n_rows + np.arange(len(rows))
                n_rows += len(rows)
        there |= here
        rows = pd.concat(parts, ignore_index=True)
        found[table.name] = filled(rows.assign(**{ROW: np.arange(len(rows))}), table, rng)
    return found


Place = tuple[tuple[str, int], ...]


def wide_rows(
    ids: Tables, package: Package
) -> tuple[pd.DataFrame, dict[Place, list[dict[str, Any]]]]:
    """One row a root, and by place the fields of its columns."""
    root = package.root
    wide = (
        ids[root.name][[ROW, *own(root)]]
        .assign(**{ROOT: ids[root.name][ROW]})
        .set_index(ROOT, drop=False)
    )
    places: dict[Place, list[dict[str, Any]]] = {(): fields(root)}
    rows_at: dict[Place, pd.Series] = {(): wide[ROW]}  # by root
    parts = [wide]
    for table in package.tables[1:]:
        frame = bounded(ids[table.name], table)
        turns = frame.groupby(PARENT).cumcount()
        numbers = frame.groupby(PARENT).size()
        for place in above_of(table, places, package):
            above = rows_at[place]
            name = count_name(table, place)
            parts.append(above.map(numbers).fillna(0).astype("Int64").rename(name).to_frame())
            bounds = {"minimum": 0, "maximum": table.max_children, "required": False}
            bins = {"bins": table.max_children + 1}
            places[place].append(
                {"name": name, "type": "integer", "constraints": bounds, "synthdp": bins}
            )
            for turn in range(table.max_children):
                slot = (*place, (table.name, turn))
                part = frame[turns == turn].set_index(PARENT)
                owners = pd.Series(above.index, index=above.to_numpy())
                part = part[part.index.isin(owners.index)]
                part.index = owners.loc[part.index].to_numpy()
                rows_at[slot] = part[ROW]
                parts.append(
                    part[own(table)].rename(
                        columns={n: slot_name(table, slot, n) for n in own(table)}
                    )
                )
                places[slot] = [
                    {
                        **f,
                        "name": slot_name(table, slot, f["name"]),
                        "constraints": {**f["constraints"], "required": False},
                    }
                    for f in fields(table)
                ]
    return pd.concat(parts, axis=1), places


def above_of(table: LinkedTable, places: Iterable[Place], package: Package) -> list[Place]:
    """The places of the parents of a table's rows."""
    return [
        place for place in places if (place[-1][0] if place else package.root.name) == table.parent
    ]


def count_name(table: LinkedTable, place: Place) -> str:
    """The number of a table's rows below the row at a place."""
    return f"n {table.name} {'.'.join(str(turn) for _, turn in place)}"


def slot_name(table: LinkedTable, slot: Place, name: str) -> str:
    """A column of the row at a place."""
    return f"{table.name} {'.'.join(str(turn) for _, turn in slot)} {name}"


def filled(rows: pd.DataFrame, table: LinkedTable, rng: np.random.Generator) -> pd.DataFrame:
    """Rows in the order of their parents, and as the table orders them; missing values that must be
    there are drawn.
    """
    assert table.schema is not None
    for column in table.schema.table_columns:
        lacking = rows[column.name].isna()
        known = rows.loc[~lacking, column.name]
        if column.required and lacking.any():
            rows = rows[~lacking] if known.empty else rows
            if len(known):
                rows.loc[lacking, column.name] = rng.choice(known.to_numpy(), int(lacking.sum()))
    return bounded(rows, table)


# --- what the ways share --------------------------------------------------------------------------


def whole_ledger(epsilon: float) -> PrivacyLedger:
    """A budget that pays for all tables."""
    accounting = as_mechanism("auto").default_accounting
    return PrivacyLedger(
        epsilon=epsilon,
        delta=DELTA,
        adjacency=Adjacency.ADD_REMOVE,
        accounting=accounting,
        unit_column=ROOT,
    )


def drawn(
    frame: pd.DataFrame,
    columns: Sequence[Mapping[str, Any]],
    epsilon: float,
    ledger: PrivacyLedger,
    share: Fraction,
    rows: int,
) -> pd.DataFrame:
    """A synthetic table with ``--unit``, of at most so many rows a root, paid from a share of a
    budget.
    """
    schema = OpenSchema.from_dict({"fields": columns}).reordered(frame.columns, unit=ROOT)
    part = ledger.part(ledger.budget * share, max_rows=rows)
    release = Release(
        schema=schema,
        settings=RunSettings(
            epsilon=epsilon, delta=DELTA, mechanism="auto", adjacency="add-remove"
        ),
        ledger=part,
    )
    synthesis = release.of(held_rows(frame, schema, unit=ROOT, max_rows=rows))
    return synthesis.sample(None if synthesis.knows_size else 1000)


def own(table: LinkedTable) -> list[str]:
    """The columns of a table that are no keys."""
    return [] if table.schema is None else [column.name for column in table.schema.table_columns]


def fields(table: LinkedTable, *, prefix: bool = False) -> list[dict[str, Any]]:
    """Their fields."""
    found = [] if table.declared is None else table.declared.to_dict()["fields"]
    return [
        {**field, "name": f"{table.name}.{field['name']}"} if prefix else field for field in found
    ]


def named(frame: pd.DataFrame, table: LinkedTable) -> pd.DataFrame:
    """Columns with the name of their table before them."""
    return frame.rename(columns={name: f"{table.name}.{name}" for name in own(table)})


def most(package: Package, table: LinkedTable) -> int:
    """Most rows of one root."""
    return int(np.prod([each.max_children for each in (*package.ancestors(table.name), table)]))


def bounded(rows: pd.DataFrame, table: LinkedTable) -> pd.DataFrame:
    """Rows by parent, in the table's order, at most so many of each."""
    keys = [rows[PARENT].to_numpy()]
    if table.order is not None:
        assert table.schema is not None
        column = table.schema[table.order]
        keys.insert(
            0,
            (column.encode(rows[table.order]), rows[table.order])[isinstance(column, BinnedColumn)],
        )
    rows = rows.iloc[np.lexsort(keys)]
    return rows[rows.groupby(PARENT).cumcount() < table.max_children].reset_index(drop=True)


def with_ids(tables: Tables, package: Package) -> Tables:
    """The tables with numbers in place of keys; rows without a parent are left out."""
    found: Tables = {}
    for table in package.tables:
        frame = tables[table.name].reset_index(drop=True)
        frame = frame.assign(**{ROW: np.arange(len(frame))})
        if table.parent is None:
            frame = frame.assign(**{ROOT: frame[ROW]})
        else:
            key = package[table.parent].key
            above = found[table.parent][[*key, ROW, ROOT]].rename(columns={ROW: PARENT})
            frame = frame.merge(
                above.rename(columns=dict(zip(key, table.parent_key, strict=True))),
                on=list(table.parent_key),
            )
        found[table.name] = frame
    return found


def with_keys(found: Tables, package: Package) -> Tables:
    """The tables as the package has them, with keys made of ids."""
    tables: Tables = {}
    for table in package.tables:
        frame = found[table.name].reset_index(drop=True)
        if table.parent is not None:
            frame = bounded(frame, table)
            above = tables[table.parent].set_index(ROW)
            for name, key in zip(table.parent_key, package[table.parent].key, strict=True):
                frame[name] = above[key].loc[frame[PARENT]].to_numpy()
        numbers = (
            frame.groupby(PARENT).cumcount() + 1
            if set(table.parent_key) & set(table.key)
            else frame.index + 1
        )
        for name in table.key:
            if name not in table.parent_key:
                frame[name] = numbers.astype(str)
        tables[table.name] = frame.assign(**({} if ROW in frame else {ROW: frame.index}))
    return {table.name: tables[table.name][list(table.fields)] for table in package.tables}


def dealt(
    rows: pd.DataFrame,
    parents: pd.DataFrame,
    by: Sequence[str],
    at_most: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Rows with a parent that has the same in some columns, if there is one, and room for them."""
    owners, room = np.full(len(rows), -1), np.full(len(parents), at_most)
    indices = parents.groupby(list(by)).indices if by else {}
    groups = {key if isinstance(key, tuple) else (key,): at for key, at in indices.items()}
    for row, key in enumerate(rows[list(by)].itertuples(index=False, name=None)):
        places = groups.get(key)
        for _ in range(5):
            place = (
                rng.integers(len(parents)) if places is None else places[rng.integers(len(places))]
            )
            if room[place]:
                owners[row], room[place] = place, room[place] - 1
                break
    ids = parents[ROW].to_numpy() if ROW in parents else np.arange(len(parents))
    kept = rows[owners >= 0].assign(**{PARENT: ids[owners[owners >= 0]]})
    return kept.reset_index(drop=True).assign(**{ROW: np.arange(len(kept))})


def matched(above: Sequence[LinkedTable], n_parents: int) -> list[str]:
    """The columns of levels above by which rows are dealt: those of few levels, while combinations
    are frequent.
    """
    columns = [
        (column.size, f"{table.name}.{column.name}")
        for table in above
        for column in (() if table.schema is None else table.schema.table_columns)
        if not isinstance(column, BinnedColumn)
    ]
    found, n_cells = [], 1
    for size, name in sorted(columns):
        if n_cells * size <= n_parents / 10:
            found.append(name)
            n_cells *= size
    return found


WAYS = {
    "linked": linked,
    "learnt": learnt,
    "independent": independent,
    "joined": joined,
    "slots": slots,
}
