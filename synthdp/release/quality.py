"""How far the rows of a release are from the records, measured under its budget: fit to publish.

The distance is the share of rows that would have to change: half the L1 distance between the shares
of the cells, over the levels and bins of the schema. One record changes the L1 error of a marginal
by at most ``unit.marginal_l1`` records, whatever rows it is held against, so the errors of k
marginals are released as any scores are (`synthdp.privacy.scores.MarginalL1Error`), and the mean of
k noisy errors is as exact as if it alone had been asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, Protocol, cast, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.many_cliques import blocks_of, sampled_k_way
from synthdp.data.counting.covering import Axes, in_batches
from synthdp.data.counting.dominant import counts_of_all
from synthdp.data.counting.joint import JointCounter
from synthdp.inference.arrays import Codes
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.noisy_errors import error_stddev, release_errors
from synthdp.privacy.private_table import PrivateTable
from synthdp.privacy.unit import PrivacyUnit
from synthdp.release.checked_table import CheckedTable
from synthdp.release.drawing.draw import drawn_codes, seeds_of
from synthdp.release.drawing.unused_levels import Unused
from synthdp.release.filled_table import FilledTable
from synthdp.release.synthesis import Drawn

MAX_ROWS = 1_000_000
"""Quality is measured on at most so many rows: more would take longer than the release."""

MAX_MARGINALS = 500
"""Of more pairs or triples a public random sample is measured: the mean of so many differs from
that of all by a twentieth of what single ones differ by. These are all triples of 15 columns.
"""

MAX_CELLS = 2**20
"""Larger marginals are left out: n rows fill them no better than chance would."""

MAX_BATCH_CELLS = 2**22
"""Cells of the estimates that are held at once, or of one marginal more (32 MiB, and as much on the
grid of the score).
"""

MAX_KEPT_BYTES = 2**27
"""Larger tables are not kept to be written: they are drawn again, the same rows."""

COLUMNS, PAIRS, TRIPLES, WORST = "columns", "pairs", "triples", "worst pair"
PREDICTION = "prediction"

PARTS: Mapping[str, int] = {COLUMNS: 3, PAIRS: 3, TRIPLES: 3, WORST: 1, PREDICTION: 3}
"""How the budget for quality is split, among what a table is wide enough for. Means are exact
enough with a third of it; the worst pair is a single number, of which a tenth has less than twice
the noise that a mean has.
"""

CLEAR = 4.0
"""A single pair is named if its error is so many standard deviations of its noise: of 500 pairs
without any error, one is named by mistake in 60 releases.
"""

MAX_NAMED = 20
"""So many single pairs are named at most, the worst first."""

UNIT = "share of rows that would have to change, over the levels and bins of the schema"
"""What an error is, as certificates say it."""

_SAMPLE_SEED = 0


class Prediction(Protocol):
    """Measures how well a model of drawn rows predicts a column; see `prediction_quality`."""

    def __call__(self, codes: Codes, *, rho: Fraction) -> dict[str, Any]:
        """What certificates say of it."""


def measured_quality(
    table: FilledTable,
    model: Model,
    unused: Unused,
    *,
    rho: Fraction,
    checked: CheckedTable,
    drawn: Drawn | None,
    prediction: Prediction | None,
) -> tuple[dict[str, Any], Drawn]:
    """Draw a table and measure how far it is from the records, for at most ``rho``.

    Parameters
    ----------
    table
        The records, behind a ledger that has ``rho`` left.
    model, unused
        What draws, and what it does not draw; the model says how many records there are.
    rho
        Budget of it all.
    checked
        Which table is drawn; it has rows.
    drawn
        That table, if it was drawn already.
    prediction
        Measures how well a model of drawn rows predicts a column, if one is wanted.

    Returns
    -------
    dict, Drawn
        What certificates say of it, as plain JSON values, and the codes that were drawn. Which
        marginals are asked follows from the domain alone.
    """
    drawn = drawn or drawn_to_measure(model, unused, checked)
    codes = drawn.codes
    n_rows = drawn.n_rows
    measured = Measured(cast(PrivateTable, table), drawn, total=max(model.total, 1.0))
    sets, n_all = sampled_sets(table.domain)
    # A table of two columns has no triples; their part of the budget goes to the others.
    asked = {name: cliques for name, cliques in sets.items() if cliques}
    parts = [*asked, *([WORST] if sets[PAIRS] else []), *([PREDICTION] if prediction else [])]
    unit_of_rho = rho / sum(PARTS[name] for name in parts)
    content: dict[str, Any] = {"unit": UNIT, "table": {"n_rows": n_rows, "seed": checked.seed}}
    for name, cliques in asked.items():
        errors = measured.errors(cliques, PARTS[name] * unit_of_rho)
        content[name] = errors.mean()
        if name == COLUMNS:
            content[name]["each"] = errors.by_column()
        else:
            content[name] |= {"n_marginals": len(cliques), "n_all": n_all[name]}
        if name == PAIRS:
            content[name]["clear"] = errors.clear()
            # Asked anew, by its own budget: the noisy error by which it was chosen is too large on
            # average, being the largest of many.
            worst = measured.errors([errors.worst()], PARTS[WORST] * unit_of_rho)
            content["worst_pair"] = worst.stated(worst.cliques[0])
    if prediction is not None:
        content[PREDICTION] = prediction(codes, rho=PARTS[PREDICTION] * unit_of_rho)
    return content, drawn


def kept_table(drawn: Drawn) -> Drawn | None:
    """A table that was drawn, unless it is too large to be kept."""
    is_small = sum(column.nbytes for column in drawn.codes) <= MAX_KEPT_BYTES
    return drawn if is_small else None


def drawn_to_measure(model: Model, unused: Unused, checked: CheckedTable) -> Drawn:
    """The table of a model that is held against the records."""
    # Noise may make the number of records 0 or negative, and shares are of it.
    n_rows = round(max(model.total, 1.0)) if checked.n_rows is None else checked.n_rows
    n_rows = min(n_rows, MAX_ROWS)
    sampling_seed = seeds_of(checked.seed)[0]
    codes = drawn_codes(model, n_rows, {}, sampling_seed, unused)
    return Drawn(n_rows=n_rows, seed=checked.seed, codes=codes)


def sampled_sets(domain: Domain) -> tuple[dict[str, list[Clique]], dict[str, int]]:
    """The columns, pairs and triples that are measured, and how many there are of each.

    Which ones follows from the domain alone.
    """
    sets, n_all = {}, {}
    for k, name in enumerate((COLUMNS, PAIRS, TRIPLES), start=1):
        # A fixed seed: which marginals are measured follows from the schema, and anybody can tell.
        rng = np.random.default_rng(_SAMPLE_SEED)
        sets[name], n_all[name] = sampled_k_way(
            domain, k, rng, most=MAX_MARGINALS, max_cells=MAX_CELLS
        )
    return sets, n_all


def mean_stddev(rho: Fraction, *, total: float, unit: PrivacyUnit) -> float:
    """Standard deviation of the noise on the mean error of columns, pairs or triples, if a table
    has all of them and nothing is predicted.

    Parameters
    ----------
    rho
        Budget of all that measures quality.
    total
        Number of records.
    unit
        Whose records are protected together.
    """
    part = rho * Fraction(PARTS[COLUMNS], sum(PARTS.values()) - PARTS[PREDICTION])
    return error_stddev(1, rho=part, unit=unit) / (2.0 * total)


@final
@dataclass(frozen=True, kw_only=True)
class Errors:
    """Noisy distances of some marginals, and the standard deviation of the noise on each."""

    cliques: Sequence[Clique]
    distances: np.ndarray
    stddev: float

    @property
    def average(self) -> float:
        """Their mean, which noise may have made negative."""
        return float(self.distances.mean())

    @property
    def mean_stddev(self) -> float:
        """Standard deviation of the noise on it: noise on different marginals is independent."""
        return self.stddev / sqrt(len(self.cliques))

    def mean(self) -> dict[str, float]:
        """Their mean as it is stated."""
        return {"error": max(self.average, 0.0), "stddev": self.mean_stddev}

    def stated(self, clique: Clique) -> dict[str, Any]:
        """One of them."""
        error = max(float(self.distances[self.cliques.index(clique)]), 0.0)
        return {"columns": list(clique), "error": error, "stddev": self.stddev}

    def by_column(self) -> dict[str, dict[str, float]]:
        """Each of them, where they are single columns."""
        distances = np.maximum(self.distances, 0.0).tolist()
        return {
            name: {"error": error, "stddev": self.stddev}
            for (name,), error in zip(self.cliques, distances, strict=True)
        }

    def worst(self) -> Clique:
        """Which is largest, by the noisy errors."""
        return self.cliques[int(np.argmax(self.distances))]

    def clear(self) -> list[dict[str, Any]]:
        """Those that stand clear of the noise, the worst first."""
        order = np.argsort(-self.distances, kind="stable").tolist()
        # Post-processing of noisy numbers, so the threshold costs nothing.
        clear = [place for place in order if self.distances[place] > CLEAR * self.stddev]
        return [self.stated(self.cliques[place]) for place in clear[:MAX_NAMED]]


@final
class Measured:
    """The records beside rows that were drawn, as many of these as there are records."""

    def __init__(self, table: PrivateTable, drawn: Drawn, *, total: float) -> None:
        self._table = table
        # Public rows, counted as records are: many marginals from few tables.
        self._drawn = JointCounter(
            dict(enumerate(drawn.codes)), table.domain.shape, len(drawn.codes[0])
        )
        self._scale = total / drawn.n_rows
        self._total = total

    def errors(self, cliques: Sequence[Clique], rho: Fraction) -> Errors:
        """The errors of some marginals, for ``rho``.

        They are asked for in batches, as many as fit into memory. A batch of b of k marginals costs
        ``rho b / k``, which makes its noise that of all k at once.
        """
        distances: list[float] = []
        for batch in blocks_of(self._table.domain, cliques, max_cells=MAX_BATCH_CELLS):
            estimates = [counts * self._scale for counts in self._counts(batch)]
            cost = rho * Fraction(len(batch), len(cliques))
            released = release_errors(self._table, batch, estimates, rho=cost)
            # The kernel rounds errors down to whole records: half of one is lost in the mean.
            distances += [(released.errors[clique] + 0.5) / (2.0 * self._total) for clique in batch]
        records = error_stddev(len(cliques), rho=rho, unit=self._table.ledger.unit)
        return Errors(
            cliques=cliques,
            distances=np.array(distances),
            stddev=records / (2.0 * self._total),
        )

    def _counts(self, cliques: Sequence[Clique]) -> Iterator[np.ndarray]:
        """How many drawn rows are in each cell of some marginals."""

        def counted(wanted: Sequence[Axes]) -> Iterator[np.ndarray]:
            counts = counts_of_all(self._drawn, wanted)
            return (counts[axes] for axes in wanted)

        return in_batches(cliques, self._table.domain, counted, most_cells=MAX_BATCH_CELLS)
