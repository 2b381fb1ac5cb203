"""A distribution on the rows of a public table: distinct rows, each with a weight."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.factor import Factor
from synthdp.inference.arithmetic import Array
from synthdp.inference.estimator import Codes, Model, State, check_clique, check_sample_size
from synthdp.inference.mirror_descent import FitStatus
from synthdp.inference.public_support import SupportReport
from synthdp.inference.sampling import compact, draw_counts, round_counts

_MOST_KEYS = 1 << 63


@final
class WeightedRowsModel(Model):
    """Weights on distinct rows; every row that it samples is one of them.

    Parameters
    ----------
    domain
        The attributes and their sizes.
    columns
        For each attribute the codes of the rows, shape ``(n_distinct,)``.
    weights
        Share of each row, at least 0, adding up to 1.
    total
        Number of records that marginals add up to.
    status
        How the fit ended.
    support
        How well the rows can express what was measured.
    log_potentials
        For each measured clique what a cell adds to the logarithm of the weight of its rows: where
        a later fit starts.

    Raises
    ------
    ParameterError
        If columns or weights do not fit together.
    """

    kind: ClassVar[str] = "weighted-rows"

    def __init__(
        self,
        *,
        domain: Domain,
        columns: Sequence[NDArray[np.integer]],
        weights: Array,
        total: float,
        status: FitStatus,
        support: SupportReport,
        log_potentials: Mapping[Clique, Array],
    ) -> None:
        super().__init__(domain=domain, total=total, status=status)
        check_columns(domain, columns)
        if weights.shape != columns[0].shape or not (weights >= 0).all() or not abs(weights.sum() - 1.0) < 1e-9:
            raise ParameterError("weights: give one for each row, at least 0, adding up to 1")
        self._columns = tuple(compact(column, size) for column, size in zip(columns, domain.shape, strict=True))
        self._weights = weights
        self._support = support
        self._log_potentials = dict(log_potentials)

    @property
    def support(self) -> SupportReport:
        """How well the rows can express what was measured."""
        return self._support

    @property
    def columns(self) -> Codes:
        """For each attribute the codes of the distinct rows, shape ``(n_distinct,)``."""
        return self._columns

    @property
    def weights(self) -> Array:
        """Share of each distinct row, shape ``(n_distinct,)``; they add up to 1."""
        return self._weights

    @property
    def log_potentials(self) -> Mapping[Clique, Array]:
        """For each measured clique what a cell adds to the logarithm of the weight of its rows."""
        return self._log_potentials

    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of the cells of one marginal, axes in the order of ``clique``."""
        names = check_clique(self._domain, clique)
        part = self._domain.project(names)
        cells = cell_numbers(self._domain, self._columns, names)
        shares = np.asarray(np.bincount(cells, self._weights, minlength=part.size()), dtype=np.float64)
        return Factor(part, self._total * shares.reshape(part.shape))

    def sample(self, n_rows: int, *, seed: int | None = None, rounding: bool = True) -> Codes:
        """Draw records; see `Model.sample`. With ``rounding`` each distinct row is within one of its expectation."""
        check_sample_size(n_rows)
        generator = np.random.default_rng(seed)
        draw = round_counts if rounding else draw_counts
        counts = draw(self._weights[None, :], np.array([n_rows]), generator=generator)[0]
        return self._rows(generator.permutation(np.repeat(np.arange(len(counts)), counts)))

    def complete(self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None) -> Codes:
        """Complete partial records by rows that agree with them, exactly; see `Model.complete`."""
        names = check_clique(self._domain, tuple(given))
        if not names:
            raise ParameterError("given: it has no columns; give at least one, or sample without it")
        part, n_public = self._domain.project(names), len(self._weights)
        check_columns(part, list(given.values()), n_least=0)
        joined = [np.concatenate([self._columns[self._domain.index(name)], given[name].astype(int)]) for name in names]
        _, groups = np.unique(_row_keys(part, joined), return_inverse=True)
        public, wanted = groups[:n_public], groups[n_public:]
        sums = np.bincount(public, self._weights, minlength=int(groups.max()) + 1)
        if not (sums[wanted] > 0).all():
            raise ParameterError("given: a record agrees with no public row of any weight; leave out some columns")
        # Group by group the shares run from one whole number to the next, but for rounding.
        order = np.argsort(public, kind="stable")
        divisors = np.where(sums > 0, sums, 1.0)[public[order]]
        running = np.append(0.0, np.cumsum(self._weights[order] / divisors))
        ends = np.cumsum(np.bincount(public, minlength=len(sums)))
        low, high = running[np.append(0, ends[:-1])[wanted]], running[ends[wanted]]
        target = low + np.random.default_rng(seed).random(len(wanted)) * (high - low)
        target = np.minimum(target, np.nextafter(high, 0.0))
        return self._rows(order[np.searchsorted(running, target, side="right") - 1])

    def sample_where(self, possible: Mapping[str, NDArray[np.bool_]], n_rows: int, *, seed: int | None = None) -> Codes:
        """Draw records of a slice exactly, however rare it is; see `Model.sample_where`."""
        inside = self._weights.copy()
        for name, wanted in possible.items():
            inside[~wanted[self._columns[self._domain.index(name)]]] = 0.0
        if not inside.any():
            raise ParameterError("where: no public row of any weight lies in the slice; widen it")
        part = WeightedRowsModel(
            domain=self._domain,
            columns=self._columns,
            weights=inside / inside.sum(),
            total=self._total,
            status=self._status,
            support=self._support,
            log_potentials={},
        )
        return part.sample(n_rows, seed=seed)

    def _rows(self, positions: NDArray[np.int64]) -> Codes:
        return tuple(column[positions] for column in self._columns)

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """Cliques of the potentials, total, status and support; rows, weights and potentials as arrays."""
        cliques = list(self._log_potentials)
        state: State = {
            "cliques": [list(clique) for clique in cliques],
            "total": self._total,
            "status": asdict(self._status),
            "support": asdict(self._support),
        }
        arrays = {f"potential-{i}": self._log_potentials[clique] for i, clique in enumerate(cliques)}
        arrays["rows"] = np.stack(self._columns).astype(np.float64)
        arrays["weights"] = self._weights
        return state, arrays

    @classmethod
    def from_state(cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain) -> Self:
        """Rebuild a saved model."""
        cliques = [tuple(clique) for clique in cast("list[list[str]]", state["cliques"])]
        return cls(
            domain=domain,
            columns=tuple(arrays["rows"].astype(np.int64)),
            weights=arrays["weights"],
            total=float(cast("float", state["total"])),
            status=FitStatus(**cast("dict[str, object]", state["status"])),  # type: ignore[arg-type]
            support=SupportReport(**cast("dict[str, float]", state["support"])),
            log_potentials={clique: arrays[f"potential-{i}"] for i, clique in enumerate(cliques)},
        )


def check_columns(domain: Domain, columns: Sequence[NDArray[np.integer]], *, n_least: int = 1) -> None:
    """Raise `ParameterError` unless there is a column of codes for each attribute, and enough rows."""
    if len(columns) != len(domain):
        raise ParameterError(f"columns: {len(columns)} for {len(domain)} attributes; give one each")
    for column, name, size in zip(columns, domain.attributes, domain.shape, strict=True):
        if column.ndim != 1 or column.dtype.kind not in "iu" or len(column) != len(columns[0]):
            raise ParameterError(f"columns: {name!r} is no 1-D array of integers, as long as the others")
        if len(column) < n_least:
            raise ParameterError(f"columns: {name!r} has no rows; give at least one")
        if int(column.min(initial=0)) < 0 or int(column.max(initial=0)) >= size:
            raise ParameterError(f"columns: some codes of {name!r} lie outside 0 .. {size - 1}; use one schema")


def cell_numbers(domain: Domain, columns: Sequence[NDArray[np.integer]], clique: Clique) -> NDArray[np.int64]:
    """For each row the number of its cell in the flat marginal of a clique, shape ``(n_rows,)``."""
    cells = np.zeros(len(columns[0]), dtype=np.int64)
    for name in clique:
        cells *= domain[name]
        cells += columns[domain.index(name)]
    return cells


def distinct_rows(domain: Domain, columns: Sequence[NDArray[np.integer]]) -> tuple[Codes, NDArray[np.int64]]:
    """The distinct rows in lexicographic order, and how often each occurs."""
    _, first, counts = np.unique(_row_keys(domain, columns), return_index=True, return_counts=True)
    kept = tuple(compact(column[first], size) for column, size in zip(columns, domain.shape, strict=True))
    return kept, counts.astype(np.int64)


def _row_keys(domain: Domain, columns: Sequence[NDArray[np.integer]]) -> NDArray[np.uint64]:
    """Numbers that are equal where rows are, and sort like them."""
    keys, n_keys = np.zeros(len(columns[0]), dtype=np.uint64), 1
    for column, size in zip(columns, domain.shape, strict=True):
        if n_keys * size > _MOST_KEYS:
            # Renumbering keeps the order, and there are no more numbers than rows.
            used, positions = np.unique(keys, return_inverse=True)
            keys, n_keys = positions.astype(np.uint64), len(used)
        keys = keys * np.uint64(size) + column.astype(np.uint64)
        n_keys *= size
    return keys
