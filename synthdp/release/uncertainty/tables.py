"""Tables of replicates: of all columns by the model's fits, or of some columns by fits of what was
measured of them.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias, final

import numpy as np
import pandas as pd

from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.release.drawing.draw import drawn_table
from synthdp.release.drawing.unused_levels import Unused
from synthdp.release.uncertainty.combining import N_CENTRES
from synthdp.release.uncertainty.part import ColumnSubset
from synthdp.release.uncertainty.refitting import refits
from synthdp.schema.schema import Schema

Fits: TypeAlias = Callable[[Sequence[np.random.Generator]], list[Model]]
"""From sources of noise to the fit and those of replicates, one for each source."""


class Tables(NamedTuple):
    """The number of records by the fit, tables that the fit draws, and one of each replicate."""

    total: float
    centres: list[pd.DataFrame]
    replicates: list[pd.DataFrame]


@final
class ReplicateTables:
    """What draws the tables, each when it is first asked for.

    Parameters
    ----------
    schema, measurements
        What the columns mean, and everything that was measured.
    fits
        What fits all columns.
    engine_of
        Which engine fits some columns.
    m
        Number of replicates.
    n_rows
        Rows of each table.
    seed
        Makes noise and tables repeatable.
    unused
        Levels without records, which are not drawn.
    """

    def __init__(
        self,
        *,
        schema: Schema,
        measurements: Sequence[LinearMeasurement],
        fits: Fits,
        engine_of: Callable[[ColumnSubset], Engine],
        m: int,
        n_rows: int,
        seed: int | None,
        unused: Unused,
    ) -> None:
        self._schema = schema
        self._measurements = measurements
        self._fits = fits
        self._engine_of = engine_of
        self._unused = unused
        self.n_rows = n_rows
        # Two streams: replicates have the same noise however many tables are drawn.
        noise, drawing = np.random.SeedSequence(seed).spawn(2)
        self._noise: list[int] = noise.generate_state(m).tolist()
        self._seeds: list[int] = drawing.generate_state(m + N_CENTRES).tolist()
        self._parts: dict[frozenset[str], Tables] = {}

    def __len__(self) -> int:
        return len(self._noise)

    @cached_property
    def whole(self) -> Tables:
        """Tables of all columns, all of them held."""
        return self._all(self._schema, self._models)

    def table(self, index: int, *, text: bool) -> pd.DataFrame:
        """One table of all columns by its number from 0; no other is drawn, and none is held."""
        return self._drawn(
            self._schema, self._models[1 + index], self._seeds[N_CENTRES + index], text=text
        )

    def of(self, columns: Sequence[str]) -> Tables:
        """Tables of some columns, fitted to the measurements of these columns alone."""
        # Questions come in any order of columns, and a fit takes seconds.
        if (key := frozenset(columns)) not in self._parts:
            part = ColumnSubset.for_columns(self._schema, self._measurements, columns)
            fits = refits(
                part.schema.domain,
                part.measurements,
                part.constraints,
                self._engine_of(part),
                self._generators,
            )
            self._parts[key] = self._all(part.schema, list(fits))
        return self._parts[key]

    @cached_property
    def _models(self) -> list[Model]:
        return self._fits(self._generators)

    @property
    def _generators(self) -> list[np.random.Generator]:
        # New ones each time, so that noise does not hang on what was asked before.
        return [np.random.default_rng(seed) for seed in self._noise]

    def _all(self, schema: Schema, models: Sequence[Model]) -> Tables:
        # The fit to the real noise is drawn several times, so that chance of drawing averages out
        # of the centre; of replicates it is part of what is to be seen.
        drawn_by = [models[0]] * N_CENTRES + list(models[1:])
        tables = [
            self._drawn(schema, model, seed)
            for model, seed in zip(drawn_by, self._seeds, strict=True)
        ]
        return Tables(models[0].total, tables[:N_CENTRES], tables[N_CENTRES:])

    def _drawn(
        self, schema: Schema, model: Model, seed: int, *, text: bool = False
    ) -> pd.DataFrame:
        unused = {name: code for name, code in self._unused.items() if name in schema.names}
        return drawn_table(model, schema, self.n_rows, seed=seed, text=text, unused=unused)
