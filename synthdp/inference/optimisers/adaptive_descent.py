"""The driver of the mixture engines: Adam with projection, a falling learning rate and an honest
end.

The problem is not convex, and components of small weight have small derivatives; Adam's step for
each parameter does not depend on their size [Kingma & Ba 2015]. (L-BFGS needed several times as
many evaluations to the same loss.) When progress stalls, the best point so far is taken up again
with half the learning rate.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from typing import final

from synthdp.core.errors import ParameterError
from synthdp.inference.model import Ending, FitStatus, Progress
from synthdp.inference.products.array_backend import ArrayBackend, DeviceArray

Objective = Callable[[DeviceArray], tuple[float, DeviceArray]]
Projection = Callable[[DeviceArray], DeviceArray]

_MEMORY_OF_SLOPE, _MEMORY_OF_SIZE = 0.9, 0.99
"""Adam's decay rates; the second, 0.999 in the paper for random gradients, is shorter: these are
exact.
"""
_SLOW = 0.1
"""A fit below the noise goes on while a window lowers the loss by more than this share
(``stop_at_noise``).
"""


@final
@dataclass(frozen=True, kw_only=True)
class AdaptiveDescent:
    """Minimises a smooth function of a table of parameters.

    Raises
    ------
    ParameterError
        If a number is not above 0 (``halvings``: below 0).
    """

    learning_rate: float
    """About how far each parameter moves in one iteration at first."""
    tolerance: float = 1e-3
    """Progress has stalled when ``window`` iterations together lowered the best value by less
    than this share of it.
    """
    window: int = 20
    """Number of iterations over which progress is judged."""
    halvings: int = 6
    """The fit has converged when progress has stalled this many times and once more; each time
    before, the learning rate is halved.
    """
    max_iterations: int = 5000
    """Stop here in any case; the status then says "stopped"."""
    stop_at_noise: bool = True
    """Stop early where the loss is below what noise alone would leave of it at the truth (half a
    unit a cell, less three standard deviations of that), as soon as ``window`` iterations lower
    it by less than a tenth. What fits closer fits noise: on discretised Adult at epsilon 0.1
    the error against the truth grows by a fifth to two fifths when the fit goes on to its end.
    (At epsilon 10 it shrinks by a tenth: where noise is small, False can be worth its time.)
    """

    def __post_init__(self) -> None:
        for name in ("learning_rate", "tolerance", "window", "max_iterations"):
            if not 0 < getattr(self, name) < inf:
                raise ParameterError(f"{name} is {getattr(self, name)}; give a number above 0")
        if self.halvings < 0:
            raise ParameterError(f"halvings is {self.halvings}; give 0 or more")

    def noise_level(self, n_cells: int) -> float:
        """The loss over ``n_cells`` cells that noise alone leaves at the truth, all but surely."""
        return max(0.5 * n_cells - 3 * sqrt(0.5 * n_cells), 0.0)

    def minimise(
        self,
        objective: Objective,
        project: Projection,
        start: DeviceArray,
        *,
        n_cells: int,
        backend: ArrayBackend,
        progress: Progress | None = None,
    ) -> tuple[DeviceArray, FitStatus]:
        """The best parameters met, and how the fit ended (with the value of the objective as its
        loss).

        Parameters
        ----------
        objective
            Value and gradient at given parameters; it must not keep or change them.
        project
            Takes parameters to the nearest ones that are allowed.
        start
            Allowed parameters.
        n_cells
            Number of measured cells.
        backend
            Where the parameters live.
        progress
            Called with (iterations done, iterations at most).
        """
        # Values are those of the best point, not of the current one, which Adam lets wander.
        search = _Search(objective, start, self.learning_rate, backend)
        # One more than the window, so that first and last are a window apart.
        values = deque([search.best_value], maxlen=self.window + 1)
        # A loss this far below the noise's own size is zero for every purpose.
        negligible = 1e-9 * n_cells
        noise = self.noise_level(n_cells) if self.stop_at_noise else -inf
        n_iterations = 0
        halved = 0
        converged = search.best_value <= negligible
        while not converged and n_iterations < self.max_iterations:
            search.step(project)
            n_iterations += 1
            value = search.best_value
            values.append(value)
            # Before a whole window has passed nothing is said of progress.
            gain = values[0] - value if len(values) > self.window else inf
            # Below what noise leaves at the truth a fit only follows noise; one that still falls by
            # a tenth a window is let go on.
            converged = value <= negligible or (value <= noise and gain <= _SLOW * value)
            # Stalled at this learning rate: Adam circles around the minimum at about the length of
            # a step.
            if n_iterations % self.window == 0 and gain <= self.tolerance * value:
                halved += 1
                converged = converged or halved > self.halvings
                search.restart()
            if progress is not None:
                progress(n_iterations, self.max_iterations)
        # Never "optimal": the problem is not convex, and nothing proves that there is no better
        # fit.
        ended: Ending = "stalled" if converged else "stopped"
        return search.best, FitStatus(
            ended=ended, n_iterations=n_iterations, loss=search.best_value
        )


class _Search:
    """The current point, the best so far, and Adam's running means of slopes and squared slopes."""

    def __init__(
        self, objective: Objective, start: DeviceArray, learning_rate: float, backend: ArrayBackend
    ) -> None:
        self._objective = objective
        self._backend = backend
        self._rate = learning_rate
        self._n_steps = 0
        self.best = self._point = start
        self.best_value, self._slope = objective(start)
        self._best_slope = self._slope
        # Zeros of the slope's own kind, on its device and of its precision, without asking what
        # backend it is.
        self._mean = self._slope * 0
        self._square = self._slope * 0
        # Where slopes are nothing but rounding errors, a step must not blow them up to its own
        # size.
        self._least_size = 1e-12 * float(abs(self._slope).max()) + 1e-300

    def step(self, project: Projection) -> None:
        self._n_steps += 1
        self._mean += (1 - _MEMORY_OF_SLOPE) * (self._slope - self._mean)
        self._square += (1 - _MEMORY_OF_SIZE) * (self._slope * self._slope - self._square)
        # Running means that begin at 0 are too small at first; Adam's correction for that.
        grown = 1 - _MEMORY_OF_SLOPE**self._n_steps
        size = (
            self._backend.xp.sqrt(self._square / (1 - _MEMORY_OF_SIZE**self._n_steps))
            + self._least_size
        )
        self._point = project(self._point - self._rate / grown * self._mean / size)
        value, self._slope = self._objective(self._point)
        if value < self.best_value:
            self.best = self._point
            self.best_value = value
            self._best_slope = self._slope

    def restart(self) -> None:
        """Go on from the best point with half the learning rate."""
        self._rate *= 0.5
        self._point = self.best
        self._slope = self._best_slope
        # The mean of slopes belonged to another place. That of squares stays: scales of parameters
        # do not change by going back.
        self._mean *= 0
