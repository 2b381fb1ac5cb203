"""What every test session starts from, however it was started. Loaded before anything that imports numpy."""

import os
import signal
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

FRESH = ("tests/audit/test_game", "tests/privacy/")
"""Where tests are about the noise itself, and say themselves how seldom chance fails them."""

for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"):
    # Workers share the cores: a library that starts a thread a core in each of them makes all wait for each other.
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So started in the background or under nohup; processes that tests start would inherit it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples of properties are the same in every run, for a thorough one finds others; and no example is too slow, for
# workers share the cores with others.
settings.register_profile(
    "repeatable",
    deadline=None,
    derandomize=os.environ.get("SYNTHDP_TESTS") != "thorough",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


class RepeatableNoise:
    """The kernel's noise of a test that is about something else: the same in every run, whatever ran before it.

    By design a column has missing values that nobody has once in 700 times (`levels.BELIEVED`), and a selection is
    now and then not the best one. Each of thousands of tests would have to allow for all of that.
    """

    def __init__(self):
        self._generator, self._is_there = None, False

    def begin(self, node, name=""):
        """Begin anew for a test, or for what is set up for it; each has noise of its own."""
        import numpy as np

        self._take_its_place()
        is_fresh = node.nodeid.startswith(FRESH) or node.get_closest_marker("fresh_noise") is not None
        self._generator = None if is_fresh else np.random.default_rng(crc32(f"{node.nodeid} {name}".encode()))

    def _take_its_place(self):
        """Be asked in place of the operating system."""
        from synthdp.privacy.noise.randomness import SystemRandomness

        if self._is_there:
            return
        fresh = SystemRandomness.random_bytes

        def random_bytes(source, n_bytes):
            return fresh(source, n_bytes) if self._generator is None else self._generator.bytes(n_bytes)

        SystemRandomness.random_bytes, self._is_there = random_bytes, True


NOISE = RepeatableNoise()


def pytest_fixture_setup(fixturedef, request):
    NOISE.begin(request.node, fixturedef.argname)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    NOISE.begin(item)
