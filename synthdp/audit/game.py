"""The worst-case game: many releases of two neighbouring tables, and what of each an attacker looks
at.
"""

import json
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from math import inf
from multiprocessing import get_context
from time import monotonic
from typing import Any, final

import numpy as np

from synthdp.audit.asking.neighbours import Neighbours, Truth
from synthdp.audit.asking.observer import Log
from synthdp.audit.asking.questions import Question
from synthdp.audit.bounds import FloatArray
from synthdp.audit.check_mechanism import QUICK_ENGINE
from synthdp.inference.engine import Engine
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.privacy.accounting import Accounting
from synthdp.release.release import Release
from synthdp.release.run_settings import RunSettings
from synthdp.release.synthesis import Synthesis

STATISTICS = (
    "the likelihood ratio of all that the kernel answered",
    "the number of records",
    "the number of levels",
    "the length of the schema",
    "the canary's probability",
)
"""What the attacker looks at. No attack on the release proves more than the first, in the long run,
unless something else than the kernel's answers depends on the records [Neyman-Pearson].
"""

BATCH = 20
"""Runs on each table that a process does at a time: about half a second."""

_MOST_CELLS = 1 << 16
"""Beyond so many cells the canary's probability is taken of its columns one by one."""


@final
class Likelihood(Log):
    """Adds up how much more probable the answers of a run are on the second of two tables."""

    def __init__(self, one: Truth, other: Truth) -> None:
        super().__init__(one, other)
        self.log_ratio = 0.0

    def answer(self, question: Question[Any], kernel: Any, sources: Sequence[Any]) -> Any:
        """What the kernel answers."""
        # What was charged during this question; none if it was answered for nothing, or from
        # memory.
        n_before = len(kernel.ledger.events)
        answer = question.ask(kernel)
        event = next(iter(kernel.ledger.events[n_before:]), None)
        self.log_ratio += question.log_ratio(
            event, answer, *(question.exact(source) for source in sources)
        )
        return answer


@final
@dataclass(frozen=True, kw_only=True)
class Game:
    """A mechanism, a budget, and two tables: the attacker knows all of it but which table was
    released.

    Parameters
    ----------
    mechanism, epsilon, delta, accounting, engine
        As in `synthesize`; the engine is a quick one unless another is named: the attacker sees all
        answers of the kernel, whatever the engine makes of them.
    pair
        The tables, see `worst_case`.
    """

    mechanism: str | Mechanism
    epsilon: float
    delta: float
    pair: Neighbours
    accounting: str | Accounting | None = None
    engine: str | Engine = QUICK_ENGINE

    def release(self) -> Release:
        """A new run; raises `ParameterError` if a setting is out of range."""
        settings = RunSettings(
            epsilon=self.epsilon,
            delta=self.delta,
            mechanism=self.mechanism,
            engine=self.engine,
            adjacency=self.pair.adjacency,
            accounting=self.accounting,
            unit=self.pair.unit,
            max_rows_per_unit=self.pair.max_rows_per_unit,
        )
        return Release(schema=self.pair.open_schema, settings=settings)

    def run(self, table: int) -> list[float]:
        """One release of the first table (0) or the second (1), as anybody gets it: its
        `STATISTICS`.
        """
        # The strongest attacker knows both tables and sees every answer; the other statistics are
        # what somebody who has the release alone can work out.
        likelihood = Likelihood(*self.pair.truths)
        release = self.release().of(self.pair.truths[table].rows, observer=likelihood)
        return [
            likelihood.log_ratio,
            release.model.total,
            float(sum(release.schema.domain.shape)),
            float(len(json.dumps(release.schema.to_dict()))),
            _probability(release, self.pair.canary),
        ]

    def batch(self, n_runs: int) -> FloatArray:
        """Statistics of some runs on either table, shape ``(2, n_runs, n_statistics)``."""
        return np.array([[self.run(table) for _ in range(n_runs)] for table in (0, 1)])

    def batches(self, n_runs: int, *, processes: int, until: float = inf) -> Iterator[FloatArray]:
        """Statistics of so many runs on either table, batch by batch as they are done, in some
        processes.

        None is begun after the moment ``until`` of `time.monotonic`, but for the first of each
        process.
        """
        sizes = [min(BATCH, n_runs - start) for start in range(0, n_runs, BATCH)]
        if processes == 1:
            for size in sizes:
                yield self.batch(size)
                if monotonic() > until:
                    return
            return
        # Spawned: a fork may inherit locks that other threads hold.
        with ProcessPoolExecutor(processes, get_context("spawn"), _begin, (self,)) as pool:
            try:
                # A batch is begun only when one is done, so that little is left to wait for when
                # time is over.
                to_do = iter(sizes)
                left = {pool.submit(_batch, size) for size in islice(to_do, processes)}
                while left:
                    done, left = wait(left, return_when=FIRST_COMPLETED)
                    if monotonic() <= until:
                        left |= {pool.submit(_batch, size) for size in islice(to_do, len(done))}
                    yield from (future.result() for future in done)
            finally:  # what was not begun is left; what was takes a moment
                pool.shutdown(cancel_futures=True)


def _probability(release: Synthesis, canary: Truth) -> float:
    """What share of the model's rows are like the canary."""
    domain = release.schema.domain
    codes = [column[:1] for column in canary.rows.encode(release.schema).columns]
    # The whole table is the sharpest statistic, and only small ones can be held.
    if domain.size() <= _MOST_CELLS:
        return (
            float(release.model.marginal(domain.attributes).values[tuple(codes)].item())
            / release.model.total
        )
    shares = release.model.marginals([(name,) for name in domain.attributes])
    return (
        float(sum(share.values[code].item() for share, code in zip(shares, codes, strict=True)))
        / release.model.total
    )


_GAMES: list[Game] = []
"""The game that a worker process plays."""


def _begin(game: Game) -> None:
    """Begin as a worker process; Ctrl-C is for the process that waits for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _GAMES.append(game)


def _batch(n_runs: int) -> FloatArray:
    return _GAMES[-1].batch(n_runs)
