"""Private values: what the kernel answers about single columns before their domain is known."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Generic, Protocol, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError, PrivacyError
from synthdp.core.grid import MAX_POINT, Grid
from synthdp.privacy.events import exact_rho
from synthdp.privacy.ledger import exact_delta
from synthdp.privacy.queryable import Answer, Queryable
from synthdp.privacy.unit import PrivacyUnit
from synthdp.privacy.values.privtree import PrivTreeEvent, split_tree
from synthdp.privacy.values.records import ROW, UNIT
from synthdp.privacy.values.thresholds import partition_threshold, value_weights
from synthdp.privacy.values.value_events import HistogramEvent, PartitionEvent

MAX_CELLS = 1 << 22
"""Most cells of a histogram of one column."""

Value = TypeVar("Value", bound=str | int)


class Frequencies(Protocol):
    """All values of a column that occur and are not missing, each at a place, in an order of the
    source's own.

    The kernel asks for counts, and then for the values at the places whose noisy counts passed, for
    no others.
    """

    def missing(self) -> int:
        """How many records have none; "missing" is to them a value like others."""

    def counts(self) -> Iterable[NDArray[np.int64]]:
        """How many records have the value of each place, in blocks of any lengths.

        Of a source that counts a record for several values, these are sums of `value_weights`.
        """

    def values(self, places: NDArray[np.int64]) -> list[str] | NDArray[np.int64]:
        """The values at some places, no two of them equal."""


class ValueSource(Protocol):
    """Where exact counts of the values of single columns come from."""

    @property
    def is_by_unit(self) -> bool:
        """Whether each unit of privacy is one record of it, and not each row; public."""

    def most_values(self, grid: Grid) -> int:
        """For how many values of a column `frequencies` counts one record, at most; public.

        If that is more than one, a record with m values, missing among them, counts
        ``value_weights(most_values)[m - 1]`` for each.
        """

    def histogram(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Counts of: missing, below ``starts[0]``, from each start to the next, at or above the
        last.

        Each record is counted in exactly one cell; without starts the cells are: missing, the rest.
        """

    def shared_histogram(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same where a record is several rows, up to `most_values`, and in the cells of all.

        It counts in each in proportion to its rows there, so that the squares of what it counts sum
        to that of ``value_weights(most_values)[0]`` at most.
        """

    def frequencies(self, grid: Grid) -> Frequencies:
        """All values that occur and are not missing."""


@final
@dataclass(frozen=True, eq=False)
class NoisyHistogram:
    """Released counts of one column's cells."""

    starts: NDArray[np.int64]
    """First grid point of each cell but the first two; shape ``(n,)``."""
    missing: float
    below: float
    """Noisy counts of records without a value, and below ``starts[0]``."""
    counts: NDArray[np.float64]
    """Noisy counts of the cells from each start to the next, the last without end; shape ``(n,)``."""
    stddev: float
    """Standard deviation of the noise of each count, in records."""
    most_cells: int = 1
    """In how many cells a record counts at most; where that is 1, in one."""


@final
@dataclass(frozen=True)
class FrequentValues(Generic[Value]):
    """Released values that many records share, in their own order, with noisy counts."""

    counts: dict[Value, float]
    """Noisy count of each released value, at least ``threshold``."""
    missing: float
    """Noisy count of the records without a value, whatever it is."""
    stddev: float
    """Standard deviation of the noise before the threshold, in records."""
    threshold: float
    """Least noisy count that is released."""


@final
class PrivateValues(Queryable[ValueSource]):
    """The values of single columns behind a ledger: how a domain is learnt that nobody declared.

    Like `PrivateTable` it shows nothing of the records but what an event in the ledger paid for,
    and each question pays before the records are touched. Sensitivity: a record is in one cell of a
    histogram, so a unit changes the cells by at most ``unit.marginal_l2_squared`` (squared L2)
    together; or it is in several, and what it counts in all of them is a vector of length 1 at
    most. It counts 1 for one value, or for "missing"; or for each of m of them ``1 / sqrt(m)``, so
    that the counts of all values move no further. Values are released in their own order, never in
    that of the records.

    Parameters
    ----------
    source
        Where exact counts come from.
    ledger
        The budget; shared with the `PrivateTable` of the same records.
    randomness
        Random bits; anything but the default is for tests and makes the release NOT PRIVATE.
    memory
        As for every `Queryable`.
    """

    __slots__ = ()
    _purpose: ClassVar[str] = "to learn a column's domain"

    @property
    def _unit(self) -> PrivacyUnit:
        """The unit by which a record of the source moves counts.

        Sensitivity: where a person is one record with one row, or with some that share its weight,
        ``max_rows`` of them move nothing further.
        """
        unit = self._ledger.unit
        return unit.as_record if self._source.is_by_unit else unit

    @property
    def _record(self) -> str:
        """What counts as one; where units have one row there is no difference."""
        return UNIT if self._unit != self._ledger.unit else ROW

    def histogram(
        self, grid: Grid, starts: NDArray[np.int64], *, rho: Fraction | float, shared: bool = False
    ) -> NoisyHistogram:
        """Release the counts of public cells of one column with Gaussian noise, at a cost of
        exactly ``rho``.

        Parameters
        ----------
        grid
            The column, and which integer stands for a value.
        starts
            Where the cells begin, increasing; shape ``(n,)``, possibly empty.
        rho
            Cost, above 0.
        shared
            Whether a record that is several rows is in the cells of all of them, and not of one:
            counts are then of more records than there are.

        Raises
        ------
        BudgetExceededError
            If the ledger has less than ``rho`` left; the records are not touched then.
        ParameterError
            If the starts do not increase or are too many, or ``rho`` is not above 0 or too small.
        """
        # Copied: the caller must not change the cells between the charge and the count.
        starts = np.array(starts, dtype=np.int64)
        if starts.ndim != 1 or starts.size > MAX_CELLS or (starts[1:] <= starts[:-1]).any():
            raise ParameterError(
                f"starts of {grid.column!r}: give up to {MAX_CELLS} increasing integers"
            )
        # Two more than starts: the records without a value, and those below the first start.
        n_cells = starts.size + 2
        most_cells = self._source.most_values(grid) if shared else 1
        # What a record counts is a vector of at most this length, as it is where it is in one cell.
        weight = value_weights(most_cells)[0]
        event = HistogramEvent.costing(
            exact_rho(rho),
            column=grid.column,
            of=grid.of,
            n_cells=n_cells,
            unit=self._unit,
            record=self._record,
        ).of_weight(weight)

        def noisy() -> Answer:
            source = self._source
            count = source.histogram if most_cells == 1 else source.shared_histogram
            exact = count(grid, starts)
            if exact.dtype != np.int64 or exact.shape != (n_cells,):
                raise PrivacyError(
                    f"source: the histogram of {grid.column!r} must be int64 with {n_cells} cells"
                )
            return Answer(self._noisy(event, exact))

        # The starts are part of the question: a journal must not answer other cells with these
        # counts.
        counts = self._answer(event, noisy, n_cells, grid, starts).numbers / weight
        below = counts[1] if starts.size else 0.0
        rest = counts[2:] if starts.size else counts[1:]
        ends, noise = (float(counts[0]), float(below)), event.stddev / weight
        return NoisyHistogram(starts, *ends, rest, noise, most_cells)

    def frequent(
        self, grid: Grid, *, rho: Fraction | float, delta: Fraction | float
    ) -> FrequentValues[str | int]:
        """Release the values that many records share, with noisy counts: partition selection
        [Desfontaines22], of records with several values by weighted counts [Gopi20].

        The count of every value gets noise of its own, before the source is asked for any value.
        Places are no more than names for values: whatever their order, noise is independent of it,
        and values are released in their own.

        Parameters
        ----------
        grid
            The column, and what counts as a value.
        rho
            Cost, above 0.
        delta
            Probability, above 0, that a value of one unit alone is released; part of the ledger's
            ``failure_delta``.

        Raises
        ------
        BudgetExceededError
            If the ledger has less than ``rho`` or ``delta`` left; the records are not touched then.
        ParameterError
            If ``rho`` or ``delta`` is not above 0, or too small; or units have several records of
            several values each.
        """
        unit, most_values = self._unit, self._source.most_values(grid)
        # A record moves the counts by one unit of length, in units of weight: its weights are
        # 1 / sqrt(m), rounded down, for each of m values.
        weight = value_weights(most_values)[0]
        sigma_squared = unit.sigma_squared(exact_rho(rho)) * weight**2
        self._check_scale(sigma_squared, rho)
        allowed = exact_delta(delta)
        # From sigma, the most rows of a person, the most values of a record and delta: a value of
        # one unit alone passes with probability delta at most.
        threshold = partition_threshold(
            sigma_squared=sigma_squared,
            max_rows=unit.max_rows,
            delta=allowed,
            most_values=most_values,
        )
        event = PartitionEvent(
            column=grid.column,
            of=grid.of,
            sigma_squared=sigma_squared,
            sensitivity_squared=unit.marginal_l2_squared * weight**2,
            threshold=threshold,
            failure_probability=allowed,
            most_values=most_values,
            record=self._record,
        )

        def passed() -> Answer:
            # Every value that occurs gets noise, also one of a single record: which these are is
            # what the threshold hides.
            frequencies = self._source.frequencies(grid)
            # A public cell beside the values.
            missing = np.array([frequencies.missing()], dtype=np.int64)
            # Noise of the missing cell is drawn first, whatever values there are.
            noisy = self._noisy(event, missing).tolist()
            places = []
            first = 0
            for exact in frequencies.counts():  # of a block nothing is kept but what passes
                with_noise = self._noisy(event, np.asarray(exact, dtype=np.int64))
                passing = np.flatnonzero(with_noise >= threshold)
                noisy += with_noise[passing].tolist()
                places.append(first + passing)
                first += len(exact)
            # Only now is the source asked for values, and only for those that passed: a value that
            # did not is never in the kernel's hands.
            values = frequencies.values(np.concatenate(places)) if len(noisy) > 1 else []
            # In their own order. That of the source could be that of the records.
            released = sorted(zip(map(_plain, values), noisy[1:], strict=True))
            in_order = [value for value, _ in released]  # their own, whatever order the source has
            # An answer holds integers and texts, and is kept as such: values that are integers
            # stand behind the counts, as many as these.
            numbers = [
                noisy[0],
                *(count for _, count in released),
                *(each for each in in_order if type(each) is int),
            ]
            return Answer(
                np.array(numbers, dtype=np.int64),
                tuple(each for each in in_order if type(each) is str),
            )

        answer = self._answer(event, passed, None, grid)
        missing, *numbers = answer.numbers.tolist()
        # Half of the numbers are counts; the other half, if there are no texts, the values.
        frequencies = answer.texts or numbers[len(numbers) // 2 :]
        in_records = (count / weight for count in numbers[: len(frequencies)])
        counts = dict(zip(frequencies, in_records, strict=True))
        return FrequentValues(counts, missing / weight, event.stddev / weight, threshold / weight)

    def split_tree(
        self, grid: Grid, first: int, stop: int, *, rho: Fraction | float
    ) -> NDArray[np.int64]:
        """Release cells that are narrow where records are dense, at a cost of at most ``rho``:
        PrivTree [Zhang16].

        Its noise is not Gaussian: the accounting must be zCDP.

        Parameters
        ----------
        grid
            The column, and which integer stands for a value.
        first, stop
            First grid point, and one past the last; public. Values beyond are counted at the ends.
        rho
            Cost, above 0.

        Returns
        -------
        numpy.ndarray
            First point of each cell, increasing, then ``stop``; int64.

        Raises
        ------
        BudgetExceededError
            If the ledger has less than ``rho`` left; the records are not touched then.
        PrivacyError
            If the accounting is for Gaussian noise only.
        ParameterError
            If there is no grid point, or ``rho`` is not above 0 or too small.
        """
        event = PrivTreeEvent.costing(
            exact_rho(rho),
            column=grid.column,
            sensitivity=self._unit.marginal_l1,
            record=self._record,
        )
        if not -MAX_POINT <= first < stop <= MAX_POINT:
            raise ParameterError(
                f"grid of {grid.column!r}: {first} .. {stop - 1} is no range; give first < stop"
            )

        def counts_below(points: NDArray[np.int64]) -> NDArray[np.int64]:
            # Values beyond the range are counted at its ends, so that each record is on one point
            # of the grid.
            inner = points[(points > first) & (points < stop)]
            cells = self._source.histogram(grid, inner)
            all_below = np.cumsum(cells[1:]) if inner.size else cells[1:]
            position = np.searchsorted(inner, points, side="left")
            # Nothing is below the first point by definition, and all is below the last.
            return np.where(points <= first, 0, all_below[position])

        def tree() -> Answer:
            starts, end = split_tree(
                counts_below,
                first,
                stop,
                scale=event.scale,
                decay=event.decay,
                randomness=self._randomness,
            )
            return Answer(np.append(starts, end))

        return self._answer(event, tree, None, grid, first, stop).numbers

    def __repr__(self) -> str:
        return f"PrivateValues({self._ledger.unit.adjacency.value})"


def _plain(value: object) -> str | int:
    """A value as Python's own text or integer."""
    return str(value) if isinstance(value, str) else int(value)  # type: ignore[call-overload]
