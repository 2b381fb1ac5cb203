"""Numbers that mostly have one value: whether they have others together is measured."""

import numpy as np
import pytest

from synthdp.core import Domain, ParameterError, Workload
from synthdp.data import CodedSource, CodedTable
from synthdp.inference import GraphicalModelEngine, LayeredConsistencyEngine
from synthdp.mechanisms import Auto, Task
from synthdp.privacy import Accounting, Adjacency, MarginalEvent, PrivacyLedger, PrivateTable

N_ROWS = 20_000
PAIR = ("gain", "loss")


def exclusive(seed=0):
    """A tenth of the people have a gain, a twentieth a loss, and nobody has both; both go with
    income, so that they would come together more often than by chance.
    """
    rng = np.random.default_rng(seed)
    income = (rng.random(N_ROWS) < 0.25).astype(int)
    where = rng.random(N_ROWS)
    gains = np.where(income == 1, 0.25, 0.05)
    losses = np.where(income == 1, 0.12, 0.03)
    gain = np.where(where < gains, rng.integers(1, 14, N_ROWS), 0)
    loss = np.where(where > 1 - losses, rng.integers(1, 10, N_ROWS), 0)
    return gain, loss, income


def released(
    *, ordered=PAIR, special=None, epsilon=1.0, mechanism=None, engine=None, seed=0, workload=None
):
    domain = Domain(("gain", "loss", "income"), (14, 10, 2), special or {}, frozenset(ordered))
    ledger = PrivacyLedger(
        epsilon=epsilon, delta=1e-9, adjacency=Adjacency.ADD_REMOVE, accounting=Accounting.GDP
    )
    table = PrivateTable(CodedSource(CodedTable(domain, exclusive(seed))), ledger)
    wanted = Workload.from_dict(domain, workload) if workload else Workload.default(domain)
    task = Task(workload=wanted, engine=engine or LayeredConsistencyEngine())
    return table, (mechanism or Auto()).release(table, task)


def together(model):
    counts = model.marginal(PAIR).values
    return counts[1:, 1:].sum() / counts.sum()


def merged_cells(table):
    """Cells of what was measured of the pair over usual values, others, and missing ones, and what
    that cost; where the plan merges levels, four groups or more are left.
    """
    return [
        (measurement.values.size, event.rho)
        for measurement, event in zip(
            table.released,
            (event for event in table.ledger.events if isinstance(event, MarginalEvent)),
            strict=True,
        )
        if measurement.clique == PAIR
        if measurement.coarsening is not None
        if max(measurement.values.shape) <= 3
    ]


def test_values_that_exclude_each_other_stay_apart():
    by_chance = 0.25 * 0.25 * 0.12 + 0.75 * 0.05 * 0.03
    table, model = released()
    budget = sum(event.rho for event in table.ledger.events)
    assert merged_cells(table) == [(4, pytest.approx(float(budget) / 100))]
    assert model.findings["heavy_values_together"] == [list(PAIR)]
    assert together(model) < by_chance / 4
    assert table.ledger.remaining == 0


def test_a_share_that_buys_only_noise_is_spent_on_the_rest():
    table, model = released(mechanism=Auto(heavy_share=1e-5))
    assert merged_cells(table) == []
    assert "heavy_values_together" not in model.findings
    assert table.ledger.remaining == 0


@pytest.mark.parametrize("ordered", [(), ("gain",)])
def test_levels_that_are_names_are_no_usual_value_and_others(ordered):
    table, _ = released(ordered=ordered)
    assert merged_cells(table) == []


def test_missing_values_are_neither_the_usual_nor_another_value():
    table, _ = released(special={"loss": (9,)})
    assert [cells for cells, _ in merged_cells(table)] == [6]
    table, _ = released(special={"loss": (0,)})  # mostly missing: that is the usual value
    assert [cells for cells, _ in merged_cells(table)] == [4]


def test_an_engine_that_takes_no_merged_levels_gets_none():
    table, model = released(engine=GraphicalModelEngine())
    assert merged_cells(table) == []
    assert "heavy_values_together" not in model.findings


def test_pairs_of_two_values_are_left_to_the_plan():
    """26 of them took 1 % of the budget of a survey of yes and no, for nothing but noise."""
    domain = Domain(tuple("abcd"), (2,) * 4, ordered=frozenset("abcd"))
    rows = tuple((np.random.default_rng(1).random((4, N_ROWS)) < 0.2).astype(int))
    ledger = PrivacyLedger(
        epsilon=1.0, delta=1e-9, adjacency=Adjacency.ADD_REMOVE, accounting=Accounting.GDP
    )
    table = PrivateTable(CodedSource(CodedTable(domain, rows)), ledger)
    task = Task(workload=Workload.default(domain), engine=LayeredConsistencyEngine())
    assert "heavy_values_together" not in Auto().release(table, task).findings


def test_missing_values_alone_beside_the_usual_one_are_no_other_value():
    """Of a column without a third value nothing is expected beside both usual ones."""
    table, _ = released(special={"loss": tuple(range(1, 10))})
    assert merged_cells(table) == []


@pytest.mark.parametrize(
    "shares",
    [
        {"one_way_share": 0.5, "heavy_share": 0.6},
        {"one_way_share": 0.5, "heavy_share": 0.3, "joint_share": 0.3},
    ],
)
def test_shares_that_cannot_be_paid_are_refused_before_anything_is(shares):
    with pytest.raises(ParameterError, match="heavy_share leave nothing; their sum must be below"):
        Auto(**shares)


@pytest.mark.parametrize(
    "shares",
    [
        {"one_way_share": 0.3, "heavy_share": 0.3, "joint_share": 0.3},
        {"one_way_share": 0.01, "score_share": 0.4, "heavy_share": 0.09, "joint_share": 0.09},
        {"named_share": 0.95, "heavy_share": 0.4},
    ],
)
@pytest.mark.parametrize("are_named", [False, True])
def test_all_other_shares_are_paid_in_full(shares, are_named):
    workload = {"marginals": [{"columns": ["gain", "loss", "income"]}]} if are_named else None
    table, _ = released(mechanism=Auto(**shares), workload=workload)
    assert table.ledger.remaining == 0
