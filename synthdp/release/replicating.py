"""Replicates of a fitted release: what fits its measurements anew, and what fits those of some
columns.
"""

from collections.abc import Sequence

import numpy as np

from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report, in_notebook, silent
from synthdp.core.requests import check_rows, check_seed
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.release.answers import Answers
from synthdp.release.certificate.fit_facts import UNKNOWN_ROWS
from synthdp.release.fitting import meeting, with_target
from synthdp.release.further_fits import stated_engine, stated_target
from synthdp.release.registry import as_engine, engine_named
from synthdp.release.uncertainty.part import ColumnSubset
from synthdp.release.uncertainty.refitting import refits
from synthdp.release.uncertainty.replicates import Replicates
from synthdp.release.uncertainty.tables import ReplicateTables

MAX_REPLICATES = 1000
"""Tables: their spread is then known to 2 %, and nobody needs it better."""


def check_number_of_replicates(m: object, name: str = "m") -> None:
    """Raise `ParameterError` unless ``m`` is a number of replicates; ``name`` is how the error
    calls it.
    """
    if not isinstance(m, int) or isinstance(m, bool) or not 2 <= m <= MAX_REPLICATES:
        raise ParameterError(f"{name} is {m!r}; give a number of tables from 2 to {MAX_REPLICATES}")


def replicates_of(
    release: Answers,
    m: int,
    *,
    n_rows: int | None = None,
    seed: int | None = None,
    engine: str | Engine | None = None,
    report: Report = silent,
) -> Replicates:
    """Replicates of a release; parameters and errors are those of
    `synthdp.release.synthesis.Synthesis.replicates`.
    """
    schema = release.schema
    measurements = release.evidence
    check_number_of_replicates(m)
    check_seed(seed)
    if n_rows is not None:
        check_rows(schema.domain, n_rows)
    if not release.knows_size:
        raise ParameterError(f"replicates: {UNKNOWN_ROWS}")
    facts = release.certificate.get("engine", {})
    fitter = stated_engine(facts) if engine is None else as_engine(engine)
    fitter = meeting(fitter, release.model.known)
    target = stated_target(release.certificate, schema.domain)
    report = in_notebook(report)

    def fits(generators: Sequence[np.random.Generator]) -> list[Model]:
        models = []
        for model in refits(
            schema.domain,
            measurements,
            schema.constraints,
            fitter,
            generators,
            # Replicates differ from the release by noise, so its fit is close to theirs.
            start=release.model.as_fitted,
        ):
            models.append(with_target(model, target, measurements))
            report("fitting replicates", len(models), m + 1)
        return models

    tables = ReplicateTables(
        schema=schema,
        measurements=measurements,
        unused=release.unused,
        fits=fits,
        engine_of=engine_of,
        m=m,
        n_rows=round(release.model.total) if n_rows is None else n_rows,
        seed=seed,
    )
    return Replicates(schema=schema, measurements=measurements, tables=tables)


def engine_of(part: ColumnSubset) -> Engine:
    """The exact engine if a part's tree is small, else one that agrees on overlaps only; neither
    knows of a prior.
    """
    return engine_named("graphical-model" if part.has_small_tree else "local-consistency")
