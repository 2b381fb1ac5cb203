"""Targets: the columns that models are to predict."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.report.metrics.read_table import ReadTable
from synthdp.schema.words.headers import listed

MAX_TARGETS = 3
"""So many are predicted unless they are named: those of two classes first, the last columns of a
table first.
"""

MAX_CLASSES, MIN_CLASS_ROWS = 10, 10
"""A column is a target of classes if 2 to 10 of its levels have at least so many real rows each."""

MIN_ROWS = 50
"""Fewer real rows with a value are too few to learn from and to test on."""

_SUITABLE = f"one has {MIN_ROWS} rows and numbers, or 2 to {MAX_CLASSES} levels of at least {MIN_CLASS_ROWS} rows each"

ALL = "all"


@final
@dataclass(frozen=True)
class Target:
    """A column that is to be predicted."""

    name: str
    """The column."""
    classes: tuple[int, ...] = ()
    """The codes of its classes; none if it is a number."""

    @property
    def is_classes(self) -> bool:
        """Whether it has classes rather than numbers."""
        return bool(self.classes)

    def with_value(self, table: ReadTable) -> ReadTable:
        """The rows of a table that have one of the classes, or a number."""
        if self.is_classes:
            return table.take(np.flatnonzero(np.isin(table[self.name], self.classes)))
        return table.take(np.flatnonzero(~np.isnan(table.numbers[self.name])))

    def values(self, table: ReadTable) -> NDArray[Any]:
        """For each row which class it has, counted from 0, or its number."""
        if self.is_classes:
            return np.searchsorted(self.classes, table[self.name])
        return table.numbers[self.name]


def suitable(real: ReadTable, name: str) -> Target | str:
    """The target that a column is, or why it is none."""
    column = real.schema[name]
    is_part = column.source != column.name
    if is_part or (column.axis is not None and not column.axis.can_be_added):
        return f"{name!r} is a {column.noun} or a part of one"
    if len(real.schema.table_columns) < 2:
        return f"there is no other column to predict {name!r} from"
    numbers = real.numbers.get(name, np.empty(0))
    present = numbers[~np.isnan(numbers)]
    # Numbers of few values are classes: 0 and 1 mean yes and no more often than an amount.
    if len(np.unique(present)) > MAX_CLASSES:
        if len(present) >= MIN_ROWS:
            return Target(name)
        return f"{name!r} has fewer than {MIN_ROWS} values"
    # Levels only: nobody wants to predict that a value is missing or was not read.
    counts = real.counts((name,))[: column.n_levels]
    classes = tuple(np.flatnonzero(counts >= MIN_CLASS_ROWS).tolist())
    if not 2 <= len(classes) <= MAX_CLASSES or counts[list(classes)].sum() < MIN_ROWS:
        few = f"{len(classes)} level{'' if len(classes) == 1 else 's'} of at least {MIN_CLASS_ROWS} real rows"
        return f"{name!r} has {few}; {_SUITABLE}"
    return Target(name, classes)


def chosen_targets(
    real: ReadTable, names: Sequence[str] | str | None
) -> tuple[list[Target], list[str]]:
    """The targets named, all suitable ones (``"all"``), or the first few; and why others are none.

    Raises
    ------
    ParameterError
        If a name is no column.
    """
    asked = [names] if isinstance(names, str) and names != ALL else names
    if asked is None or asked == ALL:
        targets = [
            each for name in _order(real) if isinstance(each := suitable(real, name), Target)
        ]
        notes = [] if targets else [f"no column is a suitable target: {_SUITABLE}"]
        if asked is None and len(targets) > MAX_TARGETS:
            rest = listed(target.name for target in targets[MAX_TARGETS:])
            notes = [
                f"{MAX_TARGETS} of {len(targets)} suitable targets are predicted, not {rest}; name others in targets"
            ]
            targets = targets[:MAX_TARGETS]
        return targets, notes
    for name in asked:
        if name not in real.schema.names:
            raise ParameterError(
                f"targets: there is no column {name!r}; there are {listed(real.schema.names)}"
            )
    answers = [suitable(real, name) for name in asked]
    return [each for each in answers if isinstance(each, Target)], [
        each for each in answers if isinstance(each, str)
    ]


def _order(real: ReadTable) -> Iterable[str]:
    """Columns in the order in which they are taken as targets: two classes, numbers, more classes;
    the last first.
    """

    # Two classes first, as most published comparisons have them; the last column first, where data
    # sets mostly have what is to be predicted.
    def rank(place: int) -> tuple[int, int]:
        target = suitable(real, names[place])
        return 3 if isinstance(target, str) else {2: 0, 0: 1}.get(len(target.classes), 2), -place

    names = real.schema.names
    return [names[place] for place in sorted(range(len(names)), key=rank)]
