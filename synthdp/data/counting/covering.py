"""Covering: many marginals from few, wider tables of counts, each counted once and summed down."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError

TABLE_CELLS = 2**16
"""Most cells of a table that covers several marginals, where rows are few: it stays in the
processor's cache.
"""

_ONE = 2**32  # above every sum of positions of attributes

Axes: TypeAlias = tuple[int, ...]
"""Positions of attributes in the domain, in the order of an array's axes."""


def cover(
    wanted: Sequence[Axes], shape: Sequence[int], table_cells: int = TABLE_CELLS
) -> Iterator[tuple[Axes, list[int]]]:
    """Plan which tables to count: each marginal wanted lies within one of them.

    Greedy: a table starts as the largest marginal that is not covered yet, and takes in the
    attribute that completes most others, while it has at most ``table_cells`` cells. A step costs
    as much as the uncovered marginals that have the attribute. Larger marginals stand alone.

    Parameters
    ----------
    wanted
        Marginals, each attribute once.
    shape
        Numbers of levels of all attributes of the domain.
    table_cells
        Most cells of a table that covers several marginals.

    Yields
    ------
    A table's axes, the most levels last, and the indices into ``wanted`` of what it covers; each
    index comes once.

    >>> list(cover([(0, 1), (1, 2), (2, 0), (3,)], (4, 3, 2, 2**20)))
    [((3,), [3]), ((2, 1, 0), [0, 1, 2])]
    """
    sizes = [prod(shape[axis] for axis in axes) for axes in wanted]
    # A larger one would cover nothing but itself.
    small = [index for index, size in enumerate(sizes) if size <= table_cells]
    for index, size in enumerate(sizes):
        if size > table_cells:
            yield _by_levels(wanted[index], shape), [index]
    uncovered = _Uncovered([wanted[index] for index in small], shape, table_cells)
    for start in sorted(
        # Wide marginals first: narrow ones are mostly inside of them by then.
        range(len(small)),
        key=lambda start: (-len(wanted[small[start]]), -sizes[small[start]]),
    ):
        if not uncovered.covered[start]:
            axes, members = uncovered.grow(start, wanted[small[start]])
            yield _by_levels(axes, shape), [small[member] for member in members]


def axes_of(clique: Clique, domain: Domain) -> Axes:
    """The attributes of a clique that have two levels or more, by their positions; raises
    `ParameterError` if one is not in the domain, or repeats.
    """
    if len(set(clique)) != len(clique):
        raise ParameterError(f"clique: attributes repeat in {clique}; name each attribute once")
    return varying(tuple(map(domain.index, clique)), domain.shape)


def in_batches(
    cliques: Sequence[Clique],
    domain: Domain,
    counted: Callable[[list[Axes]], Iterator[NDArray[np.int64]]],
    *,
    most_cells: int,
) -> Iterator[NDArray[np.int64]]:
    """Counts of many marginals, one axis an attribute, in the order asked for.

    ``counted`` is asked for marginals of varying attributes, at most about ``most_cells`` cells at
    a time, as what it gives is held until it is delivered. All cliques are checked before it is.
    """
    wanted = [axes_of(clique, domain) for clique in cliques]
    shapes = [domain.project(clique).shape for clique in cliques]
    tables = (
        counts for batch in batches(wanted, domain.shape, most_cells) for counts in counted(batch)
    )
    return (counts.reshape(shape) for shape, counts in zip(shapes, tables, strict=True))


def varying(axes: Axes, shape: Sequence[int]) -> Axes:
    """Those attributes of a marginal that have two levels or more.

    The others have all rows in their one level, and no table needs an axis for them: of such axes a
    covering table could take in any number, and numpy's arrays have 64 at most.
    """
    return tuple(axis for axis in axes if shape[axis] > 1)


def batches(wanted: Sequence[Axes], shape: Sequence[int], most_cells: int) -> Iterator[list[Axes]]:
    """Cut a list of marginals into runs of at most so many cells, or of one marginal."""
    batch: list[Axes] = []
    n_cells = 0
    for axes in wanted:
        size = prod(shape[axis] for axis in axes)
        if batch and n_cells + size > most_cells:
            yield batch
            batch, n_cells = [], 0
        batch.append(axes)
        n_cells += size
    if batch:
        yield batch


def marginals(
    counts: NDArray[np.integer[Any]], axes: Axes, wanted: Iterable[Axes]
) -> Iterator[NDArray[np.integer[Any]]]:
    """Sum a table down to marginals that lie within it; what several need is summed once.

    Parameters
    ----------
    counts
        The table, one axis an attribute.
    axes
        Its attributes; quickest when the last one has the most levels.
    wanted
        Marginals of it.

    Yields
    ------
    A view of each marginal, axes in the order wanted, of the table's type; two of them may share
    memory.
    """
    tables = {axes: counts}
    for names in wanted:
        current = axes
        # The last axis first: it shrinks the table most, and its cells lie side by side.
        for axis in [axis for axis in reversed(axes) if axis not in names]:
            rest = tuple(other for other in current if other != axis)
            if rest not in tables:
                tables[rest] = tables[current].sum(axis=current.index(axis), dtype=counts.dtype)
            current = rest
        yield tables[current].transpose([current.index(axis) for axis in names])


class _Uncovered:
    """The marginals that no table covers yet, listed by attribute."""

    def __init__(self, wanted: Sequence[Axes], shape: Sequence[int], table_cells: int) -> None:
        self._table_cells = table_cells
        self.covered = np.zeros(len(wanted), dtype=np.bool_)
        self._levels = np.array(shape, dtype=np.float64)
        members = np.array([axis for axes in wanted for axis in axes], dtype=np.int64)
        by_attribute = np.argsort(members, kind="stable")
        widths = np.array([len(axes) for axes in wanted], dtype=np.int64)
        owners = np.repeat(np.arange(len(wanted)), widths)[by_attribute]
        self._having = np.split(
            owners, np.searchsorted(members[by_attribute], np.arange(1, len(shape)))
        )
        # Of each marginal, which attributes the growing table lacks: how many, in units of `_ONE`,
        # plus the sum of their positions, which tells the last one.
        self._whole = np.array([sum(axes) for axes in wanted], dtype=np.int64) + _ONE * widths
        self._lacking = self._whole.copy()
        self._lacking_one = np.bincount(
            members[np.repeat(widths == 1, widths)], minlength=len(shape)
        )

    def grow(self, start: int, axes: Axes) -> tuple[list[int], list[int]]:
        """Grow a table from one marginal; returns its attributes and the marginals it covers."""
        table: list[int] = []
        gains = self._lacking_one.copy()  # marginals that each attribute would complete
        n_cells = 1.0
        adding = list(axes)
        while adding:
            for axis in adding:
                gains += self._lacking_one_after(axis)
                n_cells *= self._levels[axis]
            table += adding
            gains[table] = 0
            gains[self._levels * n_cells > self._table_cells] = 0
            # The attribute that completes most marginals. Ties go to the first, so that plans
            # repeat.
            best = int(np.argmax(gains))
            adding = [best] if gains[best] else []
        return table, self._finish(start, table)

    def _lacking_one_after(self, axis: int) -> NDArray[np.int64]:
        """Add an attribute; returns how many more marginals now lack only this or that other one."""
        having = self._having[axis]
        lacking = self._lacking[having] - (_ONE + axis)
        self._lacking[having] = lacking
        last = lacking[(lacking >= _ONE) & (lacking < 2 * _ONE)] - _ONE
        return np.bincount(last, minlength=len(self._levels))

    def _finish(self, start: int, table: list[int]) -> list[int]:
        """Strike out what the table covers, and make ready for the next."""
        lists = [self._having[axis] for axis in table]
        members = {start}
        for axis, having in zip(table, lists, strict=True):
            complete = self._lacking[having] == 0
            members.update(having[complete].tolist())
            self._having[axis] = having[~complete]
        for having in lists:
            # Undone for the next table: the array is one for all.
            self._lacking[having] = self._whole[having]
        self._lacking_one[table] = 0
        self.covered[list(members)] = True
        return sorted(members)


def _by_levels(axes: Iterable[int], shape: Sequence[int]) -> Axes:
    return tuple(sorted(axes, key=lambda axis: (shape[axis], axis)))
