"""Private choice among models of the same measurements, by noisy errors of tables that they draw.

Models are post-processing of what was measured, so that only their scores cost something. The
score of a model is the mean L1 error, in records, of pairs and triples of the table that it draws:
each of these errors moves by at most ``unit.marginal_l1`` when a unit comes, goes or changes
(`synthdp.privacy.scores.MarginalL1Error`), whatever the number of records is, and so does their
mean. All tables are scaled to one released number of records, and all errors are shares of it: they
are compared in the same unit, and have the same noise.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, cast, final

import numpy as np

from synthdp.core.errors import FitWarning, SynthdpError
from synthdp.core.measurement import LinearMeasurement, clear_total
from synthdp.core.reporting import Report
from synthdp.inference.arrays import Codes
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.privacy.private_table import PrivateTable
from synthdp.release.checked_table import CheckedTable
from synthdp.release.choice import MARGIN, chosen_place, labelled
from synthdp.release.compared import Compared
from synthdp.release.drawing.unused_levels import Unused
from synthdp.release.filled_table import FilledTable
from synthdp.release.fitting import fit_model, meeting, with_target
from synthdp.release.quality import (
    COLUMNS,
    PAIRS,
    TRIPLES,
    Measured,
    drawn_to_measure,
    sampled_sets,
)
from synthdp.release.synthesis import Drawn
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.core.known_marginal import KnownMarginal


@final
@dataclass(frozen=True, kw_only=True)
class _Candidate:
    label: str
    engine: Engine
    model: Model
    measurements: Sequence[LinearMeasurement]
    drawn: Drawn


def chosen_model(
    table: FilledTable,
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    model: Model,
    unused: Unused,
    *,
    carried: Sequence[LinearMeasurement] = (),
    default: Engine,
    engines: Sequence[Engine],
    mechanisms: Sequence[Mechanism] = (),
    known: "Sequence[KnownMarginal]" = (),
    target: str | None = None,
    rho: Fraction,
    checked: CheckedTable,
    report: Report,
) -> Compared:
    """Fit measurements by some more engines, and those of each of several mechanisms alone, and
    take the best model by noisy scores, for at most ``rho``.

    Parameters
    ----------
    table
        The records, behind a ledger that has ``rho`` left.
    schema, measurements, carried
        What all models are fitted to: measurements of this release, and of an earlier one.
    model, default
        The release's own model, and what fitted it: it stays unless another is clearly better.
    unused
        What is not drawn.
    engines
        What else fits. One that cannot, as its model would be too large, is left out, and so is one
        whose model draws the same table as an earlier one. Whatever goes wrong with one of them,
        what was paid for is not lost.
    mechanisms
        Which ones measured, if there were several (`synthdp.mechanisms.several`).
    known
        Published marginals, which all models meet.
    target
        What is to be predicted, if anything is.
    rho
        Budget of the choice; nothing is spent if there is one candidate only.
    checked
        Which table is drawn of each; it has rows.
    report
        Told about each fit.
    """
    candidates = [
        _Candidate(
            label=labelled(default),
            engine=default,
            model=model,
            measurements=measurements,
            drawn=drawn_to_measure(model, unused, checked),
        )
    ]
    rivals: list[tuple[str, Engine, Sequence[LinearMeasurement]]] = [
        (f"{labelled(mechanism)} alone", default, own)
        for mechanism, own in zip(
            mechanisms, _own_measurements(measurements, model, mechanisms), strict=True
        )
    ]
    rivals += [(labelled(engine), engine, measurements) for engine in engines]
    left_out = []
    for label, engine, fitted_to in rivals:
        candidate = _candidate(
            label, engine, fitted_to, carried, known, schema, target, unused, checked, report
        )
        if candidate is None:
            left_out.append(label)
            continue
        # What the mechanism says of what it measured holds of every model.
        candidate.model.cautions += model.cautions
        if not any(_same(candidate.drawn.codes, other.drawn.codes) for other in candidates):
            candidates.append(candidate)
    errors: list[float] = []
    stddev: float | None = None
    if len(candidates) > 1:
        # Of a model that believes in more records than another the same distance would be a smaller
        # share, so that all are shares of the number that the release states.
        total = max(model.total, 1.0)
        errors, stddev = _scores(table, candidates, rho, total=total)
    # Noise that hides how many records there are hides errors, too. The same was asked all the
    # same.
    if bool(measurements) and clear_total(measurements) is None:
        stddev = None
    place = 0 if stddev is None else chosen_place(errors, stddev)
    chosen = candidates[place]
    said = [
        {
            "engine": candidate.label,
            "error": None if stddev is None else max(errors[number], 0.0),
        }
        for number, candidate in enumerate(candidates)
    ]
    stated = {
        "chosen": chosen.label,
        "default": candidates[0].label,
        "candidates": said,
        "stddev": stddev,
        "margin": MARGIN,
        "left_out": left_out,
    }
    chosen.model.findings |= model.findings
    return Compared(
        engine=chosen.engine,
        model=chosen.model,
        measurements=chosen.measurements,
        drawn=chosen.drawn,
        stated=stated,
    )


def _own_measurements(
    measurements: Sequence[LinearMeasurement], model: Model, mechanisms: Sequence[Mechanism]
) -> list[list[LinearMeasurement]]:
    """For each of several mechanisms what it measured, and what the others did of single columns."""
    if not mechanisms:
        return []
    subsets = []
    start = 0
    # In the order in which they measured.
    for said in cast(list[Mapping[str, int]], model.findings["mechanisms"]):
        end = start + said["n_measurements"]
        others = (*measurements[:start], *measurements[end:])
        shared = [each for each in others if len(each.clique) == 1 and not each.groups]
        subsets.append([*measurements[start:end], *shared])
        start = end
    return subsets


def _candidate(
    label: str,
    engine: Engine,
    measurements: Sequence[LinearMeasurement],
    carried: Sequence[LinearMeasurement],
    known: "Sequence[KnownMarginal]",
    schema: Schema,
    target: str | None,
    unused: Unused,
    checked: CheckedTable,
    report: Report,
) -> _Candidate | None:
    """The model of an engine and the table that it draws; None if there is none, for it would be
    too large, say.
    """
    try:
        # Of the model that is taken the certificate says how its fit ended.
        with warnings.catch_warnings(action="ignore", category=FitWarning):
            fitter = meeting(engine, known)
            model = fit_model(fitter, schema, [*measurements, *carried], report=report)
            model = with_target(model, target, [*measurements, *carried])
        drawn = drawn_to_measure(model, unused, checked)
    except (ArithmeticError, MemoryError, SynthdpError, ValueError):
        return None
    return _Candidate(
        label=label, engine=engine, model=model, measurements=measurements, drawn=drawn
    )


def _same(one: Codes, other: Codes) -> bool:
    """Whether two tables are the same, row by row."""
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def _scores(
    table: FilledTable, candidates: Sequence[_Candidate], rho: Fraction, *, total: float
) -> tuple[list[float], float]:
    """The noisy errors of all candidates for ``rho`` together, as shares of ``total`` records, and
    the standard deviation of the noise on each.
    """
    sets, _ = sampled_sets(table.domain)
    # Of a single column there is nothing else.
    asked = [sets[name] for name in (PAIRS, TRIPLES) if sets[name]] or [sets[COLUMNS]]
    part = rho / (len(candidates) * len(asked))
    scores = []
    stddevs = set()
    for candidate in candidates:
        measured = Measured(cast(PrivateTable, table), candidate.drawn, total=total)
        parts = [measured.errors(cliques, part) for cliques in asked]
        scores.append(sum(each.average for each in parts) / len(parts))
        stddevs.add(sqrt(sum(each.mean_stddev**2 for each in parts)) / len(parts))
    # The same questions for the same budget, in the same unit.
    (stddev,) = stddevs
    return scores, stddev
