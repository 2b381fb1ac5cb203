"""A run of the command line where Python believes that it is on Windows: what only POSIX has cannot
be imported, and files are locked as `msvcrt` does it. Not in the process of the tests.

``python as_windows.py FOLDER`` runs under a budget there, and prints the exit codes, how many locks
are left, and whether a budget that somebody else holds can be opened.
"""

import errno
import json
import multiprocessing.context
import os
import pkgutil
import sys
import types
from concurrent.futures import process
from importlib import import_module
from pathlib import Path

import jinja2
import numba
import pandas
import scipy.optimize
import scipy.stats

import synthdp

LOADED = (jinja2, multiprocessing.context, numba, pandas, process, scipy.optimize, scipy.stats)
"""Other people's modules, which look at the platform when they are loaded: they are to have done so."""
ONLY_POSIX = ("fcntl", "grp", "posix", "pwd", "resource", "termios")
LOCK, UNLOCK = 2, 0
TAKEN: set[tuple[int, int]] = set()
"""Files and bytes of them that are locked; a Windows process is refused its own lock, too."""
FOREIGN: set[str] = set()
"""Names of files that another process holds."""


def locking(descriptor, mode, _length):
    place = (os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR))
    if mode == UNLOCK:
        TAKEN.remove(place)
    elif place in TAKEN or place[0] in {Path(name).stat().st_ino for name in FOREIGN}:
        raise PermissionError(errno.EACCES, "Permission denied")
    else:
        TAKEN.add(place)


def become_windows():
    fake = types.SimpleNamespace(locking=locking, LK_NBLCK=LOCK, LK_UNLCK=UNLOCK)
    sys.modules["msvcrt"] = fake
    sys.modules |= dict.fromkeys(ONLY_POSIX)
    sys.platform = "win32"


def modules_of_the_command_line():
    """All modules but those of the studio, whose server looks at the platform itself."""
    found = (module.name for module in pkgutil.walk_packages(synthdp.__path__, "synthdp."))
    return [name for name in found if ".studio" not in name and "__main__" not in name]


def main(folder):
    become_windows()
    for name in modules_of_the_command_line():
        import_module(name)
    from synthdp.cli import run
    from synthdp.release import open_locked

    os.chdir(folder)
    budget = "budget create b --epsilon 3 --delta 1e-6 --population people"
    release = (
        "run in.csv -s schema.json --mechanism independent --epsilon 1 --delta 1e-9 --budget b -o"
    )
    codes = [run(budget.split()), run([*release.split(), "one.csv"])]
    FOREIGN.add("b")
    opened = open_locked(Path("b"), "rb+", is_shared=False, patience=0.0)
    sys.stdout.write(json.dumps({"codes": codes, "left": len(TAKEN), "opened": opened is not None}))


if __name__ == "__main__":
    main(sys.argv[1])
