"""What an earlier release is worth to the next one: six waves of a table, each with ``prior=`` the
one before, against six separate releases of the same yearly budget.

Run ``python benchmarks/waves.py --tables FOLDER ...`` from the repository root after installing the
package; each ``FOLDER`` has a table of codes (one ``.csv``) and its sizes (``domain.json``), such as
discretised Adult or NLTCS.

A wave is half of its records, 24,000 at most. From year to year a share of them leaves and others come, and
change is planted: in some columns the values of a share of the records are replaced, anew each year,
by ones that depend on another column.

- ``little``: 3 % leave, and 5 % of the values of 2 columns are replaced;
- ``half``: 10 % leave, and 20 % of 7 columns are replaced;
- ``all``: every record leaves, and 30 % of all columns are replaced.

Printed are means over waves 2 to 6 and the runs, of separate releases, with ``prior``, and the change:

- ``pairs``, ``triples``: total variation distance of rows from the records, over all pairs and 100
  triples of columns; ``still``: over the pairs in which nothing was planted; ``last``: over all
  pairs, in wave 6 only;
- ``model``: of what the model says of all pairs, which rows only approach;
- ``seconds``: processor seconds of a release.

Printed with ``--bound`` is what the pairs of waves 2 to 6 would gain if nothing moved and a release had
the budgets of all years so far: no way to use earlier releases can be far better.

``covered`` is the share of cells of columns and of 20 pairs whose change from the wave before lies
within the limits of ``difference`` at 95 %, over all waves with ``prior``, and how many cells rest on
measurements.
"""

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import synthdp

DELTA = 1e-9
N_WAVES, MOST_ROWS = 6, 24_000
CHANGES = {"little": (0.03, 2, 0.05), "half": (0.1, 7, 0.2), "all": (1.0, None, 0.3)}
"""Of each setting the share of records that leave, how many columns change (None for all), and in how
many records.
"""


def main() -> None:
    options = _options()
    warnings.simplefilter("ignore", synthdp.CautionWarning)
    for folder, epsilon, setting in itertools.product(
        options.tables, options.epsilon, options.settings
    ):
        sizes = json.loads((folder / "domain.json").read_text())
        (file,) = folder.glob("*.csv")
        pool = pd.read_csv(file)[list(sizes)]
        run = partial(_run, pool, sizes, setting, epsilon, options.bound)
        with ProcessPoolExecutor(options.jobs) as executor:
            runs = list(executor.map(run, range(options.runs)))
        print(
            f"{folder.name}: {setting} moved, epsilon {epsilon:g} a year, "
            f"{options.runs} runs of {N_WAVES} waves"
        )
        for name in ("pairs", "still", "triples", "last", "model", "seconds"):
            alone, with_prior = (np.mean([each[way][name] for each in runs]) for way in (0, 1))
            change = with_prior / alone - 1.0
            changes = [each[1][name] / each[0][name] - 1.0 for each in runs]
            print(
                f"  {name:8} {alone:8.4f} {with_prior:8.4f} {change:+7.1%}"
                f"  ({min(changes):+.1%} to {max(changes):+.1%})"
            )
        if options.bound:
            bounds = [each[2]["pooled"] / each[2]["alone"] - 1.0 for each in runs]
            print(f"  bound of pairs {np.mean(bounds):+.1%}")
        covered = np.concatenate([each[2]["covered"] for each in runs])
        measured = np.concatenate([each[2]["measured"] for each in runs])
        print(
            f"  covered  {covered.mean():.4f} of {covered.size} changes of cells over "
            f"{options.runs * (N_WAVES - 1)} releases; {measured.mean():.0%} rest on measurements, "
            f"of which {covered[measured].mean():.4f}",
            flush=True,
        )


def waves(
    pool: pd.DataFrame, setting: str, seed: int
) -> tuple[list[pd.DataFrame], list[tuple[str, str]]]:
    """The tables of all years, and the pairs of columns in which nothing is planted."""
    leaving, n_moved, share = CHANGES[setting]
    chance = np.random.default_rng(seed)
    n_rows = min(MOST_ROWS, len(pool) // 2)
    n_moved = len(pool.columns) if n_moved is None else n_moved
    moved = sorted(chance.choice(pool.columns, n_moved, replace=False))
    order = chance.permutation(len(pool))
    inside, outside = order[:n_rows], order[n_rows:]
    tables = []
    for year in range(N_WAVES):
        if year:
            n_new = round(leaving * n_rows)
            n_new = min(n_new, outside.size)
            go = chance.choice(n_rows, n_new, replace=False)
            come = chance.choice(outside.size, n_new, replace=False)
            inside[go], outside[come] = outside[come], inside[go].copy()
        table = pool.iloc[inside].reset_index(drop=True)
        drawn = table.copy()
        for name in moved:
            parent = chance.choice([other for other in pool.columns if other != name])
            target = chance.choice(pool[name].to_numpy(), int(pool[parent].max()) + 1)
            is_moved = chance.random(n_rows) < share
            drawn.loc[is_moved, name] = target[table.loc[is_moved, parent].to_numpy()]
        tables.append(drawn)
    still = [pair for pair in itertools.combinations(pool.columns, 2) if not set(pair) & set(moved)]
    return tables, still


def _run(
    pool: pd.DataFrame,
    sizes: dict[str, int],
    setting: str,
    epsilon: float,
    with_bound: bool,
    seed: int,
) -> tuple[dict[str, float], dict[str, float], dict[str, Any]]:
    warnings.simplefilter("ignore", synthdp.CautionWarning)
    tables, still = waves(pool, setting, seed)
    chance = np.random.default_rng(seed)
    pairs = list(itertools.combinations(sizes, 2))
    triples = list(itertools.combinations(sizes, 3))
    triples = [triples[i] for i in chance.permutation(len(triples))[:100]]
    asked = [*((name,) for name in sizes), *(pairs[i] for i in chance.choice(len(pairs), 20))]
    figures: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
    covered, measured = [], []
    before = None
    for year, table in enumerate(tables):
        ways = (None,) if before is None else (None, before)
        for way, prior in enumerate(ways):
            began = time.process_time()
            release = synthdp.synthesize(
                table, sizes, epsilon=epsilon, delta=DELTA, prior=prior, quality_share=0.0
            )
            seconds = time.process_time() - began
            if year == 0:
                continue
            rows = release.sample(len(table), seed=seed)
            distances = {pair: _distance(rows, table, pair, sizes) for pair in pairs}
            figures[way].append(
                {
                    "pairs": float(np.mean(list(distances.values()))),
                    "still": float(np.mean([distances[pair] for pair in still or pairs])),
                    "triples": float(np.mean([_distance(rows, table, t, sizes) for t in triples])),
                    "model": _model_error(release, table, pairs, sizes),
                    "seconds": seconds,
                }
            )
        if before is not None:
            for names in asked:
                change = _counts(table, names, sizes) - _counts(tables[year - 1], names, sizes)
                limits = release.difference(before, names, interval=0.95)
                is_in = (limits["low"] <= change) & (change <= limits["high"])
                covered.append(is_in.to_numpy())
                measured.append((limits["basis"] == "measured").to_numpy())
        before = release
    alone, chained = (_means(each) for each in figures)
    trends: dict[str, Any] = {
        "covered": np.concatenate(covered),
        "measured": np.concatenate(measured),
    }
    if with_bound:
        # zCDP composes: k budgets are one of epsilon sqrt(k), all but exactly.
        errors = []
        for n_budgets in range(1, N_WAVES + 1):
            release = synthdp.synthesize(
                tables[-1],
                sizes,
                epsilon=epsilon * n_budgets**0.5,
                delta=DELTA,
                quality_share=0.0,
            )
            rows = release.sample(len(tables[-1]), seed=seed)
            errors.append(np.mean([_distance(rows, tables[-1], pair, sizes) for pair in pairs]))
        trends |= {"alone": errors[0], "pooled": np.mean(errors[1:])}
    return alone, chained, trends


def _means(years: Sequence[dict[str, float]]) -> dict[str, float]:
    means = {name: float(np.mean([year[name] for year in years])) for name in years[0]}
    return means | {"last": years[-1]["pairs"]}


def _counts(table: pd.DataFrame, names: Sequence[str], sizes: dict[str, int]) -> np.ndarray:
    shape = [sizes[name] for name in names]
    codes = np.ravel_multi_index([table[name].to_numpy().astype(int) for name in names], shape)
    return np.bincount(codes, minlength=int(np.prod(shape)))


def _distance(
    rows: pd.DataFrame, table: pd.DataFrame, names: Sequence[str], sizes: dict[str, int]
) -> float:
    drawn, truth = (_counts(each, names, sizes) / len(each) for each in (rows, table))
    return float(np.abs(drawn - truth).sum() / 2.0)


def _model_error(
    release: synthdp.Synthesis,
    table: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    sizes: dict[str, int],
) -> float:
    said = release.model.marginals(pairs)
    errors = [
        np.abs(each.values.ravel() / each.values.sum() - _counts(table, pair, sizes) / len(table))
        for pair, each in zip(pairs, said, strict=True)
    ]
    return float(np.mean([error.sum() / 2.0 for error in errors]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tables", type=Path, nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3, 1.0])
    parser.add_argument("--settings", nargs="+", choices=CHANGES, default=list(CHANGES))
    parser.add_argument("--bound", action="store_true")
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
