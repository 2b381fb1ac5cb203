"""Parameters of which CI runs some, and `pytest -m slow` the others."""

import pytest


def often(*values, seldom=()):
    """Those that every run of the tests takes, then those that are marked slow.

    Where a test has several names for its parameters, each value is a tuple of theirs.
    """
    marked = [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow) for value in seldom
    ]
    return [*values, *marked]
