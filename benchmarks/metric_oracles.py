"""Our metrics against those of sdmetrics and of NIST's sdnist, on the same two tables.

Neither installs beside pandas 3, so they stand in an environment of their own::

    python3 -m venv build/oracles && build/oracles/bin/pip install sdmetrics sdnist
    python benchmarks/metric_oracles.py --oracles build/oracles/bin/python

The tables are the sample in ``data/``, which is made up, and one that ``mst`` made of it at epsilon
1. Both are written to CSV; `synthdp.evaluate` is asked here, the oracles there, and the largest
difference of each metric is printed, with what it is compared with. "k-marginal" is NIST's score of
all pairs, of level codes.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path

import pandas as pd

DATA = Path(__file__).resolve().parents[1] / "data"
SCHEMA = DATA / "census.schema.json"
NUMBERS = ("age", "hours", "income")
LEVELS = (
    "region",
    "district",
    "sex",
    "marital",
    "born_abroad",
    "education",
    "status",
    "occupation",
)
MISSING = "(missing)"
"""The oracles leave missing levels out; here they are a level like others."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Our metrics against sdmetrics and sdnist.")
    parser.add_argument(
        "--oracles", type=Path, help="python of an environment with sdmetrics and sdnist"
    )
    parser.add_argument("--rows", type=int, default=5000, help="rows of the sample")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(_theirs(options.worker)))
        return
    if options.oracles is None:
        parser.error(
            "--oracles is missing; name the python of an environment with sdmetrics and sdnist"
        )
    with tempfile.TemporaryDirectory() as folder:
        ours = _ours(Path(folder), options.rows)
        command = [str(options.oracles), __file__, "--worker", folder]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    print(f"{'oracle':42} {'compared':>8} {'largest difference':>19}  values")
    for metric, found in theirs.items():
        differences = [abs(value - ours[metric][name]) for name, value in found.items()]
        span = f"{min(found.values()):.4f} to {max(found.values()):.4f}"
        print(f"{metric:42} {len(found):>8} {max(differences):>19.1e}  {span}")


def _ours(folder: Path, n_rows: int) -> dict[str, dict[str, float]]:
    """Write both tables for the oracles, and say the same of them by synthdp."""
    import synthdp
    from synthdp.report import k_marginal_score

    real = pd.read_csv(DATA / "census.csv", dtype=str, keep_default_na=False, nrows=n_rows)
    schema = synthdp.Schema.load(SCHEMA)
    release = synthdp.synthesize(real, schema, epsilon=1, delta=1e-9, mechanism="mst")
    synthetic = release.sample(n_rows, text=True)
    for name, table in (("real", real), ("synthetic", synthetic)):
        table.to_csv(folder / f"{name}.csv", index=False)
        codes = {column.name: column.encode(table[column.source]) for column in schema.columns}
        pd.DataFrame(codes).to_csv(folder / f"{name}-codes.csv", index=False)
    found = synthdp.evaluate(real, synthetic, schema, targets=[])
    tvd = found.marginals.set_index("columns")["tvd"]
    pairs = found.marginals.loc[found.marginals["k"] == 2, "tvd"]
    ks = found.columns.set_index("column")["ks"]
    tied = found.associations.set_index(["one", "other"])
    return {
        "sdmetrics KSComplement": {name: 1 - ks[name] for name in NUMBERS},
        "sdmetrics TVComplement": {name: 1 - tvd[(name,)] for name in LEVELS},
        "sdmetrics CorrelationSimilarity (Spearman)": {
            f"{one} {other}": 1 - abs(tied.loc[(one, other), "difference"]) / 2
            for one, other in combinations(NUMBERS, 2)
        },
        "sdmetrics ContingencySimilarity": {
            f"{one} {other}": 1 - tvd[(one, other)] for one, other in combinations(LEVELS, 2)
        },
        "sdmetrics QualityReport": {
            " ".join(columns): score
            for columns, score in zip(
                found.similarity["columns"], found.similarity["score"], strict=True
            )
            if set(columns) <= {*NUMBERS, *LEVELS}
        },
        "sdnist KMarginal (pairs)": {"all": k_marginal_score(list(pairs))},
    }


def _theirs(folder: Path) -> dict[str, dict[str, float]]:
    """The oracles on the tables of a folder; runs in their environment, where synthdp is not."""
    import sdnist.report  # noqa: F401 - before its metrics, which import each other in a circle
    from sdmetrics.column_pairs import ContingencySimilarity, CorrelationSimilarity
    from sdmetrics.reports.single_table import QualityReport
    from sdmetrics.single_column import KSComplement, TVComplement
    from sdnist.metrics.kmarginal import KMarginal

    real, synthetic = (
        pd.read_csv(folder / f"{name}.csv", dtype=dict.fromkeys(LEVELS, "str"))
        for name in ("real", "synthetic")
    )
    report = QualityReport()
    kinds = {
        name: "numerical" if name in NUMBERS else "categorical"
        for name in real
        if name in (*NUMBERS, *LEVELS)
    }
    metadata = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}
    report.generate(real[list(kinds)], synthetic[list(kinds)], metadata, verbose=False)
    shapes = report.get_details("Column Shapes").set_index("Column")["Score"]
    trends = report.get_details("Column Pair Trends").dropna(subset="Score")
    pairs = zip(trends["Column 1"], trends["Column 2"], trends["Score"], strict=True)
    scores = shapes.to_dict() | {f"{one} {other}": score for one, other, score in pairs}
    for table in (real, synthetic):
        table[list(LEVELS)] = table[list(LEVELS)].fillna(MISSING)
    codes = [pd.read_csv(folder / f"{name}-codes.csv") for name in ("real", "synthetic")]
    both = {name: (real[name], synthetic[name]) for name in (*NUMBERS, *LEVELS)}
    return {
        "sdmetrics KSComplement": {
            name: float(KSComplement.compute(*both[name])) for name in NUMBERS
        },
        "sdmetrics TVComplement": {
            name: float(TVComplement.compute(*both[name])) for name in LEVELS
        },
        "sdmetrics CorrelationSimilarity (Spearman)": {
            " ".join(pair): float(
                CorrelationSimilarity.compute(
                    real[list(pair)].dropna(),
                    synthetic[list(pair)].dropna(),
                    coefficient="Spearman",
                )
            )
            for pair in combinations(NUMBERS, 2)
        },
        "sdmetrics ContingencySimilarity": {
            " ".join(pair): float(
                ContingencySimilarity.compute(real[list(pair)], synthetic[list(pair)])
            )
            for pair in combinations(LEVELS, 2)
        },
        "sdmetrics QualityReport": {name: float(score) for name, score in scores.items()},
        "sdnist KMarginal (pairs)": {"all": float(KMarginal(*codes).compute_score())},
    }


if __name__ == "__main__":
    sys.exit(main())
