"""Which synthetic table the quality of a release is measured of."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class CheckedTable:
    """Which synthetic table quality is measured of."""

    n_rows: int | None = None
    """Its rows; None for as many as the release says that there are records."""
    seed: int = 0
    """What draws it."""
