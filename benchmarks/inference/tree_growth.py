"""How quickly a growing junction tree tells what thousands of candidates would make of it.

    python benchmarks/inference/tree_growth.py [--seed 0] [--problems Adult wide]

Prints, for trees grown at random as long as they stay below a number of cells, the CPU time of one
`n_cells_with` (all candidates), of one added clique with its tree, and of `JunctionTree.covering`.
"Adult" has the levels of the discretised Adult table and its marginals of one to three columns as
candidates; "wide" has 100 columns of 2 to 16 levels and all pairs.
"""

import argparse
import random
import time
from collections.abc import Callable

from synthdp.core import Clique, Domain, all_k_way
from synthdp.inference import JunctionTree, TreeGrowth

ADULT = Domain(tuple("abcdefghijklmno"), (16, 32, 9, 32, 16, 7, 15, 6, 5, 2, 32, 32, 32, 42, 2))
"""The levels of discretised Adult."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--problems", nargs="+", default=("Adult", "wide"), choices=("Adult", "wide")
    )
    options = parser.parse_args()
    chance = random.Random(options.seed)
    wide = Domain(
        tuple(f"column {i}" for i in range(100)),
        tuple(chance.choice((2, 3, 5, 8, 10, 16)) for _ in range(100)),
    )
    adult = [clique for k in (1, 2, 3) for clique in all_k_way(ADULT.attributes, k)]
    pairs = all_k_way(wide.attributes, 2)
    names = ("cliques", "cells", "candidates", "fit", "all ms", "limited ms", "add ms", "cover ms")
    print(f"{'problem':26}", *(f"{name:>10}" for name in names))
    for domain, candidates, n_cliques, max_cells in (
        (ADULT, adult, 40, 2e5),
        (ADULT, adult, 40, 2e6),
        (ADULT, adult, 40, 1e7),
        (wide, pairs, 150, 1e4),
        (wide, pairs, 150, 1e5),
        (wide, pairs, 150, 1e6),
        (wide, pairs, 150, 1e7),
    ):
        name = "Adult" if domain is ADULT else "wide"
        if name in options.problems:
            chosen = _grown(domain, candidates, n_cliques, max_cells, chance)
            _report(domain, candidates, chosen, max_cells, name)


def _grown(
    domain: Domain,
    candidates: list[Clique],
    n_cliques: int,
    max_cells: float,
    chance: random.Random,
) -> list[Clique]:
    growth, chosen = TreeGrowth(domain), []
    for clique in chance.sample(candidates, len(candidates)):
        if (
            len(chosen) < n_cliques
            and growth.n_cells_with([clique], max_cells=max_cells)[0] <= max_cells
        ):
            growth = growth.with_clique(clique)
            chosen.append(clique)
    return chosen


def _report(
    domain: Domain, candidates: list[Clique], chosen: list[Clique], max_cells: float, name: str
) -> None:
    *first, last = chosen
    growth = TreeGrowth(domain, first)
    growth.tree  # noqa: B018
    whole = growth.with_clique(last)
    fit = int((whole.n_cells_with(candidates) <= max_cells).sum())
    times = (
        _cpu_ms(lambda: TreeGrowth(domain, chosen).n_cells_with(candidates)),
        _cpu_ms(lambda: TreeGrowth(domain, chosen).n_cells_with(candidates, max_cells=max_cells)),
        _cpu_ms(lambda: growth.with_clique(last).tree),
        _cpu_ms(lambda: JunctionTree.covering(domain, chosen)),
    )
    counts = (len(chosen), whole.n_cells(), len(candidates), fit)
    print(
        f"{f'{name}, at most {max_cells:.0e} cells':26}",
        *(f"{n:10}" for n in counts),
        *(f"{t:10.2f}" for t in times),
    )


def _cpu_ms(work: Callable[[], object]) -> float:
    """Least of three."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return 1000 * min(spent)


if __name__ == "__main__":
    main()
