"""Domains: names and sizes."""

import pytest

from synthdp.domain import Domain
from synthdp.errors import ParameterError, SynthdpError

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


@pytest.mark.parametrize(
    ("names", "shape", "message"),
    [
        (("a",), (2, 3), "1 attributes but 2 sizes"),
        (("a", "b", "a"), (2, 3, 2), "repeat"),
        (("a", "b"), (2, 0), "'b' has size 0"),
        (("a",), (-1,), "'a' has size -1"),
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
