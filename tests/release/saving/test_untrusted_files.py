"""Files that ask for more than they hold: a subprocess reads each within 200 MB more than Python
and its libraries.
"""

import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from helpers.cli_runs import SCHEMA
from helpers.homes import home
from helpers.release_files import MANIFEST, edited, members_of, mutated, npy, summed, write_zip

import synthdp
from synthdp.core import DataFileError, SynthdpError, sealed
from synthdp.release import Members

members = home(Members)

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="limits of memory are those of POSIX"
)

READER = """
import resource, sys
from pathlib import Path
import networkx, scipy.sparse
import synthdp
from synthdp.core import SynthdpError
from synthdp.cli import describe

synthdp.load(sys.argv[1])
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + 200 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for path in sys.argv[2:]:
    try:
        describe(path)
        print("read")
    except SynthdpError as error:
        print(str(error).splitlines() == [str(error)] and "refused")
    except MemoryError:
        print("took too much memory")
"""
"""Reads a good file, so that all is imported, and then others."""


def numbers(kind, n, **own):
    bounds = {"minimum": 0, "maximum": 10**9, "required": True}
    return [
        {"name": f"c{i}", "type": kind, "constraints": bounds, "synthdp": own} for i in range(n)
    ]


def of_schema(fields, *rules):
    own = {"synthdp": {"constraints": list(rules)}} if rules else {}
    return edited(lambda m: m.update(schema={"fields": fields} | own, measurements=[], model=None))


def of_model(fields, state, arrays):
    status = {"ended": "optimal", "n_iterations": 1, "loss": 0.0, "caution": ""}

    def forge(found):
        model = state | {"total": 10.0, "status": status}
        edited(lambda m: m.update(schema={"fields": fields}, measurements=[], model=model))(found)
        for name in [name for name in found if name != MANIFEST]:
            del found[name]
        found |= {f"model/{name}.npy": npy(array) for name, array in arrays.items()}

    return forge


def everything(n):
    return {
        "forbid": {f"c{i}": {"minimum": 0} for i in range(n - 1)} | {f"c{n - 1}": {"maximum": 0}}
    }


NAMES = [f"c{i}" for i in range(6)]
TREE = {"kind": "markov-random-field", "cliques": []}
ONE = TREE | {
    "tree": [["c0"]],
    "total": 1.0,
    "status": {"ended": "optimal", "n_iterations": 1, "loss": 0.0},
}
GROUPS = {"groups-0": np.minimum(np.arange(65536.0), 9000), "shares-0": np.ones(65536)}
DATE = {
    "name": "d",
    "type": "date",
    "constraints": {"minimum": "2000-01-01", "maximum": "2001-01-01"},
}
ID = {"name": "i", "type": "id"}
REFUSED = {
    "lists in JSON": edited(lambda m: m["certificate"].update(x=[[]] * 1_200_000)),
    "columns of a million bins": of_schema(numbers("integer", 90, bins=10**6)),
    "sizes of a million": edited(
        lambda m: m.update(schema=dict.fromkeys(NAMES, 10**6), measurements=[], model=None)
    ),
    "a long format": of_schema([DATE | {"format": "%Y-%m-%d" + "x" * 10**6}]),
    "a rule on many columns": of_schema(numbers("integer", 5, bins=1000), everything(5)),
    "many rules": of_schema(numbers("integer", 2, bins=5000), *[everything(2)] * 50),
    "a map of a million": of_schema(
        numbers("integer", 2, bins=10**6), {"determines": ["c0", "c1"], "map": {}}
    ),
    "a pattern of a gigabyte": of_schema(
        [*numbers("integer", 1), ID | {"pattern": "{:9000000000d}"}]
    ),
    "a pattern that looks inside": of_schema(
        [*numbers("integer", 1), ID | {"pattern": "{0.real}"}]
    ),
    "a locale that is a module": of_schema(
        [*numbers("integer", 1), ID | {"type": "name", "locale": "os.path"}]
    ),
    "a tree of 10^12 cells": of_model(
        numbers("integer", 6, bins=100), TREE | {"tree": [NAMES]}, {}
    ),
    "levels by groups": of_model(
        numbers("integer", 1, bins=65536),
        {"kind": "refined", "merged": ["c0"], "coarse": ONE},
        GROUPS,
    ),
    "blanks for JSON": lambda found: found.update({MANIFEST: b" " * 2**24}),
}
READ = {
    "fewer lists": edited(lambda m: m["certificate"].update(x=[[]] * 300_000)),
    "a million bins": of_schema(numbers("number", 1, bins=10**6)),
    "a tree of a million cells": of_model(
        numbers("integer", 6, bins=100), TREE | {"tree": [NAMES[:3], NAMES[3:]]}, {}
    ),
    "zeros beside": lambda found: found.update({"zeros": bytes(15_000_000)}),
    "zeros": lambda found: found.update({"model/zeros-0.npy": npy(np.zeros(1_500_000))}),
}

LONG = ("columns of a million bins", "sizes of a million", "fewer lists", "zeros beside")
"""What takes longest to read, and is much like others."""


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    domain = synthdp.Schema.from_dict(SCHEMA).domain
    counts = [
        synthdp.LinearMeasurement((name,), np.full(domain[name], 50.0), 2.0)
        for name in domain.attributes
    ]
    path = tmp_path_factory.mktemp("saved") / "plain"
    synthdp.from_measurements(SCHEMA, counts, engine="graphical-model").save(path)
    return path


@pytest.mark.parametrize(
    "is_whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["most", "all"]
)
def test_small_files_that_ask_for_much_are_read_or_refused_within_200_mb(plain, tmp_path, is_whole):
    paths, left_out = [plain], () if is_whole else LONG
    refused, read = (
        {name: each[name] for name in each if name not in left_out} for each in (REFUSED, READ)
    )
    for number, forge in enumerate([*refused.values(), *read.values()]):
        found = members_of(plain)
        forge(found)
        paths.append(write_zip(tmp_path / f"{number}", summed(found)))
    assert max(path.stat().st_size for path in paths) < 600_000
    command = [
        sys.executable,
        "-P",
        "-c",
        READER,
        *paths,
    ]  # by the package that is installed, not by the folder that we are in
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    outcomes = dict(zip([*refused, *read], found.stdout.splitlines(), strict=False))
    assert (found.returncode, found.stderr) == (0, "")
    assert outcomes == dict.fromkeys(refused, "refused") | dict.fromkeys(read, "read")


def test_a_larger_limit_is_asked_for_and_can_be_given(plain, tmp_path, monkeypatch):
    for forge in (
        lambda found: found.update({"model/zeros-0.npy": npy(np.zeros(200_000))}),
        edited(lambda m: m.update(certificate=sealed({**m["certificate"], "x": [[]] * 100_000}))),
    ):
        found = members_of(plain)
        forge(found)
        path = write_zip(tmp_path / "large", summed(found))
        size = sum(map(len, summed(found).values()))
        with pytest.raises(
            DataFileError, match=r"larger than a file of its size should be; .* larger max_bytes"
        ):
            synthdp.load(path, max_bytes=size - 1)
        assert synthdp.load(path, max_bytes=size).sample(3).shape == (3, 3)
    monkeypatch.setattr(members, "ALWAYS_ALLOWED", 10**4)
    monkeypatch.setattr(members, "MAX_RATIO", 2)
    with pytest.raises(DataFileError, match="larger than"):
        synthdp.load(path)


def test_tables_of_a_model_have_the_limit_as_well(plain, tmp_path):
    found = members_of(plain)
    of_model(numbers("integer", 3, bins=300), TREE | {"tree": [NAMES[:3]]}, {})(found)
    path = write_zip(tmp_path / "tree", summed(found))
    with pytest.raises(
        DataFileError, match=r"tables of its model take 0.9 GB; .* larger max_bytes"
    ):
        synthdp.load(path)
    assert synthdp.load(path, max_bytes=10**9).existing_model is not None


def test_mutated_files_are_refused_or_answer(plain, tmp_path):
    found, rng = members_of(plain), np.random.default_rng(0)
    outcomes = {"refused": 0, "read": 0}
    for _ in range(250):
        path = write_zip(tmp_path / "mutated", mutated(found, rng))
        try:
            synthesis = synthdp.load(path)
        except DataFileError:
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        with suppress(SynthdpError):
            synthesis.sample(2, seed=1)
    assert min(outcomes.values()) > 10  # it mutates neither too much nor too little
