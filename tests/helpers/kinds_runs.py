"""Running the command line on tables of which only names and kinds are declared."""

import json

import numpy as np
from helpers.cli_runs import HEADER, ROWS, write
from helpers.paths import DATA

from synthdp.privacy import SystemRandomness

KINDS = {"town": "categorical", "age": "integer", "code": "categorical"}
CENSUS = DATA / "census.csv"
CENSUS_KINDS = DATA / "census.kinds.json"
CATEGORICAL = ["region", "district", "town", "sex", "marital", "education", "status", "occupation"]


def kinds_arguments(
    *more,
    source="in.csv",
    known=("--kinds", "kinds.json"),
    output="out.csv",
    epsilon="1",
    delta="1e-6",
):
    """Arguments of ``synthdp run``."""
    return ("run", source, *known, "-o", output, f"--epsilon={epsilon}", f"--delta={delta}", *more)


def lay_out_kinds(folder, kinds=KINDS, *, table=HEADER + ROWS):
    """``in.csv`` and ``kinds.json``; texts and bytes are written as they are."""
    write(folder / "in.csv", table)
    write(folder / "kinds.json", kinds if isinstance(kinds, str | bytes) else json.dumps(kinds))


def freeze(patch, seed):
    """Make the kernel's noise repeatable, behind everybody's back: what is written says it was
    private.
    """
    generator = np.random.default_rng(seed)
    patch.setattr(SystemRandomness, "random_bytes", lambda _self, n_bytes: generator.bytes(n_bytes))
