"""Small packages of every shape, ugly tables for them, and what hangs on whom, by the words of
docs/linked.md alone.
"""

import numpy as np
import pandas as pd

from synthdp.linked import LinkedRows, LinkedTableReader

SHAPES = {
    "alone": {"a": None},
    "pair": {"a": None, "b": "a"},
    "star": {"a": None, "b": "a", "c": "a"},
    "chain": {"a": None, "b": "a", "c": "b"},
    "tree": {"a": None, "b": "a", "c": "b", "d": "a"},
    "deep": {"a": None, "b": "a", "c": "b", "d": "c"},
    "keyed": {"a": None, "b": "a", "c": "b"},
}
"""Each table with the one that it hangs on; of ``keyed`` the column is a part of the key."""

KEYS = ("1", "2", "3")
UGLY_KEYS = (*KEYS, *KEYS, " 1 ", 1, 2.0, None, "", float("nan"))
"""Few, so that rows share them; of several types, and missing ones."""


def small_description(rng, shape, *, most=3):
    """A package: keys of one column or of those of all tables above, rows with an order or without."""
    if shape == "keyed":
        return _keyed_description(rng, most)
    parents, is_composite, resources = SHAPES[shape], not rng.integers(3), []
    for name, parent in parents.items():
        is_above = name in parents.values()
        key = [*(_key_of(parents, parent) if is_composite and parent else ()), f"{name} id"]
        link = _link(parents, parent, is_composite)
        has_column = parent is not None or shape == "alone" or bool(rng.integers(3))
        x = {"name": "x", "type": "string", "constraints": {"enum": ["u", "v"], "required": True}}
        names = list(dict.fromkeys([*link, *(key if is_above or parent is None else [])]))
        schema = {"fields": [*({"name": each} for each in names), *([x] if has_column else [])]}
        if is_above or parent is None:
            schema["primaryKey"] = key
        own = {}
        if parent is not None:
            schema["foreignKeys"] = [
                {"fields": link, "reference": {"resource": parent, "fields": link}}
            ]
            own = {"max_children": int(rng.integers(1, most + 1))} | (
                {"order": "x"} if rng.integers(2) else {}
            )
        resources.append({"name": name, "schema": schema, **({"synthdp": own} if own else {})})
    return {"resources": resources}


def _keyed_description(rng, most):
    """Tables of which the column is a part of the key, beside that of the table above."""
    resources, above = [], {}
    for name, parent in SHAPES["keyed"].items():
        x = {"name": "x", "type": "string", "constraints": {"enum": ["u", "v"]}}
        key = [*above, "x", f"{name} id"]
        schema = {"fields": [*({"name": each} for each in [*above, f"{name} id"]), x]}
        schema["primaryKey"] = key
        own = {}
        if parent is not None:
            there = {"resource": parent, "fields": [*above.values()]}
            schema["foreignKeys"] = [{"fields": [*above], "reference": there}]
            own = {"max_children": int(rng.integers(1, most + 1))}
            own |= {"order": "x"} if rng.integers(2) else {}
        resources.append({"name": name, "schema": schema, **({"synthdp": own} if own else {})})
        above = {f"{name} x" if each == "x" else each: each for each in key}
    return {"resources": resources}


def _key_of(parents, name):
    above = parents[name]
    return [*(_key_of(parents, above) if above else ()), f"{name} id"]


def _link(parents, parent, is_composite):
    if parent is None:
        return []
    return _key_of(parents, parent) if is_composite else [f"{parent} id"]


def small_tables(rng, found, keys=UGLY_KEYS, *, most=8, values=("u", "v")):
    """Tables of few rows with any keys, so that many repeat, are missing, or match nothing."""
    tables = {}
    for table in found.tables:
        n_rows = int(rng.integers(0, most))
        made = {
            name: _drawn(rng, _values_of(table, name, keys, values), n_rows)
            for name in table.fields
        }
        tables[table.name] = pd.DataFrame(made, columns=list(table.fields))
    return tables


def _values_of(table, name, keys, values):
    """Of which a column has values: levels also where it is a key, and where it refers to such."""
    is_level = name in table.drawn_keys or name.endswith(" x")
    return values if is_level or name not in table.keys else keys


def _drawn(rng, values, n_rows):
    column = np.empty(n_rows, dtype=object)
    for row in range(n_rows):
        column[row] = values[rng.integers(len(values))]
    return pd.Series(column, dtype=object)


def key_texts(frame, names):
    """For each row its key as texts, None where a part is missing."""
    rows = []
    for values in frame[list(names)].itertuples(index=False):
        texts = [
            "" if value is None or value != value else f"{value}".strip().removesuffix(".0")
            for value in values
        ]
        rows.append(tuple(texts) if all(texts) else None)
    return rows


def hanging_rows(found, tables, roots):
    """For each table the rows that hang on roots of these keys, whether they may be used or not."""
    rows, keys = {}, {}
    for table in found.tables:
        own = key_texts(tables[table.name], table.key)
        if table.parent is None:
            rows[table.name] = [row for row, key in enumerate(own) if key in roots]
        else:
            references = key_texts(tables[table.name], table.parent_key)
            rows[table.name] = [
                row for row, key in enumerate(references) if key in keys[table.parent]
            ]
        keys[table.name] = {own[row] for row in rows[table.name]} - {None} if table.key else set()
    return rows


def root_keys(found, tables):
    return {key for key in key_texts(tables[found.root.name], found.root.key) if key is not None}


def without_root(found, tables, key):
    """The tables without a root and all rows that hang on it and on no other one."""
    own = hanging_rows(found, tables, {key})
    others = hanging_rows(found, tables, root_keys(found, tables) - {key})
    kept = {}
    for name, frame in tables.items():
        gone = np.zeros(len(frame), np.bool_)
        gone[own[name]] = True
        gone[others[name]] = False
        kept[name] = frame[~gone].reset_index(drop=True)
    return kept


def only_hanging(found, tables):
    """The tables without the rows that hang on no root."""
    rows = hanging_rows(found, tables, root_keys(found, tables))
    return {name: frame.iloc[rows[name]].reset_index(drop=True) for name, frame in tables.items()}


def rows_of(found, tables, *, hash_key, n_at_once=None):
    """Linked rows of all tables, which are read so many rows at once, or whole."""
    readers = {table.name: LinkedTableReader(table, hash_key=hash_key) for table in found.tables}
    for name, reader in readers.items():
        rows = tables[name]
        n_rows = n_at_once or max(len(rows), 1)
        for start in range(0, max(len(rows), 1), n_rows):
            reader.add(rows.iloc[start : start + n_rows])
    return LinkedRows(found.tables, readers, "root", hash_key=hash_key)


def largest_move(whole, fewer):
    """By how much fewer rows move the counts of any view, as a share of what is charged for.

    Both are counts by the label of a view, with the most that a root may move them; rows that are
    gone only make counts smaller.
    """
    moves = {label: whole[label][0] - counts for label, (counts, _) in fewer.items()}
    assert all(moved.min() >= 0 for moved in moves.values()), moves
    return max(moves[label].sum() / most for label, (_, most) in fewer.items())
