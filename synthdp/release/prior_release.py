"""An earlier release about an overlapping population, read to be used by a new one: its released
contents only, which cost nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.measurement import LinearMeasurement
from synthdp.mechanisms.auto.auto import Auto
from synthdp.mechanisms.auto.drifting import Drifting, EarlierRelease
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.release.certificate.losses import losses_together
from synthdp.release.loading import load
from synthdp.release.run_settings import RunSettings
from synthdp.release.synthesis import Synthesis
from synthdp.schema.columns.column import Column
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema

PriorLike: TypeAlias = Synthesis | str | PathLike[str]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class PriorRelease:
    """What an earlier release is used for."""

    synthesis: Synthesis
    """The earlier release."""
    mechanism: Auto
    """What is to use it."""
    schema: OpenSchema
    """The schema of the new one, closed by what the earlier one learnt."""
    taken: tuple[str, ...]
    """The columns whose levels or bins come from the earlier release."""

    def drifting(self, domain: Domain) -> Drifting:
        """What it says, for a mechanism to compare with a table of that domain."""
        earlier = EarlierRelease(self.synthesis.evidence, self.synthesis.model)
        return Drifting(domain, earlier)

    def stated(self, ledger: PrivacyLedger) -> dict[str, Any]:
        """What the certificate of the new release says of it: which run it is of, its guarantee,
        and what both add up to for one who is in both.
        """
        certificate = self.synthesis.certificate
        run = certificate.get("run", {})
        facts = {
            "run": run.get("id"),
            "released": run.get("released"),
            "guarantee": certificate.get("guarantee"),
            "sha256": _digest(self.synthesis.evidence),
            "columns_taken": list(self.taken),
        }
        return facts | {"together": losses_together(ledger, certificate)}

    def cautions(self, ledger: PrivacyLedger) -> list[str]:
        """What whoever is in both should know, where the two guarantees cannot be added up."""
        together = losses_together(ledger, self.synthesis.certificate)
        if "note" not in together:
            return []
        return [
            f"earlier release: {together['note']}; what both mean for who is in both is not stated"
        ]


def prior_release(
    given: PriorLike, schema: OpenSchema, settings: RunSettings, called: str
) -> PriorRelease:
    """An earlier release, checked to be of the same columns as the new one.

    Parameters
    ----------
    given
        The release, or the file that it was saved in.
    schema
        What is public of the new table; what it leaves open is taken from the earlier release.
    settings
        Those of the new run.
    called
        What errors call the earlier release.

    Raises
    ------
    DataFileError
        If the file cannot be read, or is no saved release of one table.
    ParameterError
        If it is nothing of the kind, or the mechanism cannot use it.
    SchemaError
        If the columns differ.
    """
    if isinstance(given, Synthesis):
        name, synthesis = called, given
    elif isinstance(given, str | PathLike):
        name = f"{called} {str(given)!r}"
        synthesis = load(given)
    else:
        raise ParameterError(
            f"{called} is a {type(given).__name__}; give an earlier release of one table, or its file"
        )
    # Others plan by nothing but their own scores, and would measure again what is known.
    if not isinstance(settings.mechanism, Auto):
        others = settings.mechanism.parts or (settings.mechanism,)
        named = " and ".join(repr(each.name) for each in others if not isinstance(each, Auto))
        raise ParameterError(
            f"{called}: the mechanism {named or 'list'} cannot use an earlier release; take auto "
            "alone, or leave it out"
        )
    if not synthesis.measurements:
        raise ParameterError(
            f"{name}: nothing was measured in it; give a release that was completed"
        )
    closed, taken = _closed(schema, synthesis.schema, name)
    _check_alike(closed.resolved({}), synthesis.schema, name)
    return PriorRelease(
        synthesis=synthesis, mechanism=settings.mechanism, schema=closed, taken=taken
    )


def _digest(evidence: Sequence[LinearMeasurement]) -> str:
    """A hash of all that is used of an earlier release, so that a run goes on with the same one."""
    digest = sha256()
    for measurement in evidence:
        # Shapes, too: the same bytes in another shape are other counts.
        digest.update(repr((measurement.clique, measurement.values.shape)).encode())
        digest.update(measurement.values.tobytes())
        digest.update(np.asarray(measurement.stddev).tobytes())
    return digest.hexdigest()


def _closed(schema: OpenSchema, earlier: Schema, name: str) -> tuple[OpenSchema, tuple[str, ...]]:
    """The schema with what it leaves open taken from an earlier one, and the columns taken."""
    before = {column.name: column for column in earlier.table_columns}
    taken: dict[str, Column] = {}
    for column in schema.open_columns:
        if column.name not in before:
            raise SchemaError(
                f"{name}: it has no column {column.name!r}; give a release of the same columns, or leave it out"
            )
        taken[column.name] = before[column.name]
    return (schema.partly_closed(taken) if taken else schema), tuple(taken)


def _check_alike(now: Schema, before: Schema, name: str) -> None:
    """Refuse a schema of other columns or levels: a count of it would be one of something else."""
    if differing := sorted(set(now.names) ^ set(before.names)):
        which = "it lacks" if differing[0] in now.names else "the schema lacks"
        raise SchemaError(
            f"{name}: {which} the column {differing[0]!r}; give a release of the same columns, or leave it out"
        )
    for column in now.columns:
        # By labels and not by objects: a level has the same meaning if it is written the same.
        if list(map(str, column.labels)) != list(map(str, before[column.name].labels)):
            raise SchemaError(
                f"{name}: column {column.name!r} has other levels or bins there; declare those of the earlier "
                "release (synthdp show, or --save-schema), or leave it out"
            )
