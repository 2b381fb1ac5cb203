"""What `conftest` sets up: Ctrl-C interrupts and libraries keep to one thread, also in sessions in
the background.

And noise repeats from run to run where a test is about something else.
"""

import os
import secrets
import signal
import subprocess
import sys
from zlib import crc32

import numpy as np  # its BLAS is among the libraries that are asked for their threads
import pytest
from helpers.repeatable import CHANCE
from threadpoolctl import threadpool_info

from synthdp.data import UnitRows
from synthdp.privacy import SystemRandomness

_IGNORING_CTRL_C = 'trap "" INT; exec "$@"'
_KILLED_BY_CTRL_C = "import os, signal; os.kill(os.getpid(), signal.SIGINT); input()"


def test_ctrl_c_interrupts_tests_and_the_processes_that_they_start():
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    done = subprocess.run(
        [sys.executable, "-P", "-c", _KILLED_BY_CTRL_C],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert done.stderr.endswith(b"KeyboardInterrupt\n")


@pytest.mark.skipif(
    os.environ.get("OMP_NUM_THREADS") != "1", reason="somebody asked for more threads"
)
def test_libraries_have_one_thread():
    pools = threadpool_info()
    assert pools
    assert {pool["num_threads"] for pool in pools} == {1}


def test_a_session_in_the_background_is_set_up_alike():
    environment = {
        name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")
    }
    session = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "ctrl_c or one_thread",
        __file__,
    ]
    done = subprocess.run(
        ["sh", "-c", _IGNORING_CTRL_C, "sh", *session],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout


def bits_of(name):
    return np.random.default_rng(crc32(name.encode())).bytes(16)


@pytest.fixture(scope="module")
def made(request):
    """What tests of a file share: whichever of them asks for it first, its noise is the same."""
    assert SystemRandomness().random_bytes(16) == bits_of(f"{request.node.nodeid} made")


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("is_fresh", [False, pytest.param(True, marks=pytest.mark.fresh_noise)])
def test_noise_is_fresh_only_where_it_is_asked_for(is_fresh, request):
    drawn = SystemRandomness().random_bytes(16)
    assert (drawn == bits_of(f"{request.node.nodeid} ")) != is_fresh
    assert SystemRandomness().random_bytes(16) != drawn


def unseeded(node):
    CHANCE.begin(node)
    keys = [UnitRows(max_rows=1)._key for _ in range(2)]
    return [
        *keys,
        secrets.randbits(62),
        *np.random.default_rng().random(2),
        np.random.SeedSequence().entropy,
    ]


@pytest.mark.parametrize("is_fresh", [False, pytest.param(True, marks=pytest.mark.fresh_noise)])
def test_so_are_keys_of_persons_and_draws_without_a_seed(is_fresh, request):
    first, again = unseeded(request.node), unseeded(request.node)
    assert [one == other for one, other in zip(first, again, strict=True)] == [not is_fresh] * len(
        first
    )
    assert len(set(map(str, first))) == len(first)
    CHANCE.begin(request.node)
    names = [secrets.token_hex(16)]
    CHANCE.begin(request.node)
    assert secrets.token_hex(16) not in names, "names of files differ from each other"
