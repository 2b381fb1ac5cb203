"""Candidates: which marginals may be scored, in which order, and how much each matters."""

import pytest
from helpers.homes import home

from synthdp.core import Domain, Workload
from synthdp.mechanisms import Candidates, weakest_pair

DOMAIN = Domain.from_sizes({"a": 3, "b": 3, "c": 4, "d": 4, "e": 5})
STRENGTHS = {("a", "b"): 900.0, ("c", "d"): 400.0}


def candidates_of(*cliques):
    return Candidates(DOMAIN, Workload.from_cliques(DOMAIN, cliques))


def strengths_of(candidates):
    return {pair: STRENGTHS.get(pair, 1.0) for pair in candidates.pairs}


def test_pairs_stand_in_the_order_of_the_columns():
    found = candidates_of(("e", "d", "a"), ("b", "c"))
    assert found.pairs == [("a", "d"), ("a", "e"), ("b", "c"), ("d", "e")]
    assert found.wider == [("a", "d", "e")]
    assert found.too_large == []


def test_every_column_matters_a_little_and_pairs_inside_of_wider_ones_as_much_as_those():
    found = candidates_of(("a", "b", "c"))
    assert set(found.column_weights) == {(name,) for name in "abcde"}
    pairs = [found.weights[pair] for pair in (("a", "b"), ("a", "c"), ("b", "c"))]
    assert sum(pairs) == pytest.approx(found.weights["a", "b", "c"])
    assert 0 < found.weights[("d",)] < min(pairs)


def test_marginals_of_many_columns_are_planned_for_as_their_pairs():
    domain = Domain.from_sizes(dict.fromkeys("abcdefg", 2))
    found = Candidates(domain, Workload.from_cliques(domain, [tuple("abcdefg")]))
    assert found.is_narrowed
    assert len(found.pairs) == 21
    assert found.wider == []
    assert not candidates_of(("a", "b")).is_narrowed


def test_in_wide_tables_what_depends_matters_more(monkeypatch):
    narrow = Candidates(DOMAIN, Workload.default(DOMAIN))
    assert narrow.wide_share == 0.0
    before = narrow.weights
    assert narrow.weights_by(strengths_of(narrow)) == before
    monkeypatch.setattr(home(Candidates), "_NARROW_PAIRS", 2)
    wide = Candidates(DOMAIN, Workload.default(DOMAIN))
    after = wide.weights_by(strengths_of(wide))
    gained = {pair: after[pair] - before[pair] for pair in wide.pairs}
    # Eight of ten pairs are beyond the two of narrow tables; by half that share all pairs together
    # matter more.
    assert sum(gained.values()) == pytest.approx(
        0.5 * 0.8 * sum(before[pair] for pair in wide.pairs)
    )
    assert sorted(gained, key=gained.get)[-2:] == [("c", "d"), ("a", "b")]
    assert {clique: after[clique] for clique in before if len(clique) != 2} == {
        clique: weight for clique, weight in before.items() if len(clique) != 2
    }


def test_nothing_is_added_where_nothing_depends(monkeypatch):
    monkeypatch.setattr(home(Candidates), "_NARROW_PAIRS", 2)
    wide = Candidates(DOMAIN, Workload.default(DOMAIN))
    assert wide.weights_by(dict.fromkeys(wide.pairs, 0.0)) == wide.weights


def test_pairs_that_do_not_fit_together_are_left_out_largest_first(monkeypatch):
    monkeypatch.setattr(home(Candidates), "_MAX_FIRST_CELLS", 9 + 12 + 12)
    found = candidates_of(("a", "b"), ("a", "c"), ("b", "c"), ("d", "e"))
    assert found.pairs == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found.too_large == [("d", "e")]


def test_a_wider_marginal_is_as_strong_as_its_weakest_pair():
    assert weakest_pair(STRENGTHS | {("a", "c"): 4.0, ("b", "c"): 9.0}, ("a", "b", "c")) == 4.0
    assert weakest_pair(STRENGTHS, ("a", "b", "c")) == 0.0
