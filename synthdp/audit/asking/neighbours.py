"""Two neighbouring tables, made up: what an audit plays with."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, final

import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.data.records.coded_source import CodedSource
from synthdp.data.records.held_table import HeldTable, HeldTableReader
from synthdp.privacy.unit import Adjacency
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.public_files import as_schema
from synthdp.schema.schema import Schema

DOMAINS = ("declared", "derived")
"""Where the domain of a worst case comes from: from its schema, or from the records, under the
budget.
"""

PERSON = "person"
"""The column that tells the persons of a worst case apart."""

_KEY = "0123456789abcdef"
"""Which rows of a person are kept is drawn with this key, the same for both tables; there is nobody
to protect.
"""

_OPPOSED = ({"a": "0", "b": "0", "c": "1"}, {"a": "1", "b": "1", "c": "0"})
_CANARY = {"a": "1", "b": "1", "c": "1"}
"""Two kinds of rows, and a third that makes a and b more dependent on each other, and c less on
both: so the scores of pairs move apart as far as one record can move them. Of equal rows all move
alike, which no selection shows.
"""

_OPPOSITE = {"a": "0", "b": "0", "c": "0"}
"""What the canary replaces: it differs in every column, so that every marginal moves as far as it
can.
"""

_KINDS = {"town": "string", "income": "integer", "job": "string"}
_USUAL = {"town": "usual", "income": "5", "job": "usual"}
_FAR_OUT = {"town": "canary", "income": "1000000000", "job": "usual"}
"""A level that nobody else has, a number far out, and a level that many share: it may be released
with its count.
"""

_IN_ANOTHER_JOB = _USUAL | {"job": "another"}
"""What that canary replaces: it has another job, which many share as well, so that both their
counts move.
"""

N_DECLARED, N_DERIVED, N_OF_A_JOB = 100, 60, 100
"""Rows beside the canary, and those of either job: at epsilon 1 and delta 1e-2 levels of 50 rows
are not merged, those of 60 are found, and those of 100 where one is replaced.
"""


@final
class Truth:
    """Exact answers about one of the tables of an audit.

    Parameters
    ----------
    rows
        The table; made up, so that nobody has to be protected.
    """

    def __init__(self, rows: HeldTable) -> None:
        self.rows = rows
        self.values = rows.source

    def counts(self, schema: Schema) -> CodedSource:
        """Exact counts over the domain of a schema that the table's own closes to."""
        return CodedSource(self.rows.encode(schema))


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Neighbours:
    """Two tables that differ in one unit of privacy.

    Raises
    ------
    ParameterError
        If the tables are no such neighbours.
    """

    name: str
    """What they are called in findings."""
    schema: Schema | OpenSchema | Mapping[str, Any]
    """Of both; may leave things open."""
    one: pd.DataFrame
    other: pd.DataFrame
    """The tables, of texts."""
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    """In what they differ: ``other`` has one record more, or one that is another."""
    unit: str | None = None
    max_rows: int = 1
    """The column of persons, if they differ in a person, and the most rows of a person that are
    used.
    """

    def __post_init__(self) -> None:
        one, other = (self._units(frame) for frame in (self.one, self.other))
        # As sets of units: a table in another order is the same table.
        more = other - one
        less = one - other
        replaced = self.adjacency is Adjacency.REPLACE_ONE
        if len(more) > 1 or len(less) > replaced or (replaced and len(self.one) != len(self.other)):
            raise ParameterError(
                f"neighbours {self.name!r}: the tables differ in more than one unit; change one only"
            )

    @property
    def max_rows_per_unit(self) -> int | None:
        """Most rows of a person, as settings of a run say it: None where rows are protected."""
        return None if self.unit is None else self.max_rows

    def _units(self, frame: pd.DataFrame) -> set[tuple[object, ...]]:
        """The units of a table: persons with all they have, or rows, equal ones numbered."""
        texts = frame.astype(str)
        if self.unit is not None:
            return {
                (person, *sorted(map(tuple, rows.to_numpy().tolist())))
                for person, rows in texts.groupby(self.unit)
            }
        numbers = texts.groupby(list(texts.columns)).cumcount()
        return {
            (*row, number)
            for row, number in zip(texts.itertuples(index=False), numbers, strict=True)
        }

    @cached_property
    def open_schema(self) -> OpenSchema:
        """The schema of both."""
        return as_schema(self.schema)

    @cached_property
    def truths(self) -> tuple[Truth, Truth]:
        """Exact answers about the two tables."""
        one, other = (Truth(self._held(frame)) for frame in (self.one, self.other))
        return one, other

    @cached_property
    def canary(self) -> Truth:
        """The rows of ``other`` that ``one`` does not have; of a person, those that are used."""
        # As multisets: the canary may be equal to rows of everybody else.
        counts = [frame.astype(str).value_counts() for frame in (self.other, self.one)]
        more = counts[0].sub(counts[1], fill_value=0)
        rows = pd.DataFrame(list(more[more > 0].index), columns=self.other.columns, dtype=object)
        return Truth(self._held(rows))

    def __getstate__(self) -> dict[str, Any]:
        """Tables as they were given: held ones are not pickled."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _held(self, frame: pd.DataFrame) -> HeldTable:
        # With one key, or the two tables would differ in which rows of all other persons are kept.
        key = None if self.unit is None else _KEY
        reader = HeldTableReader(self.open_schema, unit=self.unit, max_rows=self.max_rows, key=key)
        reader.add(frame)
        return reader.finish()


def binary_schema() -> dict[str, Any]:
    """Three declared columns of two levels, as a schema's JSON."""
    constraints = {"enum": ["0", "1"], "required": True}
    return {
        "fields": [{"name": name, "type": "string", "constraints": constraints} for name in _CANARY]
    }


def worst_case(
    domain: str = "declared",
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    *,
    max_rows: int | None = None,
) -> Neighbours:
    """Rows of few kinds, and one of another kind, which shows in every question: the canary.

    Parameters
    ----------
    domain
        ``"declared"``: 100 rows of three columns of two levels. ``"derived"``: 60 equal rows of
        columns of which only the kinds are known, or 100 in either of two jobs if one is replaced;
        the canary has a level of its own and a number far out.
    adjacency
        Whether the canary comes, or replaces one of the rows.
    max_rows
        Makes the canary a person with one row more than so many, of which so many are used.

    Raises
    ------
    ParameterError
        If there is no such domain, or persons are to be replaced.
    """
    if domain not in DOMAINS:
        raise ParameterError(f"domain is {domain!r}; give {' or '.join(map(repr, DOMAINS))}")
    if max_rows is not None and adjacency is Adjacency.REPLACE_ONE:
        raise ParameterError(
            "adjacency is 'replace-one', which is for records; persons come or go: give 'add-remove'"
        )
    declared = domain == "declared"
    canary = _CANARY if declared else _FAR_OUT
    replaced = adjacency is Adjacency.REPLACE_ONE
    if declared:
        others = [
            _OPPOSITE if replaced else _OPPOSED[0],
            _OPPOSED[1],
            *[*_OPPOSED] * (N_DECLARED // 2 - 1),
        ]
    else:
        others = [_IN_ANOTHER_JOB, _USUAL] * N_OF_A_JOB if replaced else [_USUAL] * N_DERIVED
    # One row more than may be used, so that the audit notices if the limit were not kept.
    canaries = [canary] * (1 if max_rows is None else max_rows + 1)
    one, other = (
        pd.DataFrame(rows, dtype=object) for rows in (others, [*others[replaced:], *canaries])
    )
    if max_rows is not None:
        for frame in (one, other):
            # Everybody else has one row each, and all canaries are one person.
            frame[PERSON] = [f"p{min(number, len(others))}" for number in range(len(frame))]
    return Neighbours(
        name=f"{domain} domain, {adjacency.value}"
        + ("" if max_rows is None else f", {max_rows} rows a person"),
        schema=binary_schema() if declared else OpenSchema.from_kinds(_KINDS),
        one=one,
        other=other,
        adjacency=adjacency,
        unit=None if max_rows is None else PERSON,
        max_rows=1 if max_rows is None else max_rows,
    )
