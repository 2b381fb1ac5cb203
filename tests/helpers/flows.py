"""Running the whole flow with frozen noise, and spies on every exact answer that the kernel gets."""

import json
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from statistics import NormalDist
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from helpers.values import counted

from synthdp.data import HeldTable, HeldTableReader
from synthdp.learning import column_budgets, learn_columns, takes_thresholds
from synthdp.privacy import Accounting, Adjacency, PrivacyLedger, PrivateValues, Randomness
from synthdp.release import Release, RunSettings
from synthdp.schema import OpenSchema

budgets = home(column_budgets)
held_table = home(HeldTableReader)
learner = home(learn_columns)

NOTHING = np.empty(0, dtype=np.int64)
KEY = "0123456789abcdef"
"""Key of the sampling of persons' rows: frozen, as the noise is."""


class Frozen(Randomness):
    """The same noise for the n-th event of every run: from a seed, or the same few words over and
    over.

    It begins anew with every event that is charged, so that one more value in one event shifts the
    noise of no other.
    """

    is_private = False
    description = "frozen, for tests"

    def __init__(self, seed: int = 0, words: tuple[int, ...] = ()) -> None:
        self._seed, self._epoch = seed, 0
        self._cycle = np.array(words, dtype="<u2").tobytes()
        self._generator = np.random.default_rng(seed)

    def begin(self) -> None:
        self._epoch += 1
        self._generator = np.random.default_rng((self._seed, self._epoch))

    def random_bytes(self, n_bytes: int) -> bytes:
        if not self._cycle:
            return self._generator.bytes(n_bytes)
        return (self._cycle * (n_bytes // len(self._cycle) + 1))[:n_bytes]


def word_for(noise: float) -> int:
    """The sixteen bits that give noise of so many standard deviations: a sign, and the magnitude's
    quantile.
    """
    return (noise < 0) << 15 | int((2 * NormalDist().cdf(abs(noise)) - 1) * 2**15)


class Spy:
    """A source of values or of counts that remembers what it was asked, and what it answered."""

    def __init__(self, source, answers) -> None:
        self._source, self.answers = source, answers

    @property
    def domain(self):
        return self._source.domain

    @property
    def is_by_unit(self):
        return self._source.is_by_unit

    def histogram(self, grid, starts):
        counts = self._source.histogram(grid, starts)
        self.answers.append(("histogram", grid, tuple(starts.tolist()), tuple(counts.tolist())))
        return counts

    def shared_histogram(self, grid, starts):
        counts = self._source.shared_histogram(grid, starts)
        self.answers.append(("shared", grid, tuple(starts.tolist()), tuple(counts.tolist())))
        return counts

    def most_values(self, grid):
        return self._source.most_values(grid)

    def frequencies(self, grid):
        found = self._source.frequencies(grid)
        cells = (*counted(found).items(), (None, found.missing()))
        self.answers.append(("frequencies", grid, (), cells))
        return found

    def derived(self, columns):
        return Spy(self._source.derived(columns), self.answers)

    def counts_of(self, cliques):
        for clique, counts in zip(cliques, self._source.counts_of(cliques), strict=True):
            self.answers.append(("marginal", clique, counts.shape, tuple(counts.ravel().tolist())))
            yield counts


BESIDE = ("engine", "unread", "beyond_bounds", "rows", "run", "sha256")
"""What a certificate says that differs from run to run: how the fit went, noisy counts of unread
values, of those beyond bounds, and how far rows are from the model (they move with a record as every
noisy answer does), the name and time of the run, and the hash of it all.
"""


@dataclass
class Run:
    """What can be seen of a run, and what only its spies saw."""

    events: list = field(default_factory=list)
    progress: list = field(default_factory=list)
    schema: dict = field(default_factory=dict)
    sample: dict = field(default_factory=dict)
    dtypes: list = field(default_factory=list)
    certificate: dict = field(default_factory=dict)
    error: str = ""
    answers: list = field(default_factory=list)

    @property
    def visible(self) -> dict:
        """All that must not depend on one record if noise hides it; the sample's values are not
        among it.
        """
        certificate = {key: value for key, value in self.certificate.items() if key not in BESIDE}
        learning = [told for told in self.progress if told[0].startswith("learning")]
        stages = list(
            dict.fromkeys(told[0] for told in self.progress if told[0] != "fitting")
        )  # by noisy counts
        return {
            "events": [event.to_dict() for event in self.events],
            "progress": [*learning, *stages],
            "schema": self.schema,
            "dtypes": self.dtypes,
            "certificate": certificate,
            "error": self.error,
        }

    @property
    def questions(self) -> list:
        return [answer[:3] for answer in self.answers]


@contextmanager
def watched(randomness: Frozen, answers: list):
    """The kernel's sources are spied on, and frozen noise begins anew with each event."""
    charge, source = PrivacyLedger.charge, HeldTable.source.fget

    def charge_and_begin(self, event):
        charge(self, event)
        randomness.begin()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrivacyLedger, "charge", charge_and_begin)
        patch.setattr(HeldTable, "source", property(lambda self: Spy(source(self), answers)))
        source_of = held_table.source_of
        patch.setattr(
            held_table, "source_of", lambda coded, schema: Spy(source_of(coded, schema), answers)
        )
        yield


def held(
    frame: pd.DataFrame, schema: OpenSchema, *, unit: str | None = None, max_rows: int = 1
) -> HeldTable:
    """The rows held, of persons always the same ones."""
    reader = HeldTableReader(
        schema, unit=unit, max_rows=max_rows, key=None if unit is None else KEY
    )
    reader.add(frame)
    return reader.finish()


@cache
def _open_schema(kinds: str) -> OpenSchema:
    """Read once for all tables: trying the formats of dates takes as long as a run."""
    return OpenSchema.from_kinds(json.loads(kinds))


def run_of(
    frame: pd.DataFrame,
    kinds: Mapping,
    *,
    randomness: Frozen,
    unit: str | None = None,
    max_rows: int = 1,
    **settings,
) -> Run:
    """One run of the whole flow on one table."""
    asked = {
        "epsilon": 0.01,
        "delta": 1e-9,
        "mechanism": "independent",
        "adjacency": "add-remove",
        # Its scores are of many marginals an event, and no answer is without them: see test_quality.
        "quality_share": 0,
    } | settings
    seen, schema = Run(), _open_schema(json.dumps(kinds))
    run = Release(
        schema=schema,
        settings=RunSettings(unit=unit, max_rows_per_unit=max_rows if unit else None, **asked),
        randomness=randomness,
    )
    with watched(randomness, seen.answers):
        try:
            rows = held(frame, schema, unit=unit, max_rows=max_rows)
            found = run.of(rows, report=lambda *told: seen.progress.append(told))
            seen.schema, seen.certificate = found.schema.to_dict(), found.certificate
            sample = found.sample(7, seed=1)
            seen.sample, seen.dtypes = (
                sample.to_dict(),
                [(name, str(kind)) for name, kind in sample.dtypes.items()],
            )
        except Exception as error:
            seen.error = f"{type(error).__name__}: {error}"
    seen.events = list(run._ledger.events)
    return seen


def json_of(value: object) -> str:
    """A value as text, so that comparisons show where they differ."""
    return json.dumps(value, indent=1, default=str)


def moved_squared(one: tuple, other: tuple) -> int:
    """Squared L2 distance of two exact answers to one question, values of frequencies matched."""
    (what, *_, answer), (*_, answer_) = one, other
    if what == "frequencies":
        counts, counts_ = dict(answer), dict(answer_)
        assert len(counts) == len(answer)
        assert len(counts_) == len(answer_)
        return sum(
            (counts.get(value, 0) - counts_.get(value, 0)) ** 2 for value in {*counts, *counts_}
        )
    assert len(answer) == len(answer_)
    return sum((a - b) ** 2 for a, b in zip(answer, answer_, strict=True))


def sensitivity_violations(events, answers: list, answers_: list) -> list:
    """Answers of two neighbours to the same questions, in the order of their events, that moved too
    far.
    """
    assert [answer[:3] for answer in answers] == [answer[:3] for answer in answers_]
    pairs, found = iter(zip(answers, answers_, strict=True)), []
    for event in events:
        fields = event.to_dict()
        moved = moved_squared(*next(pairs))
        if moved > fields["sensitivity_l2_squared"]:
            found.append((fields["event"], fields.get("column"), moved))
    assert next(pairs, None) is None, "the records were touched without an event"
    return found


def replayed(frame: pd.DataFrame, kinds: Mapping, questions: list, **unit) -> list:
    """The answers that the records of another table give to questions about values."""
    answers: list = []
    spy = Spy(held(frame, OpenSchema.from_kinds(kinds), **unit).source, answers)
    for what, grid, starts in questions:
        if what in ("histogram", "shared"):
            count = spy.histogram if what == "histogram" else spy.shared_histogram
            count(grid, np.array(starts, dtype=np.int64))
        else:
            spy.frequencies(grid)
    return answers


def about_values(answers: list) -> list:
    """The answers that were about values, not marginals."""
    return [answer for answer in answers if answer[0] != "marginal"]


@dataclass(frozen=True)
class Learnt:
    """A domain that was learnt, and the ledger that paid for it."""

    schema: object
    ledger: PrivacyLedger


def learnt_from(
    table: HeldTable,
    schema: OpenSchema,
    *,
    epsilon: float,
    delta: float,
    share: float = 1.0,
    share_again: float = 0.0,
    min_mass: float = 0.0,
    randomness: Randomness | None = None,
    accounting: Accounting = Accounting.GDP,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    max_rows: int = 1,
) -> Learnt:
    """Learn the open columns, and nothing else, for a share of a budget, and a further one for
    asking again.
    """
    ledger = PrivacyLedger(
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        accounting=accounting,
        failure_delta=delta / 2 if takes_thresholds(schema) else 0.0,
        **({"max_rows_per_unit": max_rows, "unit_column": "person"} if max_rows > 1 else {}),
    )
    values = PrivateValues(table.source, ledger, randomness=randomness)
    with patch.object(budgets, "MIN_COLUMNS", 1):  # all of it, even for one column
        found = list(
            learner.learn_columns(
                schema,
                values,
                rho=ledger.budget * Fraction(share),
                rho_again=ledger.budget * Fraction(share_again),
                delta=ledger.failure_delta,
                min_mass=min_mass,
                report=lambda *_: None,
            )
        )
    return Learnt(schema.resolved({learnt.column.name: learnt.column for learnt in found}), ledger)
