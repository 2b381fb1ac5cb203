"""The look for columns that depend all together: what it scores, what it sees, and what it leaves."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from helpers.private_tables import private_table

from synthdp.core import Domain, Workload
from synthdp.inference import LayeredConsistencyEngine, one_way_shares, raked
from synthdp.mechanisms import Auto, JointScores, Task, joint_sets
from synthdp.privacy import Accounting, ScoresEvent

N_ROWS = 10_000


def parity(n_columns=3, *, n_bins=16, seed=0, n_rows=N_ROWS):
    """Six columns of bins, and the parity of the halves that the first ones lie in."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, n_bins, n_rows) for _ in range(6)]
    halves = sum(column >= n_bins // 2 for column in columns[:n_columns])
    return (n_bins,) * 6 + (2,), (*columns, halves % 2)


def look_at(shape, rows, *, epsilon=1e5, workload=None):
    """A look at a table of which nothing but columns is measured, and the model of these."""
    table = private_table(shape, len(rows[0]), rows=rows, epsilon=epsilon)
    budget = table.ledger.budget
    for name in table.domain.attributes:
        table.measure((name,), rho=budget / 100)
    shares = one_way_shares(table.domain, table.released, total=len(rows[0]))
    sets = joint_sets(table.domain, workload or Workload.default(table.domain))
    look = JointScores(table, sets, shares=shares, rho=budget / 100)
    return look, LayeredConsistencyEngine().estimate(table.domain, table.released)


# Noise and chance make a distance of .03 to .04; what is not found is .5 away.
@pytest.mark.parametrize("target", [None, "x6"])
@pytest.mark.parametrize("n_columns", [2, 3])
def test_a_parity_is_drawn_by_default_and_with_a_target(n_columns, target):
    shape, rows = parity(n_columns)
    table = private_table(shape, N_ROWS, rows=rows, epsilon=1.0, accounting=Accounting.GDP)
    model = Auto().release(
        table,
        Task(
            workload=Workload.default(table.domain, target=target),
            engine=LayeredConsistencyEngine(),
        ),
    )
    names = tuple(f"x{i}" for i in range(n_columns))
    assert model.findings["joint_dependences"]["measured"][0] == [*names, "x6"]
    drawn = model.sample(N_ROWS, seed=1)
    halves = sum(drawn[i] >= 8 for i in range(n_columns)) % 2
    assert np.mean(halves == drawn[6]) > 0.85
    assert table.ledger.remaining == 0


def test_what_smaller_sets_say_is_none_of_the_wider_ones():
    """The parity of two columns is in each set of four that holds the three, and measured once."""
    look, model = look_at(*parity(2))
    assert look.strong(model) == [("x0", "x1", "x6")]


def test_columns_that_depend_two_by_two_are_left_to_the_pairs():
    rng = np.random.default_rng(0)
    x0 = rng.integers(0, 16, N_ROWS)
    x1 = np.where(rng.random(N_ROWS) < 0.9, x0, rng.integers(0, 16, N_ROWS))
    x2 = np.where(rng.random(N_ROWS) < 0.5, x1, rng.integers(0, 16, N_ROWS))
    rows = (x0, x1, x2, rng.integers(0, 5, N_ROWS))
    table = private_table((16, 16, 16, 5), N_ROWS, rows=rows, epsilon=100.0)
    model = Auto().release(
        table,
        Task(workload=Workload.default(table.domain), engine=LayeredConsistencyEngine()),
    )
    assert model.findings["joint_dependences"]["measured"] == []


def test_expected_counts_are_as_even_as_smaller_tables_allow():
    rng = np.random.default_rng(1)
    shape = (5, 3, 2, 9)
    rows = [rng.integers(0, 2, N_ROWS) * (size - 1) for size in shape]
    rows[1] = np.where(rng.random(N_ROWS) < 0.7, rows[0] // 2, rows[1])
    table = private_table(shape, N_ROWS, rows=tuple(rows), epsilon=1e6)
    for pair in combinations(table.domain.attributes, 2):
        table.measure(pair, rho=10.0)
    shares = one_way_shares(table.domain, table.released, total=N_ROWS)
    sets = joint_sets(table.domain, Workload.default(table.domain))
    look = JointScores(table, sets, shares=shares, rho=Fraction(100))
    model = LayeredConsistencyEngine().estimate(table.domain, table.released)
    expected = dict(zip(look.scored, look.expected(model), strict=True))
    merged = look.merged(model, list(combinations(table.domain.attributes, 2)))
    whole = tuple(table.domain.attributes)
    pairs = {
        tuple(map(whole.index, pair)): counts / counts.sum() for pair, counts in merged.items()
    }
    start = np.ones(expected[whole].shape) / expected[whole].size
    by_itself = raked(start, pairs, tolerance=1e-9, max_rounds=500)
    assert np.abs(expected[whole] / expected[whole].sum() - by_itself).sum() < 0.02


def test_what_is_looked_at_follows_from_the_workload():
    domain = Domain(tuple("abcdefg"), (4, 4, 4, 1, 4, 4, 2))
    sets = joint_sets(domain, Workload.default(domain))
    assert len(sets.scored) == 20 + 15
    assert sets.wanted == set(sets.scored)
    assert all("d" not in clique for clique in sets.scored)
    target = joint_sets(domain, Workload.default(domain, target="g"))
    assert target.wanted == {clique for clique in sets.scored if "g" in clique}
    # Triples without the target tell what explains sets with it.
    assert {len(clique) for clique in set(target.scored) - target.wanted} == {3}
    assert joint_sets(domain, Workload.all_k_way(domain, 2)).scored == []
    named = Workload.from_dict(domain, {"marginals": [{"columns": ["a", "b", "c"]}]})
    assert joint_sets(domain, named).scored == []
    wide = Domain(tuple(f"x{i}" for i in range(35)), (3,) * 35)
    assert len(joint_sets(wide, Workload.default(wide)).scored) <= 400


def test_where_noise_would_hide_everything_nothing_is_looked_for_and_nothing_paid():
    shape, rows = parity(n_bins=4, n_rows=300)
    look, _ = look_at(shape, rows, epsilon=0.5)
    assert look.scored == []
    table = private_table(
        (2,) * 7,
        300,
        rows=tuple(row // 2 if i < 6 else row for i, row in enumerate(rows)),
        epsilon=3.0,
    )
    Auto().release(
        table,
        Task(workload=Workload.default(table.domain), engine=LayeredConsistencyEngine()),
    )
    scores = [event for event in table.ledger.events if isinstance(event, ScoresEvent)]
    assert len(scores) <= 2


def test_fewer_sets_are_looked_at_where_noise_is_larger_smallest_first():
    shape, rows = parity(n_bins=4)
    numbers = []
    for epsilon in (0.15, 0.3, 3.0):
        look, _ = look_at(shape, rows, epsilon=epsilon)
        numbers.append(len(look.scored))
        sizes = [len(clique) for clique in look.scored]
        assert sizes == sorted(sizes)
        assert not look.scored or look.stddev <= 0.08 * N_ROWS
    assert numbers[0] < numbers[1] < numbers[2] == 70
