"""What was learnt of a domain before a run failed: paid for, and not to be lost."""

from collections.abc import Mapping
from os import PathLike
from typing import final

from synthdp.table.files.json_files import write_json
from synthdp.table.schema.open_schema import OpenSchema
from synthdp.table.schema.schema import Schema


@final
class LearntDomain:
    """A schema in which the columns that were learnt are declared, with the certificate of what that cost.

    Parameters
    ----------
    schema
        Closed as far as it was learnt.
    certificate
        What was charged.
    """

    def __init__(self, schema: Schema | OpenSchema, certificate: Mapping[str, object]) -> None:
        self._schema = schema
        self._certificate = dict(certificate)

    @property
    def schema(self) -> Schema | OpenSchema:
        """Closed as far as it was learnt; run with it and what is left of the budget."""
        return self._schema

    @property
    def certificate(self) -> dict[str, object]:
        """What was charged."""
        return dict(self._certificate)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a schema file, which also holds the certificate.

        Raises
        ------
        DataFileError
            If the file exists and ``force`` is not set, or cannot be written.
        """
        content = self._schema.to_dict()
        own = content.get("synthdp", {})
        content["synthdp"] = {**(own if isinstance(own, Mapping) else {}), "certificate": self._certificate}
        write_json(path, content, force=force)

    def __repr__(self) -> str:
        return f"<LearntDomain of {len(self._schema.names)} columns>"
