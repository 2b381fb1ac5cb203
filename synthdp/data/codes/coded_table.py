"""Tables of level codes: what records become before they are counted, and what is drawn."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.schema.columns.column import code_dtype

CodeColumn = NDArray[np.integer[Any]]


@final
@dataclass(frozen=True, eq=False, repr=False)
class CodedTable:
    """Level codes of a table, one array a column.

    It may hold the sensitive table: its text shows the domain only.

    Raises
    ------
    ParameterError
        If the arrays do not fit the domain.
    """

    domain: Domain
    """Names and numbers of levels."""
    columns: tuple[CodeColumn, ...]
    """For each attribute a contiguous 1-D array of codes ``0 .. size - 1`` in the smallest
    unsigned type that holds the *declared* size, all of one length.
    """

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


def checked_codes(codes: CodeColumn, name: str, size: int) -> CodeColumn:
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
