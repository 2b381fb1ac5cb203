"""Sets of attributes as integers, against Python's own sets."""

from math import log, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.inference import domains

from synthdp.core import Domain, ParameterError
from synthdp.inference import AttributeSets, Folded


@settings(deadline=None)
@given(st.data())
def test_sets_say_what_sets_of_names_say(data):
    domain = data.draw(domains(largest=9, most=8))
    sets = AttributeSets(domain)
    # Asked in any order, with sets that lack one member of others among them.
    for clique in data.draw(
        st.lists(st.lists(st.sampled_from(domain.attributes), unique=True), max_size=8)
    ):
        members, names = sets.of(clique), domain.canonical(clique)
        assert sets.names(members) == names
        assert sets.positions[members] == tuple(map(domain.index, names))
        assert sets.bits[members] == tuple(1 << domain.index(name) for name in names)
        assert sets.n_cells[members] == domain.size(names)
        assert sets.weight[members] == sum(
            max(1, round(1000 * log(domain[name]))) for name in names
        )
    sets.forget(above=0)
    assert len(sets.weight) == len(sets.n_cells) == len(sets.bits) == len(sets.positions) == 0


@settings(deadline=None)
@given(st.lists(st.integers(0, 255), max_size=20))
def test_numbers_are_folded_over_the_members_from_the_start(queries):
    folded = Folded({1 << i: i + 2 for i in range(8)}, lambda left, right: left * right, 3)
    for members in queries:
        assert folded[members] == 3 * prod(i + 2 for i in range(8) if members >> i & 1)


def test_names_that_are_unknown_are_refused():
    with pytest.raises(ParameterError, match="'z' is not in the domain"):
        AttributeSets(Domain(("a",), (2,))).of(("z",))
