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

_MOST_HALVINGS = 60
_ROUNDING = 1e-15
_LONGEST_JUMP = 5.0
"""How far, in nats, an accelerated step may move a potential."""


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
        Number of former iterates to combine, 16 bytes a measured cell each; 0 gives plain mirror descent.
    """

    tolerance: float = 1e-4
    window: int = 20
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
        step = 1.0 / (total * float(loss.weights.max(initial=1e-300)))
        state = _State(marginals, loss, theta, step=step, memory=self.memory)
        history = deque([state.current.loss], maxlen=self.window + 1)
        # A loss this far below the noise's own size (half a unit a cell) is zero for every purpose.
        negligible = 1e-9 * loss.n_cells
        n_iterations, converged = 0, loss.n_cells == 0
        while not converged and n_iterations < self.max_iterations:
            moved = state.advance()
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

    def __init__(self, marginals: Marginals, loss: MarginalLoss, theta: Array, *, step: float, memory: int) -> None:
        self._marginals = marginals
        self._loss = loss
        self._scales = np.sqrt(loss.weights)
        self._step = step
        self._past = _Differences(memory, theta.size)
        self.current = self._evaluate(theta)

    def advance(self) -> bool:
        """Take one accelerated step, or a plain one if that fails; False if neither lowers the loss."""
        if self._past.size:
            weights = self._past.best_weights()
            scaled = self._scales * self.current.residual + weights @ self._past.scaled[: self._past.size]
            change = weights @ self._past.theta[: self._past.size] - self._step * self._scales * scaled
            # A longer jump may land where cells that are needed vanish, and would never come back.
            change *= min(1.0, _LONGEST_JUMP / max(float(np.abs(change).max()), _LONGEST_JUMP))
            candidate = self._evaluate(self.current.theta + change)
            if candidate.loss < self.current.loss:
                self._move(candidate)
                self._step *= 1.1
                return True
        self._past.forget()
        return self._plain_step()

    def _plain_step(self) -> bool:
        gradient = self._loss.weights * self.current.residual
        for _ in range(_MOST_HALVINGS):
            candidate = self._evaluate(self.current.theta - self._step * gradient)
            decrease = float(np.dot(gradient, self.current.residual - candidate.residual))
            if candidate.loss <= self.current.loss - 0.5 * decrease and candidate.loss < self.current.loss:
                self._move(candidate)
                return True
            if abs(decrease) <= _ROUNDING * self.current.loss:
                break
            self._step *= 0.5
        return False

    def _evaluate(self, theta: Array) -> _Iterate:
        residual = self._loss.residual(self._marginals(theta))
        return _Iterate(theta, residual, self._loss.of_residual(residual))

    def _move(self, candidate: _Iterate) -> None:
        residual = self._scales * candidate.residual
        step = residual - self._scales * self.current.residual
        self._past.add(candidate.theta - self.current.theta, step, residual)
        self.current = candidate


class _Differences:
    """The last steps in the potentials, and in the residual scaled to noise of size 1, as rows of two tables."""

    def __init__(self, memory: int, n_cells: int) -> None:
        self.size = 0
        self.theta = np.empty((memory, n_cells))
        self.scaled = np.empty((memory, n_cells))
        self._gram = np.empty((memory, memory))
        self._target = np.empty(memory)
        self._oldest = 0

    def add(self, theta_step: Array, scaled_step: Array, scaled_residual: Array) -> None:
        """Remember a step that led to a residual, in the place of the oldest one if all are taken."""
        memory = len(self.theta)
        if memory == 0:
            return
        slot = self.size if self.size < memory else self._oldest
        self._oldest = (slot + 1) % memory
        self.size = max(self.size, slot + 1)
        self.theta[slot], self.scaled[slot] = theta_step, scaled_step
        products = self.scaled[: self.size] @ scaled_step
        self._gram[slot, : self.size] = self._gram[: self.size, slot] = products
        self._target[: self.size] = self.scaled[: self.size] @ scaled_residual

    def best_weights(self) -> Array:
        """Multiples of the steps that, added to the current residual, make it smallest."""
        gram = self._gram[: self.size, : self.size]
        norms = np.sqrt(np.diag(gram))
        norms[norms == 0] = 1.0
        regularised = gram / np.outer(norms, norms) + 1e-7 * np.eye(self.size)
        return np.asarray(-np.linalg.solve(regularised, self._target[: self.size] / norms) / norms)

    def forget(self) -> None:
        """Start over."""
        self.size = self._oldest = 0
