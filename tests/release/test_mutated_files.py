"""Files that people write and runs leave, with anything in them: one clear error each, and nothing
else happens.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import mutated_files

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="limits of memory are measured as Linux counts it"
)


def mutants_read(folder, *, seed, number):
    """What came of reading so many mutants of each kind of file, in a process with limits."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        mutated_files.__file__,
        str(seed),
        str(number),
        str(folder),
    ]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def check(found, number):
    assert found["wrong"] == []
    kinds = {outcome.split()[0] for outcome in found["outcomes"]}
    assert len(kinds) == 18
    assert sum(found["outcomes"].values()) == 18 * number
    n_read = {kind: found["outcomes"].get(f"{kind} read", 0) for kind in kinds - {"resumed"}}
    assert min(n_read.values()) > 0 or number < 500  # "resumed" asks another question
    assert sum(n_read.values()) > number
    for kind in kinds:
        assert found["outcomes"][f"{kind} refused"] >= number / 4, kind


def test_mutated_files_are_refused_in_one_line_or_read(tmp_path):
    check(mutants_read(tmp_path, seed=1, number=20), 20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_mutated_files_are_refused_in_one_line_or_read(tmp_path, seed):
    check(mutants_read(tmp_path, seed=seed, number=2000), 2000)


def test_what_must_not_happen_is_noticed(tmp_path, monkeypatch):
    """Errors of another kind, of two lines, that take too long: each would be found."""
    monkeypatch.setattr(mutated_files, "SECONDS", 1)
    path = tmp_path / "file"

    def raising(error):
        def read(_path):
            raise error

        return read

    def hanging(_path):
        while True:
            pass

    for read, problem in (
        (raising(KeyError("x")), "KeyError"),
        (raising(ValueError("two\nlines")), "said"),
        (raising(MemoryError()), "MemoryError"),
        (hanging, "TooLongError"),
    ):
        before = mutated_files.signal.signal(mutated_files.signal.SIGALRM, mutated_files.alarm)
        try:
            assert problem in mutated_files.outcome(read, path, (ValueError,))[1]
        finally:
            mutated_files.signal.signal(mutated_files.signal.SIGALRM, before)
    assert mutated_files.outcome(raising(ValueError("a line")), path, (ValueError,)) == (
        "refused",
        "",
    )
    assert mutated_files.outcome(Path, path, ()) == ("read", "")
    done = []
    mutated_files.watch(tmp_path, done)
    Path("/dev/null").open("rb").close()
    assert done == ["opened '/dev/null'"]
