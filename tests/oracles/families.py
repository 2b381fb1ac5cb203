"""What a package counts, worked out family by family in exact fractions, by the words of
docs/linked.md.
"""

from collections import Counter
from fractions import Fraction
from math import lcm, prod

from helpers.homes import home
from helpers.small_packages import key_texts

from synthdp.linked import LinkedView


def counted(found, tables):
    """By table and whether rows are later ones: units of weight of each cell, and of a whole family
    at most.

    ``tables`` have roots of different keys, and no more rows of one parent than may be used where
    there is no order: else it depends on a random key which are.
    """
    texts = {
        table.name: (
            key_texts(tables[table.name], table.key),
            key_texts(tables[table.name], table.parent_key),
        )
        for table in found.tables
    }
    result = {}
    for root, key in enumerate(texts[found.root.name][0]):
        if key is not None:
            _add_family(found, tables, texts, root, result)
    return result


class _Node:
    def __init__(self, table, row, above, values):
        self.table, self.row, self.above = table, row, above
        self.own, self.below = values, {}

    def cells(self):
        """Its columns and numbers of children, and those above it."""
        counts = {f"number of {name}": len(rows) for name, rows in self.below.items()}
        return ({} if self.above is None else self.above.cells()) | self.own | counts


def _node(tables, table, row, above):
    has_column = table.schema is not None
    return _Node(
        table, row, above, {f"{table.name}.x": tables[table.name]["x"][row]} if has_column else {}
    )


def _add_family(found, tables, texts, root, result):
    nodes = {found.root.name: [_node(tables, found.root, root, None)]}
    for table in found.tables[1:]:
        own, references = texts[table.name]
        pairs = []
        for above in nodes[table.parent]:
            key = texts[table.parent][0][above.row]
            rows = [row for row, reference in enumerate(references) if reference == key]
            pairs += [(row, above) for row in _used(table, rows, own, tables[table.name])]
            above.below[table.name] = []
        taken = set()
        for row, above in sorted(pairs, key=lambda pair: pair[0]):
            if not table.row_key or own[row] not in taken:
                taken.add(own[row])
                above.below[table.name].append(_node(tables, table, row, above))
        if table.order is not None:
            for above in nodes[table.parent]:
                above.below[table.name].sort(
                    key=lambda node: (node.own[f"{table.name}.x"], node.row)
                )
        nodes[table.name] = [
            node for above in nodes[table.parent] for node in above.below[table.name]
        ]
    for rows in nodes.values():
        for node in rows:
            _count(found, node, result)


def _used(table, rows, own, frame):
    """Of the rows that refer to one row those that may be used."""
    if table.row_key:
        rows = [row for row in rows if own[row] is not None]
    if table.order is None:
        assert len(rows) <= table.max_children
        return rows
    if table.row_key:
        rows = [
            row
            for place, row in enumerate(rows)
            if own[row] not in {own[before] for before in rows[:place]}
        ]
    return sorted(rows, key=lambda row: frame["x"][row])[: table.max_children]


def _place(position, n_siblings, most):
    """The position of a row, or of many that there may be the part of the way that it is on."""
    kept_apart = home(LinkedView).MAX_POSITIONS
    return position if most - 1 <= kept_apart else 1 + position * kept_apart // n_siblings


def _count(found, node, result):
    table, above, weight = node.table, node.above, Fraction(1)
    bounds = [each.max_children for each in found.ancestors(table.name) if each.parent]
    cells = node.cells() if above is None else above.cells() | node.cells()
    siblings = [] if above is None else above.below[table.name]
    position = next((position for position, each in enumerate(siblings) if each is node), 0)
    while above is not None and above.above is not None:
        weight /= len(above.above.below[above.table.name])
        above = above.above
    if position:
        weight /= len(siblings) - 1
        bounds.append(table.max_children - 1)
        beside = siblings[position - 1 if table.order is not None else 0]
        cells |= {f"other {name}": value for name, value in beside.own.items()}
        if home(LinkedView).FEWEST_LEVELS <= 2:  # as few as the columns of small packages have
            cells |= {f"repeated {n}": str(int(v == node.own[n])) for n, v in beside.own.items()}
        if table.order is not None and table.max_children > 2:
            cells[f"place among {table.name}"] = _place(position, len(siblings), table.max_children)
    grid = prod(lcm(*range(1, most + 1)) for most in bounds)
    counts, _ = result.setdefault((table.name, position > 0), (Counter(), grid))
    counts[frozenset((name, str(value)) for name, value in cells.items())] += weight * grid
