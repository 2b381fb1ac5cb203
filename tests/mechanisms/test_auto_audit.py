"""Audit of the mechanism `auto` where levels are merged: a neighbour told the same answers is asked
the same questions.

Composition of adaptive questions needs two things: that a run depends on the records through its
noisy answers alone, and that the exact answers to each question differ by no more than its event
says. The tables of `tests/audit` are too small for looks at several resolutions; these are not.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home

from synthdp.audit import Neighbours
from synthdp.audit.check_mechanism import check_mechanism
from synthdp.core import Coarsening
from synthdp.mechanisms import Survey
from synthdp.privacy import Adjacency, ScoresEvent
from synthdp.release import Release, RunSettings

survey = home(Survey)

SHAPE = (2, 5, 20, 40)
NAMES = ("x0", "x1", "x2", "x3")
N_ROWS = 3000


def dependent():
    """All columns follow one hidden number; the finest are skewed, so that groups hold one to many
    levels.
    """
    generator = np.random.default_rng(0)
    hidden = np.clip(
        generator.random(N_ROWS)[:, None] + generator.normal(0, 0.1, (N_ROWS, len(SHAPE))), 0, 0.999
    )
    skewed = hidden ** np.arange(1, 1 + len(SHAPE)) * SHAPE
    return pd.DataFrame(skewed.astype(int).astype(str), columns=NAMES, dtype=object)


@cache
def neighbours(adjacency):
    """A record of rare levels added, or put in place of the last one."""
    one = dependent()
    kept = one if adjacency is Adjacency.ADD_REMOVE else one[:-1]
    rare = pd.DataFrame([[str(size - 1) for size in SHAPE]], columns=NAMES, dtype=object)
    constraints = [{"enum": list(map(str, range(size))), "required": True} for size in SHAPE]
    fields = [
        {"name": n, "type": "string", "constraints": c}
        for n, c in zip(NAMES, constraints, strict=True)
    ]
    other = pd.concat([kept, rare], ignore_index=True)
    return Neighbours(
        name=adjacency.value, schema={"fields": fields}, one=one, other=other, adjacency=adjacency
    )


def found_in(adjacency):
    """What is wrong with runs by either accounting."""
    engine = "layered-consistency"
    return check_mechanism(
        "auto", neighbours=[neighbours(adjacency)], epsilons=[1.0], engine=engine
    )


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_neighbour_told_the_same_is_asked_the_same_and_answers_as_declared(adjacency):
    assert found_in(adjacency) == []


def test_the_audit_covers_looks_and_measurements_at_several_resolutions():
    pair = neighbours(Adjacency.ADD_REMOVE)
    run = Release(
        schema=pair.open_schema,
        settings=RunSettings(epsilon=1, delta=1e-2, mechanism="auto", adjacency="add-remove"),
    )
    synthesis = run.of(pair.truths[0].rows)
    numbers = {int(found.max()) + 1 for m in synthesis.measurements for found in m.groups.values()}
    assert len(numbers) > 1
    assert sum(isinstance(event, ScoresEvent) for event in run.ledger.events) > 2


def merge_by_the_records(monkeypatch):
    """Groups, and what levels count as, by exact counts."""
    original = survey.Survey.__init__

    def made(self, table, *arguments, **keywords):
        names = table.domain.attributes
        counts = table._source.counts_of([(name,) for name in names])
        levels = (
            found[:size] for found, size in zip(counts, table.domain.shape, strict=True)
        )  # no places
        exact = {
            name: found / found.sum() + 1e-9 for name, found in zip(names, levels, strict=True)
        }
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(survey, "one_way_shares", lambda *_, **__: exact)
            original(self, table, *arguments, **keywords)

    monkeypatch.setattr(survey.Survey, "__init__", made)


def count_merged_levels_twice(monkeypatch):
    original = Coarsening.apply
    monkeypatch.setattr(
        Coarsening, "apply", lambda self, clique, values: 2 * original(self, clique, values)
    )


@pytest.mark.parametrize(
    ("mutate", "violation"),
    [
        (merge_by_the_records, "depends on the records"),
        (count_merged_levels_twice, "its exact numbers move by"),
    ],
)
def test_the_audit_finds_the_mutant(mutate, violation, monkeypatch):
    mutate(monkeypatch)
    assert any(violation in text for text in found_in(Adjacency.ADD_REMOVE))
