"""Constraints: what may be declared, and that it cannot be changed afterwards."""

import numpy as np
import pytest

from synthdp.core import Constraint, ParameterError


def test_constraints_own_what_they_allow():
    allowed = np.array([True, False])
    constraint = Constraint(("a",), allowed)
    allowed[1] = True
    assert constraint.allowed.tolist() == [True, False]
    with pytest.raises(ValueError, match="read-only"):
        constraint.allowed[1] = True


@pytest.mark.parametrize(
    ("clique", "allowed", "message"),
    [
        ("ab", np.ones((2, 2), bool), "clique 'ab' is a text; give a tuple of names"),
        (("a", "a"), np.ones((2, 2), bool), "an attribute repeats; name each once"),
        ((), np.array(True), "on no attribute"),
        (("a", "b"), np.ones(2, bool), "one axis an attribute"),
        (("a",), np.zeros(2, bool), "nothing is allowed"),
    ],
)
def test_malformed_constraints_are_refused(clique, allowed, message):
    with pytest.raises(ParameterError, match=message):
        Constraint(clique, allowed)
