"""Mechanisms on wide made-up tables: what they find of planted dependencies, what they err by, and
what they cost.

Run ``python benchmarks/wide.py`` from the repository root after installing the package. The table
is `groups` of ``common/made_up.py``: columns of 2 to 50 levels in chains, in stars, in threes of
which only all three together depend, and alone. A planted pair is "found" when it lies inside a
measured marginal, a planted three likewise.

"planted" and "2-way" are mean total variation distances between the records and the model (with
``--drawn`` a drawn table of as many rows), over all planted pairs and over 2,000 pairs taken at
random; "alone" are those of the planted pairs if all columns were independent. Seconds are
processor seconds of the release with one thread, "peak MB" the most memory up to its end, table and
exact counts included. The noise has no seed; that of the table is ``--seed``. Each run is a fork of
its own (so this needs Linux), and is ended after ``--limit`` seconds.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations

import numpy as np
from common.made_up import Planted, groups, schema_of
from common.processes import Result, in_a_fork, peak_mb
from numpy.typing import NDArray

from synthdp.data import CodedSource, CodedTable
from synthdp.privacy import Adjacency
from synthdp.release import MECHANISMS, Release, RunSettings, Synthesis
from synthdp.report import total_variation

N_PAIRS = 2000
"""Pairs whose errors are averaged: of 500 columns a sixtieth."""


def main() -> None:
    options = _options()
    for n_columns in options.columns:
        for n_rows in options.rows:
            table, planted = groups(n_columns, n_rows, options.seed)
            print(f"\n{n_rows} x {n_columns}, {len(planted)} planted; seed {options.seed}")
            print(f"{'mechanism':<12}{'epsilon':>8}  {_heading(planted)}", flush=True)
            for epsilon in options.epsilons:
                for mechanism in options.mechanisms:
                    run = partial(_run, options, table, planted, mechanism, epsilon)
                    found = in_a_fork(run, cpu_seconds=options.limit)
                    print(f"{mechanism:<12}{epsilon:>8g}  {_line(found)}", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Mechanisms on wide made-up tables.")
    parser.add_argument(
        "--mechanisms", nargs="+", default=("auto", "clique-tree"), choices=tuple(MECHANISMS)
    )
    parser.add_argument("--columns", nargs="+", type=int, default=(100,))
    parser.add_argument("--rows", nargs="+", type=int, default=(100_000,))
    parser.add_argument("--epsilons", nargs="+", type=float, default=(0.3, 1.0, 10.0))
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=1200, help="CPU seconds for each run")
    parser.add_argument(
        "--drawn", action="store_true", help="errors of a drawn table, not of the model"
    )
    return parser.parse_args()


def _heading(planted: Iterable[Planted]) -> str:
    kinds = dict.fromkeys(_kind(one) for one in planted)
    names = ["cpu s", "peak MB", "measured", "found", *kinds, "alone", "planted", "2-way"]
    return "".join(f"{name:>9}" for name in names)


def _kind(one: Planted) -> str:
    return "three" if len(one.clique) == 3 else f"by {one.strength:g}"


def _line(found: Result) -> str:
    return (
        found["note"]
        if "note" in found
        else "".join(f"{number:>9.4g}" for number in found.values())
    )


def _run(
    options: argparse.Namespace,
    table: CodedTable,
    planted: Sequence[Planted],
    mechanism: str,
    epsilon: float,
) -> Result:
    """One release, and the figures of its line."""
    release = Release(
        schema=schema_of(table.domain),
        settings=RunSettings(
            epsilon=epsilon,
            delta=options.delta,
            mechanism=mechanism,
            adjacency=Adjacency.ADD_REMOVE,
        ),
    )
    start = time.process_time()
    synthesis = release.of(CodedSource(table))
    costs = {"cpu s": time.process_time() - start, "peak MB": peak_mb()}
    measured = [frozenset(each.clique) for each in synthesis.measurements if len(each.clique) > 1]
    shown = {
        part
        for clique in measured
        for size in (2, 3)
        for part in combinations(sorted(clique), size)
    }
    hits = defaultdict[str, list[bool]](list)
    for one in planted:
        hits[_kind(one)].append(tuple(sorted(one.clique)) in shown)
    found = {kind: float(np.mean(each)) for kind, each in hits.items()}
    pairs = [hit for kind, each in hits.items() if kind != "three" for hit in each]
    return (
        costs
        | {"measured": len(measured), "found": float(np.mean(pairs))}
        | found
        | _errors(options, table, planted, synthesis)
    )


def _errors(
    options: argparse.Namespace, table: CodedTable, planted: Sequence[Planted], synthesis: Synthesis
) -> dict[str, float]:
    """Errors of planted pairs, if they were independent and as they are, and of any pairs."""
    names, generator = table.domain.attributes, np.random.default_rng(options.seed)
    chosen = [
        tuple(sorted(generator.choice(len(names), 2, replace=False).tolist()))
        for _ in range(N_PAIRS)
    ]
    any_pairs = [(names[i], names[j]) for i, j in chosen]
    dependent = [one.clique for one in planted if len(one.clique) == 2]
    cliques = [*dependent, *any_pairs]
    truth = [counts.astype(np.float64) for counts in CodedSource(table).counts_of(cliques)]
    if options.drawn:
        rows = CodedTable(
            table.domain, synthesis.model.sample(len(table.columns[0]), seed=options.seed)
        )
        found = [counts.astype(np.float64) for counts in CodedSource(rows).counts_of(cliques)]
    else:
        found = [factor.values for factor in synthesis.model.marginals(cliques)]
    alone = [total_variation(counts, _product(counts)) for counts in truth[: len(dependent)]]
    errors = [total_variation(*each) for each in zip(truth, found, strict=True)]
    return {
        "alone": float(np.mean(alone)),
        "planted": float(np.mean(errors[: len(dependent)])),
        "2-way": float(np.mean(errors[len(dependent) :])),
    }


def _product(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(counts.sum(), 1.0))


if __name__ == "__main__":
    main()
