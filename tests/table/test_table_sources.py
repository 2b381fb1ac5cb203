"""Sources: counts against pandas, and nothing else to be had."""

import copy
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from synthdp.domain import Domain
from synthdp.errors import ParameterError, PrivacyError
from synthdp.table import CodedSource, CodedTable
from synthdp.table import sources as sources_module


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    sizes = {"a": 2, "b": 3, "c": 300, "d": 1}
    return pd.DataFrame({name: rng.integers(0, size, 5000) for name, size in sizes.items()})


@pytest.fixture
def source(frame):
    domain = Domain(("a", "b", "c", "d"), (2, 4, 301, 1))  # some levels never occur
    return CodedSource(CodedTable(domain, tuple(frame[name].to_numpy() for name in domain.attributes)))


@pytest.mark.parametrize("block", [7, 2**15])
def test_counts_equal_a_crosstab(source, frame, block, monkeypatch):
    monkeypatch.setattr(sources_module, "BLOCK_ROWS", block)
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
    cells = sources_module._cells([np.array([2**31 - 1], np.uint32), np.array([1], np.uint8)], (2**31, 2))
    assert cells.tolist() == [2**32 - 1]
    assert CodedSource(CodedTable(domain, (np.array([2]), np.array([1])))).counts(("b", "a")).tolist()[1] == [0, 0, 1]


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


def test_nothing_else_to_be_had(source):
    assert repr(source) == str(source) == "<CodedSource>"
    assert not hasattr(source, "__dict__")
    for forbidden in (len, iter, pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises((TypeError, PrivacyError)):
            forbidden(source)


def test_a_coded_table_shows_no_rows(frame):
    table = CodedTable(Domain.from_sizes({"a": 2}), (frame["a"].to_numpy(),))
    assert repr(table) == "<CodedTable of 1 columns>"
