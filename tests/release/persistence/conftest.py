"""A journal and a budget, for tests of what becomes of both when runs stop or are copied."""

import pytest

from synthdp.release import Budget


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal"


@pytest.fixture
def budget(tmp_path):
    return Budget.create(tmp_path / "budget", epsilon=3.0, delta=1e-5, population="people")
