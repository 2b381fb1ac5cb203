"""Whether quality that is measured under the budget is right, and what measuring it takes.

Run ``python benchmarks/quality.py --data DIR``, alone on the machine. `DIR` holds
``adult-discretized``, ``nltcs`` and ``titanic`` (each a CSV file and Private-PGM's domain.json);
made-up tables need nothing. Each table is released several times at each epsilon, and the errors
that each release states are held against the true ones of the very table that it names.

"within" is the share of stated errors that lie within two of their stated standard deviations of
the true one (95.4 % are expected), over means of columns, pairs and triples, single columns and the
worst pair; "false" how often an error would be accepted by a limit just below the true one (at most
2.3 % is stated); "z" the root mean square of their scores (1 is expected). "pairs" and "triples" are mean
true errors, "sd" what the release states beside that of pairs; "cpu" the CPU seconds of a release
and its table without quality, "more" what share of them measuring takes. With ``--predict`` "auc" is
the share of stated areas and accuracies that lie within two standard deviations.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from common.made_up import groups, schema_of, survey, wide

import synthdp
from synthdp.data import CodedTable
from synthdp.release import Predictor, sampled_sets

PUBLIC = {
    "adult": "adult-discretized/adult.csv",
    "nltcs": "nltcs/nltcs.csv",
    "titanic": "titanic/titanic.csv",
}
TARGETS = {"adult": "income>50K", "nltcs": "managing money", "titanic": "Survived"}
MADE = {
    "wide": lambda: wide(20, 60_000, 1)[0],
    "groups": lambda: groups(20, 100_000, 2)[0],
    "survey": lambda: survey(3)[0],
    "many": lambda: wide(500, 20_000, 4)[0],
}


def main() -> None:
    """Measure, and print a line for each table and epsilon."""
    parser = parser_of(__doc__, releases=20)
    parser.add_argument("--mechanism", default="auto")
    parser.add_argument(
        "--predict", action="store_true", help="measure predictions, of public tables"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # cautions of small budgets, for each release
    names = (
        "table",
        "epsilon",
        "within",
        "false",
        "z",
        "n",
        "pairs",
        "triples",
        "sd",
        "cpu",
        "more",
        "auc",
    )
    print(*names, sep="\t")
    for name, frame, schema in tables_of(options):
        for epsilon in options.epsilons:
            _print(name, epsilon, frame, schema, options)


def parser_of(about: str, *, releases: int) -> argparse.ArgumentParser:
    """What benchmarks that release these tables several times are told."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--data", type=Path, help="where the public tables are")
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.3, 1.0, 10.0])
    parser.add_argument("--releases", type=int, default=releases)
    parser.add_argument("--only", nargs="+", choices=[*PUBLIC, *MADE], default=[*PUBLIC, *MADE])
    return parser


def tables_of(options: argparse.Namespace) -> Iterator[tuple[str, pd.DataFrame, object]]:
    """The tables that were chosen, with their names and schemas; without data only made-up ones."""
    for name in options.only:
        if name in MADE or options.data is not None:
            yield name, *_read_table(name, options.data)


def _read_table(name: str, data: Path | None) -> tuple[pd.DataFrame, object]:
    """A table of texts, and its schema."""
    if name in MADE:
        table = MADE[name]()
        frame = pd.DataFrame(dict(zip(table.domain.attributes, table.columns, strict=True)))
        return frame.astype(str), schema_of(table.domain)
    file = data / PUBLIC[name]
    domain = json.loads(file.with_name("domain.json").read_text())
    return pd.read_csv(file, dtype=str, keep_default_na=False)[list(domain)], domain


def _print(
    name: str, epsilon: float, frame: pd.DataFrame, schema: object, options: argparse.Namespace
) -> None:
    """Release a table several times, and print how its stated errors and the true ones compare."""
    scores, predicted, pairs, triples, stated, cpu, cpu_without = [], [], [], [], [], [], []
    budget = {"epsilon": epsilon, "delta": 1e-9, "mechanism": options.mechanism}
    if options.predict:
        budget["target"] = TARGETS.get(name)
    for number in range(options.releases + 1):
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
        predicted += _prediction_scores(synthesis, frame)
        pairs.append(of_pairs)
        triples.append(of_triples)
        stated.append(synthesis.quality["pairs"]["stddev"])
    z = np.array(scores)
    more = np.mean(cpu) / np.mean(cpu_without) - 1
    print(
        name,
        f"{epsilon:g}",
        f"{100 * np.mean(np.abs(z) <= 2):.1f} %" if z.size else "hidden",
        f"{100 * np.mean(z < -2):.1f} %" if z.size else "",
        f"{np.sqrt(np.mean(z**2)):.2f}" if z.size else "",
        z.size,
        *(f"{np.mean(each):.4f}" if each else "" for each in (pairs, triples, stated)),
        f"{np.mean(cpu_without):.2f}",
        f"{100 * more:.0f} %",
        f"{100 * np.mean(np.abs(predicted) <= 2):.1f} % of {len(predicted)}" if predicted else "",
        sep="\t",
        flush=True,
    )


def _scores(synthesis: synthdp.Synthesis, frame: pd.DataFrame) -> tuple[list[float], float, float]:
    """Stated errors minus true ones in standard deviations; and the true means over the pairs and
    triples that were measured.
    """
    quality, schema = synthesis.quality, synthesis.schema
    drawn = synthesis.sample(**quality["table"])
    sets, _ = sampled_sets(schema.domain)
    errors = {
        kind: dict(zip(cliques, distances(schema, frame, drawn, cliques), strict=True))
        for kind, cliques in sets.items()
    }
    means = {kind: float(np.mean([*each.values()])) for kind, each in errors.items() if each}
    compared = [(quality[kind], mean) for kind, mean in means.items()]
    each = quality["columns"]["each"]
    compared += [(measured, errors["columns"][name,]) for name, measured in each.items()]
    worst = quality["worst_pair"]
    compared.append((worst, errors["pairs"][tuple(worst["columns"])]))
    # A stated error is cut off at 0: where the true one is nearly 0, half of the scores are smaller.
    scores = [(stated["error"] - true) / stated["stddev"] for stated, true in compared]
    return scores, means["pairs"], means.get("triples", float("nan"))


def _prediction_scores(synthesis: synthdp.Synthesis, frame: pd.DataFrame) -> list[float]:
    """Stated area and accuracy minus those of the records themselves, in standard deviations; nothing
    if none was measured.
    """
    said, schema = synthesis.quality.get("prediction", {}), synthesis.schema
    if "auc" not in said:
        return []
    real, made = (
        tuple(np.asarray(schema[name].encode(table[name]), np.int64) for name in schema.names)
        for table in (frame, synthesis.sample(**synthesis.quality["table"]))
    )
    predictor = Predictor.fitted(schema, made, said["target"], counted=schema.domain)
    records = CodedTable(schema.domain, real)
    bins, labels = (each.codes(records) for each in (predictor.score, predictor.label))
    counts = np.zeros((len(predictor.chances), 3))
    np.add.at(counts, (bins, labels), 1)
    true = predictor.stated(counts, 0.0)
    return [
        (said[name]["value"] - true[name]["value"]) / said[name]["stddev"]
        for name in ("auc", "accuracy")
    ]


def distances(
    schema: synthdp.Schema,
    real: pd.DataFrame,
    made: pd.DataFrame,
    cliques: Sequence[tuple[str, ...]],
) -> list[float]:
    """True total variation distances of some marginals, counted without anything of synthdp's but
    how values become codes.
    """
    sizes = dict(zip(schema.domain.attributes, schema.domain.shape, strict=True))
    codes = [
        {name: np.asarray(schema[name].encode(table[name]), np.int64) for name in real}
        for table in (real, made)
    ]
    found = []
    for clique in cliques:
        shape = [sizes[name] for name in clique]
        shares = []
        for columns in codes:
            cells = np.ravel_multi_index([columns[name] for name in clique], shape)
            shares.append(np.bincount(cells, minlength=int(np.prod(shape))) / len(cells))
        found.append(0.5 * float(np.abs(shares[0] - shares[1]).sum()))
    return found


if __name__ == "__main__":
    main()
