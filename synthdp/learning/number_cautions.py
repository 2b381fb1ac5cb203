"""What to say of columns of numbers or dates that were learnt: what noise leaves open of them, and how
to close it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.measurement import LinearMeasurement
from synthdp.core.percent import percent
from synthdp.learning.decimals import Decimals
from synthdp.learning.filling import UnreadCount
from synthdp.learning.learnt import Learnt
from synthdp.learning.lone_values import are_few
from synthdp.learning.overshoot import LEFT_OUT, BoundsDoubt
from synthdp.learning.parse_cautions import clipped_caution
from synthdp.learning.search_grid import SearchGrid
from synthdp.learning.settling import bin_counts, doubt_of_bounds, in_units, others_than

Doubts: TypeAlias = list[tuple[str, str]]
"""What is in doubt of a column, each with what to declare."""

IF_IDS = "for ids say type 'id', which makes them up, or 'ignore'"
"""Way out of a column whose values are all different."""

OFTEN, FEWEST_IDS = 2, 256
"""Numbers that occur as often as that, on average, are not taken for ids, nor are so few of them.
"""


@final
@dataclass(frozen=True, kw_only=True)
class NumberCautions:
    """Cautions on a column of numbers or dates whose bounds are open, when it is learnt and later."""

    axis: SearchGrid
    learnt: Learnt
    edges: NDArray[np.int64] | None
    """First grid points of bins, then the end; None where bins are declared."""
    decimals: Decimals
    bare: str
    """A caution that it has next to no values; else empty."""
    is_by_unit: bool
    """Whether each unit of privacy was one record when it was learnt, and rows are measured."""

    @property
    def as_learnt(self) -> str:
        """The caution while nothing else is known."""
        return self._given(self.learnt)

    def once_measured(
        self, measurements: Sequence[LinearMeasurement], unread: UnreadCount | None
    ) -> str:
        """The caution once the bins were measured: whether its bounds are in doubt is judged anew.

        Not where bins are declared, or the grid has become coarser, so that points are others.
        Beside a lone value the bins of others were counted, unless the grid is so coarse that
        decimals may be lost in it.
        """
        learnt, edges = self.learnt, self.edges
        if edges is None:
            return self.as_learnt
        share = 0.0 if unread is None else unread.share
        is_coarse = self.axis.column.has_decimals and self.axis.grid.decimals <= 0
        if learnt.lone is not None and learnt.hidden < 1 and not is_coarse:
            counts = bin_counts(self._name, edges, measurements, share)
            others = others_than(learnt.lone, edges, counts)
            most = max(others.n_records, 0.0) + 2 * others.stddev
            hidden = 0.0 if are_few(*others) else min(most / others.n_all, learnt.hidden)
            return self._given(replace(learnt, hidden=hidden, settled=BoundsDoubt(False, 0.0)))
        overshoot = learnt.overshoot
        if overshoot is None:
            return self.as_learnt
        if not np.array_equal(edges[[0, -1]], overshoot.density.starts[[0, -1]]):
            return self.as_learnt
        counts = bin_counts(self._name, edges, measurements, share)
        beyond = None if unread is None else unread.beyond
        if self.is_by_unit:
            counts, beyond = in_units(counts, beyond, float(overshoot.density.mass.sum()))
        settled = doubt_of_bounds(overshoot, edges, counts, beyond)
        return self._given(replace(learnt, settled=settled))

    @property
    def _name(self) -> str:
        return self.axis.column.name

    def _given(self, learnt: Learnt) -> str:
        """The caution, given what is known of the numbers by now."""
        caution = self.bare or self._of_records(learnt) or self._of_doubts(learnt)
        return "; ".join(filter(None, (caution, infinite_caution(self._name, learnt))))

    def _of_records(self, learnt: Learnt) -> str:
        """A caution if nothing was told from noise, or only one value; empty if not."""
        start = f"column {self._name!r}:"
        if not learnt.stands_out:
            noise = "its bounds are as declared, its bins are noise"
            if "bounds" in self.axis.column.open_parts:
                noise = "bounds and bins are noise"
            return f"{start} its records were not told from noise; {noise}"
        if not learnt.hidden:
            return ""
        way_out = "declare its bounds if it has others"
        if learnt.hidden < 1:
            share = f"up to {100 * learnt.hidden:.0f} % of the records"
            problem = f"one value is told from noise, which would hide others that {share} have"
            return f"{start} {problem}; {way_out}"
        problem = (
            "only one value was told from noise, or values are beyond those that numbers can have"
        )
        return f"{start} {problem}; {way_out}; {IF_IDS}"

    def _of_doubts(self, learnt: Learnt) -> str:
        """A caution if noise leaves open where its bounds are, or how many decimals it has; empty if
        not.
        """
        of_decimals = decimals_doubts(self.decimals)
        # Noise that hides how many decimals there are hides where they end as well.
        hides_ends = not self.decimals.is_known and not self.axis.has_bounds
        if not learnt.has_doubtful_bounds and not hides_ends:
            return doubts_caution(self._name, of_decimals)
        doubt = f"its bounds are uncertain by about {self.axis.length(learnt.uncertainty)}"
        if learnt.left_out > LEFT_OUT:
            share = f"{100 * min(learnt.left_out, 1.0):.0f} %"
            doubt = f"its bounds are uncertain: about {share} of its records may lie beyond them"
        limits = self.axis.column.limits
        way_out = " and ".join(key for key in ("minimum", "maximum") if key not in limits)
        caution = doubts_caution(self._name, [(doubt, way_out), *of_decimals])
        return f"{caution}, or {IF_IDS}" if self._may_be_ids(learnt) else caution

    def _may_be_ids(self, learnt: Learnt) -> bool:
        """Whether whole numbers have so many possible values that none need occur often."""
        n_values = int(learnt.density.widths.sum())
        is_integer = self.axis.column.type == "integer"
        return is_integer and n_values >= max(FEWEST_IDS, learnt.present / OFTEN)


def decimals_doubts(decimals: Decimals) -> Doubts:
    """What noise leaves open of how many decimals a column has."""
    doubts: Doubts = []
    if not decimals.is_known:
        taken = f"are taken to be {decimals.decimals}"
        doubts.append((f"its decimals were not told from noise and {taken}", "synthdp.decimals"))
    if decimals.fractions:
        share = f"about {100 * min(decimals.fractions, 1.0):.0f} %"
        doubt = f"it is written in whole numbers, although {share} of its numbers may have decimals"
        doubts.append((doubt, "synthdp.decimals"))
    if decimals.fewer:
        share = f"about {100 * decimals.fewer:.0f} %"
        written = f"the {decimals.decimals} decimals that are written"
        doubts.append((f"{share} of its numbers have fewer than {written}", "synthdp.heaping"))
    return doubts


def doubts_caution(name: str, doubts: Doubts) -> str:
    """A caution on a column of which something is in doubt; empty if nothing is."""
    if not doubts:
        return ""
    problems, ways_out = (", and ".join(texts) for texts in zip(*doubts, strict=True))
    return f"column {name!r}: {problems}; declare {ways_out}"


def infinite_caution(name: str, learnt: Learnt) -> str:
    """A caution if numbers of a column are infinite; empty if not."""
    if not learnt.infinite_share:
        return ""
    way_out = "put numbers in their place, or list inf and -inf in missingValues"
    share = f"about {percent(learnt.infinite_share)} of the records have inf or -inf"
    return f"column {name!r}: {share}, which count as missing; if they are not, {way_out}"


def beyond_caution(name: str, learnt: Learnt) -> str:
    """A caution if numbers of a column are infinite, or beyond its declared bounds; empty if not."""
    cautions = [infinite_caution(name, learnt)]
    if learnt.clipped_share:
        way_out = "declare minimum and maximum so that they hold them"
        cautions.append(clipped_caution(name, learnt.clipped_share, way_out=way_out))
    start = f"column {name!r}: "
    parts = [each.removeprefix(start) for each in cautions if each]
    return f"{start}{'; '.join(parts)}" if parts else ""
