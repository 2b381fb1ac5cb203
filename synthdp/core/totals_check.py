"""Whether rows have the known marginals, and the caution if not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from synthdp.core.known_marginal import KnownMarginal

_WHOLE = 1e-6
"""A cell that is off by one row but for so much is off by one: shares are no exact numbers."""


@final
@dataclass(frozen=True, kw_only=True)
class TotalsCheck:
    """By how much some rows differ from each published table."""

    known: tuple[KnownMarginal, ...]
    n_rows: int
    differences: tuple[float | None, ...]
    """By how many rows a cell of each published table is off, at most; None of a table that says
    nothing of these rows by themselves.
    """
    why: str
    """Why some say nothing."""

    @property
    def cautions(self) -> list[str]:
        """What users should know of the rows; nothing if they have all totals."""
        missed = {
            each.name: off
            for each, off in zip(self.known, self.differences, strict=True)
            if off is not None and off > 1.0 - _WHOLE
        }
        silent = self.differences.count(None)
        n_known = len(self.known)
        lines = []
        if missed:
            worst = max(missed, key=missed.__getitem__)
            lines.append(
                f"published totals: {len(missed)} of {n_known} tables are missed by these {self.n_rows:,} rows; "
                f"a cell of {worst} is off by {missed[worst]:.3g} rows; draw with another seed or number of "
                "rows, or give fewer tables"
            )
        if silent:
            lines.append(
                f"published totals: {silent} of {n_known} tables are not held to by these rows, for {self.why}; "
                "draw a whole table where they have to hold"
            )
        return lines

    def stated(self, entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What a certificate says of each published table, with what these rows have of it."""
        entries_now = []
        for entry, off in zip(entries, self.differences, strict=True):
            alone = {k: v for k, v in entry.items() if k not in ("rows", "largest_difference")}
            difference = {
                "rows": self.n_rows,
                "largest_difference": 0.0 if off is None else round(off, 6),
            }
            entries_now.append(alone | (difference if off is not None else {}))
        return entries_now
