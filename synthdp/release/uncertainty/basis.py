"""What an analysis rests on: whether the dependences between its columns were measured."""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import pandas as pd

from synthdp.core.measurement import LinearMeasurement
from synthdp.schema.schema import Schema

Coverage: TypeAlias = Literal["measured", "pairs", "merged", "model"]

MAX_NAMED = 3
"""Pairs that a caution names; it is one line."""


class Basis(NamedTuple):
    """What the columns of an analysis rest on, and what its reader should know."""

    coverage: Coverage
    """"measured": all columns together, by one measurement. "pairs": each two of them. "merged":
    some two over merged levels only. "model": some two by no measurement.
    """
    cautions: tuple[str, ...]
    """Sentences, without a full stop."""

    @property
    def is_covered(self) -> bool:
        """Whether intervals can be given."""
        return self.coverage in ("measured", "pairs")


def basis_of(
    schema: Schema, measurements: Sequence[LinearMeasurement], columns: Sequence[str]
) -> Basis:
    """What an analysis of some columns of a table rests on."""
    relatives = schema.relatives
    wanted = columns if relatives is None else relatives.with_others(columns)
    attributes = [column.name for column in schema.columns if column.source in wanted]
    # A measurement over merged levels says nothing of how its levels differ inside of a group: such
    # columns do not count as measured.
    whole = [set(m.clique) - set(m.groups) for m in measurements]
    cautions = tuple(f"{name}: {_BINS}" for name in columns if _has_wide_bins(schema, name))
    if any(clique.issuperset(attributes) for clique in whole):
        return Basis("measured", cautions)
    # Where all of them were never measured together, an interval needs at least each pair of them.
    missing = [
        pair
        for pair in combinations(attributes, 2)
        if not any(clique.issuperset(pair) for clique in whole)
    ]
    if not missing:
        return Basis("pairs", cautions)
    unmeasured = [
        pair for pair in missing if not any(set(m.clique).issuperset(pair) for m in measurements)
    ]
    named = ", ".join(
        f"{first} and {second}" for first, second in (unmeasured or missing)[:MAX_NAMED]
    )
    if len(unmeasured or missing) > MAX_NAMED:
        more = f" and {len(unmeasured or missing) - MAX_NAMED} more"
    else:
        more = ""
    how = "by no measurement together" if unmeasured else "together over merged levels only"
    caution = (
        f"no interval: {named}{more} were measured {how}; ask for them in the workload of a release"
    )
    return Basis(
        "model" if unmeasured else "merged",
        (caution.replace("measured by no", "part of no"), *cautions),
    )


_BINS = "values are drawn inside its bins, as the schema says they lie there; intervals do not know how far that is off"


def _has_wide_bins(schema: Schema, name: str) -> bool:
    """Whether levels of a column stand for several values."""
    return name in schema.names and any(
        isinstance(label, pd.Interval) for label in schema[name].labels
    )
