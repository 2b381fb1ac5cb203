"""The interface of engines: an Engine fits a model to noisy marginals."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import FitWarning, ParameterError
from synthdp.core.measurement import Coarsening, LinearMeasurement
from synthdp.inference.model import Ending, FitStatus, Model, Progress

MAX_RATIO = 1e9
"""Of the largest to the smallest scale of noise in one fit: squared, beside each other, more would
be lost in rounding.

A count that is known exactly has to be given some noise, but a billionth of the others' is enough.
"""


@final
@dataclass(frozen=True, eq=False)
class FitProblem:
    """What an engine is to fit, which `Engine.estimate` describes and `checked_problem` checks."""

    domain: Domain
    measurements: Sequence[LinearMeasurement]
    constraints: Sequence[Constraint] = ()
    warm_start: Model | None = None
    progress: Progress | None = None


class Engine(ABC):
    """An engine: finds a distribution that explains noisy marginals."""

    name: ClassVar[str]
    takes_merged: ClassVar[bool] = False
    """Whether it fits measurements over merged levels, each merged in its own way, and tells all
    levels apart.
    """
    refines: ClassVar[bool] = False
    """Whether it calls `estimate_refined` itself, for what it does to a model comes last."""

    @property
    def known(self) -> Sequence[LinearMeasurement]:
        """Marginals that it fits besides those that it is given: nothing need be paid for them."""
        return ()

    @property
    def known_sets(self) -> Collection[frozenset[str]]:
        """Sets of attributes of which it knows all exactly: none of them is scored or measured."""
        return frozenset()

    def known_shares(self, clique: Clique) -> NDArray[np.float64] | None:  # noqa: ARG002
        """The shares of a marginal of which it knows all, axes in the order of ``clique``; else
        None.
        """
        return None

    def unknown(self, cliques: Iterable[Clique]) -> list[Clique]:
        """The cliques of which it does not know all: what there is to pay for."""
        return [clique for clique in cliques if self.known_shares(clique) is None]

    def check_domain(self, domain: Domain) -> None:  # noqa: B027 - engines without such a limit need not care
        """Raise `ModelTooLargeError` if no model over this domain could be fitted, whatever is
        measured.
        """

    def can_hold(self, domain: Domain, cliques: Sequence[Clique], *, max_cells: int) -> bool:  # noqa: ARG002
        """Whether a model of these cliques has at most so many cells; True for engines that need no
        tree of them.
        """
        return True

    def refuses(self, domain: Domain, cliques: Sequence[Clique]) -> bool:  # noqa: ARG002
        """Whether a model of these cliques needs more cells than the engine may use, so that `fit`
        raises `ModelTooLargeError`.
        """
        return False

    def over_merged(self, domain: Domain, coarsening: Coarsening) -> Self:  # noqa: ARG002 - most engines hold no codes
        """The engine for the domain that ``coarsening`` makes of ``domain``."""
        return self

    def rough(self) -> "Engine":
        """The same engine with a looser stopping rule.

        For models that steer a selection, and for mechanisms whose measurements are noisy enough
        that following them to the last digit takes several times as long and errs no less.
        """
        return self

    @abstractmethod
    def fit(self, problem: FitProblem) -> Model:
        """Fit a model to a problem that was checked: what `estimate` returns."""

    def checked(self, problem: FitProblem) -> FitProblem:
        """The problem as `fit` takes it; raises `ParameterError`, see `checked_problem`."""
        return checked_problem(problem, takes_merged=self.takes_merged)

    def estimate(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement],
        *,
        constraints: Sequence[Constraint] = (),
        warm_start: Model | None = None,
        progress: Progress | None = None,
    ) -> Model:
        """Fit a model to noisy marginals.

        Parameters
        ----------
        domain
            All attributes of the table, measured or not.
        measurements
            Noisy marginals, at least one. Where some are coarsened, use
            `synthdp.inference.engines.refinement.estimate_refined`.
        constraints
            Combinations of levels that public knowledge rules out. No sampled record breaks one;
            exact engines give forbidden combinations probability 0.
        warm_start
            An earlier model of this engine over the same domain, to start from.
        progress
            Called with (iterations done, iterations at most).

        Raises
        ------
        ParameterError
            If there are no measurements, or one or a constraint does not fit the domain, or the
            constraints together rule out everything, or scales of noise are more than 1e9-fold
            apart.
        ModelTooLargeError
            If the model would need more cells than the engine may use.
        """
        problem = FitProblem(domain, measurements, constraints, warm_start, progress)
        return self.fit(self.checked(problem))


def concluded(engine: str, status: FitStatus, *, wanted: Ending = "optimal") -> FitStatus:
    """The status of a fit, with a caution, and a `FitWarning`, if the fit did not end as the
    engine's should.

    Parameters
    ----------
    engine
        Its name.
    status
        How the fit ended.
    wanted
        How fits of this engine end, unless something prevents it.
    """
    # "Stalled" is a failure for one engine and the usual end for another, which knows no proof of
    # its optimum.
    if status.ended in ("optimal", wanted):
        return status
    end = "stalled" if status.ended == "stalled" else "was stopped"
    caution = (
        f"the fit ({engine}) {end} after {status.n_iterations} iterations, short of the least loss: tables may follow "
        "the measurements less closely than their noise allows; allow more iterations or use another engine"
    )
    warnings.warn(caution, FitWarning, stacklevel=3)
    return replace(status, caution=caution)


_Kind = TypeVar("_Kind", bound=Model)


def check_warm_start(warm_start: Model | None, kind: type[_Kind], domain: Domain) -> _Kind | None:
    """The model to start from, None if there is none of the engine's kind.

    Raises
    ------
    ParameterError
        If it is over another domain.
    """
    if not isinstance(warm_start, kind):
        return None
    if warm_start.domain != domain:
        raise ParameterError(
            "warm_start: it is over another domain; give a model over the same attributes and sizes"
        )
    return warm_start


def checked_problem(problem: FitProblem, *, takes_merged: bool = False) -> FitProblem:
    """A problem as engines fit it: checked, and without attributes of one level in its measurements
    and constraints.

    Such an attribute tells nothing, but takes an axis of every array, of which numpy has 64, and
    ties cliques into circles.

    Raises
    ------
    ParameterError
        Unless there are measurements, all fit, and no levels are merged if the engine minds. Scales
        of noise may be up to `MAX_RATIO` apart, those of totals further.
    """
    domain = problem.domain
    measurements = problem.measurements
    if len(domain) == 0:
        raise ParameterError("domain: it has no attributes; give at least one")
    if not measurements:
        raise ParameterError("measurements: there is none; measure at least one marginal")
    for measurement in measurements:
        if measurement.groups and not takes_merged:
            raise ParameterError(
                f"measurement of {measurement.clique}: levels are merged; use estimate_refined"
            )
        measurement.check_fits(domain)
    for constraint in problem.constraints:
        constraint.check_fits(domain)
    # A table of one cell tells the total, which is settled before the fit.
    scales = [
        np.asarray(measurement.stddev)
        for measurement in measurements
        if measurement.values.size > 1
    ]
    # Weights are inverse variances. The square of the ratio has to fit into the digits of a float,
    # or the noisier measurements would have no say.
    least = min((float(scale.min()) for scale in scales), default=1.0)
    largest = max((float(scale.max()) for scale in scales), default=1.0)
    if largest > MAX_RATIO * least:
        raise ParameterError(
            f"measurements: scales of noise from {least:.3g} to {largest:.3g} records are more than "
            f"{MAX_RATIO:g}-fold apart; give the most exact ones a larger stddev, or leave out the noisiest"
        )
    squeezed = [constraint.squeezed() for constraint in problem.constraints]
    return replace(
        problem,
        measurements=[measurement.squeezed() for measurement in measurements],
        constraints=[constraint for constraint in squeezed if constraint is not None],
    )
