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

import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
from quality import distances, parser_of, tables_of

import synthdp

MOST = 400
"""Pairs or triples of which errors are worked out; of more a sample."""


def main() -> None:
    """Measure, and print a line for each table, mechanism and epsilon."""
    parser = parser_of(__doc__, releases=5)
    parser.add_argument("--choose", default="standard")
    parser.add_argument(
        "--mechanisms", nargs="+", default=["auto"], help="each with or without :ENGINE"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # cautions of small budgets, for each release
    names = ("table", "mechanism", "epsilon", "without", "default", "chosen", "changed", "wrong")
    print(*names, "sd", "cpu", "taken", sep="\t")
    for name, frame, schema in tables_of(options):
        for mechanism, epsilon in product(options.mechanisms, options.epsilons):
            recipe, _, engine = mechanism.partition(":")
            asked = {
                "epsilon": epsilon,
                "delta": 1e-9,
                "mechanism": recipe,
                "engine": engine or None,
            }
            released = partial(synthdp.synthesize, frame, schema, **asked)
            measured = (
                _alone(released, frame, options.releases)
                if options.choose == "none"
                else _compared(released, frame, options.releases, options.choose)
            )
            print(name, mechanism, f"{epsilon:g}", *measured, sep="\t", flush=True)


def _compared(
    released: Callable[..., synthdp.Synthesis], frame: pd.DataFrame, n_releases: int, choose: str
) -> list[object]:
    """How releases with a choice and without compare."""
    errors, taken, sds, cpu = [], [], [], []
    for _ in range(n_releases):
        start = time.process_time()
        without = released()
        middle = time.process_time()
        chosen = released(choose=choose)
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
    return [
        *(f"{each:.4f}" for each in found.mean(axis=0)),
        int(changed.sum()),
        int((found[:, 2] > found[:, 1]).sum()),
        f"{np.nanmean(sds):.4f}",
        "{:.1f} {:.1f}".format(*np.mean(cpu, axis=0)),
        _counted(taken),
    ]


def _alone(
    released: Callable[..., synthdp.Synthesis], frame: pd.DataFrame, n_releases: int
) -> list[object]:
    """How releases of one mechanism, or several, err."""
    errors, taken, cpu = [], [], []
    for _ in range(n_releases):
        start = time.process_time()
        synthesis = released()
        cpu.append(time.process_time() - start)
        errors.append(_error(synthesis, frame))
        certificate = synthesis.certificate
        choice = certificate.get("choice", {"chosen": certificate["mechanism"]["name"]})
        taken.append(choice["chosen"])
    return [f"{np.mean(errors):.4f}", *[""] * 5, f"{np.mean(cpu):.1f}", _counted(taken)]


def _counted(taken: list[str]) -> str:
    return ", ".join(f"{taken.count(each)} {each}" for each in dict.fromkeys(taken))


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
