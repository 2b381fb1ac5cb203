"""What an evaluation of one table is asked for, besides the tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from synthdp.report.metrics.queries import Queries
from synthdp.report.releases import Certificates


@final
@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """The arguments of `synthdp.evaluate` that say what is compared, and by what."""

    names: Sequence[str] | None = None
    targets: Sequence[str] | str | None = None
    by: Sequence[str] | str | None = None
    queries: Queries | None = None
    certificate: Certificates = None
    weight: str | None = None
    seed: int = 0
