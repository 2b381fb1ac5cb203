"""Rows against the model that they are drawn from, and what drawing costs, beside another checkout.

Run ``python benchmarks/rows.py --data DIR [--against CHECKOUT]``, alone on the machine. `DIR` holds
``adult`` (raw), ``adult-discretized``, ``nltcs`` and ``titanic`` (each of these a CSV file and
Private-PGM's domain.json); made-up tables need nothing. ``--more FOLDER ...`` names folders of
further such tables, ``FOLDER/FOLDER.csv`` beside its domain.json. ``CHECKOUT`` is another checkout
with its own ``.venv``, such as the commit before a change. Each table is released once for each
epsilon; the saved release is then drawn from by both, several seeds each.

"mt" and "worst" are total variation distances of the rows from the model's own tables; "2-way" and
"3-way" those from the truth, means over all pairs and up to 200 triples; "spearman" the largest
difference of rank correlation from the model's among the three strongest pairs; "contradict" how
many times as many rows as in the model are off in pairs of columns that determine each other (nan
without such pairs); "cpu" are CPU seconds of drawing as many rows as the table has, "few" of five,
both with kernels compiled, "release" those of the release that was drawn from.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from common.made_up import groups, schema_of, wide

import synthdp

PUBLIC = {
    "raw-adult": "adult/adult.csv",
    "adult": "adult-discretized/adult.csv",
    "nltcs": "nltcs/nltcs.csv",
    "titanic": "titanic/titanic.csv",
}
MADE = {"wide": (wide, 20, 60_000, 1), "groups": (groups, 20, 100_000, 2)}
FIGURES = ("release", "cpu", "few", "mt", "worst", "2-way", "3-way", "spearman", "contradict")

DRAWN = """
import json, sys, time
import numpy as np, pandas as pd, synthdp
from itertools import combinations

file, truth, seeds = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
synthesis = synthdp.load(file)
model = synthesis.model
real = np.load(truth)
names, shape = model.domain.attributes, model.domain.shape
n_rows = real.shape[1]


def shares(codes, clique):
    axes = [names.index(name) for name in clique]
    sizes = [shape[axis] for axis in axes]
    cells = np.ravel_multi_index([np.asarray(codes[axis], np.int64) for axis in axes], sizes)
    return np.bincount(cells, minlength=int(np.prod(sizes))).reshape(sizes) / len(codes[0])


def apart(one, other):
    return 0.5 * float(np.abs(one - other).sum())


def spearman(table):
    table = table / table.sum()
    ranks = []
    for axis in (0, 1):
        way = table.sum(axis=1 - axis)
        rank = np.cumsum(way) - way / 2
        ranks.append((rank - rank @ way) / np.sqrt(max(way @ (rank - rank @ way) ** 2, 1e-300)))
    return float(ranks[0] @ table @ ranks[1])


pairs = list(combinations(names, 2))
triples = list(combinations(names, 3))
triples = [triples[i] for i in np.random.default_rng(0).permutation(len(triples))[:200]]
measured = [m.clique for m in synthesis.measurements if m.clique]
tables = {c: t.values / t.values.sum() for c, t in zip(measured, model.marginals(measured))}
known = [pair for pair in pairs if any(set(pair) <= set(clique) for clique in measured)]
rank = dict(zip(known, (spearman(t.values) for t in model.marginals(known))))
strongest = sorted(rank, key=lambda pair: -abs(rank[pair]))[:3]
exact = {pair: shares(real, pair) > 0 for pair in known}
exact = {
    pair: cells
    for pair, cells in exact.items()
    if max(cells.sum(axis=0).max(), cells.sum(axis=1).max()) == 1
}
impossible = {pair: model.marginal(pair).values[~cells].sum() for pair, cells in exact.items()}
impossible = sum(impossible.values()) / model.total
model.sample(1000, seed=0)
for seed in seeds:
    start = time.process_time()
    model.sample(5, seed=seed)
    few = time.process_time() - start
    start = time.process_time()
    codes = model.sample(n_rows, seed=seed)
    cpu = time.process_time() - start
    off = [apart(shares(codes, clique), table) for clique, table in tables.items()]
    print(json.dumps({
        "cpu": cpu, "few": few, "mt": np.mean(off), "worst": max(off),
        "2-way": np.mean([apart(shares(codes, c), shares(real, c)) for c in pairs]),
        "3-way": np.mean([apart(shares(codes, c), shares(real, c)) for c in triples]),
        "contradict": sum(
            shares(codes, pair)[~cells].sum() for pair, cells in exact.items()
        ) / impossible if impossible else float("nan"),
        "spearman": max(abs(spearman(shares(codes, c)) - rank[c]) for c in strongest),
    }))
"""


def main() -> None:
    """Measure, and print a line for each table, epsilon and checkout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="where the public tables are")
    parser.add_argument("--against", type=Path, help="another checkout, with its own .venv")
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=[*PUBLIC, *MADE], default=[*PUBLIC, *MADE])
    parser.add_argument("--more", type=Path, nargs="+", default=[], help="folders of other tables")
    options = parser.parse_args()
    pythons = {"here": sys.executable}
    if options.against is not None:
        pythons["there"] = str(options.against.absolute() / ".venv/bin/python")
    print("table", "epsilon", "code", *FIGURES, sep="\t")
    with tempfile.TemporaryDirectory() as folder:
        tables = _tables(options.data, options.only)
        tables |= {folder.name: _coded(folder / f"{folder.name}.csv") for folder in options.more}
        for frame, schema in [*tables.values()][:1]:  # what is compiled, is compiled now
            synthdp.synthesize(frame, schema, epsilon=1.0, delta=1e-9)
        for name, (frame, schema) in tables.items():
            for epsilon in options.epsilons:
                start = time.process_time()
                synthesis = synthdp.synthesize(frame, schema, epsilon=epsilon, delta=1e-9)
                release = {"release": time.process_time() - start}
                file, truth = Path(folder) / "release.synthdp", Path(folder) / "truth.npy"
                file.unlink(missing_ok=True)
                synthesis.save(str(file))
                np.save(truth, np.array([synthesis.schema[c].encode(frame[c]) for c in frame]))
                for code, python in pythons.items():
                    drawn = _drawn(python, file, truth, options.seeds)
                    _print(name, epsilon, code, [release | row for row in drawn])


def _tables(data: Path | None, only: list[str]) -> dict[str, tuple[pd.DataFrame, object]]:
    tables: dict[str, tuple[pd.DataFrame, object]] = {}
    for name, file in PUBLIC.items():
        if data is None or name not in only:
            continue
        if name == "raw-adult":
            frame = pd.read_csv(data / file, dtype=str, keep_default_na=False)
            tables[name] = frame, str(Path(__file__).parent / "schemas/adult.json")
        else:
            tables[name] = _coded(data / file)
    for name, (make, n_columns, n_rows, seed) in MADE.items():
        if name not in only:
            continue
        table, _ = make(n_columns, n_rows, seed)
        frame = pd.DataFrame(dict(zip(table.domain.attributes, table.columns, strict=True)))
        tables[name] = frame.astype(str), schema_of(table.domain)
    return tables


def _coded(file: Path) -> tuple[pd.DataFrame, object]:
    frame = pd.read_csv(file, dtype=str, keep_default_na=False)
    domain = json.loads(file.with_name("domain.json").read_text())
    return frame[list(domain)], domain


def _drawn(python: str, file: Path, truth: Path, n_seeds: int) -> list[dict[str, float]]:
    seeds = json.dumps(list(range(1, n_seeds + 1)))
    command = [python, "-c", DRAWN, str(file), str(truth), seeds]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd="/")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _print(name: str, epsilon: float, code: str, rows: list[dict[str, float]]) -> None:
    means = (np.mean([row[figure] for row in rows]) for figure in FIGURES)
    print(name, f"{epsilon:g}", code, *(f"{mean:.4f}" for mean in means), sep="\t", flush=True)


if __name__ == "__main__":
    main()
