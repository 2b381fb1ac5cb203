"""What `conftest` sets up: Ctrl-C interrupts and libraries keep to one thread, also in sessions in the background."""

import os
import signal
import subprocess
import sys

import numpy  # noqa: F401 (its BLAS is among the libraries that are asked for their threads)
import pytest
from threadpoolctl import threadpool_info

_IGNORING_CTRL_C = 'trap "" INT; exec "$@"'
_KILLED_BY_CTRL_C = "import os, signal; os.kill(os.getpid(), signal.SIGINT); input()"


def test_ctrl_c_interrupts_tests_and_the_processes_that_they_start():
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    done = subprocess.run(
        [sys.executable, "-c", _KILLED_BY_CTRL_C], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    assert done.stderr.endswith(b"KeyboardInterrupt\n")


@pytest.mark.skipif(os.environ.get("OMP_NUM_THREADS") != "1", reason="somebody asked for more threads")
def test_libraries_have_one_thread():
    pools = threadpool_info()
    assert pools
    assert {pool["num_threads"] for pool in pools} == {1}


def test_a_session_in_the_background_is_set_up_alike():
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    session = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "ctrl_c or one_thread", __file__]
    done = subprocess.run(
        ["sh", "-c", _IGNORING_CTRL_C, "sh", *session], env=environment, capture_output=True, text=True, check=False
    )
    assert "2 passed" in done.stdout, done.stdout
