"""A few columns of a release by themselves: what was measured of them, and an engine that adds
nothing to it.

An analysis looks at few columns, and all that measurements say of them are sums of measured tables.
Fits of these are small problems; they are least squares, so that what was measured with much noise
leaves much open. Engines of whole releases may draw noisy tables to what they expect, which errs
less and hides how much.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from synthdp.core.constraint import Constraint
from synthdp.core.measurement import LinearMeasurement, combined_measurements
from synthdp.inference.trees.junction_tree import JunctionTree
from synthdp.release.uncertainty.cell_estimates import summed_to
from synthdp.schema.made_up.generated import NOTHING_GENERATED
from synthdp.schema.schema import Schema

MAX_CELLS = 1 << 16
"""Of a junction tree up to which the exact engine fits: beyond, twenty fits would take minutes."""


@final
@dataclass(frozen=True)
class ColumnSubset:
    """Some columns of a table."""

    schema: Schema
    """What they mean, without rules."""
    measurements: tuple[LinearMeasurement, ...]
    """What was measured of them, one table a clique, none of merged levels."""
    constraints: tuple[Constraint, ...]
    """What public knowledge rules out among them."""

    @classmethod
    def for_columns(
        cls, schema: Schema, measurements: Sequence[LinearMeasurement], columns: Sequence[str]
    ) -> "ColumnSubset":
        """What a release says of some columns."""
        relatives = schema.relatives
        if relatives is not None:
            columns = relatives.with_others(columns)
            relatives = relatives.among(columns)
        own = tuple(column for column in schema.columns if column.source in columns)
        # Without rules: those on other columns do not hold here by themselves, and those within are
        # kept as constraints below.
        small = replace(
            schema, columns=own, rules=(), generated=NOTHING_GENERATED, relatives=relatives
        )
        seen = [summed_to(measurement, small.names) for measurement in measurements]
        whole = combined_measurements(small.domain, [table for table in seen if not table.groups])
        kept = tuple(
            constraint
            for constraint in schema.constraints
            if set(constraint.clique) <= set(small.names)
        )
        return cls(small, tuple(whole), kept)

    @property
    def has_small_tree(self) -> bool:
        """Whether the exact engine fits it at once, as the junction tree of its cliques is small."""
        cliques = [*(m.clique for m in self.measurements), *(c.clique for c in self.constraints)]
        domain = self.schema.domain
        return JunctionTree.covering(domain, map(domain.varying, cliques)).n_cells() <= MAX_CELLS
