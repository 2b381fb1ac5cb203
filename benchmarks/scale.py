"""A recipe on a wide made-up table: seconds, peak memory, and how many planted dependencies it found.

Run ``python benchmarks/scale.py`` from the repository root after installing the package. Each column
has 2 to 20 levels and depends on an earlier one (one in five: on two) with a
strength between 0.2 and 0.8. What is planted are the pairs of a column and one that it depends on (two
parents are independent of each other); a pair is found when it lies inside a measured clique.
"""

import argparse
import time
from itertools import combinations

from common.made_up import schema_of, wide
from common.processes import peak_mb

from synthdp.privacy.unit import Adjacency
from synthdp.release.release import Release
from synthdp.table.records.coded_source import CodedSource


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
        table, planted = wide(options.columns, options.rows, seed)
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


if __name__ == "__main__":
    main()
