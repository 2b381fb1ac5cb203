"""What every test session starts from, however it was started. Loaded before anything that imports
numpy.
"""

import os
import signal

import pytest
from helpers.homes import home
from helpers.repeatable import CHANCE
from hypothesis import HealthCheck, settings

for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"):
    # Workers share the cores: a library that starts a thread a core in each of them makes all wait
    # for each other.
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So started in the background or under nohup; processes that tests start would inherit it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples of properties are the same in every run, for a thorough one finds others; and no example
# is too slow, for workers share the cores with others.
settings.register_profile(
    "repeatable",
    deadline=None,
    derandomize=os.environ.get("SYNTHDP_TESTS") != "thorough",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


def pytest_fixture_setup(fixturedef, request):
    CHANCE.begin(request.node, fixturedef.argname)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    CHANCE.begin(item)


@pytest.fixture(scope="session", autouse=True)
def _compiling_was_said():
    """Which test compiles first is chance, and none expects to be told."""
    from synthdp.inference import Compiled  # it imports numpy, too

    home(Compiled).FIRST_TIME.acquire(blocking=False)


@pytest.fixture
def one_run(monkeypatch):
    """Runs have one name and one time, so that their certificates differ only where runs do."""
    from synthdp.release import KeptRun  # it imports numpy, which is to find one thread

    monkeypatch.setattr(home(KeptRun), "new_run", lambda: "0" * 32)
    for module in ("kept_run", "journaled_run"):
        monkeypatch.setattr(
            f"synthdp.release.persistence.{module}.now", lambda: "2026-01-01T00:00:00+00:00"
        )
