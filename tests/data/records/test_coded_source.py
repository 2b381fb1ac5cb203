"""Sources: counts against pandas and numpy, what is counted when, and nothing else to be had."""

import copy
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from hypothesis import given
from hypothesis import strategies as st

from synthdp.core import Domain, ParameterError, PrivacyError
from synthdp.data import TABLE_CELLS, CodedSource, CodedTable, JointCounter, counts_of_all

dominant_module = home(counts_of_all)
joint_module = home(JointCounter)
sources_module = home(CodedSource)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    sizes = {"a": 2, "b": 3, "c": 300, "d": 1}
    return pd.DataFrame({name: rng.integers(0, size, 5000) for name, size in sizes.items()})


@pytest.fixture
def source(frame):
    domain = Domain(("a", "b", "c", "d"), (2, 4, 301, 1))  # some levels never occur
    return CodedSource(
        CodedTable(domain, tuple(frame[name].to_numpy() for name in domain.attributes))
    )


@pytest.mark.parametrize("block", [7, 2**15])
def test_counts_equal_a_crosstab(source, frame, block, monkeypatch):
    monkeypatch.setattr(joint_module, "BLOCK_ROWS", block)
    for width in (1, 2, 3, 4):
        for clique in combinations(("c", "a", "d", "b"), width):
            counts = source.counts(clique)
            assert counts.dtype == np.int64
            assert counts.shape == source.domain.project(clique).shape
            expected = np.zeros_like(counts)
            np.add.at(expected, tuple(frame[name] for name in clique), 1)
            assert (counts == expected).all()
    table = pd.crosstab(frame["a"], frame["b"])
    assert (source.counts(("a", "b"))[:, :3] == table.to_numpy()).all()


def test_large_marginals_need_64_bits():
    domain = Domain.from_sizes({"a": 3, "b": 2})
    cells = np.zeros(1, np.int64)
    columns = [np.array([2**31 - 1], np.uint32), np.array([1], np.uint8)]
    joint_module._number(columns, (2**31, 2), np.zeros(1, np.uint16), cells)
    assert cells.tolist() == [2**32 - 1]
    assert CodedSource(CodedTable(domain, (np.array([2]), np.array([1])))).counts(
        ("b", "a")
    ).tolist()[1] == [0, 0, 1]


def test_the_empty_clique_is_the_total(source):
    assert source.counts(()).shape == ()
    assert source.counts(()).dtype == np.int64
    assert int(source.counts(())) == 5000


def test_an_empty_table_counts_zero():
    source = CodedSource(CodedTable(Domain.from_sizes({"a": 2}), (np.array([], np.uint8),)))
    assert source.counts(("a",)).tolist() == [0, 0]
    assert int(source.counts(())) == 0


def test_unknown_and_repeated_attributes(source):
    with pytest.raises(ParameterError, match="'z'"):
        source.counts(("z",))
    with pytest.raises(ParameterError, match="repeat"):
        source.counts(("a", "a"))


# --- many marginals at once -----------------------------------------------------------------------


def brute_force(table, clique):
    """One increment a row."""
    counts = np.zeros(table.domain.project(clique).shape, dtype=np.int64)
    columns = [table.columns[table.domain.index(name)] for name in clique]
    if not clique:
        return counts + len(table.columns[0])
    np.add.at(counts, tuple(columns), 1)
    return counts


@st.composite
def questions(draw):
    """A table, and cliques to ask of it: permuted, repeated, empty."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 5, 17]), min_size=1, max_size=6))
    domain = Domain(tuple("abcdef"[: len(sizes)]), tuple(sizes))
    n_rows = draw(st.sampled_from([0, 1, 10, 60]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    table = CodedTable(domain, tuple(rng.integers(0, size, n_rows) for size in sizes))
    some = st.permutations(domain.attributes).flatmap(
        lambda names: st.integers(0, min(3, len(names))).map(lambda width: tuple(names[:width]))
    )
    return table, draw(st.lists(some, max_size=12))


@given(
    questions(),
    st.sampled_from([2, 100, TABLE_CELLS]),
    st.sampled_from([0, 40, 2**24]),
    st.sampled_from([1, 2**17]),
)
def test_counts_of_many_equal_brute_force(question, table_cells, kept_cells, block_rows):
    table, cliques = question
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dominant_module, "TABLE_CELLS", table_cells)
        patch.setattr(sources_module, "KEPT_CELLS", kept_cells)
        patch.setattr(joint_module, "BLOCK_ROWS", block_rows)
        source = CodedSource(table)
        first = cliques[: len(cliques) // 2]
        for asked, answers in (
            (first, [source.counts(clique) for clique in first]),
            (cliques, list(source.counts_of(cliques))),
            (cliques, [source.counts(clique) for clique in cliques]),
            (cliques[::-1], list(source.counts_of(cliques[::-1]))),
        ):
            assert len(answers) == len(asked)
            for clique, counts in zip(asked, answers, strict=True):
                expected = brute_force(table, clique)
                assert counts.dtype == np.int64
                assert counts.shape == expected.shape
                assert (counts == expected).all()


@pytest.mark.parametrize(
    "sizes", [(1, 65536), (65536, 1), (256, 256), (257, 255), (65537,), (2,) * 16]
)
def test_cell_numbers_at_the_edge_of_16_bits(sizes):
    domain = Domain(tuple("abcdefghijklmnop"[: len(sizes)]), sizes)
    top = CodedTable(domain, tuple(np.array([0, size - 1, size - 1]) for size in sizes))
    counts = CodedSource(top).counts(domain.attributes).ravel()
    assert (counts[0], counts[-1], counts.sum()) == (1, 2, 3)


@pytest.fixture
def counted(monkeypatch):
    """The tables that sources count, one after the other."""
    passes = []
    count = JointCounter.count
    monkeypatch.setattr(
        JointCounter, "count", lambda self, axes: (passes.append(axes), count(self, axes))[1]
    )
    return passes


def test_few_tables_are_counted_whatever_the_rows(counted):
    domain = Domain(tuple("abcdefghij"), (16, 32, 9, 7, 15, 6, 5, 2, 32, 42))
    cliques = [
        clique for width in (0, 1, 2, 3) for clique in combinations(domain.attributes, width)
    ]
    plans = []
    for n_rows in (0, 10, 300):
        columns = tuple(
            np.random.default_rng(n_rows).integers(0, size, n_rows) for size in domain.shape
        )
        list(CodedSource(CodedTable(domain, columns)).counts_of(cliques))
        plans.append(counted.copy())
        counted.clear()
    assert plans[0] == plans[1] == plans[2]
    assert len(plans[0]) < len(cliques) / 3


def test_what_was_counted_is_not_counted_again(source, counted):
    list(source.counts_of([("a", "b", "c"), ("d",)]))
    assert counted == [(0, 1, 2), ()]  # a column of one level has as many rows as the table
    list(source.counts_of([("c", "a", "b"), ("d",), ("d",)]))
    source.counts(("b", "c", "a"))
    source.counts(("d",))
    assert len(counted) == 2


def test_what_is_kept_and_counted_ahead_has_a_bound(frame, counted, monkeypatch):
    monkeypatch.setattr(sources_module, "KEPT_CELLS", 310)
    domain = Domain(("a", "b", "c", "d"), (2, 4, 301, 1))
    source = CodedSource(
        CodedTable(domain, tuple(frame[name].to_numpy() for name in domain.attributes))
    )
    delivered = source.counts_of([("c",), ("a", "b"), ("c", "a"), ("c", "b"), ("b",)])
    assert counted == []
    next(delivered)
    assert len(counted) == 1  # a and b and c, for the first two
    next(delivered)
    assert len(counted) == 1
    assert len(list(delivered)) == 3
    assert counted[1:] == [(0, 2), (1, 2), (1,)]  # 600 cells and more: each alone in its run
    counted.clear()
    assert source.counts(("c", "a")).sum() == source.counts(("a", "c")).sum() == 5000
    assert len(counted) == 2  # there was no room to keep it
    assert source.counts(("b", "a")).sum() == 5000
    assert len(counted) == 2


def test_runs_taken_turn_about(source):
    cliques = [("a",), ("b", "c"), ("c", "a"), ("d", "b")]
    for left, right in zip(source.counts_of(cliques), source.counts_of(cliques), strict=True):
        assert (left == right).all()
    assert source._room_cells == sources_module.KEPT_CELLS - sum(map(source.domain.size, cliques))


@pytest.mark.parametrize(
    "ask", [CodedSource.counts, lambda source, clique: next(source.counts_of([clique]))]
)
@pytest.mark.parametrize("clique", [(), ("a",), ("a", "b"), ("b", "a")])
def test_a_caller_cannot_write_into_what_is_kept(source, ask, clique):
    for _ in range(2):  # fresh, then kept
        counts = ask(source, clique)
        assert counts.sum() == 5000
        with pytest.raises(ValueError, match="read-only"):
            counts[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            counts.flags.writeable = True


def test_a_wrong_clique_is_refused_before_anything_is_counted(source, counted):
    with pytest.raises(ParameterError, match="'z'"):
        source.counts_of([("a",), ("z",)])
    with pytest.raises(ParameterError, match="repeat"):
        source.counts_of([("a",), ("b", "b")])
    assert counted == []


# --- nothing else ---------------------------------------------------------------------------------


def test_nothing_else_to_be_had(source):
    assert repr(source) == str(source) == "<CodedSource>"
    assert not hasattr(source, "__dict__")
    for forbidden in (len, iter, pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises((TypeError, PrivacyError)):
            forbidden(source)


def test_a_coded_table_shows_no_rows(frame):
    table = CodedTable(Domain.from_sizes({"a": 2}), (frame["a"].to_numpy(),))
    assert repr(table) == "<CodedTable of 1 columns>"
