"""AnswerCache: tables that are larger than what a process may have, with the limit set by the operating
system.

A process imports what it needs and does the same on a small table; from then on it may have so many
more megabytes. What it works on then takes at least twice as many.
"""

import gzip
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="Linux tells how much memory is held"
)

BEGIN = """
import resource, sys
import numpy as np

def cap(megabytes):
    lines = open("/proc/self/status").read().splitlines()
    held = next(int(line.split()[1]) for line in lines if line.startswith("VmData")) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (held + megabytes * 2**20,) * 2)

def fails(megabytes):
    try:
        np.ones(megabytes * 2**17)
    except MemoryError:
        return True
    return False
"""
ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
}


def runs(script, *arguments):
    """What a script prints that must end well, under the limits that it sets itself."""
    command = [sys.executable, "-P", "-c", BEGIN + script, *map(str, arguments)]
    done = subprocess.run(
        command, env=os.environ | ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


READING = """
from synthdp.data.files import csv_blocks, parquet_file
from synthdp.data import read_coded
from synthdp.schema import Schema

folder, megabytes, *endings = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
if megabytes < 100:
    csv_blocks.BLOCK_BYTES, parquet_file.BATCH_ROWS = 2**16, 500
schema = Schema.from_dict({"fields": [
    {"name": "said", "type": "string", "constraints": {"enum": ["yes", "no"]}, "synthdp": {"other": "no"}},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
]})
for ending in endings:
    read_coded(f"{folder}/small.{ending}", schema)
cap(megabytes)
assert fails(2 * megabytes)
for ending in endings:
    table = read_coded(f"{folder}/large.{ending}", schema)
    print(len(table.columns[0]), int((table.columns[0] == 0).sum()), int(table.columns[1].sum()))
"""


def long_texts(n_rows, seed=0):
    """A table in which most texts are long, and no two are alike."""
    generator = np.random.default_rng(seed)
    said = [generator.bytes(60).hex() for _ in range(n_rows)]
    said[:7] = ["yes"] * 7
    return pd.DataFrame({"said": said, "age": generator.integers(0, 10, n_rows)})


def written(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=2000)
        return path
    text = frame.to_csv(index=False).encode()
    path.write_bytes(gzip.compress(text, compresslevel=1) if path.suffix == ".gz" else text)
    return path


ENDINGS = ["csv", "csv.gz", *(["parquet"] if find_spec("pyarrow") else [])]


def read_under(megabytes, folder, frame, small):
    """What is read of the same table in files of each ending, each of them twice as large as
    memory, unpacked.
    """
    for ending in ENDINGS:
        written(frame, folder / f"large.{ending}")
        written(frame[:small], folder / f"small.{ending}")
    assert (folder / "large.csv").stat().st_size > 2 * megabytes * 2**20
    expected = [str(len(frame)), str((frame["said"] == "yes").sum()), str(frame["age"].sum())]
    return runs(READING, folder, megabytes, *ENDINGS) == expected * len(ENDINGS)


def test_files_are_read_that_are_twice_as_large_as_memory(tmp_path):
    assert read_under(4, tmp_path, long_texts(75_000), 5000)


@pytest.mark.slow
def test_large_files_are_read_in_blocks_of_the_usual_size(tmp_path):
    frame = pd.concat([long_texts(500_000, seed) for seed in range(12)], ignore_index=True)
    assert read_under(320, tmp_path, frame, 200_000)


PARTITIONS = """
import dask
import dask.dataframe as dd
import pandas as pd
from synthdp.data import partitioned
from synthdp.data import held_rows
from synthdp.schema import OpenSchema

dask.config.set(scheduler="synchronous")  # a thread more would take memory of its own
schema = OpenSchema.from_dict({"fields": [
    {"name": "said", "type": "string", "constraints": {"enum": ["yes", "no"]}, "synthdp": {"other": "no"}},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
]})

def part(seed):
    generator = np.random.default_rng(seed)
    said = ["yes", *(generator.bytes(60).hex() for _ in range(1999))]
    return pd.DataFrame({"said": said, "age": generator.integers(0, 10, 2000)})

def counts(n_parts):
    table = held_rows(partitioned(dd.from_map(part, list(range(n_parts)), meta=part(0)[:0])), schema)
    return [marginal.tolist() for marginal in table.counted(schema.resolved({})).counts_of([(), ("said",)])]

counts(3)
cap(5)
assert fails(10)
print(*counts(45), part(0)["said"].str.len().sum() * 45 > 10 * 2**20)
"""


@pytest.mark.skipif(find_spec("dask") is None, reason="dask is not installed")
def test_partitions_are_read_that_are_together_twice_as_large_as_memory():
    assert runs(PARTITIONS) == ["90000", "[45,", "89955,", "0]", "True"]


COUNTING = """
from itertools import combinations
from synthdp.core import Domain
from synthdp.data.records import coded_source
from synthdp.data import CodedTable

coded_source.KEPT_CELLS = 2**20  # 8 MB; of 128, such a test would take long
generator = np.random.default_rng(0)
domain = Domain.from_sizes({f"c{i}": 40 for i in range(15)})
columns = tuple(generator.integers(0, 40, 20_000, np.uint8) for _ in range(15))
source = coded_source.CodedSource(CodedTable(domain, columns))
triples = list(combinations(domain.attributes, 3))
list(source.counts_of(triples[:3]))
cap(100)
print(sum(int(counts.sum()) for counts in source.counts_of(triples)), sum(40**3 * 8 for _ in triples) > 200 * 2**20)
"""


def test_marginals_are_counted_that_do_not_all_fit_into_memory():
    assert runs(COUNTING) == [str(455 * 20_000), "True"]


BILLION = """
from synthdp.core import Domain
from synthdp.report import release_page
from synthdp.release.drawing import batches
from synthdp.release import Release
from synthdp.release import RunSettings
from synthdp.schema import Schema

class Far:
    '''A table of a billion rows somewhere else.'''
    domain = Domain.from_sizes({"a": 20, "b": 30, "c": 10, "d": 12})

    def counts_of(self, cliques):
        for clique in cliques:
            shape = [self.domain[name] for name in clique]
            yield np.full(shape, 10**9 // int(np.prod(shape)), dtype=np.int64)

schema = Schema.from_dict({name: size for name, size in zip(Far.domain.attributes, Far.domain.shape)})
settings = RunSettings(epsilon=1.0, delta=1e-12, mechanism="mst")
release = Release(schema=schema, settings=settings)
synthesis = release.of(Far())
batches.BLOCK_ROWS = 2**13
read = synthesis.sample_batches(20_000, seed=1).read_all()
release_page(synthesis, sys.argv[1] + "/small.html", force=True)
cap(12)
assert fails(24)
n_rows = 0
for batch in synthesis.sample_batches(800_000, 10_000, seed=1):
    n_rows += batch.num_rows
print(n_rows, read.nbytes / read.num_rows * n_rows > 24 * 2**20, round(synthesis.model.total / 1e9, 3))
release_page(synthesis, sys.argv[1] + "/page.html", force=True)
"""


def test_a_release_of_a_billion_rows_its_page_and_a_stream_of_rows_take_little(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("jinja2")
    assert runs(BILLION, tmp_path) == ["800000", "True", "1.0"]
    assert (tmp_path / "page.html").exists()


ENGINE = """
import duckdb
from synthdp.data import EngineFrame
from synthdp.data import EngineTable
from synthdp.schema import OpenSchema

field = {"type": "string", "constraints": {"enum": ["yes"]}, "synthdp": {"other": "no"}}
schema = OpenSchema.from_dict({"fields": [{"name": "x"} | field, {"name": "y"} | field]})
connection = duckdb.connect(sys.argv[1], read_only=True)
connection.execute("SET enable_progress_bar = false; SET threads = 1; SET memory_limit = '16MB'")
connection.execute(f"SET temp_directory = '{sys.argv[1]}.tmp'")

def counts(rows):
    source = EngineTable.from_frame(EngineFrame.from_native(connection.sql(rows)), schema).counted(schema.resolved({}))
    return [int(counts.sum()) for counts in source.counts_of([("x", "y"), ()])]

counts("FROM people LIMIT 1000")
cap(26)
assert fails(52)
print(*counts("FROM people"))
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("duckdb") is None, reason="duckdb is not installed")
def test_a_table_in_an_engine_is_counted_that_is_twice_as_large_as_memory(tmp_path):
    import duckdb

    with duckdb.connect(str(tmp_path / "people.db"), config={"threads": 1}) as connection:
        texts = "md5(i::VARCHAR) AS x, md5((i + 7)::VARCHAR) AS y"
        connection.execute(f"CREATE TABLE people AS SELECT {texts} FROM range(1600000) AS t(i)")
    assert (tmp_path / "people.db").stat().st_size > 52 * 2**20
    assert runs(ENGINE, tmp_path / "people.db") == ["1600000", "1600000"]
