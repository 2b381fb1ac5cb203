"""Marginals of a product of potentials by variable elimination and a reverse pass.

Belief propagation fills a table for every clique of the junction tree. Where the cliques of the
tree are much larger than those of the potentials, most of its time goes into tables that nobody
asked for. Here attributes are summed out one after the other: the potentials that hold the
attribute are multiplied into two groups, and the product of both, summed over the attribute, is a
batched matrix product, which is never written down cell by cell. The marginals are the derivatives
of the logarithm of the final sum by the logarithms of the potentials [Darwiche 2003]; a reverse
pass finds all of them at once, for the price of two more products for each of the forward ones.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import log, prod
from typing import NamedTuple, Self, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array
from synthdp.inference.graphical.arithmetic import LinearArithmetic, UnderflowDetected
from synthdp.inference.trees.junction_tree import JunctionTree

_MAX_SPLIT = 8
"""Factors up to which all ways to split them into two groups are tried; of more, the smallest are
multiplied first.
"""
_CALL_CELLS = 200
"""Cells whose multiplication takes as long as starting one small matrix product."""
_FAST = 8
"""How many times as quickly a matrix product multiplies and adds as cells are multiplied alone."""


class _Layout(NamedTuple):
    """How a factor is seen as a stack of matrices: its axes' order, and the stack's shape."""

    axes: tuple[int, ...]
    inverse: tuple[int, ...]
    permuted: tuple[int, ...]
    stack: tuple[int, int, int]

    def stacked(self, factor: Array) -> Array:
        # One copy in the right order, so that the product runs at the speed of the matrix library.
        return np.ascontiguousarray(factor.transpose(self.axes)).reshape(self.stack)

    def unstacked(self, stack: Array) -> Array:
        return stack.reshape(self.permuted).transpose(self.inverse)


class _Step(NamedTuple):
    """One product of two factors, summed over the attributes that only they have."""

    left: int
    right: int
    left_layout: _Layout
    right_layout: _Layout
    shape: tuple[int, ...]
    is_summed: bool
    log_summed: float
    """Logarithm of the number of cells that are summed into one."""


class _Sum(NamedTuple):
    """A factor summed over attributes that nobody else has."""

    factor: int
    axes: tuple[int, ...]
    log_summed: float


@final
class VariableElimination:
    """Marginals of given cliques as a function of potentials on the same cliques.

    It is made by `planned`, for trees where it pays.
    """

    def __init__(self, n_cliques: int, steps: Sequence["_Step | _Sum"]) -> None:
        self._n_cliques = n_cliques
        self._steps = steps

    @classmethod
    def planned(
        cls, tree: JunctionTree, cliques: Sequence[Clique], *, max_cost: float | None = None
    ) -> Self | None:
        """The elimination that follows a junction tree; None where filling the tree's tables is
        quicker.

        Belief propagation takes about the time of as many multiplied cells as the tree has. With
        30 and 32 pairs of Adult elimination takes .5 and .3 of that, and is 3 and 5 times as quick;
        of chains, or where most triples of a large clique are given, it takes 3 to 8 times as much.

        Parameters
        ----------
        tree
            A junction tree that covers the cliques; its cliques say in which order attributes go.
        cliques
            Cliques in the order of the domain, any number of times each.
        max_cost
            Cells that it may take the time of; those of the tree by default.
        """
        # The plan counts what each step takes as it goes, and gives up as soon as it is dearer than
        # the tree: planning a hopeless case is quick.
        plan = _Planner(
            tree.domain, cliques, max_cost=tree.n_cells() if max_cost is None else max_cost
        )
        try:
            for child in range(len(tree.cliques) - 1, -1, -1):  # children before parents
                # What a clique shares with its parent is left for the parent; the rest occurs
                # nowhere else and can be summed out.
                separator = tree.separators[child] if child else ()
                plan.eliminate(set(tree.cliques[child]) - set(separator))
            plan.finish()
        except _TooDearError:
            return None
        return cls(len(cliques), plan.steps)

    def marginals(self, log_potentials: Sequence[Array]) -> list[Array]:
        """Marginal of each clique in the distribution ``exp(sum of log potentials) / Z``, each
        summing to 1.

        Parameters
        ----------
        log_potentials
            A table for each clique, finite or -inf (impossible).

        Raises
        ------
        UnderflowDetected
            If the numbers are too extreme for plain arithmetic, or nothing is possible: belief
            propagation in logarithms decides which.
        """
        # The largest cell is 1, whatever potentials drifted to.
        factors = [_scaled_exp(table) for table in log_potentials]
        stacks: list[tuple[Array, ...]] = []
        sizes: list[float] = []
        drops = [0.0] * len(factors)
        for step in self._steps:
            if isinstance(step, _Sum):
                stacks.append(())
                out = factors[step.factor].sum(axis=step.axes)
                drop = drops[step.factor]
            else:
                left = step.left_layout.stacked(factors[step.left])
                right = step.right_layout.stacked(factors[step.right])
                # The reverse pass needs the two operands of each product; memory is that of the
                # factors, never that of the joint cells.
                stacks.append((left, right))
                # A product without a sum is one of columns with rows: broadcasting does that
                # without calling the library.
                out = (np.matmul(left, right) if step.is_summed else left * right).reshape(
                    step.shape
                )
                drop = max(drops[step.left], drops[step.right])
            size = 1.0
            if step.log_summed:
                # Cells are at most 1 before they are summed. How far sums fall short of what they
                # could be is multiplied up on each way: so do the errors of cells that underflow.
                size = float(out.max(initial=0.0))
                if not size > 0.0:
                    raise UnderflowDetected
                drop += step.log_summed - log(size)
                if drop > LinearArithmetic.deepest_drop:
                    raise UnderflowDetected
                out = out / size
            factors.append(out)
            sizes.append(size)
            drops.append(drop)
        return self._reverse(factors, stacks, sizes)

    def _reverse(
        self,
        factors: list[Array],
        stacks: list[tuple[Array, ...]],
        sizes: list[float],
    ) -> list[Array]:
        """Derivatives of the logarithm of the last factor, which is one number, step by step from
        the last to the first.
        """
        slopes: list[Array | None] = [None] * len(factors)
        # The derivative of log Z by Z; scales that were divided out on the way are constants, and
        # put back below.
        slopes[-1] = np.ones_like(factors[-1]) / factors[-1]
        for i in range(len(self._steps) - 1, -1, -1):
            step = self._steps[i]
            slope = slopes[self._n_cliques + i]
            assert slope is not None  # each factor is used by a later step
            slopes[self._n_cliques + i] = None
            # Treating the scale as a constant is right: that it depends on the potentials changes
            # log Z by as much as dividing by it takes off.
            slope = slope / sizes[i] if sizes[i] != 1.0 else slope
            if isinstance(step, _Sum):
                shape = factors[step.factor].shape
                # The derivative of a sum is the same for all of its terms; a view, not a copy.
                slopes[step.factor] = np.broadcast_to(np.expand_dims(slope, step.axes), shape)
                continue
            left, right = stacks[i]
            n_stacks, n_left, _ = step.left_layout.stack
            n_right = step.right_layout.stack[2]
            slope = np.ascontiguousarray(slope).reshape(n_stacks, n_left, n_right)
            slopes[step.left] = step.left_layout.unstacked(
                np.matmul(slope, right.transpose(0, 2, 1))
            )
            slopes[step.right] = step.right_layout.unstacked(
                np.matmul(left.transpose(0, 2, 1), slope)
            )
        gradients = []
        for factor, slope in zip(factors[: self._n_cliques], slopes, strict=False):
            assert slope is not None
            # The derivative by the logarithm of a cell is the cell times that by the cell: its
            # expected share.
            gradients.append(factor * slope)
        return gradients


class _TooDearError(Exception):
    """An elimination takes longer than filling the tables of the junction tree."""


class _Planner:
    """The steps of an elimination; factors are numbered as they are made, the potentials first."""

    def __init__(self, domain: Domain, cliques: Sequence[Clique], *, max_cost: float) -> None:
        self._domain = domain
        self._names: list[tuple[str, ...]] = [tuple(clique) for clique in cliques]
        self._open = list(range(len(cliques)))
        self.steps: list[_Step | _Sum] = []
        self._left = max_cost

    def eliminate(self, attributes: set[str]) -> None:
        """Sum out attributes, each time the one whose elimination leaves the smallest factor."""
        left = set(attributes)
        while left:
            # Min-size greedy inside of a clique of the tree. Sorted, so that ties do not depend on
            # the order of a set.
            name = min(sorted(left), key=lambda each: self._domain.size(self._neighbours(each)))
            left.remove(name)
            self._eliminate(name)

    def finish(self) -> None:
        """Multiply what is left, which has no attribute."""
        while len(self._open) > 1:
            self._multiply(self._open[0], self._open[1], summed=())

    def _neighbours(self, name: str) -> set[str]:
        held = (self._names[i] for i in self._open if name in self._names[i])
        return {other for names in held for other in names} - {name}

    def _eliminate(self, name: str) -> None:
        members = [i for i in self._open if name in self._names[i]]
        if not members:
            return
        # Nothing to multiply with: summing is all.
        if len(members) == 1:
            self._sum(members[0], name)
            return
        # A sum over one attribute of a product of many factors is one matrix product of two groups;
        # which groups decides how large the operands get.
        first, second = self._groups(members)
        self._multiply(self._product(first), self._product(second), summed=(name,))

    def _groups(self, members: list[int]) -> tuple[list[int], list[int]]:
        """The factors in two groups whose product takes least time."""
        # Two groups of n factors can be formed in 2^(n-1) ways, 128 at most.
        while len(members) > _MAX_SPLIT:
            pairs = combinations(members, 2)
            i, j = min(pairs, key=lambda pair: self._size(self._union(pair)))
            self._multiply(i, j, summed=())
            members = [k for k in members if k not in (i, j)] + [self._open[-1]]
        return min(_splits(members), key=lambda split: self._cost(*split))

    def _cost(self, first: Sequence[int], second: Sequence[int]) -> float:
        """Cells that are multiplied one by one, and what the matrix products count as."""
        left = self._union(first)
        right = self._union(second)
        shared = self._size(left & right)
        tables = sum(self._size(self._union(group)) for group in (first, second))
        # Three costs in one unit, cells that are multiplied alone: filling the operands,
        # multiplying them, and starting a product for each matrix of the stack.
        return tables + self._size(left | right) / _FAST + _CALL_CELLS * shared

    def _union(self, members: Sequence[int]) -> set[str]:
        return {name for i in members for name in self._names[i]}

    def _size(self, names: set[str]) -> int:
        return self._domain.size(names)

    def _product(self, members: list[int]) -> int:
        """The number of the product of some factors, smallest first."""
        waiting = list(members)
        while len(waiting) > 1:
            i, j = min(combinations(waiting, 2), key=lambda pair: self._size(self._union(pair)))
            self._multiply(i, j, summed=())
            waiting = [k for k in waiting if k not in (i, j)] + [self._open[-1]]
        return waiting[0]

    def _sum(self, factor: int, name: str) -> None:
        names = self._names[factor]
        axis = names.index(name)
        self._pay(self._size(set(names)))
        self.steps.append(_Sum(factor, (axis,), log(self._domain[name])))
        self._add(names[:axis] + names[axis + 1 :], {factor})

    def _multiply(self, i: int, j: int, *, summed: tuple[str, ...]) -> None:
        left = self._names[i]
        right = self._names[j]
        both = [name for name in left if name in right and name not in summed]
        only_left = [name for name in left if name not in right]
        only_right = [name for name in right if name not in left]
        stack = tuple(self._size(set(names)) for names in (both, only_left, only_right, summed))
        n_both, n_left, n_right, n_summed = stack
        # The two operands and the result are read and written once each.
        n_tables = n_both * (n_left * n_summed + n_right * n_summed + n_left * n_right)
        self._pay(n_tables + prod(stack) / _FAST + _CALL_CELLS * n_both * bool(summed))
        # The order that the product leaves them in; sorting axes would be one more copy, and nobody
        # needs it.
        out = (*both, *only_left, *only_right)
        self.steps.append(
            _Step(
                left=i,
                right=j,
                left_layout=self._layout(
                    left, (*both, *only_left, *summed), (n_both, n_left, n_summed)
                ),
                right_layout=self._layout(
                    right, (*both, *summed, *only_right), (n_both, n_summed, n_right)
                ),
                shape=tuple(self._domain[name] for name in out),
                is_summed=bool(summed),
                log_summed=log(n_summed),
            )
        )
        self._add(out, {i, j})

    def _layout(
        self, names: tuple[str, ...], wanted: tuple[str, ...], stack: tuple[int, int, int]
    ) -> _Layout:
        return _Layout(
            axes=tuple(names.index(name) for name in wanted),
            inverse=tuple(wanted.index(name) for name in names),
            permuted=tuple(self._domain[name] for name in wanted),
            stack=stack,
        )

    def _pay(self, cost: float) -> None:
        self._left -= cost
        if self._left < 0.0:
            raise _TooDearError

    def _add(self, names: tuple[str, ...], used: set[int]) -> None:
        self._open = [k for k in self._open if k not in used] + [len(self._names)]
        self._names.append(names)


def _splits(members: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """All ways to split some factors, two at least, into two groups."""
    first, *others = members
    for n_beside in range(len(others)):
        for beside in combinations(others, n_beside):
            rest = [i for i in others if i not in beside]
            # The first factor is always in the first group, so no split comes twice.
            yield [first, *beside], rest


def _scaled_exp(log_table: Array) -> Array:
    """A potential with cells of at most 1."""
    largest = float(log_table.max(initial=-np.inf))
    if not np.isfinite(largest):
        raise UnderflowDetected  # belief propagation says what is wrong
    return np.exp(log_table - largest)
