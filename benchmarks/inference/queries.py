"""All 575 marginals of up to three columns of discretised Adult, from models with 40 cliques.

Run ``OMP_NUM_THREADS=1 python benchmarks/inference/queries.py`` from the repository root; only the
domain of the table is needed, looked for as in ``mechanisms.py``. A model has the 15 single columns
and 25 random pairs and triples, added as long as the junction tree stays below its number of cells,
and random potentials: answering does not depend on what they are.

"cpu ms" is one batch, planning and sums within cliques included, the best of ``--repeats``;
"single" answers every query by itself on one shared object; "peak MB" are the most bytes that the
batch held, answers ("out MB") included. With ``--mbi-limit`` above 0, `mbi`'s ``project`` answers
queries in an order drawn at random until the limit: "mbi ms" for "mbi n" of them, compilation
included, with "diff" the largest difference from ours.
"""

import argparse
import json
import os
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np

from synthdp.core import Clique, Domain, all_k_way
from synthdp.inference import Array, JunctionTree, MarginalOracle, TreeMarginals

N_CLIQUES = 40
COLUMNS = (
    "cells",
    "seed",
    "cliques",
    "inside",
    "cpu ms",
    "single",
    "peak MB",
    "out MB",
    "mbi ms",
    "mbi n",
    "diff",
)


def main() -> None:
    options = _options()
    domain = Domain.from_sizes(json.loads((options.data / "domain.json").read_text()))
    queries = [clique for k in (1, 2, 3) for clique in all_k_way(domain.attributes, k)]
    print(f"{len(queries)} marginals with {sum(map(domain.size, queries))} cells")
    print(*(f"{column:>8}" for column in COLUMNS))
    for most_cells in options.cells:
        for seed in range(options.seeds):
            potentials = _potentials(domain, most_cells, seed)
            tree = JunctionTree.covering(domain, list(potentials))
            beliefs = MarginalOracle(tree, list(potentials)).beliefs(list(potentials.values()))
            row = [
                tree.n_cells(),
                seed,
                len(tree.cliques),
                sum(tree.position_of(q) is not None for q in queries),
            ]
            row += _costs(tree, beliefs, queries, options.repeats)
            if options.mbi_limit > 0:
                row += _mbi(
                    domain, potentials, TreeMarginals(tree, beliefs), queries, options.mbi_limit
                )
            print(
                *(f"{value:>8.4g}" if isinstance(value, float) else f"{value:>8}" for value in row),
                flush=True,
            )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="All marginals of up to three columns from 40-clique models."
    )
    default = Path(__file__).resolve().parents[3] / "shared/data/adult-discretized"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument(
        "--cells", nargs="+", type=int, default=[1 << 17, 10**6], help="most cells of a tree"
    )
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--mbi-limit", type=float, default=0.0, help="CPU seconds for mbi on each model"
    )
    return parser.parse_args()


def _potentials(domain: Domain, most_cells: int, seed: int) -> dict[Clique, Array]:
    """Log potentials on all columns and on random pairs and triples that keep the tree small."""
    rng = np.random.default_rng(seed)
    larger = [clique for k in (2, 3) for clique in all_k_way(domain.attributes, k)]
    chosen = all_k_way(domain.attributes, 1)
    for i in rng.permutation(len(larger)):
        if JunctionTree.covering(domain, [*chosen, larger[i]]).n_cells() <= most_cells:
            chosen.append(larger[i])
        if len(chosen) == N_CLIQUES:
            break
    return {clique: rng.normal(size=domain.project(clique).shape) for clique in chosen}


def _costs(
    tree: JunctionTree, beliefs: list[Array], queries: list[Clique], repeats: int
) -> list[float]:
    batch, single = [], []
    for _ in range(repeats):
        start = time.process_time()
        TreeMarginals(tree, beliefs).marginals(queries)
        batch.append(time.process_time() - start)
    for _ in range(min(repeats, 2)):
        shared, start = TreeMarginals(tree, beliefs), time.process_time()
        for query in queries:
            shared.marginal(query)
        single.append(time.process_time() - start)
    tracemalloc.start()
    answers = TreeMarginals(tree, beliefs).marginals(queries)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return [
        1e3 * min(batch),
        1e3 * min(single),
        peak / 1e6,
        sum(answer.nbytes for answer in answers) / 1e6,
    ]


def _mbi(
    domain: Domain,
    potentials: dict[Clique, Array],
    ours: TreeMarginals,
    queries: list[Clique],
    limit: float,
) -> list[float | int]:
    warnings.simplefilter("ignore")
    os.environ |= {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    import mbi

    theirs = mbi.Domain(domain.attributes, domain.shape)
    factors = {
        clique: mbi.Factor(theirs.project(clique), table) for clique, table in potentials.items()
    }
    vector = mbi.CliqueVector(theirs, list(potentials), factors)
    marginals = mbi.marginal_oracles.message_passing_stable(vector, 1.0)
    model = mbi.MarkovRandomField(potentials=vector, marginals=marginals, total=1.0)
    order = np.random.default_rng(0).permutation(len(queries))
    answers: dict[Clique, Array] = {}
    start = time.process_time()
    for i in order:
        if time.process_time() - start > limit:
            break
        answers[queries[i]] = np.asarray(model.project(queries[i]).values)
    spent = time.process_time() - start
    found = zip(answers.values(), ours.marginals(list(answers)), strict=True)
    return [
        1e3 * spent,
        len(answers),
        max(float(np.abs(one - other).max()) for one, other in found),
    ]


if __name__ == "__main__":
    main()
