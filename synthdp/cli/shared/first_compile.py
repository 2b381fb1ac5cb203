"""Loops are compiled once on a machine: beside somebody who is still answering questions, so that the
first run need not wait for it.
"""

import os
import subprocess
import sys
from contextlib import suppress

_ROWS, _COLUMNS, _EPSILON = 2_000, 6, 50.0
"""Of a table that is made up, which protects nobody: enough for all loops to run."""


def compile_beside() -> "subprocess.Popen[bytes]":
    """Have the loops compiled by a process of low priority, which ends at once if they are kept."""
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in a terminal is not meant for it
    )


def compile_all() -> bool:
    """Draw rows of a table that is made up, unless the loops are kept; returns whether they were
    compiled.
    """
    from synthdp.inference.compiled import FIRST_TIME
    from synthdp.inference.rows.move_kernel import sweep

    sweep.load()
    if not FIRST_TIME.locked():  # nobody had to say that it is the first time
        return False
    import pandas as pd

    from synthdp.linked.doors.synthesize import synthesize
    from synthdp.schema.schema import Schema

    names = [f"c{number}" for number in range(_COLUMNS)]
    values = {
        name: [row % 9 + row * at % 4 for row in range(_ROWS)] for at, name in enumerate(names)
    }
    constraints = {"minimum": 0, "maximum": 12}
    fields = [{"name": name, "type": "integer", "constraints": constraints} for name in names]
    schema = Schema.from_dict({"fields": fields})
    synthesize(pd.DataFrame(values), schema, epsilon=_EPSILON, delta=1e-6).sample()
    return True


if __name__ == "__main__":
    with suppress(AttributeError, OSError):
        os.nice(10)
    compile_all()
