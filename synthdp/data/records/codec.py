"""The codec: tables of values to tables of level codes and back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.data.codes.decoding import decoded
from synthdp.data.frames.plain import plain
from synthdp.schema.columns.column import code_dtype
from synthdp.schema.schema import Schema

Codes = NDArray[np.integer[Any]]


@final
@dataclass(frozen=True, eq=False, repr=False)
class CodedTable:
    """Level codes of a table, one array a column.

    It may hold the sensitive table: its text shows the domain only.

    Parameters
    ----------
    domain
        Names and numbers of levels.
    columns
        For each attribute a contiguous 1-D array of codes ``0 .. size - 1`` in the smallest
        unsigned type that holds the *declared* size, all of one length.

    Raises
    ------
    ParameterError
        If the arrays do not fit the domain.
    """

    domain: Domain
    columns: tuple[Codes, ...]

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.domain):
            raise ParameterError(
                f"columns: {len(self.columns)} for {len(self.domain)} attributes; give one each"
            )
        checked = (
            checked_codes(codes, name, size)
            for codes, name, size in zip(
                self.columns, self.domain.attributes, self.domain.shape, strict=True
            )
        )
        columns = tuple(checked)
        if len({len(codes) for codes in columns}) > 1:
            raise ParameterError("columns: they differ in length; give as many codes in each")
        object.__setattr__(self, "columns", columns)

    @classmethod
    def concatenate(cls, domain: Domain, parts: Iterable[Self]) -> Self:
        """The rows of several tables of one domain, one table after the other."""
        empty = tuple(np.empty(0, code_dtype(size)) for size in domain.shape)
        pieces = zip(empty, *(part.columns for part in parts), strict=True)
        return cls(domain, tuple(np.concatenate(piece) for piece in pieces))

    def __repr__(self) -> str:
        return f"<CodedTable of {len(self.domain)} columns>"


def checked_codes(codes: Codes, name: str, size: int) -> Codes:
    """One column of codes, contiguous and in its smallest type; raises `ParameterError` if they do
    not fit.
    """
    array = np.asarray(codes)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ParameterError(
            f"codes: those of column {name!r} are {array.ndim}-D {array.dtype}; give 1-D integers"
        )
    if array.size and (int(array.min()) < 0 or int(array.max()) >= size):
        raise ParameterError(
            f"codes: some of column {name!r} lie outside 0 .. {size - 1}; check the schema they are of"
        )
    return np.ascontiguousarray(array, dtype=code_dtype(size))


def encode(frame: pd.DataFrame, schema: Schema) -> CodedTable:
    """Level codes of a table's values and of the parts of its dates, in the order of the schema.

    Total on values: nothing is raised, warned or logged because of one; see `columns` for
    what becomes of each. The same value gives the same code, whether it is typed or a text
    of a CSV file, and whatever the other rows hold.

    Raises
    ------
    SchemaError
        If the table's column names are not the schema's (their order may differ).

    >>> schema = Schema.from_dict(
    ...     {
    ...         "fields": [
    ...             {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
    ...         ]
    ...     }
    ... )
    >>> encode(pd.DataFrame({"age": ["3", "3.0", "-7", "?", ""]}), schema).columns[0].tolist()
    [3, 3, 0, 10, 10]
    """
    schema.check_header(frame.columns)
    return CodedTable(schema.domain, tuple(_encoded(plain(frame, schema.types), schema)))


def _encoded(frame: pd.DataFrame, schema: Schema) -> Iterator[NDArray[Any]]:
    for column in schema.table_columns:
        yield from column.codes_with_parts(frame[column.name])


def decode(
    codes: Sequence[Codes] | Codes,
    schema: Schema,
    rng: np.random.Generator,
    *,
    text: bool = False,
    categories: bool = False,
    given: Mapping[str, NDArray[np.float64]] = {},
) -> pd.DataFrame:
    """A table of values for released level codes; `encode` gives the same codes back.

    Where the bins of a row hold no values that keep to the schema's checks, values lie in other
    bins.

    Parameters
    ----------
    codes, schema
        One 1-D integer array for each of the schema's columns, parts of dates included, or one 2-D
        array of rows and columns. Dates are drawn so that they agree with their parts where their
        bins allow for it.
    rng
        Draws values inside their bins.
    text
        Texts as a CSV file holds them, in place of typed values. The same generator gives
        the same values either way.
    categories
        Typed levels that are texts as categories, which is quicker.
    given
        Of some columns the values, as `read_numbers` gives them, that checks are to hold for in
        place of those that are drawn.

    Returns
    -------
    pandas.DataFrame
        Its dtypes depend on the schema only: ``str``; ``int64``, or ``Int64`` if values may be
        missing; ``float64``; ``bool`` or ``boolean``; ``datetime64[s]``; ``object`` with ``text``.

    Raises
    ------
    ParameterError
        If the codes do not fit the schema.

    >>> schema = Schema.from_dict({"sex": 2})
    >>> decode([np.array([1, 0])], schema, np.random.default_rng(0))["sex"].tolist()
    [1, 0]
    """
    columns = tuple(codes.T) if isinstance(codes, np.ndarray) and codes.ndim == 2 else tuple(codes)
    table = CodedTable(schema.domain, columns)
    by_name = dict(zip(schema.names, table.columns, strict=True))
    return decoded(by_name, schema, rng, text=text, categories=categories, given=given)
