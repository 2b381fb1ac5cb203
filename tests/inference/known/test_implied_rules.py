"""What rules say of published columns, whatever the columns are that nobody publishes."""

import itertools

import numpy as np
import pytest
from helpers.homes import home

from synthdp.core import Constraint, Domain, KnownMarginal, ParameterError
from synthdp.inference import check_known, implied_rules

DOMAIN = Domain(("a", "b", "c", "d", "e"), (3, 2, 3, 2, 4))


def _random_rules(chance, n_rules):
    found = []
    for _ in range(n_rules):
        names = chance.choice(DOMAIN.attributes, size=int(chance.integers(1, 4)), replace=False)
        allowed = chance.random([DOMAIN[name] for name in names]) < 0.7
        if allowed.any():
            found.append(Constraint(tuple(names), allowed))
    return found


def _possible(rules, names):
    """Which combinations of some attributes a row that keeps to all rules may have, by brute force."""
    found = set()
    for row in itertools.product(*map(range, DOMAIN.shape)):
        codes = dict(zip(DOMAIN.attributes, row, strict=True))
        if all(rule.allowed[tuple(codes[name] for name in rule.clique)] for rule in rules):
            found.add(tuple(codes[name] for name in names))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_rest_is_eliminated_exactly(seed):
    chance = np.random.default_rng(seed)
    rules = _random_rules(chance, 5)
    names = list(chance.choice(DOMAIN.attributes, size=int(chance.integers(1, 5)), replace=False))
    found, are_complete = implied_rules(DOMAIN, rules, names)
    assert are_complete
    assert all(set(rule.clique) <= set(names) for rule in found)
    left = {
        codes
        for codes in itertools.product(*(range(DOMAIN[name]) for name in names))
        if all(r.allowed[tuple(codes[names.index(n)] for n in r.clique)] for r in found)
    }
    wanted = _possible(rules, names)
    assert wanted  # else there would be nothing to see
    assert left == wanted


def test_rules_are_taken_one_by_one_where_they_are_too_large(monkeypatch):
    monkeypatch.setattr(home(implied_rules), "_MAX_CELLS", 12)
    equal = np.eye(3, dtype=np.bool_)
    chain = [Constraint(("a", "c"), equal), Constraint(("c", "e"), np.eye(3, 4, dtype=np.bool_))]
    found, are_complete = implied_rules(DOMAIN, chain, ["a", "e"])
    assert not are_complete
    assert [rule.clique for rule in found] == [("e",)]  # e is never 3; that a equals e is not seen
    known = [
        KnownMarginal((name,), np.array(shares), is_count=False, name=name)
        for name, shares in {"a": [1, 0, 0], "e": [0, 1, 0, 0]}.items()
    ]
    assert "were checked one by one" in check_known(DOMAIN, known, chain)[0]
    monkeypatch.undo()
    with pytest.raises(ParameterError, match="a, e and the rules contradict each other"):
        check_known(DOMAIN, known, chain)


def _share(**shares):
    return [
        KnownMarginal((name,), np.array(values), is_count=False, name=name)
        for name, values in shares.items()
    ]


def test_a_rule_with_an_unknown_column_forbids_what_no_value_of_it_allows():
    allowed = np.ones((3, 2, 3), dtype=np.bool_)
    allowed[0, 1] = False  # a = 0 with b = 1, whatever c is
    rules = [Constraint(("a", "b", "c"), allowed)]
    check_known(DOMAIN, _share(a=[0.5, 0.5, 0], b=[0.5, 0.5]), rules)
    with pytest.raises(ParameterError, match="a, b and the rules contradict each other"):
        check_known(DOMAIN, _share(a=[0.5, 0.5, 0], b=[0.4, 0.6]), rules)


def test_rules_that_meet_in_an_unknown_column_count_together():
    # c is 0 where a is 0, and is not 0 where b is 1; each rule by itself leaves all of a and b.
    one, other = np.ones((3, 3), dtype=np.bool_), np.ones((2, 3), dtype=np.bool_)
    one[0, 1:] = False
    other[1, 0] = False
    rules = [Constraint(("a", "c"), one), Constraint(("b", "c"), other)]
    for alone in rules:
        check_known(DOMAIN, _share(a=[0.5, 0.5, 0], b=[0.4, 0.6]), [alone])
    with pytest.raises(ParameterError, match="a, b and the rules contradict each other"):
        check_known(DOMAIN, _share(a=[0.5, 0.5, 0], b=[0.4, 0.6]), rules)
    both = KnownMarginal(("a", "b"), np.array([[0, 1], [1, 0], [0, 0]]) / 2, is_count=False)
    with pytest.raises(ParameterError, match="that a rule on 'a', 'b' forbids"):
        check_known(DOMAIN, [both], rules)


def test_rules_over_too_many_combinations_are_said_not_to_be_checked(monkeypatch):
    allowed = np.ones((3, 4), dtype=np.bool_)
    allowed[0, 0] = False
    monkeypatch.setattr(home(check_known), "MAX_TYPES", 3)
    said = check_known(
        DOMAIN, _share(a=[0.5, 0.5, 0], e=[0.6, 0.4, 0, 0]), [Constraint(("a", "e"), allowed)]
    )
    assert "rules on 'a', 'e' leave room for them was not checked" in said[0]
