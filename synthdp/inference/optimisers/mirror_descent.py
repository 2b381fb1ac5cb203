"""Entropic mirror descent with Anderson acceleration: the driver of all exponential-family engines.

Mirror descent moves the potentials against the gradient of the loss with respect to the
*marginals*: ``theta <- theta - step * (mu(theta) - y) / sigma^2``. It is robust but slow: a cell
of small probability learns at a rate in proportion to it.

The loss is quadratic in mu, and mu is known at every iterate. So the best affine combination of
the last iterates is a tiny least-squares problem in mu-space; taking the same combination of
their potentials, and a mirror step from there, costs one evaluation of mu and gains one to two
orders of magnitude in iterations (Anderson acceleration [Walker & Ni 2011] in the geometry of
mirror descent). A combination that does not lower the loss is thrown away, with the older half of
the iterates, in favour of a plain step with an Armijo test, so the loss falls monotonically
whatever the acceleration proposes.

The stopping rule asks what a long stretch of iterations gained. It cannot see a fit that stands
still at the wrong place: cells that the noisy counts ask for, but whose probability went to 0. So
where it would stop, the records are searched for the one whose cells' slopes of the loss have the
least sum, and the gain of moving probability to that record is computed [Frank & Wolfe 1956]. While
this alone would gain more than the tolerance, the fit has certainly not converged. Where no step
lowers the loss then, for cells at 1e-15 move it by less than rounding, all potentials are shrunk,
and it goes on. The duality gap ``<slope, mu> - total * least`` itself is some hundred times the
true gap, too much for a rule.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10
from typing import NamedTuple, final

import numpy as np

from synthdp.inference.arrays import Array
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.model import Ending, FitStatus, Progress

Marginals = Callable[[Array], Array]
Least = Callable[[Array], float]

_MAX_HALVINGS = 60
"""A step that is still too long at 2^-60 of its length is below the rounding error of any
potential.
"""
_ROUNDING = 1e-15
"""A few units in the last place of a float: decreases below this share of the loss are rounding
error.
"""
_MAX_JUMP = 5.0
"""How far, in nats, an accelerated step may move a potential: a cell's odds then change at most
150-fold.
"""
_ACCELERATED_GROWTH, _PLAIN_GROWTH = 1.03, 2.0
"""Factors of the step size after a success: gently where acceleration does the work (with 1.1 of 30
and 32 pairs of Adult 30 % of the steps were rejected, with 1.03 22 %), else as halving shrinks it.
"""
_RIDGE = 1e-7
"""Added to the diagonal of the scaled Gram matrix, whose steps may depend on each other; far above
rounding error.
"""
_MIN_SHARE = 1e-9
"""An accelerated step may not shrink cells that hold less of the total than this: it could not
bring them back.
"""
_SHRUNK, _MAX_SHRUNK = 0.25, 5
"""To what share potentials are shrunk (35 nats, which nothing comes back from, to 9), and how often
at most.
"""
_LONG_SHARE, _LONG_TOLERANCE = 0.25, 10.0
"""Over this share of all iterations the loss may have fallen by this many times the tolerance."""


class _Iterate(NamedTuple):
    theta: Array
    marginals: Array
    residual: Array
    loss: float


@final
@dataclass(frozen=True, kw_only=True)
class MirrorDescent:
    """Minimises a `MarginalLoss` over potentials."""

    tolerance: float = 1e-5
    """Stop when ``window`` iterations together lowered the loss by less than this share of it,
    and the last quarter of all iterations by less than ten times as much.
    """
    window: int = 20
    """Number of iterations over which progress is judged; more where noise scales differ: twice as
    many where they differ 10-fold. Where they differ more, see `multipliers`.
    """
    max_iterations: int = 3000
    """Stop here in any case; the status then says "stopped"."""
    memory: int = 20
    """Number of former iterates to combine, 16 bytes a measured cell each; 0 gives plain mirror
    descent.
    """

    def minimise(
        self,
        marginals: Marginals,
        loss: MarginalLoss,
        theta: Array,
        *,
        total: float,
        least: Least | None = None,
        progress: Progress | None = None,
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
        least
            The smallest sum, over the cells that a record falls into, of given values of the
            measured cells; with it, a fit that stands still far from the optimum says so.
        progress
            Called with (iterations done, iterations at most).
        """
        # One evaluation of the marginals is all but the whole cost of a step: what follows never
        # asks for them twice at one point.
        state = _State(marginals, loss, theta, total=total, memory=self.memory)
        # With noise ten times apart the exact cells settle first, and the loss stands still for a
        # while before the others move.
        window = int(self.window * _patience(loss))
        # The best point is kept beside the current one, for only shrinking may raise the loss.
        losses = [state.current.loss]
        best = state.current
        n_iterations = 0
        checked = 0
        n_shrunk = 0
        moved = True
        converged = loss.n_cells == 0
        while moved and not converged and n_iterations < self.max_iterations:
            moved = state.advance()
            n_iterations += 1
            losses.append(state.current.loss)
            # A loss of 1e-8 a cell, where noise alone leaves a half, is a perfect fit: no rule
            # about relative progress would ever be content with it.
            converged = losses[-1] <= loss.negligible
            if not converged and (
                not moved
                # Looking for the best record costs about as much as an evaluation, so it is asked
                # for once a window at most.
                or (n_iterations >= checked + window and self._stands_still(losses, window))
            ):
                converged = (
                    # Standing still is not enough. Cells whose probability went to 0 have gradients
                    # of 0 as well, and the noisy counts may be asking for them.
                    least is None or state.certain_gain(least) <= self.tolerance * losses[-1]
                )
                if not converged:
                    # The former iterates led here; combining them again would lead here again.
                    state.restart()
                if not converged and not moved and n_shrunk < _MAX_SHRUNK:
                    best = min(best, state.current, key=lambda iterate: iterate.loss)
                    state.shrink()
                    # The losses begin anew: a shrunk point is worse at first, and must not be
                    # judged by what came before.
                    n_shrunk = n_shrunk + 1
                    moved = True
                    losses = [state.current.loss]
                checked = n_iterations
            if progress is not None:
                progress(n_iterations, self.max_iterations)
        # "Optimal" needs both: no progress over long and short windows, and no record that
        # probability should move to.
        ended: Ending = "optimal" if converged else "stopped" if moved else "stalled"
        best = min(best, state.current, key=lambda iterate: iterate.loss)
        return best.theta, FitStatus(
            ended=ended, n_iterations=n_iterations, loss=best.loss + loss.of_repeats
        )

    def _stands_still(self, losses: Sequence[float], window: int) -> bool:
        """Little was gained lately, and not much more over a share of all iterations: slow fits
        need longer looks.
        """
        # A fit of ten thousand steps whose last twenty gained nothing may still have gained a lot
        # over its last quarter, by jumps.
        long = max(window, int(_LONG_SHARE * len(losses)))
        if len(losses) <= long:
            return False
        lately = losses[-1 - window] - losses[-1]
        longer = losses[-1 - long] - losses[-1]
        return (
            lately <= self.tolerance * losses[-1]
            and longer <= _LONG_TOLERANCE * self.tolerance * losses[-1]
        )


def _patience(loss: MarginalLoss) -> float:
    """How much longer to look for progress where noise scales differ: the noisier cells learn
    slowly.
    """
    weights = [table for table in loss.split(loss.weights) if table.size > 1]
    if not weights:
        return 1.0
    # Weights are inverse variances, so a ratio of 100 is noise ten times apart: twice the window.
    return 1.0 + 0.5 * log10(max(map(np.max, weights)) / min(map(np.min, weights)))


class _State:
    """The current iterate, the differences between the last ones, and the step size."""

    def __init__(
        self, marginals: Marginals, loss: MarginalLoss, theta: Array, *, total: float, memory: int
    ) -> None:
        self._marginals = marginals
        self._loss = loss
        self._total = total
        # Residuals times this are in units of their noise, in which the loss is half a squared norm
        # and least squares are well scaled.
        self._scales = np.sqrt(loss.weights)
        # A clique of one cell always holds the total: its weight says nothing about steps.
        self._heaviest = [
            float(table.max()) for table in loss.split(loss.weights) if table.size > 1
        ]
        # The loss as a function of potentials bends by the total times the heaviest weight at most:
        # a step of its inverse is short enough wherever the fit starts.
        self._first_step = self._step = 1.0 / (total * max(self._heaviest, default=1.0))
        self._past = _Differences(memory, theta.size)
        self.current = self._evaluate(theta)

    def certain_gain(self, least: Least) -> float:
        """By how much the loss would fall, at least, if probability moved to the best single
        record.
        """
        slope = self._loss.weights * self.current.residual
        # Frank and Wolfe's duality gap: how fast the loss falls when all probability moves towards
        # the best single record.
        gap = float(np.dot(slope, self.current.marginals)) - self._total * least(slope)
        if gap <= 0.0 or not self._heaviest:
            return 0.0
        # Along the way to any record the loss is a parabola. It bends by the sum over all cells of
        # weight * (record - mu)^2, where the record is the total in one cell of each clique and 0
        # in others. The mixed terms only lower it, so it bends by this much at most.
        spread = self._total**2 * sum(self._heaviest) + self._spread_of_marginals()
        # The minimum of the parabola on the way there, or the end of the way if that comes first.
        share = min(1.0, gap / spread)
        return share * (gap - 0.5 * share * spread)

    def _spread_of_marginals(self) -> float:
        tables = zip(
            self._loss.split(self._loss.weights),
            self._loss.split(self.current.marginals),
            strict=True,
        )
        return sum(
            float(np.sum(weights * np.square(table))) for weights, table in tables if table.size > 1
        )

    def restart(self) -> None:
        """Start the acceleration over."""
        self._past.forget(self._past.size)

    def shrink(self) -> None:
        """Bring cells back whose probability is next to nothing."""
        self.current = self._evaluate(_SHRUNK * self.current.theta)
        self._step = self._first_step

    def advance(self) -> bool:
        """Take one accelerated step, or a plain one if that fails; False if neither lowers the
        loss.
        """
        if self._past.size:
            # A least-squares problem of at most 20 unknowns: next to nothing beside an evaluation
            # of the marginals.
            change = self._past.best_change(
                self._scales * self.current.residual, self._step * self._scales
            )
            # A longer jump may land where cells that are needed vanish, and would never come back.
            change *= min(1.0, _MAX_JUMP / max(float(np.abs(change).max()), _MAX_JUMP))
            # Linear extrapolation in the potentials is exponential in the cells; what it takes to
            # 1e-300 no gradient brings back.
            change[(self.current.marginals < _MIN_SHARE * self._total) & (change < 0)] = 0.0
            candidate = self._evaluate(self.current.theta + change)
            # Any decrease will do, as a plain step follows if there is none. So the loss falls
            # monotonically, whatever acceleration proposes.
            if candidate.loss < self.current.loss:
                self._move(candidate)
                self._step *= _ACCELERATED_GROWTH
                return True
        # Half, not all: old differences are the most out of date, and the newest still describe the
        # loss here.
        self._past.forget((self._past.size + 1) // 2)
        return self._plain_step()

    def _plain_step(self) -> bool:
        gradient = self._loss.weights * self.current.residual
        for halvings in range(_MAX_HALVINGS):
            candidate = self._evaluate(self.current.theta - self._step * gradient)
            # What the linear model promises in terms of the marginals, not of the potentials:
            # mirror descent's own geometry.
            decrease = float(np.dot(gradient, self.current.residual - candidate.residual))
            if (
                candidate.loss <= self.current.loss - 0.5 * decrease
                and candidate.loss < self.current.loss
            ):
                self._move(candidate)
                # Where accelerated steps keep failing, nothing else would let the step grow.
                self._step *= _PLAIN_GROWTH if halvings == 0 else 1.0
                return True
            # Shorter steps would compare rounding errors.
            if abs(decrease) <= _ROUNDING * self.current.loss:
                break
            # Halved, and kept halved for later steps: the curvature that refused it is still there.
            self._step *= 0.5
        return False

    def _evaluate(self, theta: Array) -> _Iterate:
        marginals = self._marginals(theta)
        residual = self._loss.residual(marginals)
        return _Iterate(theta, marginals, residual, self._loss.of_residual(residual))

    def _move(self, candidate: _Iterate) -> None:
        # Differences of successive iterates, accepted ones only: a rejected candidate lies off the
        # path that the combination extrapolates.
        step = self._scales * (candidate.residual - self.current.residual)
        self._past.add(candidate.theta - self.current.theta, step)
        self.current = candidate


class _Differences:
    """The last steps in the potentials, and in the residual scaled to noise of size 1, as rows of
    two tables.
    """

    def __init__(self, memory: int, n_cells: int) -> None:
        # Rows are taken in turn; those of the steps in use are `_slots`, oldest first.
        self._theta = np.zeros((memory, n_cells))
        self._scaled = np.zeros((memory, n_cells))
        self._gram = np.zeros((memory, memory))
        self._slots: deque[int] = deque(maxlen=memory)
        self._next = 0

    @property
    def size(self) -> int:
        """Number of steps in use."""
        return len(self._slots)

    def add(self, theta_step: Array, scaled_step: Array) -> None:
        """Remember a step, in the place of the oldest one if all are taken."""
        if len(self._theta) == 0:
            return
        slot = self._next
        self._next = (self._next + 1) % len(self._theta)
        self._theta[slot], self._scaled[slot] = theta_step, scaled_step
        # One row and column of the Gram matrix a step, in place of a new one of 20 x 20 products.
        self._gram[slot] = self._gram[:, slot] = self._scaled @ scaled_step
        self._slots.append(slot)

    def best_change(self, scaled_residual: Array, step: Array) -> Array:
        """The multiples of the steps that make the residual smallest, then a mirror step from
        there.

        The loss is quadratic in the marginals, so the least-squares problem in residuals is exact;
        that potentials follow their marginals linearly is what acceleration bets on.
        """
        slots = list(self._slots)
        norms = np.sqrt(np.diag(self._gram)[slots])
        # A step that moved no marginal has a norm of 0, and would make the scaled system singular.
        norms[norms == 0] = 1.0
        regularised = self._gram[np.ix_(slots, slots)] / np.outer(norms, norms) + _RIDGE * np.eye(
            len(slots)
        )
        target = (self._scaled @ scaled_residual)[slots]
        weights = np.zeros(len(self._theta))
        # Scaled to unit diagonal: first steps are a million times as long as last ones, and the
        # ridge would drown these.
        weights[slots] = -np.linalg.solve(regularised, target / norms) / norms
        return np.asarray(weights @ self._theta - step * (scaled_residual + weights @ self._scaled))

    def forget(self, n_oldest: int) -> None:
        """Use the oldest steps no longer."""
        for _ in range(n_oldest):
            self._slots.popleft()
