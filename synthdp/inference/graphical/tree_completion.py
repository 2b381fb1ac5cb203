"""Completing partial records: exact conditional draws from the potentials on a junction tree.

All records have the same given attributes. Messages are collected towards the root for a batch of
records at once, one row of each table a distinct record; then the cliques are drawn from the root
down, each record its own missing values. Everything is in logarithms: what is given may have a
probability far below the smallest float, and so may cells of the tree's marginals; a record is
impossible only if potentials of -inf rule it out.
"""

from collections.abc import Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.errors import ParameterError
from synthdp.inference.arrays import Array, CodeColumn, IntArray, row_keys
from synthdp.inference.graphical.arithmetic import LogArithmetic
from synthdp.inference.graphical.contradictions import blame, possible_of
from synthdp.inference.trees.junction_tree import JunctionTree
from synthdp.inference.value_drawing import draw_each

_BATCH_CELLS = 1 << 22
"""Cells of the tables of a batch of records, one table a record: 32 MB."""


def complete_records(
    tree: JunctionTree,
    log_potentials: Mapping[Clique, Array],
    given: Mapping[str, CodeColumn],
    *,
    generator: np.random.Generator,
) -> dict[str, CodeColumn]:
    """Draw the attributes that are not given, for each record from its own conditional
    distribution.

    Parameters
    ----------
    tree
        A junction tree that covers the cliques of the potentials.
    log_potentials
        For each clique, in the order of the domain, the logarithm of its potential; -inf marks
        impossible cells.
    given
        Codes of the given attributes, each of shape ``(n_rows,)``.
    generator
        Source of (seeded, not private) randomness.

    Returns
    -------
    Codes of all attributes, each of shape ``(n_rows,)``.

    Raises
    ------
    ParameterError
        If a record is impossible.
    """
    completer = _Completer(tree, log_potentials, frozenset(given))
    n_rows = len(next(iter(given.values())))
    # Records that are given the same values share one upward pass.
    keys, _ = row_keys(tree.domain, tuple(given), given.values(), n_rows)
    order = np.argsort(keys, kind="stable")
    drawn: dict[str, CodeColumn] = {
        name: np.empty(n_rows, dtype=np.intp) for name in tree.domain.attributes
    }
    # Each distinct record has tables of its own, so their number at once is what memory allows.
    batch = max(1, _BATCH_CELLS // completer.cells_per_row)
    for start in range(0, n_rows, batch):
        rows = order[start : start + batch]
        _, first, members = np.unique(keys[rows], return_index=True, return_inverse=True)
        distinct = {name: codes[rows[first]].astype(np.intp) for name, codes in given.items()}
        tables = completer.collected(distinct)
        # At the root each record's table holds all that is known of it: nothing left there means
        # that no row fits.
        likeliest = tables[0].reshape(len(tables[0]), -1).max(axis=1)
        impossible = np.flatnonzero(np.isneginf(likeliest))
        if impossible.size:
            record = {name: int(codes[impossible[0]]) for name, codes in distinct.items()}
            raise _contradiction(tree, log_potentials, record)
        for name, codes in completer.drawn(tables, distinct, members, generator).items():
            drawn[name][rows] = codes
    return drawn


def _contradiction(
    tree: JunctionTree, log_potentials: Mapping[Clique, Array], record: Mapping[str, int]
) -> ParameterError:
    """The error about a record that is impossible.

    Only constraints can make it so, as fitted potentials are finite; which ones is worked out for
    the error alone.
    """
    levels = {name: np.arange(tree.domain[name]) == code for name, code in record.items()}
    cause = blame(tree.domain, possible_of(log_potentials), levels)
    return ParameterError(f"given: a record contradicts {cause}; leave out what is impossible")


class _Completer:
    """Logarithms of the cliques' potentials, with the given attributes as leading axes."""

    def __init__(
        self, tree: JunctionTree, log_potentials: Mapping[Clique, Array], given: frozenset[str]
    ) -> None:
        def without_given(names: Clique) -> Clique:
            return tuple(name for name in names if name not in given)

        self._tree = tree
        self._given = [tuple(name for name in clique if name in given) for clique in tree.cliques]
        self._free = [*map(without_given, tree.cliques)]
        self._free_separators = [*map(without_given, tree.separators)]
        self._tables = self._joined(log_potentials)
        # A part of the tree below which nothing is given sends the same message for all records: it
        # is sent once.
        self._live = [bool(names) for names in self._given]
        for child in range(len(tree.cliques) - 1, 0, -1):
            parent = tree.parents[child]
            if self._live[child]:
                self._live[parent] = True
            else:
                self._tables[parent] += self._message(self._tables[child][None], child)[0]
        sizes = [tree.domain.size(free) for free in self._free]
        n_collected = sum(size for size, live in zip(sizes, self._live, strict=True) if live)
        # Beside these, when a clique is drawn, its values given those of its separator.
        drawn_parts = zip(self._free, self._free_separators, strict=True)
        n_drawn = max(tree.domain.size(set(free) - set(fixed)) for free, fixed in drawn_parts)
        self.cells_per_row = n_collected + n_drawn

    def collected(self, given: Mapping[str, NDArray[np.intp]]) -> list[Array]:
        """Each clique's table given what is known in and below it; the first axis is that of the
        records, or 1.
        """
        tables = []
        for table, names in zip(self._tables, self._given, strict=True):
            codes = tuple(given[name] for name in names)
            tables.append(table[codes] if names else table[None])
        for child in range(len(tables) - 1, 0, -1):
            if self._live[child]:
                parent = self._tree.parents[child]
                # Not in place: the table may be shared by records, or a view of the potentials.
                tables[parent] = tables[parent] + self._message(tables[child], child)
        return tables

    def drawn(
        self,
        tables: list[Array],
        given: Mapping[str, NDArray[np.intp]],
        members: IntArray,
        generator: np.random.Generator,
    ) -> dict[str, CodeColumn]:
        """Codes of all attributes for some records, each of them equal to one of the distinct ones
        in what is given.
        """
        drawn: dict[str, CodeColumn] = {name: codes[members] for name, codes in given.items()}
        # Parents before children: what a clique shares with its parent is drawn by then, and
        # conditions the rest.
        for free, table in zip(self._free, tables, strict=True):
            done = [name for name in free if name in drawn]
            new = [name for name in free if name not in drawn]
            if not new:
                continue
            ordered = np.transpose(table, [0, *(free.index(name) + 1 for name in done + new)])
            # A clique that no given attribute reaches has one table for all.
            records = members if len(table) > 1 else np.zeros_like(members)
            conditions = (records, *(drawn[name] for name in done))
            shape = self._tree.domain.project(new).shape
            logs = ordered[conditions].reshape(members.size, prod(shape))
            # In logarithms up to here, so that no record is too improbable to be completed.
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            cells = draw_each(weights, generator=generator)
            drawn.update(zip(new, np.unravel_index(cells, shape), strict=True))
        return drawn

    def _joined(self, log_potentials: Mapping[Clique, Array]) -> list[Array]:
        """For each clique of the tree the sum of potentials, each potential in one of them."""
        domain = self._tree.domain
        tables = [np.zeros(domain.project(clique).shape) for clique in self._tree.cliques]
        for clique, potential in log_potentials.items():
            home = self._tree.position_of(clique)
            assert home is not None  # the tree covers all cliques
            shape = [domain[name] if name in clique else 1 for name in self._tree.cliques[home]]
            tables[home] += potential.reshape(shape)
        joined = []
        for position, clique in enumerate(self._tree.cliques):
            # What is given comes first, so that records look their tables up.
            names = self._given[position] + self._free[position]
            axes = [clique.index(name) for name in names]
            joined.append(np.transpose(tables[position], axes))
        return joined

    def _message(self, table: Array, child: int) -> Array:
        """Logarithm of what is given in and below a clique, by the values of its separator; axes
        are its parent's.
        """
        kept = self._free_separators[child]
        # The first axis is that of the records.
        summed = tuple(axis + 1 for axis, name in enumerate(self._free[child]) if name not in kept)
        message = LogArithmetic().summed(table, summed)
        of_parent = self._free[self._tree.parents[child]]
        sizes = [self._tree.domain[name] if name in kept else 1 for name in of_parent]
        return message.reshape([len(table), *sizes])
