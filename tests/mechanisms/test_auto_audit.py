"""Audit of the recipe `auto` where levels are merged: a neighbour told the same answers is asked the same questions.

Composition of adaptive questions needs two things: that a run depends on the records through its noisy answers
alone, and that the exact answers to each question differ by no more than its event says. So one run is replayed
on a neighbouring table with the answers of the first.
"""

from fractions import Fraction

import numpy as np
import pytest
from helpers.private_tables import private_table
from synthdp.mechanisms.auto import Auto

from synthdp.inference.engines.layered_consistency import LayeredConsistencyEstimator
from synthdp.measurement import Coarsening
from synthdp.privacy import private_table as kernel
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.events import MarginalEvent, ScoresEvent
from synthdp.privacy.unit import Adjacency
from synthdp.reporting import silent
from synthdp.selection.planning import survey
from synthdp.workload import Workload

SHAPE = (2, 5, 20, 40)
N_ROWS = 3000
EVERY = [(adjacency, accounting) for adjacency in Adjacency for accounting in Accounting]


def dependent():
    """All columns follow one hidden number; the finest are skewed, so that groups hold one to many levels."""
    generator = np.random.default_rng(0)
    hidden = np.clip(generator.random(N_ROWS)[:, None] + generator.normal(0, 0.1, (N_ROWS, len(SHAPE))), 0, 0.999)
    skewed = hidden ** np.arange(1, 1 + len(SHAPE)) * SHAPE
    return tuple(skewed.astype(np.int64).T)


def neighbour(columns, adjacency):
    """A record of rare levels added, or put in place of the last one."""
    kept = N_ROWS if adjacency is Adjacency.ADD_REMOVE else N_ROWS - 1
    return tuple(np.append(column[:kept], size - 1) for column, size in zip(columns, SHAPE, strict=True))


def run(columns, adjacency, accounting, answers=None):
    """The table after a run, and for each event the exact and the noisy numbers; noisy ones may be told beforehand."""
    told, exact, noisy = iter(answers or ()), [], []
    draw = kernel.add_noise

    def answered(counts, noise):
        exact.append(counts)
        noisy.append(next(told) if answers else draw(counts, noise))
        return noisy[-1]

    table = private_table(SHAPE, N_ROWS, rows=columns, adjacency=adjacency, accounting=accounting)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "add_noise", answered)
        workload = Workload.default(table.domain)
        Auto().release(table, workload=workload, engine=LayeredConsistencyEstimator(), report=silent)
    return table, exact, noisy


def violations(adjacency, accounting):
    """What a run on a neighbouring table contradicts, by name."""
    columns = dependent()
    table, exact, noisy = run(columns, adjacency, accounting)
    again, exact_again, _ = run(neighbour(columns, adjacency), adjacency, accounting, answers=noisy)
    if table.ledger.events != again.ledger.events or questions(table) != questions(again):
        yield "the questions depend on the records"
    for event, one, two in zip(table.ledger.events, exact, exact_again, strict=False):
        squared = event.sensitivity_squared if isinstance(event, MarginalEvent) else one.size * event.sensitivity**2
        if one.shape == two.shape and np.square(one - two).sum() > squared:
            yield "an answer moves further than declared"
        if event.rho != Fraction(squared) / (2 * event.sigma_squared):
            yield "the cost is wrong"
    if table.ledger.remaining or sum(event.rho for event in table.ledger.events) != table.ledger.budget:
        yield "the budget is not spent exactly"


def questions(table):
    """What was measured, and which levels were merged."""
    merged = [{name: found.tolist() for name, found in m.groups.items()} for m in table.released]
    return [m.clique for m in table.released], merged


@pytest.mark.parametrize(("adjacency", "accounting"), EVERY)
def test_a_neighbour_told_the_same_is_asked_the_same_and_answers_as_declared(adjacency, accounting):
    assert set(violations(adjacency, accounting)) == set()


def test_the_audit_covers_looks_and_measurements_at_several_resolutions():
    table, _, _ = run(dependent(), Adjacency.ADD_REMOVE, Accounting.GDP)
    numbers = {int(found.max()) + 1 for m in table.released for found in m.groups.values()}
    assert len(numbers) > 1
    assert sum(isinstance(event, ScoresEvent) for event in table.ledger.events) > 2


def merge_by_the_records(monkeypatch):
    """Groups, and what levels count as, by exact counts."""
    original = survey.Survey.first_look

    def first_look(self, rho):
        names = self._table.domain.attributes
        counts = self._table._source.counts_of([(name,) for name in names])
        exact = {name: found / found.sum() + 1e-9 for name, found in zip(names, counts, strict=True)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(survey, "one_way_shares", lambda *_, **__: exact)
            return original(self, rho)

    monkeypatch.setattr(survey.Survey, "first_look", first_look)


def count_merged_levels_twice(monkeypatch):
    original = Coarsening.apply
    monkeypatch.setattr(Coarsening, "apply", lambda self, clique, values: 2 * original(self, clique, values))


@pytest.mark.parametrize(
    ("mutate", "violation"),
    [
        (merge_by_the_records, "the questions depend on the records"),
        (count_merged_levels_twice, "an answer moves further than declared"),
    ],
)
def test_the_audit_finds_the_mutant(mutate, violation, monkeypatch):
    mutate(monkeypatch)
    assert violation in set(violations(Adjacency.ADD_REMOVE, Accounting.GDP))
