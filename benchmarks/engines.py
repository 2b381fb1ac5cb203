"""Every engine, and `mbi` from PyPI, on identical measurements of discretised Adult.

Run ``python benchmarks/engines.py`` from the repository root; the table is looked for as in
``mechanisms.py``. Problems (a seed draws the Gaussian noise only): ``tree``, all 1-way marginals
and a maximum spanning tree of 14 pairs, sigma 50; ``loops``, 30 pairs with a junction tree of about
1e6 cells, sigma 50; ``random-0.1``, ``-1`` and ``-10``, 32 random pairs, sigma for that epsilon.

Each run has a process of its own, ended after ``--limit`` seconds, start-up included, and one
thread (XLA compiles with more: see "cpu s"). Seconds are those of one cold ``estimate``: with
compilation, without imports. ``exact`` is the graphical model with a tight stopping rule, "gap"
(loss - exact loss) / exact loss, below 0 where pseudo-marginals are no distribution's, and tvd the
mean over measured cliques against the true data. ``public-data`` has the first half of the
measured rows as its public table: see its cost, not its error. ``mbi`` is its MirrorDescent for
1000 iterations in double precision, ``mbi-to-gap`` the same until its loss, looked at every 50
iterations, is within 1e-3 of the exact one. "start MB" is the peak before the fit, table included.

Results are kept in ``benchmarks/results/engines.csv`` and not computed again without ``--fresh``.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import networkx
import numpy as np
from common.processes import BESIDE_MBI, in_a_process, limit_memory, peak_mb
from common.results import FOLDER, Row, Rows, read_rows, write_rows
from numpy.typing import NDArray

from synthdp.core import Clique, Domain, LinearMeasurement, SynthdpError, all_k_way, estimate_total
from synthdp.data import CodedSource, CodedTable, read_coded
from synthdp.inference import (
    GraphicalModelEngine,
    JunctionTree,
    MarginalLoss,
    MirrorDescent,
    PublicDataEngine,
)
from synthdp.privacy import zcdp_rho
from synthdp.release import registry
from synthdp.report import workload_error
from synthdp.schema import Schema

PROBLEMS = ("tree", "loops", "random-0.1", "random-1", "random-10")
OURS = tuple(
    name for name in registry.ENGINES if name not in ("auto", "direct")
)  # one of the others; too many cells
ENGINES = (*OURS, "public-data", "mbi", "mbi-to-gap")
SIGMA, DELTA, MBI_GAP, LOOPS_SEED, RANDOM_SEED = 50.0, 1e-9, 1e-3, 3, 0
RESULTS = FOLDER / "engines.csv"
KEY, NUMBERS = (
    ("problem", "engine", "seed"),
    ("seconds", "cpu s", "loss", "tvd", "peak MB", "start MB"),
)

Answer = Callable[[Clique], NDArray[np.float64]]
Fit = Callable[[Domain, Sequence[LinearMeasurement]], Answer]


def main() -> None:
    options = _options()
    if not (options.data / "adult.csv").exists():
        raise SystemExit(f"{options.data} holds no adult.csv; name the folder with --data")
    if options.one:
        print(json.dumps(_one(options.data, *options.one, seed=options.seed, options=options)))
        return
    rows = read_rows(RESULTS, KEY)
    engines = tuple(dict.fromkeys(("exact", *options.engines)))
    seeds = [str(seed) for seed in range(options.seeds)]
    for problem in options.problems:
        for key in ((problem, engine, seed) for seed in seeds for engine in engines):
            if options.fresh or key not in rows:
                rows[key] = _apart(options, *key, target=_exact_loss(rows, problem, key[-1]))
                write_rows(RESULTS, rows.values(), (*KEY, *NUMBERS, "note"))
        _print_table(problem, engines, seeds, rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Every engine on identical measurements of discretised Adult."
    )
    default = Path(__file__).resolve().parents[2] / "shared/data/adult-discretized"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, choices=PROBLEMS)
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=(*ENGINES, "exact"))
    parser.add_argument("--seeds", type=int, default=1, help="number of draws of the noise")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each run")
    parser.add_argument(
        "--exact-limit", type=float, default=900.0, help="seconds for each run of 'exact'"
    )
    parser.add_argument("--fresh", action="store_true", help="run again what is in the results")
    parser.add_argument(
        "--one", nargs=2, metavar=("PROBLEM", "ENGINE"), help="one run in this process, as JSON"
    )
    parser.add_argument("--seed", type=int, default=0, help="with --one: seed of the noise")
    parser.add_argument("--target", type=float, help="with --one: the exact loss, for mbi-to-gap")
    return parser.parse_args()


def _apart(
    options: argparse.Namespace, problem: str, engine: str, seed: str, target: float | None
) -> Row:
    """A run in a process of its own, ended at its limit."""
    limit = options.exact_limit if engine == "exact" else options.limit
    command = [
        sys.executable,
        __file__,
        "--data",
        str(options.data),
        "--one",
        problem,
        engine,
        "--seed",
        seed,
    ]
    command += ["--limit", str(limit), *(["--target", str(target)] if target is not None else [])]
    row: Row = {"problem": problem, "engine": engine, "seed": seed}
    print(f"running {problem} {engine} {seed} ...", file=sys.stderr)
    found = in_a_process(command, wall_seconds=limit, environment=BESIDE_MBI)
    return row | {name: str(value) for name, value in found.items()}


def _one(
    data: Path, problem: str, name: str, *, seed: int, options: argparse.Namespace
) -> dict[str, float | str]:
    """Costs and errors of one engine on one problem."""
    limit_memory()
    table = read_coded(
        data / "adult.csv", Schema.from_dict(json.loads((data / "domain.json").read_text()))
    )
    source, domain = CodedSource(table), table.domain
    cliques, sigma = _problem(source, problem)
    generator = np.random.default_rng([PROBLEMS.index(problem), seed])
    noisy = (
        source.counts(clique) + generator.normal(0, sigma, domain.project(clique).shape)
        for clique in cliques
    )
    measurements = [
        LinearMeasurement(clique, values, sigma)
        for clique, values in zip(cliques, noisy, strict=True)
    ]
    loss = MarginalLoss(domain, measurements)
    row: dict[str, float | str] = {"note": ""}
    fit = _mbi(loss, name, options, row) if name.startswith("mbi") else _ours(name, table)
    row["start MB"] = peak_mb()
    start, start_cpu = time.perf_counter(), time.process_time()
    try:
        answer = fit(domain, measurements)
    except SynthdpError as error:
        return {"note": f"refused: {str(error)[:100]}"}
    costs = {"seconds": time.perf_counter() - start, "cpu s": time.process_time() - start_cpu}
    costs["peak MB"] = peak_mb()
    fitted = loss.of_residual(
        loss.residual(loss.flatten([answer(clique) for clique in loss.cliques]))
    )
    return costs | row | {"loss": fitted, "tvd": workload_error(source.counts, answer, cliques)}


def _problem(source: CodedSource, problem: str) -> tuple[list[Clique], float]:
    """Measured cliques and the noise on each cell."""
    domain = source.domain
    pairs = all_k_way(domain.attributes, 2)
    if problem == "tree":
        graph = networkx.Graph()
        graph.add_weighted_edges_from((*pair, _dependence(source.counts(pair))) for pair in pairs)
        edges = networkx.maximum_spanning_tree(graph).edges
        return [
            *((name,) for name in domain.attributes),
            *(domain.canonical(edge) for edge in edges),
        ], SIGMA
    if problem == "loops":
        chosen: list[Clique] = []
        for i in np.random.default_rng(LOOPS_SEED).permutation(len(pairs)):
            if JunctionTree.covering(domain, [*chosen, pairs[i]]).n_cells() <= 1.2e6:
                chosen.append(pairs[i])
        return chosen[:30], SIGMA
    drawn = np.random.default_rng(RANDOM_SEED).choice(len(pairs), 32, replace=False)
    rho = float(zcdp_rho(epsilon=float(problem.removeprefix("random-")), delta=DELTA))
    return [pairs[i] for i in drawn], (len(drawn) / (2 * rho)) ** 0.5


def _dependence(counts: NDArray[np.int64]) -> float:
    """L1 distance of two attributes from independence, 0 to 2."""
    joint = counts / counts.sum()
    return float(np.abs(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))).sum())


def _ours(name: str, table: CodedTable) -> Fit:
    if name == "exact":
        engine = GraphicalModelEngine(
            driver=MirrorDescent(tolerance=1e-7, window=50, max_iterations=100_000)
        )
    elif name == "public-data":
        engine = PublicDataEngine(
            columns=tuple(column[: len(column) // 2] for column in table.columns)
        )
    else:
        engine = registry.engine_named(name)

    def fit(domain: Domain, measurements: Sequence[LinearMeasurement]) -> Answer:
        model = engine.estimate(domain, measurements)
        return lambda clique: model.marginal(clique).values

    return fit


def _mbi(
    loss: MarginalLoss, name: str, options: argparse.Namespace, row: dict[str, float | str]
) -> Fit:
    warnings.simplefilter("ignore")
    import mbi

    def fit(domain: Domain, measurements: Sequence[LinearMeasurement]) -> Answer:
        iterations, start, last = 0, time.perf_counter(), None

        def look(marginals) -> None:
            nonlocal iterations, last
            iterations, last = iterations + 50, marginals
            tables = [np.asarray(marginals.project(clique).values) for clique in loss.cliques]
            gap = (
                loss.of_residual(loss.residual(loss.flatten(tables))) / (options.target or np.nan)
                - 1
            )
            if gap <= MBI_GAP or time.perf_counter() - start > options.limit - 10:
                row["note"] = (
                    f"{'stopped' if not gap <= MBI_GAP else 'there'} after {iterations} iterations"
                )
                raise StopIteration

        theirs = [mbi.LinearMeasurement(m.values.ravel(), m.clique, m.stddev) for m in measurements]
        rest = {"iters": 1000} if name == "mbi" else {"iters": 10**9, "callback_fn": look}
        rest["known_total"] = estimate_total(measurements)
        with suppress(StopIteration):
            last = mbi.estimation.MirrorDescent().estimate(
                mbi.Domain(domain.attributes, domain.shape), theirs, **rest
            )
        return lambda clique: np.asarray(last.project(clique).values)

    return fit


def _exact_loss(rows: Rows, problem: str, seed: str) -> float | None:
    """The lowest loss that a graphical model reached."""
    losses = [
        rows.get((problem, engine, seed), {}).get("loss") for engine in ("exact", "graphical-model")
    ]
    return min((float(loss) for loss in losses if loss), default=None)


def _print_table(problem: str, engines: Sequence[str], seeds: Sequence[str], rows: Rows) -> None:
    print(f"\n{problem}: mean of the {len(seeds)} seed(s) that ended")
    print(f"{'engine':<19}", *(f"{column:>10}" for column in ("gap", *NUMBERS)), " notes")
    for engine in engines:
        mine = [rows[problem, engine, seed] for seed in seeds]
        ended = [row for row in mine if row.get("loss")]
        values = [[float(row[name]) for name in NUMBERS] for row in ended]
        gaps = [
            float(row["loss"]) / best - 1
            for row in ended
            if (best := _exact_loss(rows, problem, row["seed"]))
        ]
        cells = [f"{np.mean(gaps):.2g}" if gaps else "-"]
        cells += (
            [f"{mean:.4g}" for mean in np.mean(values, axis=0)] if values else ["-"] * len(NUMBERS)
        )
        notes = "; ".join(dict.fromkeys(row["note"] for row in mine if row.get("note")))
        label = engine + " (half)" * (engine == "public-data")
        print(f"{label:<19}", *(f"{cell:>10}" for cell in cells), f" {notes}", flush=True)


if __name__ == "__main__":
    main()
