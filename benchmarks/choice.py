"""What a private choice among models is worth: releases with it and without, by their true errors.

Run ``python benchmarks/choice.py --data DIR``, alone on the machine; `DIR` holds what
benchmarks/quality.py asks for. Each table is released several times by each mechanism, once without
a choice and once with it. Errors are mean true total variation distances of drawn rows, over pairs
and triples in equal parts: "without" of releases that choose nothing, "default" of the default's
model of releases that choose, which have paid for the choice, and "chosen" of what they took.
"changed" is how many took another model, "wrong" how many of these err more than the default's;
"sd" the noise that is stated on each score, "cpu" seconds without and with a choice.

With ``--choose none`` only "without" is measured, and which model was taken of several mechanisms,
with commas between their names (``--mechanisms auto mst auto,mst``).
"""

import argparse
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from quality import MADE, PUBLIC, distances, read_table

import synthdp

MOST = 400
"""Pairs or triples of which errors are worked out; of more a sample."""


def main() -> None:
    """Measure, and print a line for each table, mechanism and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="where the public tables are")
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.3, 1.0, 10.0])
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--choose", default="standard")
    parser.add_argument(
        "--mechanisms", nargs="+", default=["auto"], help="each with or without :ENGINE"
    )
    parser.add_argument("--only", nargs="+", choices=[*PUBLIC, *MADE], default=[*PUBLIC, *MADE])
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # cautions of small budgets, for each release
    names = ("table", "mechanism", "epsilon", "without", "default", "chosen", "changed", "wrong")
    print(*names, "sd", "cpu", "taken", sep="\t")
    for name in options.only:
        if name in PUBLIC and options.data is None:
            continue
        frame, schema = read_table(name, options.data)
        for mechanism in options.mechanisms:
            for epsilon in options.epsilons:
                measured = _print_alone if options.choose == "none" else _print
                measured(name, mechanism, epsilon, frame, schema, options)


def _print(
    name: str,
    mechanism: str,
    epsilon: float,
    frame: pd.DataFrame,
    schema: object,
    options: argparse.Namespace,
) -> None:
    """Release a table several times, with a choice and without, and print how they compare."""
    recipe, _, engine = mechanism.partition(":")
    asked = {"epsilon": epsilon, "delta": 1e-9, "mechanism": recipe, "engine": engine or None}
    errors, taken, sds, cpu = [], [], [], []
    for _ in range(options.releases):
        start = time.process_time()
        without = synthdp.synthesize(frame, schema, **asked)
        middle = time.process_time()
        chosen = synthdp.synthesize(frame, schema, **asked, choose=options.choose)
        cpu.append((middle - start, time.process_time() - middle))
        choice = chosen.certificate["choice"]
        found = [_error(without, frame), _error(chosen, frame)]
        is_same = choice["chosen"] == choice["default"]
        default = found[1] if is_same else _error(chosen.refit(choice["default"]), frame)
        errors.append([found[0], default, found[1]])
        taken.append(choice["chosen"])
        sds.append(choice["stddev"] or float("nan"))
    found = np.array(errors)
    changed = found[:, 1] != found[:, 2]
    print(
        name,
        mechanism,
        f"{epsilon:g}",
        *(f"{each:.4f}" for each in found.mean(axis=0)),
        int(changed.sum()),
        int((found[:, 2] > found[:, 1]).sum()),
        f"{np.nanmean(sds):.4f}",
        "{:.1f} {:.1f}".format(*np.mean(cpu, axis=0)),
        ", ".join(f"{taken.count(each)} {each}" for each in dict.fromkeys(taken)),
        sep="\t",
        flush=True,
    )


def _print_alone(
    name: str,
    mechanism: str,
    epsilon: float,
    frame: pd.DataFrame,
    schema: object,
    options: argparse.Namespace,
) -> None:
    """Release a table several times by one mechanism or several, and print how they err."""
    errors, taken, cpu = [], [], []
    for _ in range(options.releases):
        start = time.process_time()
        synthesis = synthdp.synthesize(
            frame, schema, epsilon=epsilon, delta=1e-9, mechanism=mechanism
        )
        cpu.append(time.process_time() - start)
        errors.append(_error(synthesis, frame))
        taken.append(synthesis.certificate.get("choice", {}).get("chosen", mechanism))
    print(
        name,
        mechanism,
        f"{epsilon:g}",
        f"{np.mean(errors):.4f}",
        *[""] * 5,
        f"{np.mean(cpu):.1f}",
        ", ".join(f"{taken.count(each)} {each}" for each in dict.fromkeys(taken)),
        sep="\t",
        flush=True,
    )


def _error(synthesis: synthdp.Synthesis, frame: pd.DataFrame) -> float:
    """The mean of the true means over pairs and triples."""
    drawn = (
        synthesis.sample(seed=0) if synthesis.knows_size else synthesis.sample(len(frame), seed=0)
    )
    rng, means = np.random.default_rng(0), []
    for k in (2, 3):
        cliques = list(combinations(frame, k))
        if len(cliques) > MOST:
            cliques = [cliques[place] for place in rng.choice(len(cliques), MOST, replace=False)]
        means.append(np.mean(distances(synthesis.schema, frame, drawn, cliques)))
    return float(np.mean(means))


if __name__ == "__main__":
    main()
