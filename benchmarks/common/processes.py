"""Processes of benchmarks: with one thread, in limits of time and memory, and what they cost."""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment of every process that is measured: seconds are then comparable between machines."""

BESIDE_MBI = ONE_THREAD | {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"}
BESIDE_MBI |= {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
"""The same where `mbi` is compared with: in double precision and on the processor, as synthdp."""

MAX_BYTES = 12 * 10**9
"""Memory of a run: what a machine of 16 GB can give."""

COSTS = ("wall s", "cpu s", "peak MB")
Result = dict[str, Any]


def synthdp_run(*arguments: object) -> dict[str, float]:
    """`COSTS` of ``synthdp run`` as its users start it, alone in a process; it must succeed."""
    command = [str(Path(sys.executable).with_name("synthdp")), "run", *map(str, arguments)]
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ | ONE_THREAD)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return dict(
        zip(COSTS, (wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), strict=True)
    )


def add_worker(parser: argparse.ArgumentParser, run: str) -> None:
    """Add the options by which a benchmark starts itself again for some runs.

    Parameters
    ----------
    parser
        Of the benchmark.
    run
        What a run is called by.
    """
    parser.add_argument(
        "--worker",
        nargs=2,
        metavar=("DATA SET", "MECHANISM"),
        help="--runs in this process, as JSON",
    )
    parser.add_argument("--runs", nargs="+", metavar=run, help="with --worker: what to run")


def results_of(command: Sequence[str]) -> Iterator[Result]:
    """The lines of JSON that a command of one thread prints, as they come; it must succeed."""
    with subprocess.Popen(
        command, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield from map(json.loads, process.stdout)
    if process.returncode != 0:
        raise SystemExit(f"stopped ({process.returncode}): {' '.join(command)}")


def in_a_process(
    command: Sequence[str], *, wall_seconds: float, environment: Mapping[str, str]
) -> Result:
    """The JSON in the last line that a command prints, or a note that it failed or was ended at its
    limit.
    """
    try:
        run = subprocess.run(
            command,
            env=os.environ | environment,
            timeout=wall_seconds,
            capture_output=True,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"note": f"> {wall_seconds:g} s"}
    if run.returncode != 0:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        return {"note": f"failed ({run.returncode}): {last[:100]}"}
    result: Result = json.loads(run.stdout.splitlines()[-1])
    return result


def in_a_fork(work: Callable[[], Result], *, cpu_seconds: int) -> Result:
    """What a function returns, called in a fork of this process, or a note that it failed or was
    ended at its limit.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            limit_memory()
            os.write(writing, json.dumps(work()).encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as stream:
        answer = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        return {"note": f"> {cpu_seconds} s" if code == -signal.SIGXCPU else f"failed ({code})"}
    result: Result = json.loads(answer)
    return result


def limit_memory() -> None:
    """Let this process fail beyond `MAX_BYTES`, before the machine does."""
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_BYTES, MAX_BYTES))


def peak_mb() -> float:
    """The most memory that this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Phases:
    """CPU seconds of each phase of a run; a `synthdp.core.reporting.Report`."""

    def __init__(self, first: str) -> None:
        self.seconds: dict[str, float] = {}
        self._phase, self._since = first, time.process_time()

    def __call__(self, phase: str, _done: int = 0, _most: int = 0) -> None:
        now = time.process_time()
        self.seconds[self._phase] = self.seconds.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now
