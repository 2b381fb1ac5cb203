"""Engines on random small problems, against the least loss by non-negative least squares over all
cells.

Run ``OMP_NUM_THREADS=1 python benchmarks/inference/random_problems.py`` from the repository root. A
problem is all that its seed makes: up to six attributes (``--cells`` in all) with 1 to 6 levels, a
table of counts from almost empty to even, and noisy marginals: trees, circles or any cliques, with
axes in any order, nested, repeated or empty, one scale of noise each or one a cell, scales up to
``ratio`` apart, and now and then constraints, which the counts may break.

A fit's excess is what its own marginals cost beyond the oracle's distribution, as a share of that
loss and a thousandth of the noise's half a cell: "99 %" and "largest", among fits that are called
optimal and among all others. The oracle's loss can be reached, so that an excess is never one by
mistake; it may be missed where "unsure", as no lower bound shows the loss to be within 1e-4 of the
least. A relaxation may be below it. Ends with 1 if a fit failed, or was called optimal at an excess
above a thousandth. ``--mbi`` fits that many of each ratio's problems with `mbi` too, which knows
neither constraints nor scales for each cell.
"""

import argparse
import os
import sys
import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from synthdp import core
from synthdp.inference import (
    Array,
    DirectEngine,
    Engine,
    GraphicalModelEngine,
    LocalConsistencyEngine,
    PublicDataEngine,
)

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))  # the oracle is that of tests
from oracles.random_problems import corners_of, least_loss

RATIOS = (1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6)
MAX_EXCESS = 1e-3
"""Of a fit that is called optimal."""
CERTAIN = 1e-4
"""What the oracle's own excess may be."""
COLUMNS = (
    "fits",
    "failed",
    "unsure",
    "optimal",
    "99 %",
    "largest",
    "others 99 %",
    "largest",
    "mean ms",
    "max ms",
)


Fit = tuple[bool, float, float]
"""Whether a fit is called optimal, the loss of its marginals, and seconds."""


@dataclass(frozen=True)
class Problem:
    """What is measured, repeats merged too, and what is possible: constraints, cells that obey
    them, public rows.
    """

    seed: int
    domain: core.Domain
    measurements: list[core.LinearMeasurement]
    merged: list[core.LinearMeasurement]
    constraints: list[core.Constraint]
    possible: NDArray[np.bool_]
    public: NDArray[np.bool_]


@dataclass
class Found:
    """Of one engine at one ratio: the excess of each fit, by seed, seconds, and seeds without a
    result.
    """

    optimal: dict[int, float] = field(default_factory=dict)
    others: dict[int, float] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    n_unsure: int = 0


def main() -> None:
    options = _options()
    found: dict[tuple[str, float], Found] = defaultdict(Found)
    for seed in options.seeds or range(options.first, options.first + options.problems):
        ratio = options.ratios[seed % len(options.ratios)]
        problem = random_problem(seed, ratio, options.cells)
        least, least_public = (
            least_loss(corners_of(problem.domain, problem.measurements, rows))
            for rows in (problem.possible, problem.public)
        )
        for name in options.engines:
            oracle = least_public if name == PublicDataEngine.name else least
            _tell(found[name, ratio], problem, partial(_fit, name, problem), oracle)
        is_plain = not problem.constraints and all(
            isinstance(m.stddev, float) for m in problem.measurements
        )
        if options.mbi and is_plain and len(found["mbi", ratio].seconds) < options.mbi:
            _tell(found["mbi", ratio], problem, partial(_mbi, problem), least)
    sys.exit(_print(found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Random small problems against non-negative least squares."
    )
    parser.add_argument("--problems", type=int, default=700)
    parser.add_argument("--first", type=int, default=0, help="seed of the first problem")
    parser.add_argument("--seeds", nargs="+", type=int, help="these problems only")
    parser.add_argument(
        "--ratios", nargs="+", type=float, default=list(RATIOS), help="taken in turn, by the seed"
    )
    parser.add_argument("--cells", type=int, default=400, help="most cells of a domain")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument(
        "--mbi", type=int, default=0, help="problems of each ratio that mbi fits too"
    )
    return parser.parse_args()


def random_problem(seed: int, ratio: float, most_cells: int) -> Problem:
    """The problem of a seed."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, rng.integers(1, 7))
    while np.prod(sizes) > most_cells:
        sizes = np.maximum(1, sizes - (rng.random(len(sizes)) < 0.5))
    domain = core.Domain(tuple("abcdef"[: len(sizes)]), tuple(map(int, sizes)))
    counts = 10 ** rng.uniform(0, 6) * rng.dirichlet(
        np.full(domain.size(), rng.choice([0.01, 0.1, 1.0, 10.0]))
    )
    certain = rng.integers(domain.shape)  # allowed by all constraints
    constraints = [
        _constraint(rng, domain, certain)
        for _ in range(rng.integers(1, 3) if rng.random() < 0.25 else 0)
    ]
    cells = np.indices(domain.shape).reshape(len(domain), -1)
    possible = np.ones(domain.size(), dtype=np.bool_)
    for rule in constraints:
        possible &= rule.allowed[tuple(cells[domain.index(name)] for name in rule.clique)]
    if rng.random() < 0.75:
        counts = counts * possible
    noise = 10 ** rng.uniform(-1, 2)
    measurements = [
        _measured(rng, domain, counts.reshape(domain.shape), clique, noise / _scale(rng, ratio))
        for clique in _cliques(rng, domain)
    ]
    public = possible & (rng.random(domain.size()) < rng.choice([0.5, 1.0]))
    public[np.ravel_multi_index(certain, domain.shape)] = True
    merged = core.combined_measurements(domain, measurements)
    return Problem(seed, domain, measurements, merged, constraints, possible, public)


def _constraint(
    rng: np.random.Generator, domain: core.Domain, certain: NDArray[np.int64]
) -> core.Constraint:
    clique = tuple(map(str, rng.permutation(domain.attributes)[: rng.integers(1, 3)]))
    allowed = rng.random(domain.project(clique).shape) < 0.7
    allowed[tuple(certain[domain.index(name)] for name in clique)] = True
    return core.Constraint(clique, allowed)


def _cliques(rng: np.random.Generator, domain: core.Domain) -> list[core.Clique]:
    """A tree, a circle, or any cliques; with single attributes, parts, repeats, and the empty one."""
    names = list(map(str, rng.permutation(domain.attributes)))
    kind = rng.choice(["tree", "circle", "any"])
    if kind == "tree":
        chosen = [
            (name, *names[max(0, i - int(rng.integers(1, 4))) : i]) for i, name in enumerate(names)
        ]
    elif kind == "circle":
        chosen = [tuple({name, names[i - 1]}) for i, name in enumerate(names)]
    else:
        chosen = [
            tuple(rng.permutation(names)[: rng.integers(0, 5)]) for _ in range(rng.integers(1, 7))
        ]
    if rng.random() < 0.5:
        chosen += [(name,) for name in names if rng.random() < 0.7]
    if rng.random() < 0.5:
        chosen += [
            clique[: rng.integers(0, len(clique) + 1)] for clique in chosen if rng.random() < 0.5
        ]
    return [
        tuple(map(str, rng.permutation(np.array(sorted(clique), dtype=str)))) for clique in chosen
    ]


def _scale(rng: np.random.Generator, ratio: float) -> float:
    """By what the noise of a measurement is smaller: one of two scales, or anything between."""
    return float(ratio ** (rng.random() if rng.random() < 0.25 else rng.integers(0, 2)))


def _measured(
    rng: np.random.Generator, domain: core.Domain, counts: Array, clique: core.Clique, stddev: float
) -> core.LinearMeasurement:
    kept = [name for name in domain.attributes if name in clique]
    dropped = tuple(axis for axis, name in enumerate(domain.attributes) if name not in clique)
    exact = np.transpose(
        np.asarray(counts.sum(axis=dropped)), [kept.index(name) for name in clique]
    )
    scales = (
        stddev * rng.uniform(0.3, 3.0, exact.shape) if rng.random() < 0.15 else np.array(stddev)
    )
    values = exact + scales * rng.normal(size=exact.shape)
    return core.LinearMeasurement(clique, values, scales if scales.ndim else float(stddev))


def _fit(name: str, problem: Problem) -> Fit:
    """A fit; warnings other than that it falls short are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", core.FitWarning)
        start = time.perf_counter()
        engine = ENGINES[name](problem)
        model = engine.estimate(
            problem.domain, problem.measurements, constraints=problem.constraints
        )
        seconds = time.perf_counter() - start
        loss = _loss(problem, [model.marginal(m.clique).values for m in problem.measurements])
    return model.status.ended == "optimal", loss, seconds


def _mbi(problem: Problem) -> Fit:
    """The same of its mirror descent, which does not say how it ended."""
    os.environ |= {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mbi

        start = time.perf_counter()
        model = mbi.estimation.MirrorDescent().estimate(
            mbi.Domain(problem.domain.attributes, problem.domain.shape),
            [
                mbi.LinearMeasurement(m.values.ravel(), m.clique, m.stddev)
                for m in problem.measurements
            ],
            known_total=core.estimate_total(problem.measurements),
            iters=2000,
        )
        tables = [
            np.asarray(model.project(m.clique).values).reshape(m.values.shape)
            for m in problem.measurements
        ]
    return False, _loss(problem, tables), time.perf_counter() - start


def _loss(problem: Problem, tables: Sequence[Array]) -> float:
    """Of the merged measurements: what repeats differ by among themselves is not the fit's."""
    order = problem.domain.index
    by_clique = {
        problem.domain.canonical(m.clique): np.transpose(
            table, np.argsort([order(name) for name in m.clique])
        )
        for m, table in zip(problem.measurements, tables, strict=True)
    }
    return 0.5 * sum(
        float(np.sum(np.square(by_clique[m.clique] - m.values) / m.variance))
        for m in problem.merged
    )


def _tell(
    found: Found, problem: Problem, fit: Callable[[], Fit], least: tuple[float, float]
) -> None:
    """Fit, and note how it went."""
    try:
        is_optimal, loss, seconds = fit()
    except Exception:
        traceback.print_exc()
        found.failed.append(problem.seed)
        return
    found.seconds.append(seconds)
    lowest, bound = least
    unit = lowest + 1e-3 * sum(m.values.size for m in problem.merged) / 2
    found.n_unsure += lowest - bound > CERTAIN * unit
    (found.optimal if is_optimal else found.others)[problem.seed] = (loss - lowest) / unit


def _print(found: dict[tuple[str, float], Found]) -> int:
    """The table and the worst seeds; 1 if something is wrong."""
    print(f"{'engine':<20}{'ratio':>7}", *(f"{column:>11}" for column in COLUMNS))
    for (name, ratio), fits in sorted(found.items()):
        n_fits = len(fits.optimal) + len(fits.others)
        row = [n_fits, len(fits.failed), fits.n_unsure, len(fits.optimal) / max(n_fits, 1)]
        for excess in (fits.optimal, fits.others):
            row += [
                float(np.quantile([*excess.values()], q)) if excess else float("nan")
                for q in (0.99, 1.0)
            ]
        row += [1e3 * summary(fits.seconds or [float("nan")]) for summary in (np.mean, np.max)]
        print(f"{name:<20}{ratio:>7g}", *(f"{number:>11.3g}" for number in row))
    wrong = 0
    for (name, ratio), fits in sorted(found.items()):
        above = {seed: excess for seed, excess in fits.optimal.items() if excess > MAX_EXCESS}
        wrong += len(above) + len(fits.failed)
        for what, seeds in {"called optimal above": above, "others": fits.others}.items():
            worst = [
                f"{seed} ({excess:.2g})"
                for seed, excess in sorted(seeds.items(), key=lambda one: -one[1])[:5]
            ]
            if worst:
                print(f"{name} at {ratio:g}, {what}, seeds:", *worst)
        if fits.failed:
            print(f"{name} at {ratio:g}, failed, seeds:", *fits.failed)
    return int(wrong > 0)


def _public_data(problem: Problem) -> Engine:
    cells = np.indices(problem.domain.shape).reshape(len(problem.domain), -1)
    return PublicDataEngine(columns=tuple(cells[:, problem.public]), max_missed_share=1.0)


ENGINES: dict[str, Callable[[Problem], Engine]] = {
    GraphicalModelEngine.name: lambda _: GraphicalModelEngine(),
    DirectEngine.name: lambda _: DirectEngine(),
    LocalConsistencyEngine.name: lambda _: LocalConsistencyEngine(shrinkage=False),
    PublicDataEngine.name: _public_data,
}


if __name__ == "__main__":
    main()
