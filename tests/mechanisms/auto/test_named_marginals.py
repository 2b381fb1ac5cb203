"""Marginals that a workload names are measured, whatever scores show, or a caution names them."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from helpers.private_tables import private_table
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Domain, Workload
from synthdp.inference import GraphicalModelEngine, LayeredConsistencyEngine, one_way_shares
from synthdp.mechanisms import Auto, NamedMarginals, Task, epsilon_for, equal_groups
from synthdp.privacy import Accounting, Adjacency, MarginalEvent, PrivacyLedger

N_ROWS = 10_000


def parity(n_bins, *, seed=0, n_rows=N_ROWS):
    """Six columns of bins, half of them below 0, and the parity of the signs of the first three."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, n_bins, n_rows) for _ in range(6)]
    signs = sum(column >= n_bins // 2 for column in columns[:3])
    return (n_bins,) * 6 + (2,), (*columns, signs % 2)


def released(shape, rows, marginals, *, epsilon=1.0, engine=None, n_rows=N_ROWS):
    table = private_table(shape, n_rows, rows=rows, epsilon=epsilon, accounting=Accounting.GDP)
    marginals = {"marginals": [{"columns": list(clique)} for clique in marginals]}
    model = Auto().release(
        table,
        Task(
            workload=Workload.from_dict(table.domain, marginals),
            engine=engine or LayeredConsistencyEngine(),
        ),
    )
    return table, model


def by_sign(counts):
    """A marginal of three columns of bins and one of two levels, with two halves of each."""
    half = counts.shape[0] // 2
    return counts.reshape(2, half, 2, half, 2, half, 2).sum(axis=(1, 3, 5))


# In 60 runs each the distance was .015 (standard deviation .002), .026 (.003) and .06 (.03, as a median of noisy
# counts may be a bin beside the middle); what is not measured is .5 away.
@pytest.mark.parametrize(("n_bins", "most"), [(4, 0.05), (16, 0.1), (40, 0.35)])
def test_a_parity_that_no_pair_or_triple_shows_is_measured_because_it_is_named(n_bins, most):
    shape, rows = parity(n_bins)
    names = ("x0", "x1", "x2", "x6")
    table, model = released(shape, rows, [names])
    truth = np.zeros((n_bins,) * 3 + (2,))
    np.add.at(truth, (*rows[:3], rows[6]), 1)
    counts = model.marginal(names).values
    shares = [by_sign(found) / found.sum() for found in (truth, counts)]
    assert 0.5 * np.abs(shares[0] - shares[1]).sum() < most
    assert not any("not measured" in caution for caution in model.cautions)
    assert table.ledger.remaining == 0


def test_a_workload_that_names_no_marginal_has_no_floor():
    shape, rows = parity(4)
    table = private_table(shape, N_ROWS, rows=rows)
    for name in table.domain.attributes:
        table.measure((name,), rho=0.001)
    workload = Workload.all_k_way(table.domain, 4)
    assert floors_of(table, workload).floors == []
    assert floors_of(table, Workload(workload.weights, are_named=True)).floors != []


def floors_of(table, workload, *, rho=Fraction(1, 100), can_merge=True, is_allowed=lambda _: True):
    shares = one_way_shares(table.domain, table.released, total=N_ROWS)
    return NamedMarginals(
        table, workload, shares=shares, rho=rho, can_merge=can_merge, is_allowed=is_allowed
    )


@settings(max_examples=30)
@given(
    shape=st.lists(st.integers(1, 40), min_size=2, max_size=5),
    n_rows=st.sampled_from([30, 1000, 10_000]),
    epsilon=st.sampled_from([1e-3, 0.1, 1.0, 10.0]),
    adjacency=st.sampled_from(Adjacency),
    seed=st.integers(0, 2**32 - 1),
)
def test_each_named_marginal_is_measured_or_named_in_a_caution(
    shape, n_rows, epsilon, adjacency, seed
):
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(len(shape))]
    some = [clique for k in range(1, len(names) + 1) for clique in combinations(names, k)]
    asked = [some[i] for i in rng.choice(len(some), size=min(2, len(some)), replace=False)]
    table = private_table(
        tuple(shape), n_rows, epsilon=epsilon, adjacency=adjacency, accounting=Accounting.GDP
    )
    domain = table.domain
    weights = {clique: float(rng.uniform(0.5, 2.0)) for clique in asked}
    model = Auto().release(
        table,
        Task(workload=Workload(weights, are_named=True), engine=LayeredConsistencyEngine()),
    )
    assert table.ledger.remaining == 0
    assert all(event.is_gaussian for event in table.ledger.events)
    measured = [set(measurement.clique) for measurement in table.released]
    cautions = " ".join(caution for caution in model.cautions if "not measured" in caution)
    for clique in asked:
        is_measured = any(set(clique) <= other for other in measured)
        is_named = " and ".join(map(repr, clique)) in cautions
        assert is_measured or is_named, (domain, clique)


def test_a_floor_is_as_fine_as_its_share_of_the_budget_allows():
    shape, rows = parity(16)
    finest = {}
    for epsilon in (0.05, 0.3, 3.0, 1e5):
        table = private_table(shape, N_ROWS, rows=rows, epsilon=epsilon)
        budget = table.ledger.budget
        for name in table.domain.attributes:
            table.measure((name,), rho=budget / 100)
        workload = Workload({("x0", "x1", "x2", "x6"): 1.0}, are_named=True)
        (floor,) = floors_of(table, workload, rho=budget / 2).floors
        assert floor.rho <= budget / 2
        groups = floor.coarsening.groups if floor.coarsening else {}
        finest[epsilon] = max((int(found.max()) + 1 for found in groups.values()), default=16)
    assert list(finest.values()) == [2, 4, 8, 16]
    # More than enough is left for the plan.
    assert floor.rho < budget / 100


def test_what_drowns_is_named_with_the_epsilon_that_it_takes():
    shape, rows = parity(8)
    names = tuple(f"x{i}" for i in range(6))
    _, model = released(shape, rows, [names], epsilon=0.05)
    (caution,) = [caution for caution in model.cautions if "not measured" in caution]
    assert "the marginal of 'x0' and 'x1' and 'x2' and 'x3' and 'x4' and 'x5' is not" in caution
    epsilon = float(caution.split("epsilon of about ")[1].split()[0])
    assert 0.1 < epsilon < 0.4
    _, model = released(shape, rows, [names], epsilon=1.3 * epsilon)
    assert not any("not measured" in caution for caution in model.cautions)


def test_where_nothing_can_be_scored_named_marginals_are_measured_all_the_same():
    rng = np.random.default_rng(0)
    shape = (2,) * 60
    rows = tuple(rng.integers(0, 2, 2000) for _ in shape)
    named = [("x0", "x1", "x2"), ("x3", "x4")]
    every = [tuple(f"x{i}" for i in pair) for pair in combinations(range(60), 2)]
    marginals = dict.fromkeys(every, 1.0) | dict.fromkeys(named, 5000.0)
    table = private_table(shape, 2000, rows=rows, epsilon=0.2, accounting=Accounting.GDP)
    model = Auto().release(
        table,
        Task(workload=Workload(marginals, are_named=True), engine=LayeredConsistencyEngine()),
    )
    assert all(isinstance(event, MarginalEvent) for event in table.ledger.events)
    measured = {measurement.clique for measurement in table.released}
    assert set(named) <= measured
    (only,) = [caution for caution in model.cautions if caution.startswith("only single columns")]
    assert "and named marginals were measured: noise would hide how other columns depend" in only
    (drowned,) = [caution for caution in model.cautions if "not measured" in caution]
    assert "'x0' and 'x3'; 'x0' and 'x4'; 'x0' and 'x5', and 1763 more, are not" in drowned


def test_what_an_engine_cannot_hold_is_named():
    shape, rows = parity(16)
    named = [("x0", "x1"), ("x1", "x2"), ("x0", "x2"), ("x3", "x4")]
    table, model = released(shape, rows, named, epsilon=100.0, engine=GraphicalModelEngine())
    assert not any("not measured" in caution for caution in model.cautions)
    table = private_table(shape, N_ROWS, rows=rows, epsilon=100.0, accounting=Accounting.GDP)
    mechanism = Auto(max_cells=500)
    workload = Workload.from_cliques(table.domain, named, are_named=True)
    engine = GraphicalModelEngine()
    model = mechanism.release(table, Task(workload=workload, engine=engine))
    (caution,) = [caution for caution in model.cautions if "not measured" in caution]
    assert "the marginals of 'x1' and 'x2'; 'x0' and 'x2'" in caution
    assert "the model of this engine would be too large" in caution


def test_bins_are_merged_before_names_are():
    """Of forty towns of equal size four groups show a thirteenth of what goes with each."""
    shape, rng = (40, 32), np.random.default_rng(0)
    town = rng.integers(0, 40, N_ROWS)
    table = private_table(shape, N_ROWS, rows=(town, town * 7 % 32))
    for name in table.domain.attributes:
        table.measure((name,), rho=0.005)
    shares = one_way_shares(table.domain, table.released, total=N_ROWS)
    workload = Workload({("x0", "x1"): 1.0}, are_named=True)
    found = []
    for rho in (1e-5, 1e-3, 1.0):
        floor = NamedMarginals(
            table,
            workload,
            shares=shares,
            rho=Fraction(rho),
            can_merge=True,
            is_allowed=lambda _: True,
            names={"x0"},
        ).floors[0]
        merged = floor.coarsening.domain(table.domain) if floor.coarsening else table.domain
        found.append(merged.shape)
    assert found[0][0] == found[0][1] < 40
    assert found[1][0] == 40
    assert found[1][1] < 32
    assert found[2] == shape


def test_names_are_told_from_bins_by_a_release():
    """Towns whose neighbours in the alphabet have other trades, 92 of 100 of them in one each."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 40, N_ROWS)
    trade = np.where(rng.random(N_ROWS) < 0.92, rng.permutation(40)[town] % 16, 0)
    _, model = released((40, 16), (town, trade), [("x0", "x1")], epsilon=0.3)
    truth = np.zeros((40, 16))
    np.add.at(truth, (town, trade), 1)
    counts = model.marginal(("x0", "x1")).values
    assert model.findings["taken_for_names"] == [
        "x0"
    ]  # and not the 16 trades, which are not merged
    # In 12 releases .05 to .09; .48 to .56 where towns were merged to 8 groups.
    assert 0.5 * np.abs(counts / counts.sum() - truth / N_ROWS).sum() < 0.2


def test_what_has_too_many_cells_is_named():
    shape = (60, 60, 60, 60)
    rows = tuple(np.arange(1000) % 60 for _ in shape)
    whole = ("x0", "x1", "x2", "x3")
    _, model = released(shape, rows, [whole, ("x0", "x1")], epsilon=100.0, n_rows=1000)
    (caution,) = [caution for caution in model.cautions if "not measured" in caution]
    assert "'x0' and 'x1' and 'x2' and 'x3' is not measured: there are more than" in caution


@given(
    shares=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=70),
    most=st.integers(1, 40),
)
def test_groups_are_neighbours_of_about_equal_shares(shares, most):
    array = np.array(shares)
    groups = equal_groups(array, most)
    if len(shares) <= most:
        assert groups is None
        return
    assert groups.shape == array.shape
    assert groups[0] == 0
    assert set(np.diff(groups)) <= {0, 1}
    assert groups[-1] == most - 1


def test_two_groups_part_at_the_median_and_more_respect_it():
    shares = np.array([1, 2, 3, 4, 4, 3, 2, 1]) / 20
    assert equal_groups(shares, 2).tolist() == [0] * 4 + [1] * 4
    four = equal_groups(shares, 4)
    assert four[3] < four[4]
    # A level of most records stands alone.
    assert equal_groups(np.array([0.02, 0.02, 0.9, 0.03, 0.03]), 3).tolist() == [0, 0, 1, 2, 2]


def test_the_epsilon_of_a_larger_budget_gives_it():
    for accounting in Accounting:
        ledger = PrivacyLedger(
            epsilon=0.5, delta=1e-9, adjacency=Adjacency.ADD_REMOVE, accounting=accounting
        )
        wanted = 10 * accounting.rho(epsilon=0.5, delta=1e-9)
        epsilon = epsilon_for(ledger, times=10)
        assert 1.0 <= accounting.rho(epsilon=epsilon, delta=1e-9) / wanted < 1.05


def test_a_listed_workload_names_its_marginals_and_others_name_none():
    domain = Domain(("a", "b", "c"), (2, 3, 4))
    listed = {"marginals": [{"columns": ["b", "a"]}]}
    assert Workload.parse(domain, listed).are_named
    assert Workload.parse(domain, Workload.from_dict(domain, listed)).are_named
    for text in (None, "2-way", {"k": 2, "target": "a"}):
        assert not Workload.parse(domain, text).are_named
