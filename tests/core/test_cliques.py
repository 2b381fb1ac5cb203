"""Cliques against the definition."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from synthdp.core import all_k_way, maximal_cliques, subsets

CLIQUES = st.lists(
    st.permutations("abcd").flatmap(lambda p: st.integers(0, 4).map(lambda k: tuple(p[:k]))),
    max_size=8,
)


@given(CLIQUES)
def test_maximal_cliques_are_those_inside_no_other(cliques):
    sets = [frozenset(clique) for clique in cliques]
    expected = {members for members in sets if not any(members < other for other in sets)}
    result = maximal_cliques(iter(cliques))
    assert len(result) == len(expected)
    assert {frozenset(clique) for clique in result} == expected
    firsts = [clique for i, clique in enumerate(cliques) if sets[i] not in sets[:i]]
    assert all(clique in firsts for clique in result)  # spelt as they were first


def test_maximal_cliques_come_in_order_of_first_appearance():
    assert maximal_cliques([("a",), ("b",), ("a",)]) == [("a",), ("b",)]


def test_k_way_cliques():
    assert all_k_way("abcd", 2) == list(combinations("abcd", 2))
    assert all_k_way("abc", 0) == [()]
    assert all_k_way("abc", 4) == []


def test_subsets():
    assert list(subsets(("a", "b", "c"))) == [
        ("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c"),
    ]  # fmt: skip
