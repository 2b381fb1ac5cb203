"""What a mechanism is asked for: a workload, who fits a model to answers, and within which rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.reporting import Report, silent
from synthdp.core.workload import Workload
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model


@final
@dataclass(frozen=True, kw_only=True)
class Task:
    """What a mechanism is asked for, besides the table and its budget. All of it is public."""

    workload: Workload
    """The marginals that the model should get right."""
    engine: Engine
    """Fits the measurements."""
    constraints: Sequence[Constraint] = ()
    """Combinations of levels that the schema rules out; the engine respects them."""
    report: Report = silent
    """Called with the progress."""

    def fit(self, domain: Domain) -> Callable[..., Model]:
        """What fits measurements by the engine's own stopping rule, as a last round does, and
        reports its progress: ``fit(measurements, warm_start=None)``.
        """
        progress = partial(self.report, "fitting")
        return partial(
            self.engine.estimate, domain, constraints=self.constraints, progress=progress
        )

    def rough_fit(self, domain: Domain, *, reports: bool = True) -> Callable[..., Model]:
        """As `fit`, by the engine's looser stopping rule (`Engine.rough`): to steer a selection, or
        to follow measurements no further than their noise. Rounds that report theirs are silent.

        A fit to the last digit follows the noise: it takes several times as long and errs no less.
        """
        progress = partial(self.report, "fitting") if reports else None
        return partial(
            self.engine.rough().estimate, domain, constraints=self.constraints, progress=progress
        )
