"""Entropic mirror descent with Anderson acceleration: the driver of all exponential-family engines.

Mirror descent moves the potentials against the gradient of the loss with respect to the
*marginals*: ``theta <- theta - step * (mu(theta) - y) / sigma^2``. It is robust but slow: a cell
of small probability learns at a rate in proportion to it.

The loss is quadratic in mu, and mu is known at every iterate. So the best affine combination of
the last iterates is a tiny least-squares problem in mu-space; taking the same combination of
their potentials, and a mirror step from there, costs one evaluation of mu and gains one to two
orders of magnitude in iterations (Anderson acceleration [Walker & Ni 2011] in the geometry of
mirror descent). A combination that does not lower the loss is thrown away in favour of a plain
step with an Armijo test, so the loss falls monotonically whatever the acceleration proposes.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from synthdp.inference.arithmetic import Array
from synthdp.inference.loss import MarginalLoss

Marginals = Callable[[Array], Array]
Progress = Callable[[int, int], None]


@final
@dataclass(frozen=True, kw_only=True)
class FitStatus:
    """How a fit ended: whether the stopping rule was met, after how many iterations, at which loss."""

    converged: bool
    n_iterations: int
    loss: float


class _Iterate(NamedTuple):
    theta: Array
    residual: Array
    loss: float


@final
@dataclass(frozen=True, kw_only=True)
class MirrorDescent:
    """Minimises a `MarginalLoss` over potentials.

    Parameters
    ----------
    tolerance
        Stop when ``window`` iterations together lowered the loss by less than this share of it.
    window
        Number of iterations over which progress is judged.
    max_iterations
        Stop here in any case; the status then says that the fit has not converged.
    memory
        Number of former iterates to combine; 0 gives plain mirror descent.
    """

    tolerance: float = 1e-4
    window: int = 10
    max_iterations: int = 3000
    memory: int = 20

    def minimise(
        self, marginals: Marginals, loss: MarginalLoss, theta: Array, *, total: float, progress: Progress | None = None
    ) -> tuple[Array, FitStatus]:
        """The fitted potentials and how the fit ended.

        Parameters
        ----------
        marginals
            Expected counts of the measured cells at given potentials; both of shape ``(n_cells,)``.
        loss
            The loss to minimise.
        theta
            Where to start: zeros, or the potentials of an earlier fit.
        total
            Number of records, for the first step size.
        progress
            Called with (iterations done, iterations at most).
        """
        state = _State(marginals, loss, theta, step=1.0 / (total * float(loss.weights.max(initial=1e-300))))
        history = deque([state.current.loss], maxlen=self.window + 1)
        # A loss this far below the noise's own size (half a unit a cell) is zero for every purpose.
        negligible = 1e-9 * loss.n_cells
        n_iterations, converged = 0, loss.n_cells == 0
        while not converged and n_iterations < self.max_iterations:
            moved = state.advance(self.memory)
            n_iterations += 1
            history.append(state.current.loss)
            gain = history[0] - history[-1]
            enough = len(history) > self.window and gain <= self.tolerance * history[-1]
            converged = enough or not moved or history[-1] <= negligible
            if progress is not None:
                progress(n_iterations, self.max_iterations)
        status = FitStatus(converged=converged, n_iterations=n_iterations, loss=state.current.loss)
        return state.current.theta, status


class _State:
    """The current iterate, the differences between the last ones, and the step size."""

    def __init__(self, marginals: Marginals, loss: MarginalLoss, theta: Array, *, step: float) -> None:
        self._marginals = marginals
        self._loss = loss
        self._step = step
        self._theta_steps: deque[Array] = deque()
        self._residual_steps: deque[Array] = deque()
        self._scaled_steps: deque[Array] = deque()
        self.current = self._evaluate(theta)

    def advance(self, memory: int) -> bool:
        """Take one accelerated step, or a plain one if that fails; False if neither lowers the loss."""
        if memory and self._theta_steps:
            theta, residual = self._best_combination()
            candidate = self._evaluate(theta - self._step * self._loss.weights * residual)
            if candidate.loss < self.current.loss:
                self._move(candidate, memory)
                self._step *= 1.1
                return True
        self._forget()
        return self._plain_step(memory)

    def _plain_step(self, memory: int) -> bool:
        gradient = self._loss.weights * self.current.residual
        while self._step > 1e-300:
            candidate = self._evaluate(self.current.theta - self._step * gradient)
            decrease = float(np.dot(gradient, self.current.residual - candidate.residual))
            if candidate.loss <= self.current.loss - 0.5 * decrease and candidate.loss < self.current.loss:
                self._move(candidate, memory)
                return True
            if np.array_equal(candidate.theta, self.current.theta):
                break
            self._step *= 0.5
        return False

    def _best_combination(self) -> tuple[Array, Array]:
        """Potentials and (linearised) residual of the affine combination with the least loss."""
        scaled = np.stack(self._scaled_steps)
        gram = scaled @ scaled.T
        norms = np.sqrt(np.diag(gram))
        norms[norms == 0] = 1.0
        target = scaled @ (np.sqrt(self._loss.weights) * self.current.residual)
        regularised = gram / np.outer(norms, norms) + 1e-7 * np.eye(len(norms))
        weights = -np.linalg.solve(regularised, target / norms) / norms
        theta = self.current.theta + np.tensordot(weights, np.stack(self._theta_steps), 1)
        residual = self.current.residual + np.tensordot(weights, np.stack(self._residual_steps), 1)
        return theta, residual

    def _evaluate(self, theta: Array) -> _Iterate:
        residual = self._loss.residual(self._marginals(theta))
        return _Iterate(theta, residual, self._loss.of_residual(residual))

    def _move(self, candidate: _Iterate, memory: int) -> None:
        residual_step = candidate.residual - self.current.residual
        self._theta_steps.append(candidate.theta - self.current.theta)
        self._residual_steps.append(residual_step)
        self._scaled_steps.append(np.sqrt(self._loss.weights) * residual_step)
        while len(self._theta_steps) > max(memory, 1):
            self._theta_steps.popleft()
            self._residual_steps.popleft()
            self._scaled_steps.popleft()
        self.current = candidate

    def _forget(self) -> None:
        for steps in (self._theta_steps, self._residual_steps, self._scaled_steps):
            steps.clear()
