"""Drawing many rows of many columns from a junction tree, and `mbi` from PyPI on the same model.

Run ``python benchmarks/inference/sampling.py`` from the repository root. The problem is made up
after mbi's own benchmark of its sampler: 81 attributes of 2 to 130 levels, most of them with few
(log-uniform), 80 pairs drawn at random, and random potentials, so that nothing is fitted. A random
graph with that many edges may have a junction tree of any size: seeds whose tree has more than
``--max-cells`` cells are left out and said so.

Each run has a process of its own with one thread. "cpu s" is that of one ``sample``, the best of
``--repeats``, and "beliefs" of what comes once before; "peak MB" is the most memory the process
ever held, imports and model included. "mean L1" and "worst L1" are sums over a pair's cells of
|rows drawn - rows expected|; "a cell" is the mean of |drawn - expected| over all cells. mbi draws
once as a warm-up (one row, to compile) and then within ``--limit`` seconds or not at all.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from synthdp.core import Domain
from synthdp.inference import Codes, FitStatus, JunctionTree, MarkovRandomField

sys.path.append(str(Path(__file__).resolve().parents[1]))  # scripts find their own folder only
from common.processes import BESIDE_MBI, in_a_process, peak_mb

SAMPLERS = ("rounding", "independent", "mbi")
NUMBERS = ("beliefs s", "cpu s", "peak MB", "mean L1", "worst L1", "a cell")


def main() -> None:
    options = _options()
    if options.one:
        print(json.dumps(_one(options)))
        return
    print(f"{options.rows} rows, {options.columns} columns, {options.pairs} pairs")
    print(f"{'seed':>4} {'tree cells':>11} {'sampler':<12}", *(f"{name:>10}" for name in NUMBERS))
    for seed in options.seeds:
        n_cells = _model(options, seed).tree.n_cells()
        if n_cells > options.max_cells:
            print(f"{seed:>4} {n_cells:>11} left out: more than {options.max_cells} cells")
            continue
        for sampler in options.samplers:
            print(
                f"{seed:>4} {n_cells:>11} {sampler:<12} {_apart(options, seed, sampler)}",
                flush=True,
            )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Drawing many rows of many columns from a junction tree."
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=81)
    parser.add_argument("--pairs", type=int, default=80)
    parser.add_argument("--seeds", type=int, nargs="+", default=range(8))
    parser.add_argument("--max-cells", type=int, default=25_000_000)
    parser.add_argument("--samplers", nargs="+", default=SAMPLERS, choices=SAMPLERS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each process")
    parser.add_argument(
        "--one", nargs=2, metavar=("SEED", "SAMPLER"), help="one run in this process, as JSON"
    )
    return parser.parse_args()


def _apart(options: argparse.Namespace, seed: int, sampler: str) -> str:
    """The figures of a run in a process of its own, ended at its limit."""
    command = [sys.executable, __file__, "--one", str(seed), sampler]
    for name in ("rows", "columns", "pairs", "repeats"):
        command += [f"--{name}", str(getattr(options, name))]
    figures = in_a_process(command, wall_seconds=options.limit, environment=BESIDE_MBI)
    return figures.get("note") or " ".join(f"{figures[name]:>10.4g}" for name in NUMBERS)


def _model(options: argparse.Namespace, seed: int) -> MarkovRandomField:
    """A random field over random pairs of attributes of random sizes."""
    generator = np.random.default_rng(seed)
    sizes = np.exp(generator.uniform(np.log(2), np.log(131), options.columns)).astype(int)
    domain = Domain(tuple(f"x{i}" for i in range(options.columns)), tuple(sizes.tolist()))
    firsts, seconds = np.triu_indices(options.columns, 1)
    chosen = generator.choice(firsts.size, options.pairs, replace=False)
    pairs = [(domain.attributes[firsts[i]], domain.attributes[seconds[i]]) for i in chosen]
    potentials = {pair: generator.normal(size=domain.project(pair).shape) for pair in pairs}
    tree = JunctionTree.covering(domain, pairs)
    status = FitStatus(ended="optimal", n_iterations=0, loss=0.0)
    return MarkovRandomField(
        tree=tree, log_potentials=potentials, total=float(options.rows), status=status
    )


def _one(options: argparse.Namespace) -> dict[str, float]:
    """Costs and errors of one sampler on one model."""
    seed, sampler = int(options.one[0]), options.one[1]
    model = _model(options, seed)
    start = time.process_time()
    model.marginal(model.domain.attributes[:1])
    figures = {"beliefs s": time.process_time() - start}
    spent = []
    if sampler == "mbi":
        theirs = _mbi(model)
        theirs.synthetic_data(rows=1)
    for _ in range(options.repeats if sampler != "mbi" else 1):
        start = time.process_time()
        if sampler == "mbi":
            drawn = theirs.synthetic_data(rows=options.rows).to_dict()
        else:
            codes = model.sample(options.rows, seed=seed, rounding=sampler == "rounding")
        spent.append(time.process_time() - start)
    figures["cpu s"] = min(spent)
    figures["peak MB"] = peak_mb()
    if sampler == "mbi":
        codes = tuple(np.asarray(drawn[name]) for name in model.domain.attributes)
    return figures | _errors(model, codes)


def _mbi(model: MarkovRandomField):
    """The same model as mbi has it."""
    warnings.simplefilter("ignore")
    import mbi

    domain = mbi.Domain(model.domain.attributes, model.domain.shape)
    factors = {
        pair: mbi.Factor(domain.project(pair), table)
        for pair, table in model.log_potentials.items()
    }
    potentials = mbi.CliqueVector(domain, list(factors), factors)
    marginals = mbi.marginal_oracles.message_passing_stable(potentials, model.total)
    return mbi.MarkovRandomField(potentials=potentials, marginals=marginals, total=model.total)


def _errors(model: MarkovRandomField, codes: Codes) -> dict[str, float]:
    """Distance of the drawn pairs to the model's, in rows."""
    domain, pairs = model.domain, list(model.log_potentials)
    distances = []
    for pair, expected in zip(pairs, model.marginals(pairs), strict=True):
        first, second = (codes[domain.index(name)].astype(np.int64) for name in pair)
        counts = np.bincount(first * domain[pair[1]] + second, minlength=domain.size(pair))
        distances.append(float(np.abs(counts - expected.values.ravel()).sum()))
    n_cells = sum(map(domain.size, pairs))
    return {
        "mean L1": np.mean(distances),
        "worst L1": max(distances),
        "a cell": sum(distances) / n_cells,
    }


if __name__ == "__main__":
    main()
