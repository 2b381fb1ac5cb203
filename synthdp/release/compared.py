"""The model that a release keeps, once models were compared and its quality was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.release.synthesis import Drawn


@final
@dataclass(frozen=True, kw_only=True)
class Compared:
    """The model, what fitted it to what, the table that it draws if that is kept, and what
    certificates say.
    """

    engine: Engine
    model: Model
    measurements: Sequence[LinearMeasurement]
    drawn: Drawn | None
    stated: Mapping[str, object]
