"""Whether quality that is measured under the budget is right, and what measuring it takes.

Run ``python benchmarks/quality.py --data DIR``, alone on the machine. `DIR` holds
``adult-discretized``, ``nltcs`` and ``titanic`` (each a CSV file and Private-PGM's domain.json);
made-up tables need nothing. Each table is released several times at each epsilon, and the errors
that each release states are held against the true ones of the very table that it names.

"within" is the share of stated errors that lie within two of their stated standard deviations of
the true one (95.4 % are expected), over means of columns, pairs and triples, single columns and the
worst pair; "z" the root mean square of their scores (1 is expected). "pairs" and "triples" are mean
true errors, "sd" what the release states beside that of pairs; "cpu" the CPU seconds of a release
and its table without quality, "more" what share of them measuring takes.
"""

import argparse
import json
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from common.made_up import groups, schema_of, survey, wide

import synthdp

PUBLIC = {
    "adult": "adult-discretized/adult.csv",
    "nltcs": "nltcs/nltcs.csv",
    "titanic": "titanic/titanic.csv",
}
MADE = {
    "wide": lambda: wide(20, 60_000, 1)[0],
    "groups": lambda: groups(20, 100_000, 2)[0],
    "survey": lambda: survey(3)[0],
}
RHO_OF_ERRORS = ("columns", "pairs", "triples")


def main() -> None:
    """Measure, and print a line for each table and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="where the public tables are")
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.3, 1.0, 10.0])
    parser.add_argument("--releases", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=[*PUBLIC, *MADE], default=[*PUBLIC, *MADE])
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # cautions of small budgets, for each release
    names = ("table", "epsilon", "within", "z", "n", "pairs", "triples", "sd", "cpu", "more")
    print(*names, sep="\t")
    for name in options.only:
        if name in PUBLIC and options.data is None:
            continue
        frame, schema = _table(name, options.data)
        for epsilon in options.epsilons:
            _print(name, epsilon, frame, schema, options.releases)


def _table(name: str, data: Path | None) -> tuple[pd.DataFrame, object]:
    """A table of texts, and its schema."""
    if name in MADE:
        table = MADE[name]()
        frame = pd.DataFrame(dict(zip(table.domain.attributes, table.columns, strict=True)))
        return frame.astype(str), schema_of(table.domain)
    file = data / PUBLIC[name]
    domain = json.loads(file.with_name("domain.json").read_text())
    return pd.read_csv(file, dtype=str, keep_default_na=False)[list(domain)], domain


def _print(name: str, epsilon: float, frame: pd.DataFrame, schema: object, n: int) -> None:
    """Release a table n times, and print how its stated errors and the true ones compare."""
    scores, pairs, triples, stated, cpu, cpu_without = [], [], [], [], [], []
    budget = {"epsilon": epsilon, "delta": 1e-9}
    for number in range(n + 1):
        start = time.process_time()
        synthdp.synthesize(frame, schema, **budget, quality_share=0).sample(seed=0)
        middle = time.process_time()
        synthesis = synthdp.synthesize(frame, schema, **budget)
        synthesis.sample(seed=0)
        if number:  # the first one compiles kernels
            cpu_without.append(middle - start)
            cpu.append(time.process_time() - middle)
        if synthesis.quality is None:
            continue
        found, of_pairs, of_triples = _scores(synthesis, frame)
        scores += found
        pairs.append(of_pairs)
        triples.append(of_triples)
        stated.append(synthesis.quality["pairs"]["stddev"])
    z = np.array(scores)
    more = np.mean(cpu) / np.mean(cpu_without) - 1
    print(
        name,
        f"{epsilon:g}",
        f"{100 * np.mean(np.abs(z) <= 2):.1f} %" if z.size else "hidden",
        f"{np.sqrt(np.mean(z**2)):.2f}" if z.size else "",
        z.size,
        *(f"{np.mean(each):.4f}" if each else "" for each in (pairs, triples, stated)),
        f"{np.mean(cpu_without):.2f}",
        f"{100 * more:.0f} %",
        sep="\t",
        flush=True,
    )


def _scores(synthesis: synthdp.Synthesis, frame: pd.DataFrame) -> tuple[list[float], float, float]:
    """Stated errors minus true ones in standard deviations; and the true means over pairs and
    triples.
    """
    quality = synthesis.quality
    drawn = synthesis.sample(**quality["table"])
    schema = synthesis.schema
    real, made = (
        {name: np.asarray(schema[name].encode(table[name]), np.int64) for name in frame}
        for table in (frame, drawn)
    )
    sizes = dict(zip(schema.domain.attributes, schema.domain.shape, strict=True))

    def distance(clique: tuple[str, ...]) -> float:
        shape = [sizes[name] for name in clique]
        shares = []
        for codes in (real, made):
            cells = np.ravel_multi_index([codes[name] for name in clique], shape)
            shares.append(np.bincount(cells, minlength=int(np.prod(shape))) / len(cells))
        return 0.5 * float(np.abs(shares[0] - shares[1]).sum())

    means = {
        kind: float(np.mean([distance(each) for each in combinations(frame, k)]))
        for k, kind in enumerate(RHO_OF_ERRORS, start=1)
        if quality[kind].get("n_marginals") == quality[kind].get("n_all")
    }
    compared = [(quality[kind], mean) for kind, mean in means.items()]
    each = quality["columns"]["each"]
    compared += [(measured, distance((name,))) for name, measured in each.items()]
    worst = quality["worst_pair"]
    compared.append((worst, distance(tuple(worst["columns"]))))
    # A stated error is cut off at 0: where the true one is nearly 0, half of the scores are smaller.
    scores = [(stated["error"] - true) / stated["stddev"] for stated, true in compared]
    return scores, means["pairs"], means.get("triples", float("nan"))


if __name__ == "__main__":
    main()
