"""What was learnt of a domain before a run failed: paid for, and not to be lost."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Protocol, final

from synthdp.core.errors import SchemaError
from synthdp.core.files.json_files import write_json
from synthdp.core.sealing import sealed
from synthdp.release.result import Released
from synthdp.schema.columns.column import Column
from synthdp.schema.open_schema import OpenSchema


class Described(Protocol):
    """What is public of a table, or of the tables of a package."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain JSON values."""


@final
class LearntDomain(Released):
    """A schema in which the columns that were learnt are declared, with the certificate of what
    that cost.

    Parameters
    ----------
    schema
        Closed as far as it was learnt.
    certificate
        What was charged.
    """

    def __init__(self, schema: Described, certificate: Mapping[str, object]) -> None:
        self._schema = schema
        self._certificate = dict(certificate)

    @property
    def schema(self) -> Described:
        """The schema, or the package, closed as far as it was learnt; run with it and what is left
        of the budget.
        """
        return self._schema

    @property
    def certificate(self) -> dict[str, object]:
        """What was charged."""
        return sealed(self._certificate)

    cautions: ClassVar[tuple[str, ...]] = ()
    """None: the certificate says all that there is."""
    n_measured: ClassVar[int] = 0
    """None was."""
    can_sample: ClassVar[bool] = False
    """False: columns alone tell of no rows."""
    is_schema: ClassVar[bool] = True
    """True: all that it holds is a schema."""

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a schema file, which also holds the certificate.

        Raises
        ------
        DataFileError
            If the file exists and ``force`` is not set, or cannot be written.
        """
        content = self._schema.to_dict()
        own = content.get("synthdp", {})
        content["synthdp"] = {
            **(own if isinstance(own, Mapping) else {}),
            "certificate": self.certificate,
        }
        write_json(path, content, force=force)

    def __repr__(self) -> str:
        return f"<LearntDomain of {len(self._schema.names)} columns>"


def closed_so_far(schema: OpenSchema, learnt: Mapping[str, Column]) -> OpenSchema:
    """A schema closed as far as it was learnt."""
    try:
        return schema.partly_closed(learnt)
    except SchemaError:  # what was learnt contradicts the rules, and was paid for all the same
        return replace(schema, rules=()).partly_closed(learnt)


def learnt_so_far(
    schema: OpenSchema, learnt: Mapping[str, Column], certificate: Mapping[str, object]
) -> LearntDomain:
    """What a run that failed has learnt: its schema closed so far, and what that cost."""
    return LearntDomain(closed_so_far(schema, learnt), certificate)


def learnt_to_dict(schema: OpenSchema, column: Column, caution: str) -> dict[str, Any]:
    """A learnt column and the findings about it as plain JSON values, readable without the other
    columns.
    """
    alone = OpenSchema((column,), schema.missing_values, dialect=schema.dialect)
    return {"learnt": alone.to_dict(), "caution": caution}


def learnt_in(content: Mapping[str, Any]) -> tuple[Column, str]:
    """What `learnt_to_dict` wrote; raises `SchemaError` or `ValueError` if it is something else."""
    # Read by the same parser as any schema: what a journal holds may have been written by anybody.
    schema = OpenSchema.from_dict(content["learnt"])
    if schema.is_open or len(schema.columns) > 1 or not isinstance(content.get("caution"), str):
        raise ValueError("not a column that was learnt")
    (column,) = schema.closed_columns
    return column, str(content["caution"])
