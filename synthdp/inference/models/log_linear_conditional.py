"""One attribute given all others: a log-linear model, whose terms are held back by the noise.

Rows that are moved towards many noisy tables follow the noise of each of them, and what predicts
the attribute is lost in it. Here tables of the attribute with one other say how often each value
goes with each level, and those with several others only where that is beyond their noise. Terms are
fitted by improved iterative scaling with a normal prior [Della Pietra et al. 1997, Chen & Rosenfeld
1999]: what noise alone could do is not followed, and levels of an order differ little from their
neighbours.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array, IntArray, cell_numbers
from synthdp.inference.compiled import Compiled
from synthdp.inference.rank_dependence import levels_in_order

_RIDGE, _SMOOTH, _WIDE_RIDGE = 0.1, 0.1, 1.0
"""Records that hold back the logarithm of a term, as a share of its table's noise: at 0, for levels
without order; between neighbours, for levels with one, which are held at 0 by a tenth; at 0, for
terms of several others. A third of them, or three times as much, gains as much or a little less
(raw Adult, characters, loans, wages, marriages; epsilon .3 to 3).
"""
_IN_ORDER = 0.1
_CHANGES, _ROUNDS = 200, (10, 60)
"""How many times the terms of a set are changed in all, in rounds over all sets within bounds."""
_LAST_ROUNDS, _LAST_ROWS = 2, 1 << 17
"""Rounds on all rows, if they are more than those that terms were fitted on first, or evenly on so
many of them: the cells of each row take memory by the number of sets.
"""
_ENDED = 0.05
"""Share of the least noise that no cell's expected count changes by in a last round."""
_FITTED_ROWS = 1 << 14
"""Rows that terms are fitted on first, evenly from all. Twice as many and a half more changes take a
third more time to draw, and trees that learn from raw Adult (six releases) gain no more than chance.
"""

Floats = NDArray[np.float32]


class Terms(NamedTuple):
    """Terms of a log-linear model, a row for each cell of each set of other attributes, set after
    set.

    Attributes
    ----------
    starts
        Where the cells of each set start, and the end; shape ``(n_sets + 1,)``.
    wanted
        Shares of values in each cell; shape ``(n_cells, size)``, as that of ``logs``.
    logs
        The terms; changed by a fit.
    ridge, smooth
        Records that hold a cell's terms at 0, and at those of its neighbours; shape ``(n_cells,)``.
    neighbours
        The cells before and after in an order, -1 if there is none; shape ``(n_cells, 2)``.
    """

    starts: IntArray
    wanted: Floats
    logs: Floats
    ridge: Floats
    smooth: Floats
    neighbours: IntArray


@final
class LogLinearConditional:
    """The shares of an attribute's values in each of some rows.

    Parameters
    ----------
    domain
        All attributes.
    target
        The attribute.
    tables
        For sets of other attributes, in the order of the domain, shares of all their cells and,
        along the last axis, of the target's values.
    stddevs
        For each of them the noise of a count, in records.
    total
        Number of records.
    """

    def __init__(
        self,
        domain: Domain,
        target: str,
        tables: Mapping[Clique, Array],
        stddevs: Mapping[Clique, float],
        *,
        total: float,
    ) -> None:
        self._domain = domain
        # Single attributes last: what they say is known best, and then holds when a fit ends.
        self._scopes = sorted(tables, key=len, reverse=True)
        self._size = domain[target]
        self._total = total
        self._ended = _ENDED * min(stddevs.values())
        own = sum(table.reshape(-1, self._size).sum(axis=0) for table in tables.values())
        self._shares = np.maximum(np.asarray(own) / np.sum(own), 1e-9)
        self._parts = [self._terms(scope, tables[scope], stddevs[scope]) for scope in self._scopes]

    def _terms(self, scope: Clique, table: Array, stddev: float) -> Terms:
        table = table.reshape(-1, self._size)
        whole = table.sum(axis=1, keepdims=True)
        wanted = np.divide(
            table, whole, out=np.tile(self._shares, (len(table), 1)), where=whole > 0
        )
        ridge = np.full(len(table), _RIDGE if len(scope) == 1 else _WIDE_RIDGE)
        smooth = np.zeros(len(table))
        neighbours = np.full((len(table), 2), -1)
        if len(scope) == 1 and scope[0] in self._domain.ordered:
            levels = levels_in_order(self._domain, scope[0])
            neighbours[levels[1:], 0] = levels[:-1]
            neighbours[levels[:-1], 1] = levels[1:]
            ridge[levels] *= _IN_ORDER
            smooth[levels] = _SMOOTH
        # A noise above all records holds no more back than one of all of them.
        stddev = min(stddev, self._total)
        return Terms(
            starts=np.array([0, len(table)]),
            wanted=wanted.astype(np.float32),
            logs=np.zeros(table.shape, dtype=np.float32),
            ridge=(ridge * stddev).astype(np.float32),
            smooth=(smooth * stddev).astype(np.float32),
            neighbours=neighbours,
        )

    def shares(self, rows: Sequence[NDArray[np.integer]]) -> Array:
        """Shares of the target's values in each row, given the others; shape ``(n_rows, size)``.

        Parameters
        ----------
        rows
            Codes of all attributes; those of the target play no part.
        """
        n_rows = len(rows[0])
        terms = _joined(self._parts)
        every = -(-n_rows // _FITTED_ROWS)
        n_rounds = int(np.clip(_CHANGES // len(self._scopes), *_ROUNDS))
        self._fit(terms, [column[::every] for column in rows], n_rounds)
        if every > 1:
            every = -(-n_rows // _LAST_ROWS)
            self._fit(terms, [column[::every] for column in rows], _LAST_ROUNDS)
        shares = np.empty((n_rows, self._size))
        for first in range(0, n_rows, _FITTED_ROWS):
            some = slice(first, first + _FITTED_ROWS)
            logs = self._logs(terms, self._cells(terms, [column[some] for column in rows]))
            logs -= logs.max(axis=1, keepdims=True)
            shares[some] = np.exp(logs, dtype=np.float64)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def _cells(self, terms: Terms, rows: Sequence[NDArray[np.integer]]) -> IntArray:
        """For each set and row the cell; shape ``(n_sets, n_rows)``."""
        n_rows = len(rows[0])
        cells = np.empty((len(self._scopes), n_rows), dtype=np.int64)
        for number, scope in enumerate(self._scopes):
            columns = [rows[self._domain.index(name)] for name in scope]
            cells[number] = cell_numbers(self._domain, scope, columns, n_rows)
            cells[number] += terms.starts[number]
        return cells

    def _logs(self, terms: Terms, cells: IntArray) -> Floats:
        """Logarithms of the shares that rows have, up to a constant of each."""
        logs = np.tile(np.log(self._shares).astype(np.float32), (cells.shape[1], 1))
        for each in cells:
            logs += terms.logs[each]
        return np.asarray(logs)

    def _fit(self, terms: Terms, rows: Sequence[NDArray[np.integer]], n_rounds: int) -> None:
        """Go on fitting terms to rows."""
        cells = self._cells(terms, rows)
        # Noise is in counts of all records, however many rows there are.
        weight = np.float32(self._total / cells.shape[1])
        scale_terms(cells, weight, self._logs(terms, cells), terms, n_rounds, self._ended)


def _joined(parts: Sequence[Terms]) -> Terms:
    """The terms of several sets, one after the other."""
    starts = np.cumsum([0, *(len(part.logs) for part in parts)])
    neighbours = [
        np.where(part.neighbours >= 0, part.neighbours + start, -1)
        for part, start in zip(parts, starts[:-1].tolist(), strict=True)
    ]
    return Terms(
        starts=starts,
        wanted=np.concatenate([part.wanted for part in parts]),
        logs=np.concatenate([part.logs for part in parts]),
        ridge=np.concatenate([part.ridge for part in parts]),
        smooth=np.concatenate([part.smooth for part in parts]),
        neighbours=np.concatenate(neighbours),
    )


def add_expected(
    cells: IntArray, weight: np.float32, logs: Floats, start: int, counts: Floats, each: Floats
) -> None:
    """Add up the shares of values that rows have, by cell.

    Parameters
    ----------
    cells
        Of the rows, shape ``(n_rows,)``, the first one of the set being ``start``.
    weight
        Records that a row stands for.
    logs
        Logarithms of shares, up to a constant of each row; shape ``(n_rows, size)``.
    counts
        Where the sums go, shape ``(n_cells, size)``.
    each
        Room for a row's shares, shape ``(size,)``.
    """
    size = logs.shape[1]
    for i in range(cells.size):
        largest = logs[i, 0]
        for v in range(1, size):
            largest = max(largest, logs[i, v])
        total = np.float32(0.0)
        for v in range(size):
            each[v] = np.exp(logs[i, v] - largest)
            total += each[v]
        cell = cells[i] - start
        for v in range(size):
            counts[cell, v] += weight * each[v] / total


def step_of(wanted: float, present: float, pull: float, held: float) -> float:
    """By how much a term changes: the root of ``wanted - present exp(x) + pull - held x``, which
    falls, by Newton's method; at most 3 either way.
    """
    step = 0.0
    for _ in range(6):
        scaled = present * np.exp(step)
        change = (wanted - scaled + pull - held * step) / (scaled + held + 1e-6)
        step += min(max(change, -1.0), 1.0)
    return min(max(step, -3.0), 3.0)


@Compiled
def scale_terms(  # noqa: C901
    cells: IntArray, weight: np.float32, logs: Floats, terms: Terms, n_rounds: int, ended: float
) -> None:
    """Change terms, set after set, until rows have the wanted shares as far as priors let them.

    Parameters
    ----------
    cells
        For each set and row the cell, shape ``(n_sets, n_rows)``.
    weight
        Records that a row stands for.
    logs
        Logarithms of the shares that rows have, up to a constant of each; shape ``(n_rows, size)``;
        changed.
    terms
        The terms, of which ``terms.logs`` is changed.
    n_rounds
        Rounds at most.
    ended
        Records by which some cell has to change for another round.
    """
    n_sets, n_rows = cells.shape
    size = logs.shape[1]
    each = np.empty(size, dtype=np.float32)
    for _ in range(n_rounds):
        worst = 0.0
        for s in range(n_sets):
            start = terms.starts[s]
            counts = np.zeros((terms.starts[s + 1] - start, size), dtype=np.float32)
            add_expected(cells[s], weight, logs, start, counts, each)
            steps = np.zeros_like(counts)
            for c in range(len(counts)):
                whole = counts[c].sum()
                if whole > 0.0:
                    before, after = terms.neighbours[start + c]
                    smooth = terms.smooth[start + c]
                    for v in range(size):
                        term = terms.logs[start + c, v]
                        held = terms.ridge[start + c]
                        pull = -held * term
                        # Neighbours change in the same step: twice the curvature bounds that.
                        if before >= 0:
                            pull += smooth * (terms.logs[before, v] - term)
                            held += 2.0 * smooth
                        if after >= 0:
                            pull += smooth * (terms.logs[after, v] - term)
                            held += 2.0 * smooth
                        wanted = whole * terms.wanted[start + c, v]
                        step = step_of(wanted, counts[c, v], pull, held)
                        steps[c, v] = step
                        worst = max(worst, abs(counts[c, v] * (np.exp(step) - 1.0)))
            for c in range(len(counts)):
                for v in range(size):
                    terms.logs[start + c, v] += steps[c, v]
            for i in range(n_rows):
                for v in range(size):
                    logs[i, v] += steps[cells[s, i] - start, v]
        if worst < ended:
            break
