"""Records that move: the loop against one that works everything out anew, and what it promises."""

from itertools import combinations

import numpy as np
import pytest
from helpers.homes import home
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Constraint, Domain
from synthdp.inference import (
    RecordMoves,
    WantedTables,
    cell_counts,
    count,
    layout_of,
    price,
    strong_pairs,
    sweep,
    tally,
    trends_of,
)

record_moves = home(RecordMoves)
wanted_tables = home(WantedTables)

DOMAIN = Domain(("a", "b", "c", "d"), (3, 6, 2, 4))
COARSE = Constraint.determines("b", "a", [0, 0, 1, 1, 2, 2], 3)
FORBIDDEN = Constraint(("c", "d"), np.array([[1, 1, 0, 1], [1, 0, 1, 1]], dtype=bool))
ONE_WAY = Constraint(("c",), np.array([True, False]))
CLIQUES = [*combinations(DOMAIN.attributes, 2), ("a", "b", "d"), ("b", "c", "d"), ("d",)]
RULES = {
    "none": [],
    "dependency": [COARSE],
    "forbidden": [FORBIDDEN],
    "all": [COARSE, FORBIDDEN, ONE_WAY],
}


def problem(seed, constraints, n_rows):
    """Possible records, and tables that contradict each other."""
    rng = np.random.default_rng(seed)
    cells = np.indices(DOMAIN.shape).reshape(4, -1)
    possible = np.ones(cells.shape[1], bool)
    for constraint in constraints:
        possible &= constraint.holds(DOMAIN, cells)
    records = cells[:, rng.choice(np.flatnonzero(possible), n_rows)].astype(np.int32)
    targets = {}
    for i in rng.permutation(len(CLIQUES))[: rng.integers(1, len(CLIQUES) + 1)]:
        weights = rng.dirichlet(np.full(cells.shape[1], 0.3)) * possible
        table = cell_counts(DOMAIN, CLIQUES[i], tuple(cells), weights)
        targets[CLIQUES[i]] = table / table.sum()
    return records, targets


def pairs_inside(targets, n_names=2):
    """Each pair, or each part of so many, from the table with the fewest cells."""
    pairs = {}
    for clique in sorted(targets, key=DOMAIN.size):
        for pair in combinations(clique, n_names):
            if pair not in pairs:
                others = tuple(i for i, name in enumerate(clique) if name not in pair)
                pairs[pair] = targets[clique].sum(axis=others)
    return pairs


def weighted_tables(records, targets):
    """Each table with the weights of its cells, from how far the records are off."""
    strong = strong_pairs(pairs_inside(targets))
    inner = {k: v for k, v in pairs_inside(targets).items() if k not in targets}
    tables = [(1.0, *item) for item in {**pairs_inside(targets, 1), **targets}.items()]
    tables = [(0.1, *item) for item in inner.items()] + tables
    tables = [item for item in tables if item[1] not in strong]
    tables += [(weight, pair, table) for pair, (weight, table) in strong.items()]
    n_rows = records.shape[1]
    for scale, clique, table in tables:
        surplus = cell_counts(DOMAIN, clique, tuple(records)) - n_rows * table
        yield scale / np.sqrt(n_rows * table + 1.0 + (surplus / 2) ** 2), clique, table


def weighted_distance(records, tables):
    """What moves lower: weighted squared surpluses."""
    n_rows, total = records.shape[1], 0.0
    for weights, clique, table in tables:
        surplus = cell_counts(DOMAIN, clique, tuple(records)) - n_rows * table
        total += float((weights * surplus**2).sum())
    return total


def weighted_trends(records, targets):
    """Pairs whose ranks go with each other: products of ranks, their wanted sum, and the weight."""
    n_rows, weights, ranks, found = records.shape[1], {}, {}, []
    for pair, table in pairs_inside(targets).items():
        own = []
        for axis in (1, 0):
            way = table.sum(axis=axis)
            rank = np.cumsum(way) - way / 2 - 0.5
            own.append(rank / max(np.sqrt(way @ rank**2), 1e-12))
        correlation = abs(own[0] @ table @ own[1])
        if correlation > 0.25:
            weights[pair] = 3.0 if correlation > 0.5 else 1.0
            ranks.update(zip(pair, own, strict=True))
    for pair, weight in weights.items():
        own = [ranks[name] for name in pair]
        trend = (pair, own, n_rows * (own[0] @ pairs_inside(targets)[pair] @ own[1]))
        found.append((weight / np.sqrt(n_rows + (trend_gap(records, trend) / 2) ** 2), trend))
    return found


def trend_gap(records, trend):
    """By how much the products of ranks of all records are too large, summed."""
    pair, ranks, wanted = trend
    one, other = (rank[records[DOMAIN.index(name)]] for rank, name in zip(ranks, pair, strict=True))
    return one @ other - wanted


def trend_distance(records, trends):
    """What moves of one attribute lower beside `weighted_distance`."""
    return sum(weight * trend_gap(records, trend) ** 2 for weight, trend in trends)


def trend_relief(records, trends, i, name):
    """By how much less a record of mean rank would cost."""
    total = 0.0
    for weight, trend in trends:
        pair, ranks, _ = trend
        if name in pair:
            product = np.prod(
                [rank[records[DOMAIN.index(n), i]] for rank, n in zip(ranks, pair, strict=True)]
            )
            total += weight * trend_gap(records, trend) * product
    return total


def relief(records, tables, i, block):
    """By how much half the distance falls when a record leaves the marginals of some attributes."""
    n_rows, total = records.shape[1], 0.0
    for weights, clique, table in tables:
        if not {*clique}.isdisjoint(block):
            here = tuple(records[DOMAIN.index(name), i] for name in clique)
            surplus = cell_counts(DOMAIN, clique, tuple(records))[here] - n_rows * table[here]
            total += weights[here] * (surplus - 0.5)
    return total


def moved_slowly(records, targets, constraints, fixed):
    """One round in which each choice is made by the distance of all that it might become.

    Which records are looked at is told by what leaving relieved them as their 64 began, as long as
    they have not moved.
    """
    records = records.copy()
    tables, trends = [*weighted_tables(records, targets)], weighted_trends(records, targets)
    wanted = {name for clique in targets for name in clique}
    blocks = [(name,) for name in DOMAIN.attributes if name in wanted and name not in fixed]
    blocks += [c.clique for c in constraints if len(c.clique) > 1]
    blocks = [block for block in blocks if not {*fixed}.intersection(block)]

    def relieved(i, block):
        pulls = trends if len(block) == 1 else []
        pulled = trend_relief(records, pulls, i, block[0])
        return relief(records, tables, i, block) + pulled

    for i in range(records.shape[1]):
        if i % 64 == 0:
            some = range(i, min(i + 64, records.shape[1]))
            before_any = {(row, block): relieved(row, block) for row in some for block in blocks}
        has_moved = False
        for block in blocks:
            axes = [DOMAIN.index(name) for name in block]
            before, pulls = records[axes, i].copy(), trends if len(block) == 1 else []
            present = weighted_distance(records, tables) + trend_distance(records, pulls)
            if (not has_moved and before_any[i, block] <= 0.0) or relieved(i, block) <= 0.0:
                continue
            options = [(present, tuple(before))]
            for codes in np.ndindex(*(DOMAIN[name] for name in block)):
                records[axes, i] = codes
                if all(c.holds(DOMAIN, records[:, [i]]).all() for c in constraints):
                    cost = weighted_distance(records, tables) + trend_distance(records, pulls)
                    options.append((cost, codes))
            records[axes, i] = min(options)[1]
            has_moved |= tuple(before) != tuple(records[axes, i])
    return records


@pytest.mark.parametrize("fixed", [(), ("c",)], ids=["all move", "one is fixed"])
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_each_record_takes_what_gains_most(rules, fixed, seed):
    records, targets = problem(seed, RULES[rules], 70)
    expected = moved_slowly(records, targets, RULES[rules], fixed)
    wanted = WantedTables(DOMAIN, targets, constraints=RULES[rules], fixed=fixed)
    RecordMoves(n_sweeps=1).move(records, wanted)
    np.testing.assert_array_equal(records, expected)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([*RULES]), st.sampled_from([1, 2, 30, 400]))
def test_moves_only_lower_the_distance_and_keep_to_the_rules(seed, rules, n_rows):
    records, targets = problem(seed, RULES[rules], n_rows)
    with pytest.MonkeyPatch.context() as patch:
        if rules != "none":  # what is tied by a rule moves by its cells, not by its ranks
            patch.setattr(wanted_tables, "_CORRELATIONS", ())
        wanted = WantedTables(DOMAIN, targets, constraints=RULES[rules])
    for _ in range(3):
        tables = [*weighted_tables(records, targets)]
        trends = weighted_trends(records, targets) if rules == "none" else []
        before = weighted_distance(records, tables) + trend_distance(records, trends)
        RecordMoves(n_sweeps=1).move(records, wanted)
        after = weighted_distance(records, tables) + trend_distance(records, trends)
        assert after <= (1 + 1e-5) * before
        for constraint in RULES[rules]:
            assert constraint.holds(DOMAIN, records).all()


def test_compiled_and_plain_loops_do_the_same(monkeypatch):
    outcomes = []
    kernels = (count, sweep, price, tally)
    for loops in (kernels, tuple(kernel.plain for kernel in kernels)):
        monkeypatch.setattr(record_moves, "count", loops[0])
        monkeypatch.setattr(record_moves, "sweep", loops[1])
        monkeypatch.setattr(wanted_tables, "price", loops[2])
        monkeypatch.setattr(wanted_tables, "tally", loops[3])
        records, targets = problem(5, [COARSE, FORBIDDEN], 300)
        wanted = WantedTables(DOMAIN, targets, constraints=[COARSE, FORBIDDEN])
        steps = []
        result = RecordMoves().move(records, wanted, progress=lambda *step: steps.append(step))  # noqa: B023
        outcomes.append((records.tolist(), result, steps))
    assert outcomes[0] == outcomes[1]
    (n_sweeps, _), steps = outcomes[0][1:]
    assert n_sweeps == 21
    assert steps == [(done, 21) for done in range(1, 22)]


@pytest.mark.parametrize(
    ("sizes", "width"),
    [((2**15 - 1, 2**16 - 1), 32), ((2**15, 2**16 - 1), 64), ((2**20, 2**20), 64)],
)
def test_cells_are_as_wide_as_their_numbers_need(sizes, width):
    """So many cells do not fit into a test: that the loop goes by the width says the next one."""
    layout = layout_of(Domain(("a", "b"), sizes), [("b",), ("a", "b")])
    n_cells = sizes[1] + sizes[0] * sizes[1]
    for cells in (layout.starts, layout.member_strides):
        assert np.iinfo(cells.dtype).bits == width
    last = int(layout.starts[1]) + int(np.dot(layout.member_strides[1:], np.array(sizes) - 1))
    assert last == n_cells - 1


@pytest.mark.parametrize("run", ["__call__", "plain"])
def test_wide_cells_lead_to_the_same_rows(run, monkeypatch):
    monkeypatch.setattr(record_moves, "count", getattr(count, run))
    monkeypatch.setattr(record_moves, "sweep", getattr(sweep, run))
    found = []
    for width in (np.int32, np.int64):
        records, targets = problem(7, [FORBIDDEN], 300)
        wanted = WantedTables(DOMAIN, targets, constraints=[FORBIDDEN])
        starts, strides = wanted.layout.starts, wanted.layout.member_strides
        wanted.layout = wanted.layout._replace(
            starts=starts.astype(width), member_strides=strides.astype(width)
        )
        RecordMoves().move(records, wanted)
        found.append(records)
    np.testing.assert_array_equal(*found)


def test_rows_are_moved_alike_however_many_the_loop_takes_at_once(monkeypatch):
    found = []
    for at_once in (64, 1 << 16):
        monkeypatch.setattr(record_moves, "_ROWS_AT_ONCE", at_once)
        records, targets = problem(6, [FORBIDDEN], 500)
        RecordMoves().move(records, WantedTables(DOMAIN, targets, constraints=[FORBIDDEN]))
        found.append(records)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("clique", [("a", "b", "x"), ("a", "b")])
def test_what_hangs_together_does_so_where_tables_contradict_each_other(clique, monkeypatch):
    """Two columns say each other; other tables, all noise, are of one of them and a third."""
    domain = Domain(("a", "b", "x"), (8, 8, 8))
    contradictions = []
    for weight in (30.0, 1.0):
        monkeypatch.setattr(wanted_tables, "_STRENGTHS", ((0.5, weight),))
        monkeypatch.setattr(wanted_tables, "_CORRELATIONS", ())
        rng = np.random.default_rng(1)
        strong = np.eye(8)[:, :, None] * rng.dirichlet(np.ones(64)).reshape(8, 1, 8)
        strong = strong if len(clique) == 3 else strong.sum(axis=2)
        targets = {clique: strong / strong.sum()}
        for pair in [("b", "x"), ("a", "x")]:
            targets[pair] = rng.dirichlet(np.ones(64)).reshape(8, 8)
        records = np.array([rng.integers(8, size=2000) for _ in range(3)], dtype=np.int32)
        RecordMoves().move(records, WantedTables(domain, targets))
        contradictions.append((records[0] != records[1]).mean())
        assert list(
            strong_pairs({("a", "b"): strong.sum(axis=2) if strong.ndim > 2 else strong})
        ) == [("a", "b")]
    assert contradictions[0] < 0.5 * contradictions[1]


def test_eager_records_come_closer_to_sparse_tables_than_any_number_of_calm_rounds():
    """Where no single move gains, some that cost a little are made first."""
    domain = Domain(("a", "b", "c"), (20, 20, 20))
    rng = np.random.default_rng(2)
    joint = rng.dirichlet(np.full(domain.size(), 0.05)).reshape(domain.shape)
    targets = {("a", "b"): joint.sum(2), ("a", "c"): joint.sum(1), ("b", "c"): joint.sum(0)}
    start = np.array([rng.integers(20, size=1000) for _ in range(3)], dtype=np.int32)
    distances = []
    for moves in (RecordMoves(n_sweeps=100), RecordMoves()):
        records = start.copy()
        moves.move(records, WantedTables(domain, targets))
        distances.append(
            sum(
                np.abs(cell_counts(domain, clique, tuple(records)) / 1000 - table).sum()
                for clique, table in targets.items()
            )
        )
    assert distances[1] < 0.98 * distances[0]


def test_rare_levels_keep_their_records_where_cells_expect_less_than_one():
    """A level of a tenth of the records came out at a sixteenth: 0 is nearest to each of its cells."""
    domain = Domain(("a", "b", "c"), (30, 30, 4))
    rng = np.random.default_rng(4)
    shares = np.array([0.45, 0.28, 0.17, 0.1])
    table = rng.dirichlet(np.full(900, 2.0)).reshape(30, 30, 1) * shares
    records = np.array([rng.integers(size, size=2500) for size in domain.shape], dtype=np.int32)
    RecordMoves().move(records, WantedTables(domain, {("a", "b", "c"): table}))
    assert np.bincount(records[2], minlength=4) / 2500 == pytest.approx(shares, abs=0.004)
    pair = np.bincount(records[0] * 4 + records[2], minlength=120) / 2500
    # Without pairs it is .028.
    assert np.abs(pair - table.sum(axis=1).ravel()).sum() / 2 < 0.02


def line(size, width):
    """A pair of columns of many levels that go up with each other."""
    distances = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    return np.exp(-(distances**2) / width)


def test_correlations_weigh_by_their_strength_in_either_direction():
    """What is independent weighs nothing."""
    domain = Domain(("a", "b", "x", "y"), (12, 12, 12, 12))
    tables = {("a", "b"): line(12, 18.0), ("a", "x"): line(12, 18.0)[::-1]}
    tables |= {("b", "x"): line(12, 50.0), ("a", "y"): np.ones((12, 12))}
    trends = trends_of(domain, {pair: table / table.sum() for pair, table in tables.items()})
    assert trends.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert trends.weights.tolist() == [3.0, 3.0, 1.0]
    assert trends.correlations[0] == pytest.approx(-trends.correlations[1])
    assert trends.correlations[0] > 0.5 > trends.correlations[2] > 0.25


def test_rank_correlations_are_kept_where_tables_contradict_each_other(monkeypatch):
    """Cells of a line of many levels hold less than a record, and other tables pull away from it."""
    domain = Domain(("a", "b", "x"), (40, 40, 5))
    pair = line(40, 50.0) / line(40, 50.0).sum()
    way = pair.sum(axis=1)
    rank = (np.cumsum(way) - way / 2 - 0.5) / np.sqrt(way @ (np.cumsum(way) - way / 2 - 0.5) ** 2)
    gaps = []
    for correlations in (wanted_tables._CORRELATIONS, ()):
        monkeypatch.setattr(wanted_tables, "_CORRELATIONS", correlations)
        rng = np.random.default_rng(3)
        targets = {("a", "b"): pair}
        for name in "ab":
            targets[name, "x"] = way[:, None] * rng.dirichlet(np.full(5, 0.3), size=40)
        records = np.array([rng.integers(size, size=600) for size in domain.shape], dtype=np.int32)
        RecordMoves().move(records, WantedTables(domain, targets))
        one, other = rank[records[:2]]
        gaps.append(abs(np.corrcoef(one, other)[0, 1] - rank @ pair @ rank))
    assert gaps[0] < 0.3 * gaps[1]


def test_columns_that_say_each_other_move_together(monkeypatch):
    """Alone, neither may leave the other; from combinations that nobody likes, too."""
    domain = Domain(("a", "b", "x"), (8, 8, 4))
    distances = []
    for share in (1.0, wanted_tables._DETERMINED):
        monkeypatch.setattr(wanted_tables, "_DETERMINED", share)
        rng = np.random.default_rng(1)
        strong = np.eye(8)[:, :, None] * rng.dirichlet(np.ones(32)).reshape(8, 1, 4)
        targets = {
            pair: strong.sum(axis=axis) for axis, pair in enumerate([("b", "x"), ("a", "x")])
        }
        targets["a", "b"] = strong.sum(axis=2)
        codes = rng.integers(8, size=2000)
        records = np.array([codes, codes, rng.integers(4, size=2000)], dtype=np.int32)
        records[1, :20] = (codes[:20] + 1) % 8
        RecordMoves(n_sweeps=6).move(records, WantedTables(domain, targets))
        distances.append(
            max(
                np.abs(cell_counts(domain, clique, tuple(records)) / 2000 - table).sum() / 2
                for clique, table in targets.items()
            )
        )
    alone, together = distances
    assert together < 0.2 * alone
    assert (records[0] == records[1]).all()


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("block_rows", [10, 100, 1000])
def test_rows_are_moved_alike_by_any_number_of_threads(n_jobs, block_rows, monkeypatch):
    monkeypatch.setattr(record_moves, "_BLOCK_ROWS", block_rows)
    found = []
    for jobs in (1, n_jobs):
        records, targets = problem(8, [FORBIDDEN], 900)
        wanted = WantedTables(DOMAIN, targets, constraints=[FORBIDDEN])
        outcome = RecordMoves(n_sweeps=3).move(records, wanted, n_jobs=jobs)
        found.append((records.tolist(), outcome))
        assert FORBIDDEN.holds(DOMAIN, records).all()
    assert found[0] == found[1]


@pytest.mark.parametrize("constraints", RULES.values(), ids=RULES)
@pytest.mark.parametrize("eagerness", [0.0, 0.5])
def test_counts_and_rank_correlations_are_kept_up_to_date(constraints, eagerness):
    records, targets = problem(5, constraints, 900)
    rng = np.random.default_rng(5)
    ordered = np.zeros((3, 6))
    np.add.at(
        ordered, (np.arange(600) % 3, (2 * (np.arange(600) % 3) + rng.integers(2, size=600))), 1
    )
    wanted = WantedTables(DOMAIN, {**targets, ("a", "b"): ordered / 600}, constraints=constraints)
    rows = np.ascontiguousarray(records.T)
    counts, gaps = record_moves._counts(wanted, rows), wanted.gaps(rows)
    assert gaps.size
    prices = wanted.priced(counts, len(rows), n_parts=2)
    trends = wanted.trends(gaps, len(rows), n_parts=2)
    one = record_moves._Sweep(*prices, trends, wanted, eagerness)
    moved = one(((1, 0), rows[:500]))
    assert moved.n_changed > 0
    assert (counts + moved.counts == record_moves._counts(wanted, rows)).all()
    assert gaps + moved.gaps == pytest.approx(wanted.gaps(rows), abs=1e-2)
    assert np.abs(moved.gaps).max() > 1.0


def test_blocks_that_move_by_themselves_together_come_as_close(monkeypatch):
    """Each mends its part, and the last round what is left."""
    rng = np.random.default_rng(4)
    joint = rng.dirichlet(np.full(DOMAIN.size(), 0.3))
    cells = np.indices(DOMAIN.shape).reshape(4, -1)
    targets = {c: cell_counts(DOMAIN, c, tuple(cells), joint) for c in CLIQUES[:6]}
    start = cells[:, rng.integers(cells.shape[1], size=20_000)].astype(np.int32)
    distances = []
    for block_rows in (20_000, 2500):
        monkeypatch.setattr(record_moves, "_BLOCK_ROWS", block_rows)
        records = start.copy()
        RecordMoves(n_sweeps=2).move(records, WantedTables(DOMAIN, targets))
        distances.append(
            max(
                np.abs(cell_counts(DOMAIN, c, tuple(records)) / 20_000 - table).sum() / 2
                for c, table in targets.items()
            )
        )
    assert max(distances) < 0.01


def test_what_was_not_measured_is_mended_but_pushes_nothing_aside():
    domain = Domain(("a", "b", "c"), (6, 6, 6))
    rng = np.random.default_rng(2)
    joint = rng.dirichlet(np.ones(216)).reshape(6, 6, 6)
    measured = {("a", "b"): joint.sum(axis=2), ("b", "c"): joint.sum(axis=0)}
    distances = []
    for unmeasured in ({}, {("a", "c"): joint.sum(axis=1)}, {("a", "c"): np.full((6, 6), 1 / 36)}):
        records = np.array([rng.integers(6, size=3000) for _ in range(3)], dtype=np.int32)
        RecordMoves().move(records, WantedTables(domain, measured, unmeasured=unmeasured))
        tables = {**measured, ("a", "c"): joint.sum(axis=1)}
        distances.append(
            {
                clique: np.abs(cell_counts(domain, clique, tuple(records)) / 3000 - table).sum() / 2
                for clique, table in tables.items()
            }
        )
    left, mended, misled = distances
    assert mended["a", "c"] < 0.2 * left["a", "c"]
    assert max(each[clique] for each in (mended, misled) for clique in measured) < 0.02


def test_without_tables_or_rows_nothing_is_moved():
    records = np.zeros((4, 3), dtype=np.int32)
    assert RecordMoves().move(records, WantedTables(DOMAIN, {(): np.ones(())})) == (0, True)
    none = np.zeros((4, 0), dtype=np.int32)
    _, targets = problem(0, [], 1)
    assert RecordMoves().move(none, WantedTables(DOMAIN, targets)) == (0, True)
