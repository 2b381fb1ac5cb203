"""Independent columns: all that is left of measurements where noise hides dependences."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from synthdp.core.measurement import LinearMeasurement, estimate_total
from synthdp.inference.engine import Engine, FitProblem
from synthdp.inference.engines.graphical_model import GraphicalModelEngine
from synthdp.inference.model import Model
from synthdp.inference.shrinkage import one_way_shares


@final
@dataclass(frozen=True, kw_only=True)
class ColumnsEngine(Engine):
    """The distributions of single columns by all measurements, and no dependence but what rules ask
    for.

    It is a baseline for choices among models, and follows no measurement of several columns.
    """

    name: ClassVar[str] = "columns"

    def fit(self, problem: FitProblem) -> Model:
        """Fit the graphical model to what all measurements together say of each column."""
        total = max(estimate_total(problem.measurements), 1.0)
        shares = one_way_shares(problem.domain, problem.measurements, total=total)
        # They are no contradiction, so that any scale of noise gives the same fit.
        columns = [
            LinearMeasurement((name,), total * share, 1.0)
            for name, share in shares.items()
            if share.size > 1
        ]
        size = LinearMeasurement((), np.array(total), 1.0)
        alone = replace(problem, measurements=[size, *columns], warm_start=None)
        return GraphicalModelEngine().fit(alone)
