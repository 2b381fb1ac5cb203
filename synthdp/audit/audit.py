"""The audit of a mechanism by the worst-case game: what its runs prove, beside what is claimed."""

from dataclasses import asdict, dataclass
from math import inf, sqrt
from time import monotonic
from typing import Any, final

import numpy as np

from synthdp.audit.attack import Guess, best_guesses, n_learnt_of
from synthdp.audit.bounds import N_LIMITS, FloatArray, best_limits, equivalent_mu
from synthdp.audit.game import STATISTICS, Game
from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report, silent
from synthdp.learning.budgets import is_gaussian
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.release.registry import as_mechanism

MIN_RUNS = 40
"""With fewer on each table nothing is proven of any budget."""

MAX_RUNS = 10**7
"""More are a slip of the finger: they take days."""


@final
@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one number of the guarantee claims, and what the game proved of it."""

    claim: float
    """The guarantee; of mu, that of Gaussian noise which spends the whole budget."""
    is_claimed: bool
    """Whether more would contradict the guarantee: mu is one only where all noise is Gaussian."""
    lower: float
    point: float
    """The lower bound, and the same without limits of confidence."""
    best: float
    """The bound that so many runs prove on average of Gaussian noise which spends the whole
    budget.
    """
    half_noise: float
    """The bound that so many runs prove on average of noise of half that scale."""
    statistic: str
    """The statistic that the guess used."""

    @property
    def is_kept(self) -> bool:
        """Whether the claim holds as far as the runs tell."""
        return not self.is_claimed or self.lower <= self.claim


@final
@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """The result of an audit; both bounds hold together with the confidence."""

    mechanism: str
    tables: str
    accounting: str
    epsilon: float
    delta: float
    """What was audited, and the guarantee."""
    mu: Verdict
    epsilon_bound: Verdict
    """The verdicts."""
    equivalent_mu: float
    """The mu of Gaussian noise that is just (epsilon, delta)-DP."""
    n_runs: int
    n_counted: int
    """Runs on each table, and those of them that the bounds were counted on."""
    confidence: float
    """Probability that both bounds are right."""
    seconds: float
    """How long it took."""

    @property
    def is_kept(self) -> bool:
        """Whether the guarantee holds as far as the runs tell."""
        return self.mu.is_kept and self.epsilon_bound.is_kept

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {"guarantee_kept": self.is_kept} | asdict(self)


@final
class Audit:
    """An audit that can be stopped at any time and still has a result.

    Parameters
    ----------
    game
        What is played.
    confidence
        Probability that both bounds are right, below 1.

    Raises
    ------
    ParameterError
        If a setting of the game, or the confidence, is out of range.
    """

    def __init__(self, game: Game, *, confidence: float = 0.95) -> None:
        if not 0 < confidence < 1:
            raise ParameterError(
                f"confidence is {confidence}; give a number between 0 and 1, for instance 0.95"
            )
        self._game, self._confidence = game, confidence
        self._ledger = game.release().ledger
        self._batches: list[FloatArray] = []
        self._seconds = 0.0

    @property
    def n_runs(self) -> int:
        """Runs on each table so far."""
        return sum(batch.shape[1] for batch in self._batches)

    def play(
        self,
        n_runs: int,
        *,
        processes: int = 1,
        seconds: float | None = None,
        since: float | None = None,
        report: Report = silent,
    ) -> None:
        """Play the game on either table.

        Parameters
        ----------
        n_runs
            Runs on each table.
        processes
            How many processes run at a time; more than one are new interpreters, which import the
            caller's script.
        seconds
            After so many seconds no run is begun.
        since
            The moment of `time.monotonic` from which they count; by default now.
        report
            Called with the progress.

        Raises
        ------
        ParameterError
            If a number is out of range.
        """
        for name, value, least, most in (
            ("runs", n_runs, MIN_RUNS, MAX_RUNS),
            ("processes", processes, 1, 1024),
        ):
            if not least <= value <= most:
                raise ParameterError(
                    f"{name} is {value}; give a whole number from {least} to {most}"
                )
        if seconds is not None and not seconds > 0:
            raise ParameterError(f"seconds is {seconds}; give a number above 0")
        began = monotonic()
        before = self._seconds
        report("playing", 0, n_runs)
        until = inf if seconds is None else (began if since is None else since) + seconds
        for batch in self._game.batches(n_runs, processes=processes, until=until):
            self._batches.append(batch)
            self._seconds = before + monotonic() - began
            report("playing", self.n_runs, n_runs)

    def result(self) -> AuditResult:
        """What the runs so far prove; raises `ParameterError` if they are fewer than `MIN_RUNS`."""
        if self.n_runs < MIN_RUNS:
            way_out = f"{MIN_RUNS} are the least: give more seconds, or a quicker mechanism"
            raise ParameterError(f"only {self.n_runs} runs on each table are done; {way_out}")
        one, other = np.concatenate(self._batches, axis=1)
        guesses = best_guesses(
            one, other, STATISTICS, delta=self._game.delta, confidence=self._confidence
        )
        # The first runs choose the statistic and its threshold, and only the others are counted:
        # choosing and counting with the same runs would prove too much.
        n_counted = self.n_runs - n_learnt_of(self.n_runs)
        return AuditResult(
            mechanism=as_mechanism(self._game.mechanism).name,
            tables=self._game.pair.name,
            accounting=self._ledger.accounting.value,
            epsilon=self._game.epsilon,
            delta=self._game.delta,
            mu=self._verdict("mu", guesses["mu"]),
            epsilon_bound=self._verdict("epsilon", guesses["epsilon"]),
            equivalent_mu=equivalent_mu(self._game.epsilon, self._game.delta),
            n_runs=self.n_runs,
            n_counted=n_counted,
            confidence=self._confidence,
            seconds=self._seconds,
        )

    def _verdict(self, what: str, guess: Guess) -> Verdict:
        # Several limits are printed, and shall hold together with the confidence that was asked for
        # (a union bound).
        mu = budget_mu(self._ledger)
        alpha = (1 - self._confidence) / N_LIMITS
        best, halved = (
            float(
                getattr(
                    best_limits(scale * mu, guess.n_runs, delta=self._game.delta, alpha=alpha), what
                )
            )
            # What these runs could have found at best, and of noise half as large: an audit that
            # could not have seen halved noise says nothing by passing.
            for scale in (1, 2)
        )
        # Not what the ledger makes of epsilon and delta, which is audited, too.
        # Of noise that is not Gaussian no mu is claimed; the budget's stands there for comparison.
        claimed = equivalent_mu(self._game.epsilon, self._game.delta) if self._is_gaussian else mu
        return Verdict(
            claim=claimed if what == "mu" else self._game.epsilon,
            is_claimed=what == "epsilon" or self._is_gaussian,
            lower=guess.lower,
            point=guess.point,
            best=best,
            half_noise=halved,
            statistic=guess.statistic,
        )

    @property
    def _is_gaussian(self) -> bool:
        """Whether all that is released is Gaussian noise on whole numbers, so that mu is a claim."""
        gaussian = as_mechanism(self._game.mechanism).is_gaussian and is_gaussian(
            self._game.pair.open_schema
        )
        return gaussian and not self._ledger.failure_delta


def budget_mu(ledger: PrivacyLedger) -> float:
    """The mu of Gaussian noise that spends all of a ledger's budget."""
    return sqrt(2 * ledger.budget)
