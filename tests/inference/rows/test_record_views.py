"""What a block of attributes sees of all marginals at once, against one marginal and one record
after the other.
"""

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from oracles.inference import clique_sets, domains

from synthdp.core.constraint import Constraint
from synthdp.inference.arrays import cell_counts
from synthdp.inference.graphical.possible_rows import possible_cells
from synthdp.inference.rows import record_views
from synthdp.inference.rows.record_blocks import blocks_of
from synthdp.inference.rows.record_moves import RecordMoves
from synthdp.inference.rows.record_views import views_of


@st.composite
def problems(draw):
    """A domain, records, wanted marginals and constraints that all records keep to."""
    domain = draw(domains())
    cliques = [clique for clique in dict.fromkeys(draw(clique_sets(domain))) if clique]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records = np.array([rng.integers(0, size, 40) for size in domain.shape], dtype=np.int32)
    constraints = []
    for clique in dict.fromkeys(draw(clique_sets(domain, most=2))):
        if clique:
            seen = cell_counts(domain, clique, tuple(records)) > 0
            constraints.append(Constraint(clique, seen | (rng.random(seen.shape) < 0.3)))
    return domain, records, cliques, constraints, rng


@settings(max_examples=examples(80), deadline=None)
@for_all(problems())
def test_a_block_sees_and_changes_all_marginals_that_it_is_in(problem):
    domain, records, wanted, constraints, rng = problem
    possible = possible_cells(domain, constraints)
    cliques = [*wanted, *possible]
    tables = [rng.integers(-5, 6, domain.project(clique).shape).astype(float) for clique in wanted]
    tables += [np.where(allowed, 0.0, np.inf) for allowed in possible.values()]
    surplus = np.concatenate([table.ravel() for table in tables]) if tables else np.empty(0)
    stretch = [slice(30, 40), slice(0, 9)]
    shown = np.concatenate([records[:, part] for part in stretch], axis=1)
    for block in blocks_of(domain, possible):
        touched = [set(block.names) & set(clique) for clique in cliques]
        (views,) = views_of(domain, [block], cliques, n_wanted=len(wanted))
        if not any(touched[: len(wanted)]):
            assert not views
            continue
        expected = np.zeros((shown.shape[1], len(block.values)))
        for value, levels in enumerate(block.values):
            moved = shown.copy()
            moved[[domain.index(name) for name in block.names]] = levels[:, None]
            for clique, table, shared in zip(cliques, tables, touched, strict=True):
                if shared:
                    expected[:, value] += table[tuple(moved[domain.index(name)] for name in clique)]
        seen = [(view, view.table(surplus), view.rows_of(records, stretch)) for view in views]
        np.testing.assert_array_equal(
            sum(view.seen_everywhere(table, rows) for view, table, rows in seen), expected
        )
        values = rng.integers(0, len(block.values), shown.shape[1])
        at_values = sum(view.seen(table, rows, values) for view, table, rows in seen)
        np.testing.assert_array_equal(at_values, expected[np.arange(values.size), values])
        for view, _, rows in seen:
            same_row = sum(row[:, None] == row for row in rows[: view.n_wanted])
            for most in (0, record_views._MAX_DENSE):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(record_views, "_MAX_DENSE", most)
                    np.testing.assert_array_equal(view.together(rows), same_row)
        # Moving all shown records to these values changes the surplus as it changes the counts.
        codes = tuple(shown[domain.index(name)] for name in block.names)
        before = block.number[np.ravel_multi_index(codes, domain.project(block.names).shape)]
        after = surplus.copy()
        for view, table, rows in seen:
            view.add(after, view.moves(table, rows, before, values).change())
        moved = shown.copy()
        moved[[domain.index(name) for name in block.names]] = block.values[values].T
        counts = [
            cell_counts(domain, c, tuple(moved)) - cell_counts(domain, c, tuple(shown))
            for c in wanted
        ]
        n_cells = sum(count.size for count in counts)
        np.testing.assert_array_equal(
            after[:n_cells] - surplus[:n_cells], np.concatenate([c.ravel() for c in counts])
        )


@settings(max_examples=30, deadline=None)
@for_all(problems())
def test_moved_records_come_closer_and_keep_to_the_constraints(problem):
    domain, records, cliques, constraints, rng = problem
    targets = {clique: rng.dirichlet(np.ones(domain.size(clique))) for clique in cliques}
    targets = {
        clique: table.reshape(domain.project(clique).shape) for clique, table in targets.items()
    }

    def distance():
        n_rows, columns = records.shape[1], tuple(records)
        return sum(
            ((cell_counts(domain, c, columns) - n_rows * table) ** 2).sum()
            for c, table in targets.items()
        )

    before = distance()
    RecordMoves(max_sweeps=15).move(
        records, targets, domain=domain, constraints=constraints, generator=rng
    )
    assert distance() <= before + 1e-9
    assert all(constraint.holds(domain, tuple(records)).all() for constraint in constraints)
