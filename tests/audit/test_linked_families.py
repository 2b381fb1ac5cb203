"""Audit of linked releases: neighbours differ in a family, and whatever is answered may tell so
much and no more.
"""

from itertools import chain
from math import sqrt
from unittest.mock import patch

import numpy as np
import pytest
from helpers.families import KEY, description, family, package, random_tables, sources_of

from synthdp.audit import (
    QUICK_ENGINE,
    FrozenRandomness,
    Likelihood,
    Recorder,
    Replayer,
    equivalent_mu,
    excess,
)
from synthdp.linked import (
    LEARNING,
    LinkedRelease,
    LinkedRows,
    LinkedTableReader,
    LinkedView,
    Package,
    WeightedSource,
)
from synthdp.release import RunSettings

EPSILON, DELTA = 1.0, 1e-2
CANARIES = {
    "equal children in one cell": family(999, [("F", "yes", [("ill", "1")] * 2)] * 3, ["cat"] * 2),
    "beyond every bound": family(999, [("M", "no", [("check", "3")] * 5)] * 7, ["dog"] * 6),
    "an odd key": family("\u0000 odd", [("F", "no", [])]),
    "nobody": family(999, []),
}


class Truth:
    """Exact answers about one view of the tables; what an audit's log asks for them."""

    values = None

    def __init__(self, source):
        self.source = source

    def counts(self, _):
        return self.source


def neighbours(canary, n=60):
    one = random_tables(n, seed=4)
    other = {name: table.copy() for name, table in one.items()}
    for name, rows in CANARIES[canary].items():
        for row in rows:
            other[name].loc[len(other[name])] = row
    return one, other


def run(found, observers, tables, *, mechanism="gaussian", randomness=None):
    settings = RunSettings(epsilon=EPSILON, delta=DELTA, engine=QUICK_ENGINE, mechanism=mechanism)
    release = LinkedRelease(package=found, settings=settings, randomness=randomness)
    release.of(lambda: sources_of(found, tables), observers=observers)
    return release


def squared_mu(canary):
    """What all answers together tell, exactly, in Gaussian DP; and what the budget claims."""
    found, (one, other) = package(), neighbours(canary)
    apart = {
        label: (Truth(source), Truth(sources_of(found, other)[label]))
        for label, source in sources_of(found, one).items()
    }
    logs = {
        label: Recorder(first, FrozenRandomness(len(label))) for label, (first, _) in apart.items()
    }
    release = run(found, logs, one)
    told = 0.0
    for label, log in logs.items():
        for asked in log.asked:
            exact = asked.question.exact(apart[label][1].source)
            told += float(
                np.square(np.asarray(asked.exact, float) - exact).sum()
                / asked.events[0].sigma_squared
            )
    return told, 2 * float(release.ledger.budget)


@pytest.mark.parametrize("canary", ["beyond every bound", "an odd key"])
def test_what_all_answers_tell_of_a_family_stays_below_the_claim(canary):
    told, claimed = squared_mu(canary)
    assert told <= claimed * (1 + 1e-9)


def test_a_family_that_fills_every_view_is_told_by_all_that_is_paid():
    told, claimed = squared_mu("equal children in one cell")
    assert told > 0.99 * claimed


def _unscaled(source, cliques):
    """Counts in which each row counts as a whole family does."""
    for counts in source._rows.counts_of([(*clique, "class of weight") for clique in cliques]):
        yield counts.sum(axis=-1) * source.max_rows


def test_sensitivities_of_one_row_for_whole_families_are_caught():
    with patch.object(WeightedSource, "counts_of", _unscaled):
        told, claimed = squared_mu("equal children in one cell")
    assert told > 2 * claimed


@pytest.mark.parametrize(
    ("canary", "mechanism"),
    [("equal children in one cell", "gaussian"), ("beyond every bound", "mst")],
)
def test_neighbours_are_asked_the_same_and_answers_move_by_what_was_charged(canary, mechanism):
    found, (one, other) = package(), neighbours(canary)
    first, second = (
        {label: Truth(source) for label, source in sources_of(found, each).items()}
        for each in (one, other)
    )
    bits = FrozenRandomness(1)
    logs = {label: Recorder(truth, bits) for label, truth in first.items()}
    release = run(found, logs, one, mechanism=mechanism, randomness=bits)
    units = {label: part.unit for label, part in release._parts.items()}
    again = FrozenRandomness(1)
    replays = {label: Replayer(truth, again, logs[label].asked) for label, truth in second.items()}
    run(found, replays, other, mechanism=mechanism, randomness=again)
    assert [*chain(*(excess(logs[label], replays[label], units[label]) for label in logs))] == []


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::synthdp.core.errors.FitWarning"
)  # answers tell all, fits nothing
@pytest.mark.parametrize("canary", ["equal children in one cell", "beyond every bound"])
def test_no_attack_proves_more_than_is_claimed(canary):
    found, (one, other) = package(), neighbours(canary)
    apart = {
        label: (Truth(source), Truth(sources_of(found, other)[label]))
        for label, source in sources_of(found, one).items()
    }
    ratios = []
    for tables in (one, other):
        runs = []
        for _ in range(200):
            logs = {label: Likelihood(*truths) for label, truths in apart.items()}
            run(found, logs, tables)
            runs.append(sum(log.log_ratio for log in logs.values()))
        ratios.append(np.array(runs))
    claimed = equivalent_mu(EPSILON, DELTA)
    point = (ratios[1].mean() - ratios[0].mean()) / sqrt((ratios[0].var() + ratios[1].var()) / 2)
    assert point < claimed + 5 * sqrt(2 / 200)


def test_the_grid_of_weights_is_what_is_charged():
    found = package()
    for label, source in sources_of(found, random_tables(5)).items():
        view = next(
            v
            for v in (LinkedView(found, t, later) for t in found.tables for later in (False, True))
            if v.label == label
        )
        assert source.max_rows == view.grid


OPENED = ("place", "job", "why", "kind")


def opened_package():
    """The same tables, of which levels are learnt of all columns but those that rules or orders need."""
    content = description()
    for resource in content["resources"]:
        for each in resource["schema"]["fields"]:
            if each["name"] in OPENED:
                each["constraints"] = {"required": True}
                each["synthdp"] = {"derive": True}
    return Package.from_dict(content)


def rows_of(found, tables):
    readers = {table.name: LinkedTableReader(table, hash_key=KEY) for table in found.tables}
    for name, reader in readers.items():
        reader.add(tables[name])
    return LinkedRows(found.tables, readers, "home", hash_key=KEY)


def learning(found, tables, log, *, randomness):
    settings = RunSettings(epsilon=EPSILON, delta=DELTA, engine=QUICK_ENGINE, mechanism="gaussian")
    release = LinkedRelease(package=found, settings=settings, randomness=randomness)
    release.of(lambda: rows_of(found, tables), observers={LEARNING: log})
    return release


class Values:
    """Exact answers about single columns; what an audit's log asks for them."""

    def __init__(self, values):
        self.values = values


@pytest.mark.parametrize("canary", ["equal children in one cell", "beyond every bound"])
def test_what_learning_tells_of_a_family_is_at_most_what_it_is_charged(canary):
    """Each exact answer moves by what is declared, or less: a family is one record, however many
    rows it has.
    """
    found, (one, other) = opened_package(), neighbours(canary)
    log = Recorder(Values(rows_of(found, one).values), FrozenRandomness(1))
    release = learning(found, one, log, randomness=FrozenRandomness(1))
    kernel = rows_of(found, other).values
    told = spent = 0.0
    for asked in log.asked:
        (event,) = asked.events
        first, second = (as_cells(answer) for answer in (asked.exact, asked.question.exact(kernel)))
        moved = sum((first.get(cell, 0) - second.get(cell, 0)) ** 2 for cell in {*first, *second})
        assert moved <= event.sensitivity_squared, asked.question
        told += moved / (2 * float(event.sigma_squared))
        spent += float(event.rho)
    assert 0 < told <= spent * (1 + 1e-9)
    assert spent <= float(release.ledger.budget) / 4 * (1 + 1e-9)


def as_cells(exact):
    counts = getattr(exact, "counts", None)
    if counts is None:
        return dict(enumerate(np.asarray(exact).tolist()))
    return dict(counts) | {None: exact.missing}
