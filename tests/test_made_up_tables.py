"""The made-up tables of the benchmarks are what their words say: a function of the seed, with known
dependences.
"""

from itertools import combinations

import numpy as np
import pytest
from helpers.paths import ROOT
from scipy.stats import spearmanr

from synthdp.data import CodedSource
from synthdp.report import total_variation

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="no checkout: there are no benchmarks"
)


@pytest.fixture(autouse=True)
def made_up(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from common import made_up

    return made_up


def dependence(table, parents, child):
    """Distance of some columns from what they would be if the last one said nothing about the
    others.
    """
    counts = CodedSource(table).counts(table.domain.canonical((*parents, child)))
    axis = table.domain.canonical((*parents, child)).index(child)
    joint = np.moveaxis(counts, axis, -1).reshape(-1, table.domain[child])
    return total_variation(joint, joint.sum(axis=1, keepdims=True) * joint.sum(axis=0))


@pytest.mark.parametrize(
    ("name", "n_rows", "n_columns", "largest"),
    [("visits", 200_000, 12, 60), ("survey", 6_000, 20, 32)],
)
def test_they_follow_from_the_seed(name, n_rows, n_columns, largest, made_up):
    (table, schema), (again, _), (other, _) = (made_up.MADE_UP[name](seed) for seed in (0, 0, 1))
    assert table.domain == schema.domain
    assert (len(table.columns[0]), len(table.columns)) == (n_rows, n_columns)
    assert (min(table.domain.shape), max(table.domain.shape)) == (2, largest)
    for one, same, another in zip(table.columns, again.columns, other.columns, strict=True):
        assert np.array_equal(one, same)
        assert not np.array_equal(one, another)


def test_visits_depend_on_each_other_as_planted(made_up):
    table, _ = made_up.visits(0)
    strengths = {
        pair: dependence(table, pair[:1], pair[1])
        for pair in combinations(table.domain.attributes, 2)
    }
    assert sorted(pair for pair, strength in strengths.items() if strength > 0.4) == [
        ("diagnosis", "group"),
        ("site", "region"),
    ]
    assert max(strengths.values()) < 0.6
    for parents, child in ((("shift", "weekday"), "urgent"), (("weekday", "region"), "insurer")):
        alone = [dependence(table, (parent,), child) for parent in parents]
        assert min(alone) < 0.01 < max(alone) < 0.15  # hidden by the parent that is uniform
        assert dependence(table, parents, child) > 0.4
    assert 0.03 < strengths["stay", "outcome"] < 0.1
    counts = np.sort(CodedSource(table).counts(("diagnosis",)))[::-1]
    assert counts[:5].sum() > 0.6 * counts.sum()  # a tenth of the levels


def test_answers_of_the_survey_are_correlated_from_strongly_to_weakly(made_up):
    table, schema = made_up.survey(0)
    numbers = made_up.survey_numbers()
    assert [
        column.name for column in schema.columns if column.field()["type"] == "integer"
    ] == numbers
    codes = np.column_stack([table.columns[table.domain.index(name)] for name in numbers])
    found = spearmanr(codes).statistic[np.triu_indices(len(numbers), 1)]
    assert 0.1 < found.min() < 0.2 < 0.75 < found.max() < 0.9
    lowest = [
        (column < size / 2).mean()
        for column, size in zip(table.columns, table.domain.shape, strict=True)
    ]
    assert min(lowest) < 0.35 < 0.75 < max(lowest)
