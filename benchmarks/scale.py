"""A recipe on a wide made-up table: seconds, peak memory, and how many planted dependencies it found.

Run ``python benchmarks/scale.py`` from the repository root after installing the package. Each column
has 2 to 20 levels and depends on an earlier one (one in five: on two) with a
strength between 0.2 and 0.8. What is planted are the pairs of a column and one that it depends on (two
parents are independent of each other); a pair is found when it lies inside a measured clique.
"""

import argparse
import time
from itertools import combinations

import numpy as np
from common.processes import peak_mb
from numpy.typing import NDArray

from synthdp.domain import Domain
from synthdp.privacy.unit import Adjacency
from synthdp.release.release import Release
from synthdp.table.records.codec import CodedTable
from synthdp.table.records.coded_source import CodedSource
from synthdp.table.schema.schema import Schema

Planted = list[tuple[str, str]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time, memory and planted dependencies found on a wide table.")
    parser.add_argument("--recipe", default="clique-tree")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    print(f"{'seed':>4}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}{'measured':>10}{'found':>9}{'planted':>9}")
    for seed in range(options.seeds):
        table, planted = made_up(options.columns, options.rows, seed)
        run = Release(
            schema=schema_of(table.domain),
            epsilon=options.epsilon,
            delta=options.delta,
            mechanism=options.recipe,
            engine=options.engine,
            adjacency=Adjacency.ADD_REMOVE,
        )
        wall, cpu = time.perf_counter(), time.process_time()
        measured = [measurement.clique for measurement in run.of(CodedSource(table)).measurements]
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        pairs = {frozenset(pair) for clique in measured for pair in combinations(clique, 2)}
        found = sum(frozenset(pair) in pairs for pair in planted)
        peak = peak_mb()
        n_wide = sum(len(clique) > 1 for clique in measured)
        print(f"{seed:4}{wall:9.1f}{cpu:9.1f}{peak:9.0f}{n_wide:10}{found / len(planted):9.1%}{len(planted):9}")


def made_up(n_columns: int, n_rows: int, seed: int) -> tuple[CodedTable, Planted]:
    """A table of codes, and its planted pairs."""
    generator = np.random.default_rng(seed)
    names = tuple(f"x{i}" for i in range(n_columns))
    shape = tuple(int(size) for size in generator.integers(2, 21, n_columns))
    columns: list[NDArray[np.uint8]] = []
    planted: Planted = []
    for i, size in enumerate(shape):
        column = generator.choice(size, n_rows, p=generator.dirichlet(np.full(size, 2.0)))
        n_parents = min(i, 2 if generator.random() < 0.2 else 1)
        parents = sorted(generator.choice(i, n_parents, replace=False).tolist()) if n_parents else []
        if parents:
            cells = np.zeros(n_rows, dtype=np.int64)
            for parent in parents:
                cells = cells * shape[parent] + columns[parent]
            follow = generator.integers(0, size, int(np.prod([shape[parent] for parent in parents])))
            copied = generator.random(n_rows) < generator.uniform(0.2, 0.8)
            column = np.where(copied, follow[cells], column)
            planted += [(names[parent], names[i]) for parent in parents]
        columns.append(column.astype(np.uint8))
    return CodedTable(Domain(names, shape), tuple(columns)), planted


def schema_of(domain: Domain) -> Schema:
    """A schema whose columns have the levels 0, 1, 2, ..."""
    fields = [
        {
            "name": name,
            "type": "string",
            "constraints": {"enum": [str(level) for level in range(size)], "required": True},
        }
        for name, size in zip(domain.attributes, domain.shape, strict=True)
    ]
    return Schema.from_dict({"fields": fields})


if __name__ == "__main__":
    main()
