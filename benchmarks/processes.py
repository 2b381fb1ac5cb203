"""What a whole run of the command line costs, for the benchmarks beside this file."""

import os
import time


def measured(command: list[str]) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak megabytes of a process that must succeed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, environment)
    _, status, usage = os.wait4(process, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
