"""What CI tries a little of, and a thorough run of the tests all of: its time is limited."""

import os

import pytest

THOROUGH = os.environ.get("SYNTHDP_TESTS") == "thorough"


def often(*values, seldom=()):
    """Parameters that every run of the tests takes, then those that are marked slow.

    Where a test has several names for its parameters, each value is a tuple of theirs.
    """
    marked = [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
        for value in seldom
    ]
    return [*values, *marked]


def examples(n):
    """How many examples of a property are tried, of the ``n`` that a thorough run tries."""
    return n if THOROUGH else n // 3
