"""Domains: names and sizes."""

import copy
import pickle

import numpy as np
import pytest

from synthdp.core import Domain, ParameterError, SynthdpError

DOMAIN = Domain(("a", "b", "c"), (2, 3, 5))


def test_sizes():
    assert len(DOMAIN) == 3
    assert DOMAIN["c"] == 5
    assert DOMAIN.index("b") == 1
    assert DOMAIN.size() == 30
    assert DOMAIN.size(("c", "a")) == 10
    assert DOMAIN.size(()) == 1
    assert Domain((), ()).size() == 1
    assert Domain(tuple(map(str, range(60))), (100,) * 60).size() == 10**120


def test_projection_keeps_the_order_asked_for_and_canonical_that_of_the_domain():
    assert DOMAIN.project(iter(("c", "a"))) == Domain(("c", "a"), (5, 2))
    assert DOMAIN.project(()) == Domain((), ())
    assert DOMAIN.canonical({"c", "a", "b"}) == ("a", "b", "c")
    assert DOMAIN.canonical(["c", "a", "c"]) == ("a", "c")


def test_domains_are_values():
    assert Domain.from_sizes({"a": 2, "b": 3, "c": 5}) == DOMAIN
    assert Domain(["a"], [2]) == Domain(("a",), (2,))  # type: ignore[arg-type]
    assert hash(Domain.from_sizes({"a": 2})) == hash(Domain(("a",), (2,)))
    assert Domain(("a", "b"), (2, 3)) != Domain(("b", "a"), (3, 2))


def test_special_levels_go_with_their_attributes_and_change_no_domain():
    domain = Domain(("a", "b"), (2, 3), {"b": (2,)})
    assert domain == Domain(("a", "b"), (2, 3))
    assert hash(domain) == hash(Domain(("a", "b"), (2, 3)))
    assert domain.project(("b",)).special == {"b": (2,)}
    assert domain.project(("a",)).special == {}


def test_attributes_in_order_go_with_a_projection_and_change_no_domain():
    domain = Domain(("a", "b"), (2, 3), ordered=frozenset({"b"}))
    assert domain == Domain(("a", "b"), (2, 3))
    assert domain.project(("b", "a")).ordered == {"b"}
    assert domain.project(("a",)).ordered == frozenset()


@pytest.mark.parametrize(
    "again", [lambda d: pickle.loads(pickle.dumps(d)), copy.copy, copy.deepcopy]
)
@pytest.mark.parametrize("asked", [False, True])
def test_copies_are_the_same_value_whether_or_not_places_were_asked_for(again, asked):
    domain = Domain(("a", "b", "c"), (2, 3, 5))
    if asked:
        assert domain.index("c") == 2
    copied = again(domain)
    assert copied == domain == Domain(("a", "b", "c"), (2, 3, 5))
    assert hash(copied) == hash(domain)
    assert repr(copied) == "Domain(attributes=('a', 'b', 'c'), shape=(2, 3, 5))"
    assert [copied.index(name) for name in "cab"] == [2, 0, 1]
    assert copied.project(("c", "a")).index("a") == 1
    with pytest.raises(ParameterError, match="'z' is not in the domain"):
        copied.index("z")


def test_sizes_may_be_numpy_integers_and_are_kept_as_plain_ones():
    domain = Domain(("a", "b"), np.array([2, 3]))  # type: ignore[arg-type]
    assert domain == Domain(("a", "b"), (np.uint8(2), np.int64(3)))
    assert [type(size) for size in domain.shape] == [int, int]


@pytest.mark.parametrize(
    ("names", "shape", "message"),
    [
        (("a",), (2, 3), "1 attributes but 2 sizes"),
        (("a", "b", "a"), (2, 3, 2), "repeat"),
        (("a", "b"), (2, 0), "'b' has size 0"),
        (("a",), (-1,), "'a' has size -1"),
        (("a", "b"), (2, 2.7), "'b' has size 2.7; give a whole number"),
        (("a",), (2.0,), "'a' has size 2.0; give a whole number"),
        (("a",), ("2",), "'a' has size '2'; give a whole number"),
        (("a",), (True,), "'a' has size True; give a whole number"),
        (("a",), (None,), "'a' has size None; give a whole number"),
        ("ab", (2, 3), "attributes is the text 'ab'; give a tuple"),
    ],
)
def test_contradictions_are_refused(names, shape, message):
    with pytest.raises(ParameterError, match=message):
        Domain(names, shape)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: DOMAIN["z"],
        lambda: DOMAIN.index("z"),
        lambda: DOMAIN.project(("a", "z")),
        lambda: DOMAIN.size(("z",)),
        lambda: DOMAIN.canonical(("z",)),
    ],
)
def test_unknown_attributes_are_refused_by_name(ask):
    with pytest.raises(SynthdpError, match="'z' is not in the domain; it has 'a', 'b', 'c'"):
        ask()


def test_projections_that_repeat_an_attribute_are_refused():
    with pytest.raises(ParameterError, match="repeat"):
        DOMAIN.project(("a", "a"))
