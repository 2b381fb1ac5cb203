"""What the file of a release is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.model import Model
from synthdp.schema.schema import Schema


@final
@dataclass(frozen=True, kw_only=True)
class Pieces:
    """What a file holds: everything that was released, and the model if there is one.

    ``carried`` is what an earlier release still says.
    ``origin`` says which format a file has, what software saved it, and the SHA-256 of each member;
    ``known`` is what is published, of a release without a model.
    """

    schema: Schema
    measurements: Sequence[LinearMeasurement]
    model: Model | None
    certificate: Mapping[str, object]
    origin: Mapping[str, object] = field(default_factory=dict)
    dtypes: Mapping[str, object] = field(default_factory=dict)
    known: Sequence[Mapping[str, object]] = ()
    carried: Sequence[LinearMeasurement] = ()
