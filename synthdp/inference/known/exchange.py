"""Moves single rows from cells with too many to cells with too few, by what is likely."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.inference.arrays import Array, Codes, IntArray
from synthdp.inference.known.partitions import Partition

_TRIED = 8
"""Rows that are looked at for each one that is changed: a likely one is mostly among them."""
_MAX_BREAKING = 1 << 20
"""Cells of a table of two attributes that is asked of the model; larger ones are not looked at."""

Complete = Callable[[Mapping[str, IntArray]], Codes]


@final
class Likelihoods:
    """How likely the levels of an attribute are beside another one's, by a model.

    Parameters
    ----------
    domain
        All attributes.
    cliques
        Attributes that depend directly: pairs outside of them are not looked at.
    shares
        Gives a marginal of one or two attributes, in any scale.
    """

    def __init__(
        self, domain: Domain, cliques: Sequence[Clique], shares: Callable[[Clique], Array]
    ) -> None:
        self._domain = domain
        self._shares = shares
        self._logs: dict[Clique, Array] = {}
        self._beside: dict[str, list[str]] = {name: [] for name in domain.attributes}
        for name in domain.attributes:
            others = {other for clique in cliques if name in clique for other in clique} - {name}
            self._beside[name] = [
                other
                for other in domain.canonical(others)
                if domain[name] * domain[other] <= _MAX_BREAKING
            ]

    def one_way(self, name: str) -> Array:
        """Shares of the levels of an attribute, none of them 0."""
        return np.asarray(np.exp(self._log((name,))))

    def gain(
        self, name: str, before: IntArray, after: IntArray, rows: Mapping[str, IntArray]
    ) -> Array:
        """By how much a change of an attribute makes rows likelier, in nats.

        Parameters
        ----------
        name
            The attribute.
        before, after
            Its codes, shape ``(n_rows,)``.
        rows
            Codes of all other attributes after the change.
        """
        own = self._log((name,))
        alone = own[after] - own[before]
        gain = np.array(alone)
        for other in self._beside[name]:
            table = self._log((name, other))
            codes = rows[other]
            # What the level itself is worth counts once, not with each of its neighbours.
            gain += table[after, codes] - table[before, codes] - alone
        return gain

    def _log(self, clique: Clique) -> Array:
        if clique not in self._logs:
            shares = np.maximum(self._shares(clique), 0.0)
            shares = shares / max(float(shares.sum()), 1e-300)
            self._logs[clique] = np.log(np.maximum(shares, 1e-9))
        return self._logs[clique]


@final
@dataclass(frozen=True, eq=False)
class Exchange:
    """Changes rows in place, from one cell of some attributes' groups to another."""

    domain: Domain
    """All attributes."""
    columns: Sequence[IntArray]
    """Their codes, each of shape ``(n_rows,)``; they are changed."""
    constraints: Sequence[Constraint] = field(kw_only=True)
    """What no changed row may break."""
    likelihoods: Likelihoods = field(kw_only=True)
    """Which rows to change, and to which of a group's levels."""
    complete: Complete = field(kw_only=True)
    """Draws all attributes of rows whose codes of some attributes are given."""
    kept: Sequence[str] = field(kw_only=True)
    """Attributes that are not drawn anew if a row has no other way."""
    generator: np.random.Generator = field(kw_only=True)
    """Source of (seeded, not private) randomness."""

    def balance(
        self,
        partitions: Mapping[str, Partition],
        missing: IntArray,
        settled: IntArray | None = None,
    ) -> None:
        """Change rows until no cell lacks any, as far as there is a way.

        Parameters
        ----------
        partitions
            For each attribute of the cells the groups of its levels.
        missing
            How many rows each cell lacks, negative if it has too many; shape ``(n_cells,)``.
        settled
            For each cell what its rows may not leave; by default all cells are alike.
        """
        names = tuple(partitions)
        shape = [int(partitions[name].max()) + 1 for name in names]
        settled = np.zeros(missing.size, dtype=np.int64) if settled is None else settled
        lacking = np.flatnonzero(missing > 0)
        lacks = missing[lacking].copy()
        groups = (
            np.stack(np.unravel_index(lacking, shape))
            if lacking.size
            else np.zeros((len(names), 0))
        )
        surplus = np.flatnonzero(missing < 0)
        rows_of = self._rows_in(partitions, shape, surplus)
        by_settled: dict[int, IntArray] = {}
        for key in np.unique(settled[lacking]):
            by_settled[int(key)] = np.flatnonzero(settled[lacking] == key)
        for cell in self.generator.permutation(surplus):
            near = by_settled.get(int(settled[cell]))
            if near is None:
                continue
            here = np.array(np.unravel_index(cell, shape))
            near = near[lacks[near] > 0]
            # Cells that differ in fewest attributes first: each change of a row costs something.
            differ = (groups[:, near] != here[:, None]).sum(axis=0)
            rows = self.generator.permutation(rows_of[int(cell)])
            left = int(-missing[cell])
            for target in near[np.argsort(differ, kind="stable")]:
                if not left:
                    break
                n_wanted = min(left, int(lacks[target]))
                goal = dict(zip(names, groups[:, target].tolist(), strict=True))
                changed = self._changed(rows, partitions, goal, n_wanted)
                rows = np.setdiff1d(rows, changed, assume_unique=True)
                lacks[target] -= changed.size
                left -= changed.size

    def _rows_in(
        self, partitions: Mapping[str, Partition], shape: Sequence[int], cells: IntArray
    ) -> dict[int, IntArray]:
        """The rows in some cells."""
        numbers = np.zeros(len(self.columns[0]), dtype=np.int64)
        for (name, groups), size in zip(partitions.items(), shape, strict=True):
            numbers = numbers * size + groups[self._codes(name)]
        order = np.argsort(numbers, kind="stable")
        starts = np.searchsorted(numbers[order], cells, side="left")
        ends = np.searchsorted(numbers[order], cells, side="right")
        return {
            int(cell): order[start:end]
            for cell, start, end in zip(cells, starts, ends, strict=True)
        }

    def _codes(self, name: str) -> IntArray:
        return self.columns[self.domain.index(name)]

    def _changed(
        self,
        rows: IntArray,
        partitions: Mapping[str, Partition],
        goal: Mapping[str, int],
        n_wanted: int,
    ) -> IntArray:
        """Change some of the rows to the goal's groups; which were changed."""
        done = np.zeros(0, dtype=np.int64)
        some = rows[: _TRIED * (n_wanted + 1)]
        # Some rows first; all of them only if rules forbid too many of the changes.
        for tried in (some, rows[some.size :]):
            if done.size < n_wanted and tried.size:
                codes = self._moved(tried, partitions, goal)
                allowed = np.flatnonzero(self._possible(tried, codes))
                gains = self._gains(tried[allowed], {n: c[allowed] for n, c in codes.items()})
                # Gumbel noise makes the choice a draw in proportion to likelihood.
                order = np.argsort(-(gains + self.generator.gumbel(size=gains.size)))
                best = allowed[order[: n_wanted - done.size]]
                for name, values in codes.items():
                    self._codes(name)[tried[best]] = values[best]
                done = np.concatenate([done, tried[best]])
        if done.size < n_wanted:
            left = np.setdiff1d(rows, done, assume_unique=True)[: _TRIED * (n_wanted - done.size)]
            for row in left:
                if done.size == n_wanted:
                    break
                if self._drawn_anew(row, partitions, goal):
                    done = np.append(done, row)
        return done

    def _moved(
        self, rows: IntArray, partitions: Mapping[str, Partition], goal: Mapping[str, int]
    ) -> dict[str, IntArray]:
        """New codes of the attributes that have to change for rows to be in the goal's groups."""
        codes: dict[str, IntArray] = {}
        for name, groups in partitions.items():
            own = self._codes(name)[rows]
            outside = groups[own] != goal[name]
            if not outside.any():
                continue
            levels = np.flatnonzero(groups == goal[name])
            weights = self.likelihoods.one_way(name)[levels]
            drawn = self.generator.choice(levels, rows.size, p=weights / weights.sum())
            codes[name] = np.where(outside, drawn, own)
        return codes

    def _possible(self, rows: IntArray, codes: Mapping[str, IntArray]) -> NDArray[np.bool_]:
        """Whether the rows with new codes keep to all constraints."""
        possible = np.ones(rows.size, dtype=np.bool_)
        for constraint in self.constraints:
            if not codes.keys() & set(constraint.clique):
                continue
            cells = tuple(
                codes[name] if name in codes else self._codes(name)[rows]
                for name in constraint.clique
            )
            possible &= constraint.allowed[cells]
        return possible

    def _gains(self, rows: IntArray, codes: Mapping[str, IntArray]) -> Array:
        after = {
            name: codes[name] if name in codes else self._codes(name)[rows]
            for name in self.domain.attributes
        }
        gains = np.zeros(rows.size)
        for name, values in codes.items():
            gains += self.likelihoods.gain(name, self._codes(name)[rows], values, after)
        return gains

    def _drawn_anew(
        self, row: int, partitions: Mapping[str, Partition], goal: Mapping[str, int]
    ) -> bool:
        """Draw what is not known of a row anew, beside its new groups; whether that is possible."""
        one = np.array([row])
        codes = self._moved(one, partitions, goal)
        given = {name: codes.get(name, self._codes(name)[one]) for name in self.kept}
        try:
            drawn = self.complete(given)
        except ParameterError:  # no row has what is known of this one
            return False
        for column, values in zip(self.columns, drawn, strict=True):
            column[one] = values
        return True
